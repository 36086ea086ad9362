package server

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/actor/actortest"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/actor/tabpool"
	"github.com/domtap/domtap/dom"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/golden"
	"github.com/domtap/domtap/internal/streamcheck"
)

// TestHistories plays the schedules in testdata/histories and compares the messages to each reader with the expected ones. A schedule has
// one line for each step. After each step, all readers read the available messages:
//
//	page A B C              the page shows the buttons A, B and C; always the first line
//	join NAME [max=N] [every=SECONDS] [omit]   a reader joins, with at most N elements, or a min_interval
//	show A D=x B!           in one task the page comes to show these; =x is a value, ! disables
//	stall NAME, wake NAME, leave NAME, resume NAME [as OTHER]
//	route /PATH             the URL changes within the document
//	goto /PATH A B          another document, with these buttons
//	dialog TEXT, answer, crash, reload, wait SECONDS, close
func TestHistories(t *testing.T) {
	golden.Run(t, "testdata/histories/*.txtar", 3, func(t *testing.T, steps string) string {
		h := perform(t, strings.Split(strings.TrimSpace(steps), "\n"))
		for _, faults := range [][]error{h.Converges(), h.Ordered(), h.NeverDropsNeverBlocks(), h.Resumable()} {
			wantNone(t, faults)
		}
		return renderHistory(h)
	})
}

// renderHistory formats the messages of each reader under the reader's name.
func renderHistory(h *streamcheck.History) string {
	var b strings.Builder
	var epochs streamcheck.Epochs
	for _, s := range h.States {
		epochs.Name(s.Epoch)
	}
	for _, r := range h.Readers {
		fmt.Fprintf(&b, "%s\n", r.Name)
		last := ""
		for _, m := range r.Messages {
			// Whether a reader sees a fast page load depends on timing.
			line := m.Short(&epochs)
			if m.GetTabStatus().GetStatus() != domtapv1.TabStatus_TAB_STATUS_LOADING && line != last {
				fmt.Fprintf(&b, "  %s\n", line)
				last = line
			}
		}
		fmt.Fprintf(&b, "  %s\n", r.End.Short())
	}
	return b.String()
}

// script is a stage whose buttons and readers have names.
type script struct {
	*stage
	nodes   map[string]*actortest.Node
	readers map[string]*reader
}

// perform plays a schedule.
func perform(t *testing.T, lines []string) *streamcheck.History {
	var h *streamcheck.History
	synctest.Test(t, func(t *testing.T) {
		b := newBenchWith(t, Config{}, "unix", tabpool.Config{LogCount: 8})
		defer b.close()
		s := &script{nodes: map[string]*actortest.Node{}, readers: map[string]*reader{}}
		tab, page := b.shop(s.buttons(strings.Fields(lines[0])[1:])...)
		s.stage = newStage(t, b, tab.GetId(), page)
		for _, line := range lines[1:] {
			s.line(strings.Fields(line))
			s.settle()
		}
		for _, r := range s.readers {
			r.wake()
		}
		s.settle()
		s.end()
		h = s.history(8)
	})
	return h
}

// end lets all remaining readers leave.
func (s *script) end() {
	now := s.tab.Head().Snapshot
	s.last = streamcheck.Point{Epoch: now.Epoch, Revision: now.Revision}
	for _, r := range s.readers {
		r.Alive = r.alive()
		r.vanish()
	}
	select {
	case <-s.tab.Done():
	default:
		if err := s.pool.CloseTab(s.t.Context(), s.tab.ID()); err != nil {
			s.t.Error(err)
		}
	}
	s.finish()
}

// buttons returns the buttons of these names, and creates missing ones.
func (s *script) buttons(words []string) []*actortest.Node {
	var out []*actortest.Node
	for _, word := range words {
		name, value, valued := strings.Cut(strings.TrimSuffix(word, "!"), "=")
		n := s.nodes[name]
		if n == nil {
			n = actortest.Button(name)
			s.nodes[name] = n
		}
		if valued {
			n.Value = value
		}
		if n.States.Disabled = dom.Absent; strings.HasSuffix(word, "!") {
			n.States.Disabled = dom.True
		}
		out = append(out, n)
	}
	return out
}

// line performs one line of a schedule.
func (s *script) line(words []string) {
	check := func(err error) {
		if err != nil {
			s.t.Errorf("%s: %v", strings.Join(words, " "), err)
		}
	}
	ctx := s.t.Context()
	switch rest := words[1:]; words[0] {
	case "join":
		s.joinAs(rest)
	case "show":
		s.page.Update(func(main *actortest.Frame) { main.Body = s.buttons(rest) })
	case "stall":
		s.readers[rest[0]].stall()
	case "wake":
		s.readers[rest[0]].wake()
	case "leave":
		s.readers[rest[0]].vanish()
	case "resume":
		s.resume(rest)
	case "route":
		s.page.PushState(shopURL + strings.TrimPrefix(rest[0], "/"))
	case "goto":
		s.goTo(rest)
	case "dialog":
		s.page.OpenDialog(driver.Dialog{Type: "alert", Message: strings.Join(rest, " ")})
	case "answer":
		_, err := s.tab.AnswerDialog(ctx, driver.DialogAnswer{Accept: true})
		check(err)
	case "crash":
		s.page.Crash("oom")
	case "reload":
		_, err := s.tab.Reload(ctx, actor.WaitLoad)
		check(err)
	case "wait":
		n, err := strconv.Atoi(rest[0])
		check(err)
		time.Sleep(time.Duration(n) * time.Second)
	case "close":
		check(s.pool.CloseTab(ctx, s.tab.ID()))
	default:
		s.t.Errorf("there is no step %q", words[0])
	}
}

func (s *script) goTo(words []string) {
	url := shopURL + strings.TrimPrefix(words[0], "/")
	s.nodes = map[string]*actortest.Node{}
	s.browser.Serve(url, func() actortest.Screen {
		return actortest.Screen{Title: words[0], Body: s.buttons(words[1:])}
	})
	if _, err := s.tab.Navigate(s.t.Context(), url, actor.WaitLoad); err != nil {
		s.t.Error(err)
	}
}

func (s *script) joinAs(words []string) {
	j := joining{name: words[0], view: strings.Join(words, " "), pace: streamcheck.Stalling}
	request := new(domtapv1.WatchDomRequest)
	for _, word := range words[1:] {
		option, value, _ := strings.Cut(word, "=")
		n, _ := strconv.Atoi(value)
		switch option {
		case "max":
			request.MaxElements = proto.Int32(int32(n))
		case "every":
			j.minInterval = time.Duration(n) * time.Second
		case "omit":
			j.omitInitial = true
		default:
			s.t.Errorf("there is no option %q", option)
		}
	}
	s.view(j.view, request)
	s.readers[j.name] = s.join(j)
}

// resume lets a reader resume from the last state that it received.
func (s *script) resume(words []string) {
	old := s.readers[words[0]]
	known := old.known()
	from := known[len(known)-1]
	name := words[len(words)-1]
	s.readers[name] = s.join(joining{name: name, view: old.View, pace: streamcheck.Stalling, from: &from})
}
