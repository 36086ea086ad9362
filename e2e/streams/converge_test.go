package streams

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/actor/tabpool"
	"github.com/domtap/domtap/dom"
	"github.com/domtap/domtap/internal/browser"
	"github.com/domtap/domtap/internal/testenv"
)

// driver makes pages/mutator.html perform one random step at a time.
type driver struct {
	next chan string
	did  chan string
}

func newDriver() (*driver, map[string]http.HandlerFunc) {
	d := &driver{next: make(chan string), did: make(chan string)}
	return d, map[string]http.HandlerFunc{
		"/next": func(w http.ResponseWriter, r *http.Request) {
			select {
			case step := <-d.next:
				io.WriteString(w, step)
			case <-r.Context().Done():
			}
		},
		"/did": func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			select {
			case d.did <- string(body):
			case <-r.Context().Done():
			}
		},
	}
}

// openMutator opens pages/mutator.html in a tab of a separate pool.
func openMutator(t *testing.T, b *testenv.Browser) (*driver, *actor.Tab) {
	t.Helper()
	d, handlers := newDriver()
	url := serve(t, handlers) // before the pool, whose tabs are closed first
	tab, err := testenv.StartPool(t, b).Open(t.Context(), tabpool.OpenOptions{URL: url + "/pages/mutator.html"})
	if err != nil {
		t.Fatal(err)
	}
	return d, tab
}

// step lets the page perform one step and returns a description.
func (d *driver) step(t testing.TB, seed int, names ...string) string {
	t.Helper()
	raw, err := json.Marshal(map[string]any{"seed": seed, "names": names})
	if err != nil {
		t.Fatal(err)
	}
	select {
	case d.next <- string(raw):
	case <-t.Context().Done():
		t.Fatal("the page asks for no more steps")
	}
	return <-d.did
}

// line writes an element in the format of browser.Page.Audit.
func line(e *dom.Element) string {
	parent := "^"
	if e.Parent != dom.NoRef {
		parent = fmt.Sprint(e.Parent)
	}
	level := ""
	if e.Level > 0 {
		level = strconv.Itoa(e.Level)
	}
	s := e.States
	bits := 0
	for i, tri := range []dom.Tri{s.Checked, s.Disabled, s.Expanded, s.Selected, s.Pressed, s.Required, s.Readonly, s.Focused, s.Invalid} {
		bits |= int(tri) << (2 * i)
	}
	var attributes []string
	for k, v := range e.Attributes {
		attributes = append(attributes, k+"="+v)
	}
	value := e.Value
	if e.ValueLeft > 0 {
		value += "\x1f" + strconv.Itoa(e.ValueLeft)
	}
	return strings.Join([]string{
		fmt.Sprint(e.Ref), strconv.Itoa(int(e.Kind)), parent, e.Tag, e.Role, e.Text, e.Href, e.Name, e.Type, value, e.Placeholder,
		level, strconv.Itoa(bits), string(e.Child), strings.Join(attributes, "\x1f"), e.Whole, e.Hints, strconv.Itoa(e.Join),
	}, "\t")
}

func lines(elements []*dom.Element) []string {
	out := make([]string, len(elements))
	for i, e := range elements {
		out[i] = line(e)
	}
	return out
}

// audit compares the stored DOM of a page without frames with a fresh walk of its document.
func audit(t testing.TB, p *browser.Page, s *dom.Snapshot) error {
	t.Helper()
	text, err := p.Audit(t.Context(), "")
	if err != nil {
		return err
	}
	var want []string
	if text != "" {
		want = strings.Split(text, "\n")
	}
	return sameLines(lines(s.Elements.Slice()), want)
}

func sameLines(got, want []string) error {
	for i := range max(len(got), len(want)) {
		g, w := "(nothing)", "(nothing)"
		if i < len(got) {
			g = got[i]
		}
		if i < len(want) {
			w = want[i]
		}
		if g != w {
			return fmt.Errorf("element %d of %d/%d\n got %q\nwant %q", i, len(got), len(want), g, w)
		}
	}
	return nil
}

// TestStoredDOMEqualsFreshWalk performs random steps and compares the model that follows mutations with a fresh walk after each step.
func TestStoredDOMEqualsFreshWalk(t *testing.T) {
	t.Parallel()
	b := testenv.StartBrowser(t)
	for _, structural := range []bool{false, true} {
		for _, watched := range []bool{false, true} {
			t.Run(fmt.Sprintf("structural=%v watched=%v", structural, watched), func(t *testing.T) {
				from := testenv.Size(60, 400) // structure is never requested
				if structural {
					from = 0
				}
				storedEqualsFresh(t, b, 0, from, watched, testenv.Size(40, 150))
				storedEqualsFresh(t, b, 0, from, watched, testenv.Size(25, 400), "redraw", "redraw", "add", "retext", "hide", "move", "remove")
			})
		}
	}
}

// TestStructureThatIsAddedLaterEqualsFreshWalk performs the same test, but requests headings, texts and other structure only after some
// steps. The page was not read after these steps, so the request scans only structure.
func TestStructureThatIsAddedLaterEqualsFreshWalk(t *testing.T) {
	t.Parallel()
	b := testenv.StartBrowser(t)
	for _, from := range []int{1, 2, 5, 11, 23} {
		t.Run(fmt.Sprintf("after %d", from), func(t *testing.T) {
			storedEqualsFresh(t, b, 1000*from, from, false, from+3)
		})
	}
}

// TestStructureForContextsEqualsFreshWalk requests contexts at the first read, after some steps. The page then includes structure where
// names are equal, and the model follows the structure.
func TestStructureForContextsEqualsFreshWalk(t *testing.T) {
	t.Parallel()
	b := testenv.StartBrowser(t)
	for _, before := range []int{1, 4, 12, 30} {
		t.Run(fmt.Sprintf("after %d", before), func(t *testing.T) {
			d, tab := openMutator(t, b)
			done := []string{}
			for seed := range before + 6 {
				done = append(done, d.step(t, 7000*before+seed))
				if seed < before-1 {
					continue
				}
				r, err := tab.Read(t.Context(), actor.ReadOptions{Contexts: true, Geometry: seed%2 == 0})
				if err != nil {
					t.Fatal(err)
				}
				if r, err = tab.Read(t.Context(), actor.ReadOptions{}); err != nil {
					t.Fatal(err)
				}
				if err := audit(t, b.Newest(), r.Head.Snapshot); err != nil {
					t.Fatalf("after %v: %v", done, err)
				}
			}
		})
	}
}

// TestStructureIsReadForContexts reads pages for the first time. Pages with equal names must include structure. Pages of several documents
// must also do so, because no document sees the names in the others. The refs of a page with one document must be the same as on a page
// whose structure is read later.
func TestStructureIsReadForContexts(t *testing.T) {
	t.Parallel()
	b := testenv.StartBrowser(t)
	const withFrame, frame = " with a frame", `<iframe srcdoc="<h2>Inside</h2><button>One</button>"></iframe>`
	for name, c := range map[string]struct {
		page       string
		structural bool
	}{
		"unique":             {page: "<h1>Title</h1><button>One</button><button>Two</button><a href=/x>Three</a>"},
		"equal":              {page: "<h1>A</h1><button>Edit</button><h1>B</h1><p>Text</p><button>Edit</button>", structural: true},
		"captions":           {page: "<p>A</p><input><p>B</p><input>"},
		"no names":           {page: "<h1>A</h1><input><h1>B</h1><input>", structural: true},
		"other roles":        {page: "<h1>A</h1><button>Edit</button><a href=/x>Edit</a>"},
		"links to one place": {page: "<h1>A</h1><a href=/x>More</a><p>B</p><a href=/x>More</a>"},
		"links elsewhere":    {page: "<h1>A</h1><a href=/x>More</a><p>B</p><a href=/y>More</a>", structural: true},
		"equal" + withFrame:  {page: "<h1>A</h1><button>Edit</button><h1>B</h1><button>Edit</button>" + frame, structural: true},
		"unique" + withFrame: {page: "<h1>A</h1><button>Two</button>" + frame, structural: true},
		"shadow roots": {page: `<div id=a></div><div id=b></div><script>for (const el of [a, b]) el.attachShadow({mode: "open"}).innerHTML =
			"<h2>" + el.id + "</h2><slot></slot><button>Edit</button>";</script>`, structural: true},
		"proxies": {page: `<fieldset><legend>A</legend><label>Yes<input type=checkbox style="display:none"></label></fieldset>
			<fieldset><legend>B</legend><label>Yes<input type=checkbox style="display:none"></label></fieldset>`, structural: true},
	} {
		t.Run(name, func(t *testing.T) {
			url := serve(t, map[string]http.HandlerFunc{"/page": testenv.HTML("<!doctype html><body>" + c.page)}) + "/page"
			pool := testenv.StartPool(t, b)
			var seen [2][]string
			framed := strings.HasSuffix(name, withFrame)
			for i, first := range []actor.ReadOptions{{Contexts: true, Geometry: true}, {}} {
				tab, err := pool.Open(t.Context(), tabpool.OpenOptions{URL: url})
				if err != nil {
					t.Fatal(err)
				}
				r, err := tab.Read(t.Context(), first)
				if err != nil {
					t.Fatal(err)
				}
				if want := i == 0 && c.structural; r.Structural != want {
					t.Errorf("structure was read: %v, want %v", r.Structural, want)
				}
				if i == 0 && c.structural != slices.ContainsFunc(r.Head.Snapshot.Elements.Slice(), func(e *dom.Element) bool { return e.Kind == dom.Structural }) {
					t.Errorf("the page has %q", lines(r.Head.Snapshot.Elements.Slice()))
				}
				if r, err = tab.Read(t.Context(), actor.ReadOptions{Structural: true, Geometry: true}); err != nil {
					t.Fatal(err)
				}
				if len(r.Layout.Boxes) != r.Head.Snapshot.Elements.Len() {
					t.Errorf("%d boxes of %d elements", len(r.Layout.Boxes), r.Head.Snapshot.Elements.Len())
				}
				seen[i] = lines(r.Head.Snapshot.Elements.Slice())
				if !framed {
					if r, err = tab.Read(t.Context(), actor.ReadOptions{}); err != nil {
						t.Fatal(err)
					}
					if err := audit(t, b.Newest(), r.Head.Snapshot); err != nil {
						t.Error(err)
					}
				}
			}
			if !framed && !slices.Equal(seen[0], seen[1]) {
				t.Errorf("read at once:\n%s\none after the other:\n%s", strings.Join(seen[0], "\n"), strings.Join(seen[1], "\n"))
			}
		})
	}
}

// storedEqualsFresh performs steps in a new tab, with consecutive seeds and only of the given names, and compares the model with a fresh
// walk after each step. From step number structureFrom on, the page is read with structure.
func storedEqualsFresh(t *testing.T, b *testenv.Browser, seeds, structureFrom int, watched bool, steps int, names ...string) {
	d, tab := openMutator(t, b)
	if watched {
		release, err := tab.Watch(t.Context(), actor.WatchOptions{Structural: structureFrom == 0})
		if err != nil {
			t.Fatal(err)
		}
		defer release()
	}
	done := []string{}
	for seed := range steps {
		done = append(done, d.step(t, seeds+seed+1, names...))
		r, err := tab.Read(t.Context(), actor.ReadOptions{Structural: seed >= structureFrom, Geometry: seed%3 == 0})
		if err != nil {
			t.Fatalf("after %v: %v", done[max(0, len(done)-3):], err)
		}
		// With the second read, the page receives the refs of the first one.
		if r, err = tab.Read(t.Context(), actor.ReadOptions{}); err != nil {
			t.Fatal(err)
		}
		if err := audit(t, b.Newest(), r.Head.Snapshot); err != nil {
			t.Fatalf("step %d, after %v: %v", seed, done[max(0, len(done)-5):], err)
		}
	}
}
