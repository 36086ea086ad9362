package streams

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/domtap/domtap/actor"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/browser"
	"github.com/domtap/domtap/internal/testenv"
)

// awaitPrepared waits until a page has examined itself in advance.
func awaitPrepared(t *testing.T, p *browser.Page) {
	t.Helper()
	ctx := testenv.Within(t, patience)
	for {
		nodes, err := p.Nodes(ctx, "")
		if err != nil {
			t.Fatalf("the page does not examine itself: %v", err)
		}
		if len(nodes) > 0 {
			return
		}
	}
}

// TestAPageThatWasPreparedEqualsFreshWalk lets pages change between their advance examination and their first read.
func TestAPageThatWasPreparedEqualsFreshWalk(t *testing.T) {
	t.Parallel()
	firsts := map[string]actor.ReadOptions{
		"plain": {}, "contexts": {Contexts: true, Geometry: true}, "structural": {Structural: true}, "attributes": {Attributes: []string{"id"}, Geometry: true},
	}
	b := testenv.StartBrowser(t)
	for name, first := range firsts {
		for _, changes := range []int{0, 3, 15} {
			t.Run(fmt.Sprintf("%s after %d", name, changes), func(t *testing.T) {
				d, tab := openMutator(t, b)
				done := []string{}
				for seed := range 8 {
					done = append(done, d.step(t, 900*changes+seed, "add"))
				}
				b.Newest().Prepare()
				awaitPrepared(t, b.Newest())
				for seed := range changes + 4 {
					if seed < changes {
						done = append(done, d.step(t, 500+900*changes+seed))
						continue
					}
					r, err := tab.Read(t.Context(), first)
					if err != nil {
						t.Fatal(err)
					}
					if r, err = tab.Read(t.Context(), actor.ReadOptions{}); err != nil {
						t.Fatal(err)
					}
					if err := audit(t, b.Newest(), r.Head.Snapshot); err != nil {
						t.Fatalf("read %d, after %v: %v", seed-changes, done, err)
					}
					done = append(done, d.step(t, 700+900*changes+seed))
				}
			})
		}
	}
}

// TestPagesThatACallLoadedExamineThemselves opens and navigates a tab without a read. Its documents examine themselves invisibly. The first
// read must contain everything, including later changes.
func TestPagesThatACallLoadedExamineThemselves(t *testing.T) {
	d := testenv.Shared(t)
	const list = `<!doctype html><title>List</title><h1>Rows</h1><ul><li>Milk <button>Delete</button><li>Bread <button>Delete</button></ul>
		<div id=late></div><script>late.addEventListener("click", () => {}); addEventListener("message", () => { late.textContent = "Late" })</script>`
	url := serve(t, map[string]http.HandlerFunc{"/list": testenv.HTML(list), "/next": testenv.HTML(list)})
	tab := d.Open(url + "/list")
	page := d.Browser.Newest()
	for _, path := range []string{"/list", "/next"} {
		if path == "/next" {
			if _, err := d.Tabs.Navigate(t.Context(), &domtapv1.NavigateRequest{TabId: tab, Url: url + path}); err != nil {
				t.Fatal(err)
			}
		}
		before, err := d.Tabs.GetTab(t.Context(), &domtapv1.GetTabRequest{TabId: tab})
		if err != nil {
			t.Fatal(err)
		}
		awaitPrepared(t, page)
		after, err := d.Tabs.GetTab(t.Context(), &domtapv1.GetTabRequest{TabId: tab})
		if err != nil || after.GetTab().GetRevision() != before.GetTab().GetRevision() {
			t.Errorf("%s: revision %d, then %d, %v", path, before.GetTab().GetRevision(), after.GetTab().GetRevision(), err)
		}
		var out any
		if err := page.Call(t.Context(), "Runtime.evaluate", map[string]any{"expression": `late.textContent = "Late"`}, &out); err != nil {
			t.Fatal(err)
		}
		got, err := d.Dom.GetCompact(t.Context(), &domtapv1.GetCompactRequest{TabId: tab})
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"Delete", "Milk", "Bread", "Late"} {
			if !strings.Contains(got.GetText(), want) {
				t.Errorf("%s: no %s in\n%s", path, want, got.GetText())
			}
		}
	}
}
