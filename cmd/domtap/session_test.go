package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

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
