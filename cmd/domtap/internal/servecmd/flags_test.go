package servecmd

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/domtap/domtap/cmd/domtap/internal/cli"
	"github.com/domtap/domtap/internal/endpoint"
)

// environment returns a lookup of variables in a map.
func environment(env map[string]string) endpoint.Lookup {
	return func(name string) (string, bool) {
		value, set := env[name]
		return value, set
	}
}

// serveWith completes the flags of serve as the command would.
func serveWith(t *testing.T, env map[string]string, args ...string) (Flags, error) {
	t.Helper()
	var s Flags
	cmd := &cobra.Command{Use: "serve"}
	s.Register(cmd)
	if err := cmd.ParseFlags(args); err != nil {
		t.Fatal(err)
	}
	if _, err := s.load(cmd, environment(env)); err != nil {
		return s, err
	}
	return s, s.complete(cmd, environment(env))
}

// Every flag of serve except help and the hidden ones has a variable with a matching name.
func TestEveryServeFlagHasAVariable(t *testing.T) {
	var s Flags
	cmd := &cobra.Command{Use: "serve"}
	s.Register(cmd)
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		want := "DOMTAP_" + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
		if !f.Hidden && !slices.Equal(f.Annotations[cli.EnvAnnotation], []string{want}) {
			t.Errorf("--%s: variables %v, want %s", f.Name, f.Annotations[cli.EnvAnnotation], want)
		}
	})
	for _, name := range []string{"socket", "listen", "token-file", "chrome", "chrome-flag", "headless", "remote", "user-data-dir", "max-tabs", "log-format", "log-level"} {
		if cmd.Flags().Lookup(name) == nil {
			t.Errorf("there is no --%s", name)
		}
	}
}

func TestTheEnvironmentSetsServeFlags(t *testing.T) {
	dir := t.TempDir()
	s, err := serveWith(t, map[string]string{
		"DOMTAP_STATE_DIR": dir, "DOMTAP_LISTEN": "", "DOMTAP_HEADLESS": "false", "DOMTAP_WEBMCP": "false", "DOMTAP_CHROME_FLAG": "a=1  b",
		"DOMTAP_MAX_TABS": "7", "DOMTAP_LOG_FORMAT": "json", "DOMTAP_CHROME": "env",
	}, "--chrome", "flag")
	if err != nil {
		t.Fatal(err)
	}
	if s.Listen != "" || s.Browser.Headless || !s.Browser.NoWebMCP || !slices.Equal(s.Browser.Flags, []string{"a=1", "b"}) || s.MaxTabs != 7 || s.logFormat.Value != "json" {
		t.Errorf("got %+v", s)
	}
	if s.Browser.ChromePath != "flag" {
		t.Errorf("the command line does not come first: %q", s.Browser.ChromePath)
	}
	if s.Socket != filepath.Join(dir, "domtap.sock") || s.TokenFile != filepath.Join(dir, "token") || s.Browser.StateDir != dir {
		t.Errorf("a state directory does not hold everything: %+v", s)
	}
}

func TestThePageNeedsNoAddress(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{nil, ""},
		{[]string{"--ui"}, "127.0.0.1:7412"},
		{[]string{"--ui", "--web", "127.0.0.1:1"}, "127.0.0.1:1"},
		{[]string{"--web", "127.0.0.1:1"}, "127.0.0.1:1"},
	} {
		if s, err := serveWith(t, map[string]string{"DOMTAP_STATE_DIR": t.TempDir()}, c.args...); err != nil || s.Web.Address != c.want {
			t.Errorf("%q: %q, %v; want %q", c.args, s.Web.Address, err, c.want)
		}
	}
	if _, err := serveWith(t, map[string]string{"DOMTAP_STATE_DIR": t.TempDir(), "DOMTAP_WEB_ORIGIN": "app.example"}); err == nil {
		t.Error("app.example passes for an origin")
	}
}

func TestAnEmptySocketSwitchesItOff(t *testing.T) {
	dir := t.TempDir()
	for _, env := range []map[string]string{{"DOMTAP_SOCKET": "", "DOMTAP_STATE_DIR": dir}, {"DOMTAP_STATE_DIR": dir}} {
		var args []string
		if _, set := env["DOMTAP_SOCKET"]; !set {
			args = []string{"--socket="}
		}
		if s, err := serveWith(t, env, args...); err != nil || s.Socket != "" {
			t.Errorf("%v %v: socket %q, %v", env, args, s.Socket, err)
		}
	}
}

func TestADaemonOnDemandOpensNoPortUnasked(t *testing.T) {
	for _, test := range []struct {
		env  map[string]string
		args []string
		want string
	}{
		{nil, []string{"--on-demand"}, ""},
		{nil, nil, "127.0.0.1:7411"},
		{map[string]string{"DOMTAP_LISTEN": "127.0.0.1:9"}, []string{"--on-demand"}, "127.0.0.1:9"},
		{nil, []string{"--on-demand", "--listen", "127.0.0.1:8"}, "127.0.0.1:8"},
	} {
		if s, err := serveWith(t, test.env, append(test.args, "--state-dir", t.TempDir())...); err != nil || s.Listen != test.want {
			t.Errorf("%v, %v: listens on %q, %v", test.env, test.args, s.Listen, err)
		}
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "config"), []byte("listen = 127.0.0.1:7"), 0o600); err != nil {
		t.Fatal(err)
	}
	if s, err := serveWith(t, nil, "--on-demand", "--state-dir", dir); err != nil || s.Listen != "127.0.0.1:7" {
		t.Errorf("with a file it listens on %q, %v", s.Listen, err)
	}
}
