package main

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/domtap/domtap/cmd/domtap/internal/exit"
	"github.com/domtap/domtap/cmd/domtap/internal/sessionflags"
	"github.com/domtap/domtap/internal/endpoint"
	"github.com/domtap/domtap/internal/testenv"
)

// loginSite serves a page that logs itself in as a user would.
func loginSite(t *testing.T) string {
	t.Helper()
	return testenv.Pages(t, map[string]http.HandlerFunc{
		"/login":   testenv.HTML(`<title>Log in</title><script>document.cookie = 'id=canary-login'; localStorage.token = 'canary-token'; location = '/account'</script>`),
		"/account": testenv.HTML(`<title>Account</title><h1>Hello Ada</h1>`),
	})
}

// loginCommand runs domtap session login with a real browser. The browser has no window, because test machines have no display.
func loginCommand(t *testing.T, in string, args ...string) (result, []string) {
	t.Helper()
	program := needPlainProgram(t)
	cmd, _ := isolated(t)
	for _, one := range ownEnv(shortDir(t)) {
		name, value, _ := strings.Cut(one, "=")
		cmd.env[name] = value
	}
	cmd.env["DISPLAY"] = ":99"
	dir := shortDir(t)
	t.Setenv("TMPDIR", dir)
	var out, complaints strings.Builder
	a := newApp(environment(cmd.env), strings.NewReader(in), &out, &complaints)
	var flags []string
	a.Launch = func(ctx context.Context, at endpoint.Places, more []string) error {
		flags = more
		list, err := endpoint.ServeArgs(at)
		if err != nil {
			return err
		}
		hidden := slices.Replace(slices.Clone(more), slices.Index(more, "--headless=false"), slices.Index(more, "--headless=false")+1, "--headless=true")
		return endpoint.Launch(ctx, program, at, append(list, hidden...))
	}
	line := append([]string{"session", "login"}, args...)
	code := a.Run(t.Context(), newRoot(a, line...), line)
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left in the temporary directory: %v, %v", left, err)
	}
	return result{code, out.String(), complaints.String()}, flags
}

func TestALoginIsKept(t *testing.T) {
	url := loginSite(t)
	for what, c := range map[string]struct {
		in   string
		more []string
	}{
		"until a URL": {"", []string{"--until-url", "*/account"}}, "until a text": {"", []string{"--until-text", "Hello Ada"}},
		"until Enter is pressed": {"\n", nil},
	} {
		file := filepath.Join(t.TempDir(), "state.json")
		address := url + "/login"
		if c.in != "" {
			address = url + "/account" // a page that needs no wait
		}
		got, flags := loginCommand(t, c.in, append([]string{address, "--state", file}, c.more...)...)
		if got.code != exit.OK || !strings.Contains(got.errors, "log in in the browser window") {
			t.Fatalf("%s: %+v", what, got)
		}
		if !slices.Contains(flags, "--headless=false") || !slices.Contains(flags, "--remote=") {
			t.Errorf("%s: the daemon was started with %q", what, flags)
		}
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		state, err := sessionflags.DecodeState(raw)
		if err != nil {
			t.Fatal(err)
		}
		if c.in == "" && (len(state.GetCookies()) != 1 || state.GetCookies()[0].GetValue() != "canary-login" || len(state.GetOrigins()) != 1) {
			t.Errorf("%s: %s", what, raw)
		}
	}
}

// A login that cannot succeed is rejected before a browser starts.
func TestALoginThatCannotSucceed(t *testing.T) {
	cmd, _ := isolated(t)
	for _, c := range []struct {
		line string
		env  map[string]string
		code int
		say  string
	}{
		{"session login a.test --state f", nil, exit.Precondition, "no display"},
		{"session login a.test", map[string]string{"DISPLAY": ":0"}, exit.Usage, "at least one of the flags"},
		{"session login a.test --state f --profile p", map[string]string{"DISPLAY": ":0"}, exit.Usage, "none of the others"},
		{"session login a.test --profile p", map[string]string{"DISPLAY": ":0"}, exit.Usage, "missing key of profiles"},
		{"session login --state f", nil, exit.Usage, "missing URL"},
	} {
		cmd.env["DISPLAY"] = c.env["DISPLAY"]
		if got := cmd.run(t, strings.Fields(c.line)...); got.code != c.code || !strings.Contains(got.errors, c.say) {
			t.Errorf("%s: %+v, want %d and %q", c.line, got, c.code, c.say)
		}
	}
}
