package server

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
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
	"github.com/domtap/domtap/internal/streamcheck"
)

// schedule is a sequence of random events on a stage.
type schedule struct {
	*stage
	random *rand.Rand
	// burst counts the bursts. It is the number shown by the pair.
	burst int
	fresh int
}

// acts lists the possible events and their weights.
var acts = []struct {
	weight int
	act    func(*schedule)
}{
	{30, (*schedule).change}, {6, (*schedule).rush}, {4, (*schedule).rewrite}, {5, (*schedule).scroll},
	{3, (*schedule).title}, {4, (*schedule).route}, {3, (*schedule).travel}, {2, (*schedule).script},
	{2, (*schedule).crash}, {2, (*schedule).reload}, {3, (*schedule).dialog}, {2, (*schedule).hang}, {3, (*schedule).frame},
	{5, (*schedule).sleep}, {6, (*schedule).getDom},
	{12, (*schedule).joins}, {8, (*schedule).comesBack}, {5, (*schedule).leaves}, {6, (*schedule).stalls}, {5, (*schedule).wakes},
}

// pageCount is the number of URLs that the schedule navigates between.
const pageCount = 4

func pageOf(n int) string { return fmt.Sprint(shopURL, n) }

// routeOf returns a URL that pages switch to within their document.
func routeOf(n int) string { return fmt.Sprint(shopURL, "route/", n) }

// play runs a schedule to its end and returns the recorded history.
func play(t *testing.T, seed uint64, steps, log int) *streamcheck.History {
	var h *streamcheck.History
	synctest.Test(t, func(t *testing.T) {
		b := newBenchWith(t, Config{}, "unix", tabpool.Config{LogCount: log})
		defer b.close()
		s := &schedule{random: rand.New(rand.NewPCG(seed, 7))}
		for n := range pageCount {
			show := func() actortest.Screen {
				return actortest.Screen{Title: fmt.Sprint("Page ", n), Body: s.body(n)}
			}
			b.browser.Serve(pageOf(n), show)
			b.browser.Serve(routeOf(n), show)
		}
		tab, page := b.open(pageOf(0))
		s.stage = newStage(t, b, tab.GetId(), page)
		s.selections()
		for range 4 {
			s.joins()
		}
		for range steps {
			s.any()
			if s.random.IntN(4) > 0 {
				s.settle()
			}
		}
		s.rest()
		s.finale()
		s.finish()
		h = s.history(log)
	})
	return h
}

// selections defines the views that readers choose from.
func (s *schedule) selections() {
	s.view("all", &domtapv1.WatchDomRequest{})
	s.view("full", &domtapv1.WatchDomRequest{FullSnapshot: true})
	s.view("viewport", &domtapv1.WatchDomRequest{ViewportOnly: true})
	s.view("seven elements", &domtapv1.WatchDomRequest{MaxElements: proto.Int32(7)})
	s.view("300 tokens", &domtapv1.WatchDomRequest{MaxTokens: proto.Int32(300), MaxElements: proto.Int32(0)})
	s.view("structure", &domtapv1.WatchDomRequest{InteractiveOnly: proto.Bool(false), MaxElements: proto.Int32(20)})
	s.view("the frame", &domtapv1.WatchDomRequest{FrameId: "f"})
}

// body returns the nodes of a page. The first and the last are the pair.
func (s *schedule) body(n int) []*actortest.Node {
	out := []*actortest.Node{at(actortest.Button(fmt.Sprint("L ", s.burst)), 0, 0, 10, 10)}
	out = append(out, actortest.El("form", "form", "Form", actortest.Textbox("Name", ""), actortest.Button("Send")))
	for i := range 6 + 10*n {
		out = append(out, s.node(fmt.Sprintf("Page %d, element %d", n, i)))
	}
	return append(out, at(actortest.Button(fmt.Sprint("R ", s.burst)), 0, 20, 10, 10))
}

// node returns a node somewhere on three screens.
func (s *schedule) node(text string) *actortest.Node {
	n := actortest.Button(text)
	switch s.random.IntN(4) {
	case 0:
		n = actortest.Link(text, pageOf(s.random.IntN(pageCount)))
	case 1:
		n = actortest.Textbox(text, "")
	case 2:
		n = actortest.Heading(1+s.random.IntN(3), text)
	}
	return at(n, 0, float64(s.random.IntN(2400)), 100, 10)
}

func (s *schedule) any() {
	sum := 0
	for _, a := range acts {
		sum += a.weight
	}
	n := s.random.IntN(sum)
	for _, a := range acts {
		if n -= a.weight; n < 0 {
			a.act(s)
			return
		}
	}
}

// change performs one burst: some random changes, and a change of both nodes of the pair, in one task of the page.
func (s *schedule) change() {
	s.burst++
	s.page.Update(func(main *actortest.Frame) {
		for range 1 + s.random.IntN(5) {
			s.mutate(main)
		}
		if n := len(main.Body); n > 1 {
			main.Body[0].Text, main.Body[n-1].Text = fmt.Sprint("L ", s.burst), fmt.Sprint("R ", s.burst)
		}
	})
}

// mutate makes a random change between the two nodes of the pair.
func (s *schedule) mutate(main *actortest.Frame) {
	if len(main.Body) < 3 {
		return
	}
	inner := slices.Clone(main.Body[1 : len(main.Body)-1])
	i, j := s.random.IntN(len(inner)), s.random.IntN(len(inner))
	s.fresh++
	switch s.random.IntN(8) {
	case 0, 1:
		inner = slices.Insert(inner, i, s.node(fmt.Sprint("New ", s.fresh)))
	case 2:
		if len(inner) > 4 {
			inner = slices.Delete(inner, i, i+1)
		}
	case 3:
		inner[i], inner[j] = inner[j], inner[i]
	case 4:
		inner[i].Text = fmt.Sprint("Text ", s.fresh)
	case 5:
		inner[i].Value = fmt.Sprint("Value ", s.fresh)
	case 6:
		inner[i].Off = !inner[i].Off
	case 7:
		inner[i].States.Disabled = dom.Tri(1 + s.random.IntN(2))
		inner[i].Box.Y = float64(s.random.IntN(2400))
	}
	main.Body = slices.Concat(main.Body[:1], inner, main.Body[len(main.Body)-1:])
}

// rush performs many bursts without pauses.
func (s *schedule) rush() {
	for range 5 + s.random.IntN(30) {
		s.change()
	}
}

// rewrite replaces the page within the same document.
func (s *schedule) rewrite() {
	s.burst++
	n := s.random.IntN(pageCount)
	s.page.Update(func(main *actortest.Frame) { main.Body = s.body(n) })
}

func (s *schedule) scroll() {
	y := float64(s.random.IntN(2400))
	s.page.Update(func(main *actortest.Frame) { main.Scroll.Y = y })
}

func (s *schedule) title() { s.page.SetTitle(fmt.Sprint("Title ", s.random.IntN(100))) }

// route changes the URL within the document.
func (s *schedule) route() { s.page.PushState(routeOf(s.random.IntN(pageCount))) }

// try makes a call that may fail at this time and does not take long.
func (s *schedule) try(call func(ctx context.Context) error) {
	ctx, cancel := context.WithTimeout(s.t.Context(), 2*time.Second)
	defer cancel()
	_ = call(ctx)
}

func (s *schedule) travel() {
	s.try(func(ctx context.Context) error {
		_, err := s.tab.Navigate(ctx, pageOf(s.random.IntN(pageCount)), actor.WaitLoad)
		return err
	})
}

func (s *schedule) reload() {
	s.try(func(ctx context.Context) error { _, err := s.tab.Reload(ctx, actor.WaitLoad); return err })
}

// script lets the page navigate by itself.
func (s *schedule) script() { s.page.Go(pageOf(s.random.IntN(pageCount))) }

func (s *schedule) crash() {
	s.page.Crash("oom")
	if s.random.IntN(2) == 0 {
		s.settle()
		s.reload()
	}
}

func (s *schedule) dialog() {
	if s.tab.Info().Dialog != nil {
		s.try(func(ctx context.Context) error {
			_, err := s.tab.AnswerDialog(ctx, driver.DialogAnswer{Accept: true})
			return err
		})
		return
	}
	if s.tab.Info().Status == actor.StatusReady {
		s.page.OpenDialog(driver.Dialog{Type: "alert", Message: "Hello"})
		s.settle()
	}
}

func (s *schedule) hang() {
	s.page.Hang()
	s.change()
	s.settle()
	time.Sleep(time.Duration(s.random.IntN(3000)) * time.Millisecond)
	s.page.Resume()
}

// frame adds, changes or removes a frame.
func (s *schedule) frame() {
	s.page.Update(func(main *actortest.Frame) {
		if len(main.Body) < 3 {
			return
		}
		if host := main.Body[1]; host.Holds != nil {
			if s.random.IntN(2) == 0 {
				main.Body = slices.Delete(slices.Clone(main.Body), 1, 2)
				return
			}
			host.Holds.Body = append(host.Holds.Body, actortest.Button(fmt.Sprint("In the frame ", len(host.Holds.Body))))
			return
		}
		f := &actortest.Frame{ID: "f", URL: shopURL + "frame", Body: buttons("Frame", 2)}
		main.Body = slices.Insert(slices.Clone(main.Body), 1, actortest.Iframe("Frame", f))
	})
}

func (s *schedule) sleep() { time.Sleep(time.Duration(s.random.IntN(20000)) * time.Millisecond) }

func (s *schedule) getDom() { s.ask(s.anyView()) }

// anyView returns a random view: one of the permanent views, or the subtree of a form.
func (s *schedule) anyView() string {
	names := []string{"all", "full", "viewport", "seven elements", "300 tokens", "structure", "the frame"}
	if n := s.random.IntN(len(names) + 1); n < len(names) {
		return names[n]
	}
	for e := range s.tab.Head().Snapshot.Elements.All() {
		if e.Tag == "form" {
			name := fmt.Sprint("below ", e.Ref)
			s.view(name, &domtapv1.WatchDomRequest{RootRef: proto.Uint32(uint32(e.Ref))})
			return name
		}
	}
	return "all"
}

// joins adds a reader.
func (s *schedule) joins() {
	j := joining{name: fmt.Sprint("reader ", len(s.readers)+1), view: s.anyView(), wire: s.random.IntN(3) == 0}
	j.pace = streamcheck.Pace(s.random.IntN(3))
	j.omitInitial = s.random.IntN(6) == 0
	if s.random.IntN(4) == 0 {
		j.minInterval = time.Duration(1+s.random.IntN(30)) * time.Second
	}
	s.join(j)
}

// comesBack lets a reader resume from a recent or old state of another reader, which may still be reading.
func (s *schedule) comesBack() {
	known := s.readers[s.random.IntN(len(s.readers))].known()
	if len(known) == 0 {
		return
	}
	from := known[len(known)-1]
	if s.random.IntN(3) == 0 {
		from = known[s.random.IntN(len(known))]
	}
	j := joining{name: fmt.Sprint("reader ", len(s.readers)+1), view: from.view, from: &from, wire: s.random.IntN(3) == 0}
	j.pace = streamcheck.Pace(s.random.IntN(3))
	s.join(j)
}

// one returns a random reader whose stream is open.
func (s *schedule) one(fits func(*reader) bool) *reader {
	var some []*reader
	for _, r := range s.readers {
		if r.alive() && fits(r) {
			some = append(some, r)
		}
	}
	if len(some) == 0 {
		return nil
	}
	return some[s.random.IntN(len(some))]
}

func (s *schedule) leaves() {
	if r := s.one(func(*reader) bool { return true }); r != nil {
		r.vanish()
	}
}

func stalling(r *reader) bool { return r.Pace == streamcheck.Stalling }

func (s *schedule) stalls() {
	if r := s.one(stalling); r != nil {
		r.wake()
		r.stall()
	}
}

func (s *schedule) wakes() {
	if r := s.one(stalling); r != nil {
		r.wake()
	}
}

// finale ends all streams in one of the possible ways.
func (s *schedule) finale() {
	switch s.random.IntN(5) {
	case 0:
		if err := s.pool.CloseTab(s.t.Context(), s.tab.ID()); err != nil {
			s.t.Error(err)
		}
	case 1:
		if err := s.page.Close(s.t.Context()); err != nil {
			s.t.Error(err)
		}
	case 2:
		s.page.Crash("oom")
	case 3:
		s.browser.Die()
	case 4:
		s.stop()
	}
	synctest.Wait()
	s.tabEnds()
}

// tabEnds closes a crashed tab, so that its record ends too.
func (s *schedule) tabEnds() {
	if s.tab.Info().Status == actor.StatusCrashed {
		if err := s.pool.CloseTab(s.t.Context(), s.tab.ID()); err != nil {
			s.t.Error(err)
		}
	}
}
