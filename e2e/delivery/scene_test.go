package delivery

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/testenv"
)

//go:embed scene.html
var page string

// event is an event that the page received.
type event struct {
	Seq   int    `json:"seq"`
	Type  string `json:"type"`
	UID   int    `json:"uid"`
	Value string `json:"value"`
	// Over holds the controls below the pointer at a release.
	Over []int `json:"over"`
	identity
}

// identity identifies a control for a reader of the page: its name, and the record of its row.
type identity struct {
	Name   string `json:"name"`
	Record string `json:"record"`
}

// change is an identity that a control assumes.
type change struct {
	Seq  int    `json:"seq"`
	UID  int    `json:"uid"`
	Kind string `json:"kind"`
	identity
}

// record holds what the page recorded during a step.
type record struct {
	Seq     int      `json:"seq"`
	Events  []event  `json:"events"`
	Changes []change `json:"changes"`
}

// scene is one page in a tab, with the known state.
type scene struct {
	t   *testing.T
	d   *testenv.Daemon
	tab string
	// at is the expression for the test API of the page.
	at string
	// histories maps the number of each control to its identities over time.
	histories map[int][]change
	kinds     map[int]string
	// known holds the controls as the caller read them last.
	known []known
	// told is the interval in which the caller's last read took place.
	told [2]int
}

// known is a control with its ref.
type known struct {
	uid  int
	kind string
	ref  uint32
}

// variants lists the addresses of the scene's variants.
var variants = []string{"/", "/?in=shadow", "/frame"}

// serveScenes serves all variants of the scene.
func serveScenes(t *testing.T) string {
	return testenv.Pages(t, map[string]http.HandlerFunc{
		"/":      testenv.HTML(page),
		"/frame": testenv.HTML(`<!doctype html><title>Frame</title><body style="margin:8px"><button>Outer</button><iframe src="/" style="width:1000px;height:500px"></iframe>`),
	})
}

// show opens a scene in the tab.
func (s *scene) show(url string) {
	s.t.Helper()
	if _, err := s.d.Tabs.Navigate(s.t.Context(), &domtapv1.NavigateRequest{TabId: s.tab, Url: url}); err != nil {
		s.t.Fatal(err)
	}
	s.at = "scene"
	if strings.HasSuffix(url, "/frame") {
		s.at = "frames[0].scene"
	}
	s.histories, s.kinds = map[int][]change{}, map[int]string{}
	s.end()
	s.read()
}

// eval calls the test API of the page.
func (s *scene) eval(format string, args ...any) string {
	s.t.Helper()
	for i, arg := range args {
		text, err := json.Marshal(arg)
		if err != nil {
			s.t.Fatal(err)
		}
		args[i] = string(text)
	}
	var out struct {
		Result struct {
			Value string `json:"value"`
		} `json:"result"`
		Exception any `json:"exceptionDetails"`
	}
	expression := "String(" + s.at + fmt.Sprintf(format, args...) + ")"
	err := s.d.Browser.Newest().Call(s.t.Context(), "Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true}, &out)
	if err != nil || out.Exception != nil {
		s.t.Fatalf("%s: %v %v", expression, err, out.Exception)
	}
	return out.Result.Value
}

// number evaluates an expression that returns a number.
func (s *scene) number(format string, args ...any) int {
	s.t.Helper()
	n, err := strconv.Atoi(s.eval(format, args...))
	if err != nil {
		s.t.Fatal(err)
	}
	return n
}

// end ends a plan and returns what the page recorded.
func (s *scene) end() record {
	s.t.Helper()
	var r record
	if err := json.Unmarshal([]byte(s.eval(".end()")), &r); err != nil {
		s.t.Fatal(err)
	}
	for _, c := range r.Changes {
		s.histories[c.UID] = append(s.histories[c.UID], c)
		s.kinds[c.UID] = c.Kind
	}
	return r
}

// read reads the page as a client does.
func (s *scene) read() {
	s.t.Helper()
	from := s.end().Seq
	r, err := s.d.Dom.GetDom(s.t.Context(), &domtapv1.GetDomRequest{TabId: s.tab, ClientId: client, IncludeAttributes: []string{"data-uid", "data-kind"}})
	if err != nil {
		s.t.Fatal(err)
	}
	s.known = nil
	for _, e := range r.GetElements() {
		uid, err := strconv.Atoi(e.GetAttributes()["data-uid"])
		if err == nil && e.GetAttributes()["data-kind"] != "cover" {
			s.known = append(s.known, known{uid, e.GetAttributes()["data-kind"], e.GetRef()})
		}
	}
	if len(s.known) == 0 {
		s.t.Fatalf("no control in what was read: %v", r.GetElements())
	}
	s.told = [2]int{from, s.end().Seq}
}

// wasTold returns the identities of a control during the caller's last read.
func (s *scene) wasTold(uid int) []identity {
	var out []identity
	for _, c := range s.histories[uid] {
		if c.Seq <= s.told[0] {
			out = []identity{c.identity} // its identity at the start of the read
		} else if c.Seq <= s.told[1] {
			out = append(out, c.identity)
		}
	}
	return out
}

// of returns the events of some types on one control.
func (r record) of(uid int, types ...string) []event {
	var out []event
	for _, e := range r.Events {
		if e.UID == uid && slices.Contains(types, e.Type) {
			out = append(out, e)
		}
	}
	return out
}

// touches returns the events that affect a control, from first to last. Moves and releases do not count.
func (r record) touches() []event {
	return slices.DeleteFunc(slices.Clone(r.Events), func(e event) bool {
		return e.UID == 0 || slices.Contains([]string{"pointerup", "mouseup", "mouseover", "mousemove"}, e.Type)
	})
}

// String lists the events.
func (r record) String() string {
	var b strings.Builder
	for _, e := range r.Events {
		fmt.Fprintf(&b, " %s:%d", e.Type, e.UID)
		if e.Name+e.Record != "" {
			fmt.Fprintf(&b, "(%s %s)", e.Name, e.Record)
		}
		if e.Value != "" {
			fmt.Fprintf(&b, "=%q", e.Value)
		}
	}
	return b.String()
}
