package e2e

import (
	"net/http"
	"strings"
	"testing"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/testenv"
)

// application is a page that renders its content some time after the load. SHELL is its initial content.
const application = `<!doctype html><title>Shop</title><div id=app>SHELL</div><script src=/app.js></script>`

// TestAnApplicationIsBuiltBeforeAnAnswer loads pages that are an empty shell or show a loading message for a second. A read after any kind
// of navigation must return the final page.
func TestAnApplicationIsBuiltBeforeAnAnswer(t *testing.T) {
	draws := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("content-type", "text/javascript")
		_, _ = w.Write([]byte(`addEventListener("load", () => setTimeout(() => app.innerHTML = "<h1>Orders</h1><button>New order</button>", 900))`))
	}
	pages := map[string]http.HandlerFunc{"/app.js": draws, "/": testenv.HTML(`<!doctype html><p>Welcome</p>`)}
	for path, shell := range map[string]string{
		"/empty": "", "/loading": "Loading…", "/skeleton": `<div class="card-skeleton" style="height:80px;background:#eee"></div>`,
		"/busy": `<main aria-busy=true style="height:500px"><h1>Shop</h1></main>`,
	} {
		pages[path] = testenv.HTML(strings.Replace(application, "SHELL", shell, 1))
		pages["/to"+path] = testenv.HTML(`<!doctype html><a href="` + path + `">Orders</a>`)
		pages["/by"+path] = testenv.HTML(`<!doctype html><p>Redirecting…</p><script>addEventListener("load", () => setTimeout(() => location.replace("` + path + `"), 50))</script>`)
	}
	base := serve(t, pages)
	d := testenv.Apart(t)
	tab := d.Open(base + "/")
	built := func(t *testing.T) {
		t.Helper()
		if _, ok := testenv.Find(testenv.GetDom(t, d, tab), "New order"); !ok {
			t.Errorf("the page is %q", testenv.TagTexts(testenv.GetDom(t, d, tab)))
		}
	}
	for _, path := range []string{"/empty", "/loading", "/skeleton", "/busy"} {
		t.Run("navigate"+path, func(t *testing.T) { d.Show(tab, base+path); built(t) })
		t.Run("click"+path, func(t *testing.T) {
			d.Show(tab, base+"/to"+path)
			link, _ := testenv.Find(testenv.GetDom(t, d, tab), "Orders")
			r, err := d.Actions.Interact(t.Context(), &domtapv1.InteractRequest{TabId: tab, Steps: []*domtapv1.Step{
				{Action: &domtapv1.Step_Click{Click: &domtapv1.ClickStep{Target: &domtapv1.Target{Ref: new(link.GetRef())}}}}}})
			if err != nil || !r.GetResults()[0].GetOk() {
				t.Fatal(r.GetResults(), err)
			}
			if !strings.Contains(r.String(), "New order") {
				t.Errorf("the answer is %v", r)
			}
		})
	}
	t.Run("redirect", func(t *testing.T) { d.Show(tab, base+"/by/loading"); built(t) })
	t.Run("open", func(t *testing.T) { tab = d.Open(base + "/empty"); built(t) })
}

// TestAPageThatLoadsForeverIsAnswered loads a page whose loading message never disappears. The call must return the page as it is.
func TestAPageThatLoadsForeverIsAnswered(t *testing.T) {
	d := testenv.Shared(t)
	base := serve(t, map[string]http.HandlerFunc{"/": testenv.HTML(`<!doctype html><h1>News</h1><p>Loading comments…</p>`), "/first": testenv.HTML(`<p>First`)})
	tab := d.Open(base + "/first")
	r, err := d.Tabs.Navigate(t.Context(), &domtapv1.NavigateRequest{TabId: tab, Url: base + "/"})
	if err != nil {
		t.Fatal(err)
	}
	said := ""
	for _, one := range r.GetOutcome() {
		said += one.String()
	}
	if !strings.Contains(said, "Loading comments…") {
		t.Errorf("the outcome is %q", said)
	}
}
