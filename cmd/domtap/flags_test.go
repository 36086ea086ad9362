package main

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/domtap/domtap/cmd/domtap/internal/exit"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/endpoint"
)

// environment returns a lookup of variables in a map.
func environment(env map[string]string) endpoint.Lookup {
	return func(name string) (string, bool) {
		value, set := env[name]
		return value, set
	}
}

func TestTheEnvironmentSetsClientFlags(t *testing.T) {
	daemon := newFakeDaemon(t).start(t)
	cmd := daemon.at()
	cmd.env["DOMTAP_TAB"], cmd.env["DOMTAP_OUTPUT"] = "t1", "json"
	got := cmd.run(t, "compact")
	if id := daemon.last(t).(*domtapv1.GetCompactRequest).GetTabId(); id != "t1" || !strings.HasPrefix(got.out, "{") {
		t.Errorf("tab %q, printed %q", id, got.out)
	}
	got = cmd.run(t, "compact", "--tab", "t9", "-o", "text")
	if id := daemon.last(t).(*domtapv1.GetCompactRequest).GetTabId(); id != "t9" || got.out != "" {
		t.Errorf("the command line does not come first: tab %q, printed %q", id, got.out)
	}
}

func TestABadVariableIsAUsageError(t *testing.T) {
	cmd := newFakeDaemon(t).start(t).at()
	cmd.env["DOMTAP_OUTPUT"] = "yaml"
	if got := cmd.run(t, "tabs"); got.code != exit.Usage || !strings.Contains(got.errors, `DOMTAP_OUTPUT="yaml"`) {
		t.Errorf("got %+v", got)
	}
}

func TestClientsFollowTheDaemonToItsAddress(t *testing.T) {
	for _, test := range []struct {
		env  map[string]string
		want endpoint.Target
	}{
		{map[string]string{"DOMTAP_SOCKET": "/s"}, endpoint.Target{Socket: "/s"}},
		{map[string]string{"DOMTAP_SOCKET": "", "DOMTAP_LISTEN": "127.0.0.1:9"}, endpoint.Target{Address: "127.0.0.1:9"}},
		{map[string]string{"DOMTAP_SOCKET": ""}, endpoint.Target{Address: "127.0.0.1:7411"}},
	} {
		a := newApp(environment(test.env), nil, nil, nil)
		a.Flags.StateDir = "/mine"
		if got, err := a.Target(); got != test.want || err != nil {
			t.Errorf("%v: %+v, %v; want %+v", test.env, got, err, test.want)
		}
	}
}

// forEachCommand calls visit for every command of the program.
func forEachCommand(cmd *cobra.Command, visit func(*cobra.Command)) {
	for _, child := range cmd.Commands() {
		visit(child)
		forEachCommand(child, visit)
	}
}

func TestJSONIsAFlagWhereverOutputIs(t *testing.T) {
	forEachCommand(newRoot(newApp(nil, nil, nil, nil)), func(cmd *cobra.Command) {
		f := cmd.Flags()
		if f.Lookup("output") != nil && f.Lookup("json") == nil {
			t.Errorf("%s has --output, but no --json", cmd.CommandPath())
		}
	})
	daemon := newFakeDaemon(t).start(t)
	for _, line := range []string{"tabs", "version", "token new alice", "click 1", "compact"} {
		words := strings.Fields(line)
		short, long := daemon.at().run(t, append(words, "--json")...), daemon.at().run(t, append(words, "-o", "json")...)
		if short.code != exit.OK || !strings.HasPrefix(short.out, "{") || strings.HasPrefix(short.out, "{") != strings.HasPrefix(long.out, "{") {
			t.Errorf("%s: got %+v and %+v", line, short, long)
		}
	}
}

func TestSecondNamesOfFlagsWork(t *testing.T) {
	root := newRoot(newApp(nil, nil, nil, nil))
	for line, want := range map[string]string{"shot --marks": "annotate", "serve --cdp-url": "remote", "doctor --cdp-url": "remote", "config --cdp-url": "remote"} {
		name, alias, _ := strings.Cut(line, " --")
		cmd, _, err := root.Find([]string{name})
		if err != nil {
			t.Fatal(err)
		}
		if flag := cmd.Flags().Lookup(alias); flag == nil || flag.Name != want {
			t.Errorf("%s is %v, want --%s", line, flag, want)
		}
	}
}
