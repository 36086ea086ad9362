package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/domtap/domtap/cmd/domtap/internal/exit"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// shared is a daemon in which several terminals and programs open and close tabs.
type shared struct {
	*fakeDaemon
	name  string
	tabs  []*domtapv1.Tab
	count int
	state string
}

func newShared(t *testing.T) *shared {
	s := &shared{fakeDaemon: newFakeDaemon(t), name: "first", state: shortDir(t)}
	s.answer = func(_ context.Context, request proto.Message) (proto.Message, error) {
		switch r := request.(type) {
		case *domtapv1.OpenTabRequest:
			return &domtapv1.OpenTabResponse{Tab: s.open(r.GetUrl(), r.GetRestore())}, nil
		case *domtapv1.CloseTabRequest:
			s.close(r.GetTabId())
		case *domtapv1.ListTabsRequest:
			return &domtapv1.ListTabsResponse{Tabs: s.tabs, DaemonId: s.name}, nil
		}
		return nil, nil
	}
	s.start(t)
	return s
}

// open opens a tab as any client does.
func (s *shared) open(url string, restore bool) *domtapv1.Tab {
	s.count++
	tab := &domtapv1.Tab{Id: fmt.Sprint("t", s.count), Url: url, Title: "Page of " + url, Restore: restore}
	s.tabs = append(s.tabs, tab)
	return tab
}

func (s *shared) close(id string) {
	s.tabs = slices.DeleteFunc(s.tabs, func(tab *domtapv1.Tab) bool { return tab.GetId() == id })
}

// restart simulates another daemon, which has the restored tabs under the same IDs.
func (s *shared) restart() {
	s.name, s.count = s.name+"+", 0
	s.tabs = slices.DeleteFunc(s.tabs, func(tab *domtapv1.Tab) bool { return !tab.GetRestore() })
}

// in runs a command line in a terminal. It returns the output, including errors, and the tab of the last request.
func (s *shared) in(t *testing.T, terminal, line string, want int) (said, tab string) {
	t.Helper()
	cmd := s.at()
	cmd.terminal = terminal
	delete(cmd.env, "DOMTAP_TAB")
	cmd.env["DOMTAP_STATE_DIR"] = s.state
	words := strings.Fields(line)
	if name, value, isVariable := strings.Cut(words[0], "="); isVariable {
		cmd.env[name], words = value, words[1:]
	}
	got := cmd.run(t, words...)
	if got.code != want {
		t.Fatalf("in %s: %s: exit code %d, want %d: %s", terminal, line, got.code, want, got.errors)
	}
	if r, ok := s.last(t).(interface{ GetTabId() string }); ok && want == exit.OK {
		tab = r.GetTabId()
	}
	return got.out + got.errors, tab
}

// works fails the test unless a command in a terminal works on the tab wantTab.
func (s *shared) works(t *testing.T, terminal, line, wantTab string) {
	t.Helper()
	if _, tab := s.in(t, terminal, line, exit.OK); tab != wantTab {
		t.Errorf("in %s: %s worked on %s, want %s", terminal, line, tab, wantTab)
	}
}

func TestATerminalWorksOnTheTabThatItOpenedLast(t *testing.T) {
	s := newShared(t)
	s.in(t, "one", "open a.example", exit.OK)
	s.in(t, "two", "open b.example", exit.OK)
	s.open("https://program.example/", false)
	s.works(t, "one", "compact", "t1")
	s.works(t, "one", "click 1", "t1")
	s.works(t, "two", "reload", "t2")
	s.works(t, "one", "click 1 --tab t3", "t3")
	s.works(t, "one", "DOMTAP_TAB=t2 click 1", "t2")
	s.works(t, "one", "DOMTAP_TAB=t2 click 1 --tab t3", "t3")
	s.works(t, "one", "DOMTAP_TAB= click 1", "t1")
	s.in(t, "one", "open c.example", exit.OK)
	s.works(t, "one", "click 1", "t4")
	s.works(t, "one", "close", "t4")
	s.works(t, "one", "click 1", "t1") // the tab that was opened before
	s.works(t, "two", "close", "t2")
	if len(s.tabs) != 2 {
		t.Errorf("left are %v", s.tabs)
	}
}

func TestWithoutATabOfItsOwnATerminalAsks(t *testing.T) {
	s := newShared(t)
	s.open("https://a.example/", false)
	s.works(t, "one", "click 1", "t1") // the only tab
	s.open("https://b.example/", false)
	for _, line := range []string{"close", "click 1", "type 1 x", "reload", "goto x.example", "dialog accept", "compact", "dom", "read", "watch", "wait --text x", "log", "restore --off", "form a=b"} {
		said, _ := s.in(t, "one", line, exit.Usage)
		for _, want := range []string{`t1 "Page of https://a.example/"`, `t2 "Page of https://b.example/"`, "--tab", "DOMTAP_TAB"} {
			if !strings.Contains(said, want) {
				t.Errorf("%s: it says %q, and not %q", line, said, want)
			}
		}
	}
	const listed = 10 // the number of tabs that an error lists
	for range listed {
		s.open("https://more.example/", false)
	}
	if said, _ := s.in(t, "one", "close", exit.Usage); !strings.Contains(said, ": 2 older ones, t3 ") {
		t.Errorf("it says %q", said)
	}
	if len(s.tabs) != listed+2 {
		t.Error("a tab was closed")
	}
}

func TestATabThatIsGoneIsNotReplacedByAnother(t *testing.T) {
	s := newShared(t)
	s.in(t, "one", "open a.example", exit.OK)
	s.open("https://b.example/", false)
	s.close("t1") // closed by its page or by another program
	for range 2 {
		said, _ := s.in(t, "one", "close", exit.NotFound)
		if !strings.Contains(said, "tab t1, which this terminal opened last, is closed") || !strings.Contains(said, "t2 ") {
			t.Errorf("it says %q", said)
		}
	}
	s.works(t, "one", "close --tab t2", "t2")
	if said, _ := s.in(t, "one", "close", exit.NotFound); !strings.Contains(said, "no tab is open") {
		t.Errorf("it says %q", said)
	}
	s.in(t, "one", "open c.example", exit.OK)
	s.works(t, "one", "click 1", "t3")
}

func TestTheNextDaemonGivesTheSameIdsToOtherTabs(t *testing.T) {
	s := newShared(t)
	s.in(t, "one", "open a.example", exit.OK)
	s.restart()
	s.open("https://b.example/", false)
	if said, _ := s.in(t, "one", "close", exit.NotFound); !strings.Contains(said, "tab t1, which this terminal opened last, ended with its daemon") || strings.Contains(said, "--tab") {
		t.Errorf("it says %q", said)
	}
	s.in(t, "one", "open c.example --restore", exit.OK)
	s.restart()
	s.works(t, "one", "click 1", "t2")
	s.in(t, "two", "open d.example", exit.OK)
	s.in(t, "two", "restore --on --tab t1", exit.OK)
}

func TestATerminalThatCannotRememberSaysSo(t *testing.T) {
	s := newShared(t)
	s.state = "/dev/null"
	if said, _ := s.in(t, "one", "open a.example", exit.OK); !strings.Contains(said, "warning: store the tab of this terminal") {
		t.Errorf("it says %q", said)
	}
	s.works(t, "one", "click 1", "t1")
}
