package main

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/domtap/domtap/cmd/domtap/internal/exit"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

func TestSessionCommandsSendTheirRequests(t *testing.T) {
	daemon := newFakeDaemon(t).start(t)
	file := filepath.Join(t.TempDir(), "state.json")
	run := func(want string, args ...string) {
		t.Helper()
		if got := daemon.at().run(t, args...); got.code != exit.OK || got.out != want {
			t.Errorf("%v: %+v, want %q", args, got, want)
		}
	}
	run("s1\n", "session", "new", "work", "--device", "Pixel 8")
	if r := daemon.last(t).(*domtapv1.CreateSessionRequest); r.GetSessionId() != "work" || r.GetSettings().GetEmulation().GetDevice() != "Pixel 8" {
		t.Errorf("asked for %v", r)
	}
	run("SESSION  TABS  DEVICE\ndefault  2     -\nwork     0     -\n", "session", "list")
	run("", "session", "set", "work", "--offline")
	if r := daemon.last(t).(*domtapv1.UpdateSessionRequest); r.GetSessionId() != "work" || !r.GetSettings().GetEmulation().GetOffline() {
		t.Errorf("asked for %v", r)
	}
	run("", "session", "save", "work", file)
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file: %v, %v", info, err)
	}
	run("", "session", "load", "work", file, "--replace")
	if r := daemon.last(t).(*domtapv1.SetStorageStateRequest); !r.GetReplace() || r.GetState() == nil {
		t.Errorf("asked for %v", r)
	}
	run("", "session", "close", "work", "other")
	if r := daemon.last(t).(*domtapv1.CloseSessionRequest); r.GetSessionId() != "other" {
		t.Errorf("asked for %v", r)
	}
	run("t1\n", "open", "-q", "example.com", "--session", "work")
	if r := daemon.last(t).(*domtapv1.OpenTabRequest); r.GetSessionId() != "work" {
		t.Errorf("asked for %v", r)
	}
}

func TestSessionCommandsRefuseWrongUsage(t *testing.T) {
	daemon := newFakeDaemon(t).start(t)
	bad := filepath.Join(t.TempDir(), "bad.json")
	if err := os.WriteFile(bad, []byte("no"), 0o600); err != nil {
		t.Fatal(err)
	}
	for line, code := range map[string]int{
		"session new --viewport big":      exit.Usage,
		"session load work " + bad:        exit.Usage,
		"session load work /nowhere/file": exit.Usage,
		"session save work":               exit.Usage,
		"session close":                   exit.Usage,
	} {
		if got := daemon.at().run(t, strings.Split(line, " ")...); got.code != code || !strings.HasPrefix(got.errors, "domtap: ") {
			t.Errorf("%s: %+v", line, got)
		}
	}
}

func TestCompletionOffersSessions(t *testing.T) {
	daemon := newFakeDaemon(t).start(t)
	for line, want := range map[string]string{
		"__complete open --session ":    "default\nwork\n:4\n",
		"__complete session close w":    "work\n:4\n",
		"__complete session save work ": ":0\n",
	} {
		if got := daemon.at().run(t, strings.Split(line, " ")...); got.out != want {
			t.Errorf("%s: got %q, want %q", line, got.out, want)
		}
	}
}

// The program contains the list, so no daemon is needed.
func TestDevicesAreListed(t *testing.T) {
	cmd, _ := isolated(t)
	got := cmd.run(t, "session", "devices")
	for _, want := range []string{`(?m)^DEVICE +VIEWPORT +SCALE +TOUCH +MOBILE$`, `(?m)^Pixel 8 +412x915 +2\.625 +yes +yes$`, `(?m)^Desktop +1280x800 +1 +no +no$`} {
		if !regexp.MustCompile(want).MatchString(got.out) || got.code != exit.OK {
			t.Errorf("no %s in %+v", want, got)
		}
	}
	got = cmd.run(t, "session", "devices", "--json")
	if want := `{"name":"Pixel 8","width":412,"height":915,"scale":2.625,"touch":true,"mobile":true}` + "\n"; !strings.Contains(got.out, want) {
		t.Errorf("got %+v", got)
	}
}

// seen records the output to a terminal and signals when it contains a text.
type seen struct {
	mu   sync.Mutex
	text strings.Builder
	want string
	once sync.Once
	is   chan struct{}
}

func (s *seen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n, err := s.text.Write(p)
	if strings.Contains(s.text.String(), s.want) {
		s.once.Do(func() { close(s.is) })
	}
	return n, err
}

// The daemon answers after the terminal has shown what the command waits for.
func TestAPersonIsToldWhatACommandWaitsFor(t *testing.T) {
	for line, want := range map[string]string{
		"open a.test":                    "loading https://a.test",
		"goto a.test":                    "loading https://a.test",
		`wait --text Done --visible`:     `waiting for text "Done", visible`,
		`wait --network-idle --url */ok`: `waiting for network-idle 500ms, url "*/ok"`,
	} {
		screen := &seen{want: "| " + want + " (0s)", is: make(chan struct{})}
		daemon := newFakeDaemon(t)
		daemon.answer = func(ctx context.Context, r proto.Message) (proto.Message, error) {
			switch r.(type) {
			case *domtapv1.OpenTabRequest, *domtapv1.NavigateRequest, *domtapv1.WaitForRequest:
				select {
				case <-screen.is:
				case <-ctx.Done():
				}
			}
			return nil, nil
		}
		cmd := daemon.start(t).at()
		var out strings.Builder
		a := newApp(environment(cmd.env), strings.NewReader(""), &out, screen)
		a.Columns, a.Terminal = func() int { return 80 }, func() string { return "" }
		args := strings.Fields(line)
		if code := a.Run(t.Context(), newRoot(a, args...), args); code != exit.OK {
			t.Errorf("%s: exit code %d: %q", line, code, screen.text.String())
		}
		if all := screen.text.String(); !strings.HasSuffix(all, " \r") || strings.Contains(out.String(), "\r") {
			t.Errorf("%s: not removed: %q", line, all)
		}
	}
}

// A file with a guessable name beside the result could belong to another user, or could have been placed there to steal the logins.
func TestSavingASessionTouchesNoOtherFile(t *testing.T) {
	daemon := newFakeDaemon(t).start(t)
	dir := t.TempDir()
	other := filepath.Join(dir, "state.json.new")
	if err := os.WriteFile(other, []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := daemon.at().run(t, "session", "save", "work", filepath.Join(dir, "state.json")); got.code != exit.OK {
		t.Fatalf("%+v", got)
	}
	text, err := os.ReadFile(other)
	files, dirErr := os.ReadDir(dir)
	if err != nil || dirErr != nil || string(text) != "mine" || len(files) != 2 {
		t.Errorf("the other file has %q, %v; the directory has %v, %v", text, err, files, dirErr)
	}
}
