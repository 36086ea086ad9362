package acting

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/testenv"
)

// hanging is a page that hangs in an event handler or some time after it, as the fragment of its URL specifies. It hangs in a synchronous
// request to a server that does not answer, and thus uses no CPU.
const hanging = `<title>Hanging</title><body style="margin:0"><button>Press</button><input placeholder="Text"><input type=checkbox name=tick>
<select name=pick><option>one<option>two</select><div role=button tabindex=0 id=box style="width:50px;height:50px;background:red">Box</div>
<form onsubmit="return false"><label>Name <input name=name></label><button>Send</button></form>
<script>
const [event, after] = location.hash.slice(1).split("/")
const hang = () => { const ask = new XMLHttpRequest; ask.open("GET", "/never", false); ask.send(); document.title = "Back" }
const begin = (e) => {
	if (event === "carry" && e.buttons !== 1) return
	if (after === "now") return hang()
	setInterval(() => document.title += "!", 4) // it does not come to rest before
	setTimeout(hang, +after)
	removeEventListener(event, begin)
}
addEventListener(event === "carry" ? "mousemove" : event, begin)
</script>`

// hangs serves pages that hang until the test ends.
type hangs struct {
	t       *testing.T
	d       *testenv.Daemon
	sites   int
	never   chan struct{}
	tries   []func()
	release func()
}

func newHangs(t *testing.T) *hangs {
	t.Helper()
	h := &hangs{t: t, d: testenv.StartDaemon(t, "site-per-process", "host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.*"), never: make(chan struct{})}
	h.release = sync.OnceFunc(func() { close(h.never) })
	t.Cleanup(h.release)
	return h
}

// open opens a page that hangs the given time after an event. Each page has its own site, so that no two pages share a renderer.
func (h *hangs) open(event, after string) *stage {
	h.t.Helper()
	return &stage{t: h.t, d: h.d, tab: h.d.Open(h.serve(html(hanging)) + "/#" + event + "/" + after)}
}

// serve serves a page on its own site.
func (h *hangs) serve(page http.HandlerFunc) string {
	h.t.Helper()
	h.sites++
	listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.%d:0", h.sites+1))
	if err != nil {
		h.t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/{$}", page)
	mux.HandleFunc("/never", func(http.ResponseWriter, *http.Request) { <-h.never })
	server := httptest.NewUnstartedServer(mux)
	_ = server.Listener.Close()
	server.Listener = listener
	server.Start()
	h.t.Cleanup(func() {
		h.release()
		server.Close()
	})
	return server.URL
}

// try schedules a function to run later, concurrently with the others.
func (h *hangs) try(one func()) { h.tries = append(h.tries, one) }

// longBefore limits the time of an answer about a hanging page. It is far below the 30 s after which a call times out. An idle machine
// takes 2.3 s.
const longBefore = 20 * time.Second

// answered performs an action at which a page hangs. It checks that the answer comes long before the deadline of the call and contains the
// tab's status, and returns the result.
func (s *stage) answered(name string, act func() (*domtapv1.StepResult, *domtapv1.Tab, error)) *domtapv1.StepResult {
	begin := time.Now()
	result, tab, err := act()
	if err != nil {
		s.t.Errorf("%s: %v", name, err)
	}
	if took := time.Since(begin); took > longBefore {
		s.t.Errorf("%s: it took %v", name, took)
	}
	if status := tab.GetStatus(); status != domtapv1.TabStatus_TAB_STATUS_UNRESPONSIVE {
		s.t.Errorf("%s: the answer has the status %v: %v", name, status, result)
	}
	now, err := s.d.Tabs.GetTab(s.t.Context(), &domtapv1.GetTabRequest{TabId: s.tab})
	if err != nil || now.GetTab().GetStatus() != domtapv1.TabStatus_TAB_STATUS_UNRESPONSIVE {
		s.t.Errorf("%s: GetTab: %v, %v", name, now, err)
	}
	return result
}

func (s *stage) interact(steps ...*domtapv1.Step) func() (*domtapv1.StepResult, *domtapv1.Tab, error) {
	return func() (*domtapv1.StepResult, *domtapv1.Tab, error) {
		r, err := s.d.Actions.Interact(s.t.Context(), &domtapv1.InteractRequest{TabId: s.tab, Steps: steps})
		if err != nil {
			return nil, nil, err
		}
		return r.GetResults()[0], r.GetTab(), nil
	}
}

// TestPagesThatHangByAnAction lets pages hang before, in and after the handlers of an action. Results must report what was received before
// the page hung, and must not claim what was not observed. Half of the actions and moments run only in make test-long.
func TestPagesThatHangByAnAction(t *testing.T) {
	h := newHangs(t)
	h.afterClicks()
	h.during()
	h.after()
	h.inFrames()
	var all sync.WaitGroup
	for _, try := range h.tries { // independent of the number of processors, because they mostly wait
		all.Go(try)
	}
	all.Wait()
}

// afterClicks lets pages hang in the handler of a click and up to 50 ms after it.
func (h *hangs) afterClicks() {
	moments := []string{"now", "5", "50"}
	if testenv.Long() {
		moments = append(moments, "0", "1", "20")
	}
	for _, after := range moments {
		s := h.open("click", after)
		act := s.interact(click(s.at("Press")))
		h.try(func() {
			r := s.answered("click, "+after, act)
			if !r.GetOk() || r.GetDelivered() != domtapv1.Delivered_DELIVERED_ALL || !strings.HasSuffix(r.GetSummary(), ": ok, but then the page stopped answering") {
				h.t.Errorf("%v", r)
			}
		})
	}
}

// during lets pages hang in handlers of other events, before domtap knows what was received.
func (h *hangs) during() {
	for name, act := range map[string]struct {
		event string
		step  func(*stage) *domtapv1.Step
	}{
		"before the press": {"mouseover", func(s *stage) *domtapv1.Step { return click(s.at("Press")) }},
		"by the press":     {"mousedown", func(s *stage) *domtapv1.Step { return click(s.at("Press")) }},
		"while dragging":   {"carry", func(s *stage) *domtapv1.Step { return drag(s.at("Box"), nil, 60, 60) }},
		"drag":             {"mousedown", func(s *stage) *domtapv1.Step { return drag(s.at("Box"), nil, 60, 60) }},
		"fill":             {"input", func(s *stage) *domtapv1.Step { return fill(s.at("Text"), "abc") }},
		"type":             {"keydown", func(s *stage) *domtapv1.Step { return typing(s.at("Text"), "abc") }},
		"press":            {"keydown", func(s *stage) *domtapv1.Step { return key(s.at("Text"), "Enter", 1) }},
		"select":           {"change", func(s *stage) *domtapv1.Step { return selecting(s.at("pick"), "two") }},
		"hover":            {"mouseover", func(s *stage) *domtapv1.Step { return hover(s.at("Press")) }},
	} {
		if slices.Contains([]string{"drag", "fill", "press", "hover"}, name) && !testenv.Long() {
			continue
		}
		s := h.open(act.event, "now")
		act := s.interact(act.step(s))
		h.try(func() {
			r := s.answered(name, act)
			if r.GetOk() || r.GetReason() != "PAGE_UNRESPONSIVE" || r.GetDelivered() == domtapv1.Delivered_DELIVERED_ALL {
				h.t.Errorf("%v", r)
			}
		})
	}
}

// after lets pages hang shortly after each kind of action.
func (h *hangs) after() {
	for name, act := range map[string]struct {
		event string
		step  func(*stage) *domtapv1.Step
	}{
		"check":  {"change", func(s *stage) *domtapv1.Step { return check(s.at("tick")) }},
		"fill":   {"input", func(s *stage) *domtapv1.Step { return fill(s.at("Text"), "abc") }},
		"type":   {"keydown", func(s *stage) *domtapv1.Step { return typing(s.at("Text"), "a") }},
		"press":  {"keydown", func(s *stage) *domtapv1.Step { return key(s.at("Text"), "Enter", 1) }},
		"select": {"change", func(s *stage) *domtapv1.Step { return selecting(s.at("pick"), "two") }},
		"drag":   {"mouseup", func(s *stage) *domtapv1.Step { return drag(s.at("Box"), nil, 60, 60) }},
		"hover":  {"mouseover", func(s *stage) *domtapv1.Step { return hover(s.at("Press")) }},
	} {
		if slices.Contains([]string{"check", "type", "select"}, name) && !testenv.Long() {
			continue
		}
		s := h.open(act.event, "30")
		act := s.interact(act.step(s))
		h.try(func() {
			checkReported(s.t, name, s.answered(name, act))
		})
	}
	s := h.open("input", "30")
	h.try(func() {
		checkReported(s.t, "form", s.answered("form", func() (*domtapv1.StepResult, *domtapv1.Tab, error) {
			r, err := s.d.Actions.FillForm(s.t.Context(), &domtapv1.FillFormRequest{
				TabId: s.tab, Fields: []*domtapv1.FormField{{Label: "Name", Value: "Ada"}}, Submit: true,
			})
			if err != nil {
				return nil, nil, err
			}
			if last := r.GetResults()[len(r.GetResults())-1]; last.GetOk() {
				s.t.Errorf("the form was sent: %v", last)
			}
			return r.GetResults()[0], r.GetTab(), nil
		}))
	})
}

// inFrames lets frames of other processes hang while the outer page keeps running.
func (h *hangs) inFrames() {
	for event, ok := range map[string]bool{"click": true, "mousedown": false} {
		inner := h.serve(html(hanging)) + "/#" + event + "/now"
		s := &stage{t: h.t, d: h.d, tab: h.d.Open(h.serve(html(`<button>Top</button><iframe width=500 height=400 src="` + inner + `"></iframe>`)))}
		act := s.interact(click(s.at("Press")))
		h.try(func() {
			begin := time.Now()
			r, _, err := act()
			if err != nil || r.GetOk() != ok || !strings.Contains(r.GetSummary()+r.GetError(), "frame") || !ok && r.GetReason() != "PAGE_UNRESPONSIVE" {
				s.t.Errorf("%s in a frame: %v, %v", event, r, err)
			}
			if took := time.Since(begin); took > longBefore {
				s.t.Errorf("%s in a frame: it took %v", event, took)
			}
			if top, err := s.try(s.t.Context(), click(s.at("Top"))); err != nil || !top.GetOk() {
				s.t.Errorf("the page around the frame: %v, %v", top, err)
			}
		})
	}
}

// checkReported checks that a result reports only what was observed before the page stopped answering, or that the outcome is unknown.
func checkReported(t *testing.T, name string, r *domtapv1.StepResult) {
	then := strings.Contains(r.GetSummary(), ", but then the page stopped answering")
	unknown := r.GetReason() == "PAGE_UNRESPONSIVE" && r.GetDelivered() != domtapv1.Delivered_DELIVERED_ALL
	if r.GetOk() != then || r.GetOk() == unknown {
		t.Errorf("%s: %v", name, r)
	}
}
