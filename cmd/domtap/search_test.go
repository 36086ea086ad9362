package main

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/domtap/domtap/cmd/domtap/internal/doctor"
	"github.com/domtap/domtap/cmd/domtap/internal/exit"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/search/searchtest"
)

// startSearch starts a server for a search provider, until the test ends.
func startSearch(t *testing.T, name string) *searchtest.Server {
	t.Helper()
	server := searchtest.Start(name)
	t.Cleanup(server.Close)
	return server
}

func TestSearchPrintsTheTextOrTheResults(t *testing.T) {
	daemon := newFakeDaemon(t).start(t)
	daemon.answer = func(context.Context, proto.Message) (proto.Message, error) {
		return &domtapv1.SearchResponse{Text: "# brave: 1 web result\n1. Go\x1b[31m | go.dev\n   https://go.dev/\n", Results: []*domtapv1.SearchResult{{Title: "Go", Host: "go.dev"}}}, nil
	}
	if got := daemon.at().run(t, "search", "go"); got.code != exit.OK || got.out != "# brave: 1 web result\n1. Go\uFFFD[31m | go.dev\n   https://go.dev/\n" {
		t.Errorf("got %+v", got)
	}
	if got := daemon.at().run(t, "search", "go", "--json"); got.code != exit.OK || !strings.Contains(got.out, `"results":[{"title":"Go","url":"","host":"go.dev"`) {
		t.Errorf("got %+v", got)
	}
	for reason, want := range map[string]struct {
		status codes.Code
		code   int
		hint   string
	}{
		"SEARCH_OFF":   {codes.FailedPrecondition, exit.Precondition, "--search-provider"},
		"SEARCH_KEY":   {codes.FailedPrecondition, exit.Precondition, "domtap stop"},
		"SEARCH_QUOTA": {codes.ResourceExhausted, exit.Failure, "--provider"},
	} {
		daemon.answer = func(context.Context, proto.Message) (proto.Message, error) {
			st, err := status.New(want.status, "m").WithDetails(&errdetails.ErrorInfo{Reason: reason, Domain: "domtap.dev"})
			if err != nil {
				t.Error(err)
			}
			return nil, st.Err()
		}
		if got := daemon.at().run(t, "search", "go"); got.code != want.code || !strings.Contains(got.errors, "hint: ") || !strings.Contains(got.errors, want.hint) {
			t.Errorf("%s: %+v", reason, got)
		}
	}
}

// The doctor queries the providers of a new daemon.
func TestDoctorSaysWhichProvidersAnswer(t *testing.T) {
	searxng, brave := startSearch(t, "searxng"), startSearch(t, "brave")
	wrong := filepath.Join(t.TempDir(), "wrong.key")
	if err := os.WriteFile(wrong, []byte("canary-wrong-key\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		env         map[string]string
		status, say string
	}{
		{nil, doctor.OK, "no provider"},
		{map[string]string{"DOMTAP_SEARCH_PROVIDER": "searxng", "DOMTAP_SEARCH_URL": searxng.URL}, doctor.OK, "a new daemon: searxng answers"},
		{map[string]string{"DOMTAP_SEARCH_PROVIDER": "brave", "DOMTAP_SEARCH_URL": brave.URL, "DOMTAP_SEARCH_KEY": searchtest.Key + "\n"}, doctor.OK, "brave answers"},
		{map[string]string{"DOMTAP_SEARCH_PROVIDER": "brave", "DOMTAP_SEARCH_URL": brave.URL, "DOMTAP_SEARCH_KEY_FILE": wrong}, doctor.Fail, "brave: the key was refused"},
		{map[string]string{"DOMTAP_SEARCH_PROVIDER": "searxng brave", "DOMTAP_SEARCH_URL": "searxng=" + searxng.URL + " brave=" + brave.URL, "DOMTAP_SEARCH_KEY_FILE": wrong},
			doctor.Warn, "searxng answers; brave: the key was refused"},
		{map[string]string{"DOMTAP_SEARCH_PROVIDER": "brave"}, doctor.Fail, "brave needs a key"},
		{map[string]string{"DOMTAP_SEARCH_PROVIDER": "bing"}, doctor.Fail, "unknown search provider"},
	} {
		cmd, _ := isolated(t)
		for name, value := range c.env {
			cmd.env[name] = value
		}
		found, _ := examineWith(t, cmd, "--remote", "http://127.0.0.1:1")
		if f := found["search"]; f.Status != c.status || !strings.Contains(f.Found, c.say) || strings.Contains(f.Found+f.Remedy, "canary") {
			t.Errorf("%v: %+v, want %s and %q", c.env, f, c.status, c.say)
		}
	}
}

func TestDoctorAsksTheProvidersOfTheDaemon(t *testing.T) {
	daemon := newFakeDaemon(t).start(t)
	cmd := daemon.at()
	cmd.env["DOMTAP_STATE_DIR"], cmd.env["DOMTAP_SEARCH_PROVIDER"] = t.TempDir(), "bing" // bing is not queried
	if f := lookAtSearch(t, cmd); f.Status != doctor.OK || !strings.Contains(f.Found, "no provider") {
		t.Errorf("got %+v", f)
	}
	var failed error
	daemon.answer = func(_ context.Context, r proto.Message) (proto.Message, error) {
		if _, ok := r.(*domtapv1.ListSearchProvidersRequest); ok {
			return &domtapv1.ListSearchProvidersResponse{Providers: []*domtapv1.SearchProvider{{Name: "brave", Kinds: []domtapv1.SearchKind{domtapv1.SearchKind_SEARCH_KIND_WEB}}}}, nil
		}
		return nil, failed
	}
	if f := lookAtSearch(t, cmd); f.Status != doctor.OK || f.Found != "the daemon: brave answers" {
		t.Errorf("got %+v", f)
	}
	failed = status.Error(codes.ResourceExhausted, "brave: the quota is used up")
	if f := lookAtSearch(t, cmd); f.Status != doctor.Fail || f.Found != "the daemon: brave: the quota is used up" {
		t.Errorf("got %+v", f)
	}
}

func lookAtSearch(t *testing.T, cmd command) doctor.Finding {
	t.Helper()
	found, _ := examineWith(t, cmd, "--remote", "http://127.0.0.1:1")
	return found["search"]
}

func TestSettingsOfSearch(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	key, open, two := file("key", "canary-key", 0o600), file("open", "canary-key", 0o644), file("two", "canary-key canary-key", 0o600)
	for want, args := range map[string]string{
		"":                                 "--search-provider brave --search-key-file " + key,
		"unknown search provider \"bing\"": "--search-provider bing",
		"brave needs a key":                "--search-provider brave",
		"other users may read":             "--search-provider brave --search-key-file " + open,
		"must hold one key":                "--search-provider brave --search-key-file " + two,
		"no such file":                     "--search-provider brave --search-key-file " + filepath.Join(dir, "none"),
		"brave is repeated":                "--search-provider brave --search-provider brave --search-key-file " + key,
		"write NAME=":                      "--search-provider brave --search-provider serper --search-key-file " + key,
		"is repeated for brave":            "--search-provider brave --search-key-file " + key + " --search-key-file brave=" + key,
		"not a --search-provider":          "--search-provider searxng --search-url https://a.example --search-key-file tavily=" + key,
		"needs the URL":                    "--search-provider searxng",
		"needs the id of a search engine":  "--search-provider google --search-key-file " + key,
		"is not sent over http":            "--search-provider brave --search-url http://gateway.example --search-key-file " + key,
	} {
		cmd, _ := isolated(t)
		got := cmd.run(t, append([]string{"config"}, strings.Fields(args)...)...)
		if ok := want == ""; ok != (got.code == exit.OK) || !ok && got.code != exit.Usage || !strings.Contains(got.errors, want) || strings.Contains(got.out+got.errors, "canary") {
			t.Errorf("%s: %+v, want %q", args, got, want)
		}
	}
	cmd, _ := isolated(t)
	cmd.env["DOMTAP_SEARCH_KEY"] = "canary-key"
	got := cmd.run(t, "config", "--all", "--search-provider", "brave", "--search-provider", "searxng", "--search-url", "https://me:canary@search.example/searx")
	if got.code != exit.OK || strings.Contains(got.out, "canary") || !strings.Contains(got.out, "https://***@search.example/searx") {
		t.Errorf("got %+v", got)
	}
	if got = cmd.run(t, "config", "--search-provider", "brave", "--search-provider", "serper"); got.code != exit.Usage || !strings.Contains(got.errors, "one of brave, serper") {
		t.Errorf("one key for two providers: %+v", got)
	}
}

// askTools runs domtap mcp as a host does, and returns the line that lists the tools.
func askTools(t *testing.T, cmd command, tools string) result {
	t.Helper()
	in, to := io.Pipe()
	from, out := io.Pipe()
	var complaints strings.Builder
	a := newApp(environment(cmd.env), in, out, &complaints)
	ended := make(chan int, 1)
	go func() {
		args := []string{"mcp", "--tools", tools}
		code := a.Run(t.Context(), newRoot(a, args...), args)
		ended <- code
		_ = errors.Join(out.Close(), in.Close()) // closing a pipe returns no error
	}()
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, 1<<20)
	ask := func(text string) string {
		_, _ = io.WriteString(to, text+"\n") // the command may have ended
		for lines.Scan() {
			if strings.Contains(lines.Text(), `"id":`) {
				return lines.Text()
			}
		}
		return ""
	}
	ask(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`)
	list := ask(`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n" + `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`)
	_ = to.Close() // closing a pipe returns no error
	return result{<-ended, list, complaints.String()}
}

// The offered tools depend on the daemon, or on how it would be started.
func TestMCPOffersSearchWhereThereIsAProvider(t *testing.T) {
	ask := func(cmd command, tools string) result { return askTools(t, cmd, tools) }
	cmd, _ := isolated(t)
	if got := ask(cmd, "all"); got.code != exit.OK || strings.Contains(got.out, "browser_search") || !strings.Contains(got.out, "browser_batch") {
		t.Errorf("without a provider: %+v", got)
	}
	if got := ask(cmd, "search"); got.code != exit.Usage || !strings.Contains(got.errors, "no search provider") {
		t.Errorf("search alone, without a provider: %+v", got)
	}
	cmd.env["DOMTAP_SEARCH_PROVIDER"], cmd.env["DOMTAP_SEARCH_URL"] = "searxng", "https://search.example"
	for _, tools := range []string{"all", "search", "core,search"} {
		if got := ask(cmd, tools); got.code != exit.OK || !strings.Contains(got.out, "browser_search") {
			t.Errorf("--tools %s with a provider: %+v", tools, got)
		}
	}
	if got := ask(cmd, "core"); got.code != exit.OK || strings.Contains(got.out, "browser_search") {
		t.Errorf("--tools core with a provider: %+v", got)
	}
	daemon := newFakeDaemon(t).start(t)
	cmd.env["DOMTAP_ADDR"] = "unix://" + daemon.socket
	if got := ask(cmd, "all"); got.code != exit.OK || strings.Contains(got.out, "browser_search") {
		t.Errorf("a daemon without a provider: %+v", got)
	}
	daemon.answer = func(_ context.Context, r proto.Message) (proto.Message, error) {
		if _, ok := r.(*domtapv1.ListSearchProvidersRequest); ok {
			return &domtapv1.ListSearchProvidersResponse{Providers: []*domtapv1.SearchProvider{{Name: "brave"}}}, nil
		}
		return nil, nil
	}
	delete(cmd.env, "DOMTAP_SEARCH_PROVIDER")
	if got := ask(cmd, "all"); got.code != exit.OK || !strings.Contains(got.out, "browser_search") {
		t.Errorf("a daemon with a provider: %+v", got)
	}
}
