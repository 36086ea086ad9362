package actor_test

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/actor/actortest"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/actor/tabpool"
	"github.com/domtap/domtap/actor/turn"
	"github.com/domtap/domtap/dom"
	"github.com/domtap/domtap/internal/golden"
)

// TestTranscripts runs the scripts in testdata/transcripts and compares the results. A script has one command per line. The events of one
// line, separated by ";", are in the tab's queue together:
//
//	open [restore]                  a tab that shows the shop, of the buttons Pay and Email and the link Help
//	navigate URL | read | watch | click N | answer accept|dismiss     a call on the tab
//	patched DOCUMENT URL TITLE BUTTON, committed|same DOCUMENT URL, titled TITLE, loaded DOCUMENT PHASE,
//	crashed REASON                  events of the page
//	dialog TYPE MESSAGE             the page opens a dialog
//	add NAME                        the page adds a button
//	crash REASON | hang | resume    what becomes of the renderer
//	break | mend                    the browser process ends, and runs again
//	wait DURATION                   time passes
//
// After each line the transcript has the calls that the page received, the tab's events with the head that each was published with, the
// results of calls, and the head if it has changed.
func TestTranscripts(t *testing.T) {
	golden.Run(t, "testdata/transcripts/*.txtar", 5, func(t *testing.T, script string) (got string) {
		synctest.Test(t, func(t *testing.T) { got = play(t, script) })
		return got
	})
}

// player runs a script.
type player struct {
	t       *testing.T
	browser *actortest.Browser
	pool    *tabpool.Pool
	tab     *actor.Tab
	watch   *tabpool.Watch
	results chan string
	head    *actor.Head
	out     strings.Builder
}

func play(t *testing.T, script string) string {
	b := actortest.NewBrowser()
	serveScreens(b)
	pool := newPool(t, b, tabpool.Config{})
	p := &player{t: t, browser: b, pool: pool, watch: pool.Watch(), results: make(chan string, 16)}
	defer p.watch.Stop()
	for line := range strings.Lines(script) {
		line = strings.TrimSpace(line)
		fmt.Fprintf(&p.out, "> %s\n", line)
		for one := range strings.SplitSeq(line, "; ") {
			p.run(strings.Fields(one))
		}
		synctest.Wait()
		p.report()
	}
	return p.out.String()
}

// serveScreens serves the pages that scripts name.
func serveScreens(b *actortest.Browser) {
	shop(b)
	b.Serve(home+"asks", func() actortest.Screen {
		return actortest.Screen{Title: "Asks", Opens: &driver.Dialog{Type: "confirm", Message: "Sure?"}}
	})
	b.Serve(home+"stalls", func() actortest.Screen { return actortest.Screen{Title: "Stalls", Stall: true} })
}

// page returns the page that was opened last.
func (p *player) page() *actortest.Page {
	last := p.browser.Page(0)
	for i := 1; p.browser.Page(i) != nil; i++ {
		last = p.browser.Page(i)
	}
	return last
}

// call runs a call on the tab concurrently with the script. Its result is added to the transcript when it is available.
func (p *player) call(name string, work func(ctx context.Context) (string, error)) {
	ctx := p.t.Context()
	go func() {
		said, err := work(ctx)
		if err != nil {
			said = "error: " + err.Error()
		}
		p.results <- strings.TrimSpace(name + ": " + said)
	}()
}

func (p *player) run(words []string) {
	arg := func(i int) string { return words[min(i, len(words)-1)] }
	rest := strings.Join(words[1:], " ")
	switch words[0] {
	case "open":
		p.call("open", func(ctx context.Context) (string, error) {
			tab, err := p.pool.Open(ctx, tabpool.OpenOptions{URL: home, Restore: rest == "restore"})
			p.tab = tab
			return "ok", err
		})
	case "navigate", "read", "watch", "click", "answer":
		p.onTab(words[0], rest)
	case "patched":
		none := dom.Place{Ref: dom.NoRef, New: -1}
		op := dom.Op{Kind: dom.OpAdd, After: none, Parent: none, Element: dom.Element{Role: "button", Text: arg(4)}}
		patch := dom.Patch{Document: arg(1), Sequence: 1, Full: true, URL: arg(2), Title: arg(3), Ops: []dom.Op{op}}
		p.page().Emit(driver.Patched{Patch: patch})
	case "committed", "same":
		p.page().Emit(driver.Committed{Document: arg(1), URL: arg(2), Same: words[0] == "same"})
	case "titled":
		p.page().Emit(driver.TitleChanged{Title: rest})
	case "loaded":
		phase, err := strconv.Atoi(arg(2))
		if err != nil {
			p.t.Fatal(err)
		}
		p.page().Emit(driver.Loaded{Document: arg(1), Phase: driver.Phase(phase)})
	case "crashed":
		p.page().Emit(driver.Crashed{Reason: rest})
	case "wait":
		d, err := time.ParseDuration(rest)
		if err != nil {
			p.t.Fatal(err)
		}
		time.Sleep(d)
	default:
		p.change(words[0], rest)
	}
}

// onTab calls the tab.
func (p *player) onTab(name, rest string) {
	p.call(name, func(ctx context.Context) (string, error) {
		switch name {
		case "navigate":
			info, err := p.tab.Navigate(ctx, rest, actor.WaitLoad)
			return info.URL, err
		case "read":
			r, err := p.tab.Read(ctx, actor.ReadOptions{})
			if err != nil {
				return "", err
			}
			return texts(r.Head.Snapshot), nil
		case "watch":
			_, err := p.tab.Watch(ctx, actor.WatchOptions{})
			return "ok", err
		case "answer":
			d, err := p.tab.AnswerDialog(ctx, driver.DialogAnswer{Accept: rest == "accept"})
			return d.Answer.String(), err
		}
		ref, err := strconv.Atoi(rest)
		if err != nil {
			return "", err
		}
		out, err := turn.Run(ctx, p.tab, turn.Turn{Steps: []turn.Step{{Action: driver.Action{Kind: driver.Click, Location: driver.At(dom.Ref(ref))}}}})
		if err != nil {
			return "", err
		}
		return out.Results[0].Summary, nil
	})
}

// change changes the page or the browser.
func (p *player) change(name, rest string) {
	switch name {
	case "dialog":
		kind, message, _ := strings.Cut(rest, " ")
		p.page().OpenDialog(driver.Dialog{Type: kind, Message: message})
	case "add":
		p.page().Update(add(actortest.Button(rest)))
	case "crash":
		p.page().Crash(rest)
	case "hang":
		p.page().Hang()
	case "resume":
		p.page().Resume()
	case "break":
		p.browser.Break()
	case "mend":
		p.browser.Restart()
	default:
		p.t.Fatalf("unknown command %q", name)
	}
}

// report writes what happened since the last report.
func (p *player) report() {
	for i := 0; p.browser.Page(i) != nil; i++ {
		if calls := p.browser.Page(i).Trace(); len(calls) > 0 {
			fmt.Fprintf(&p.out, "page %d: %s\n", i+1, strings.Join(calls, " "))
		}
	}
	p.events()
	for len(p.results) > 0 {
		fmt.Fprintln(&p.out, <-p.results)
	}
	if p.tab == nil || p.tab.Head() == p.head {
		return
	}
	p.head = p.tab.Head()
	fmt.Fprintf(&p.out, "head: %s, title %q: %s\n", brief(p.head.Info), p.head.Info.Title, texts(p.head.Snapshot))
}

// events writes the events of the tab.
func (p *player) events() {
	names := map[actor.TabEventKind]string{
		actor.TabOpened: "opened", actor.TabClosed: "closed", actor.TabNavigated: "navigated", actor.TabCrashed: "crashed",
		actor.TabDialog: "dialog", actor.TabRestoring: "restoring", actor.TabRestored: "restored",
	}
	over, cancel := context.WithCancel(p.t.Context())
	cancel()
	for {
		e, err := p.watch.Next(over)
		if err != nil {
			return
		}
		fmt.Fprintf(&p.out, "event: %s (%s)", names[e.Kind], brief(e.Info))
		if e.Reason != "" {
			fmt.Fprintf(&p.out, " because %s", e.Reason)
		}
		fmt.Fprintln(&p.out)
	}
}

// brief formats a tab in a few words.
func brief(i actor.Info) string {
	s := fmt.Sprintf("revision %d %s %s", i.Revision, i.Status, i.URL)
	if i.Dialog != nil {
		s += fmt.Sprintf(", %s %d %q is open", i.Dialog.Type, i.Dialog.ID, i.Dialog.Message)
	}
	return s
}
