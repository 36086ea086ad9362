package e2e

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/domtap/domtap/internal/testenv"
)

// TestSheetsOfOtherOriginsCountWhenTheyWereLoaded loads style sheets of another origin, whose rules scripts cannot read. domtap must
// respect their rules once they are loaded, even if an imported sheet failed, or if only a second request succeeded. The browser ignores
// sheets with an HTTP error.
func TestSheetsOfOtherOriginsCountWhenTheyWereLoaded(t *testing.T) {
	css := func(rules string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("content-type", "text/css")
			_, _ = w.Write([]byte(rules))
		}
	}
	var asked atomic.Int32
	other := serve(t, map[string]http.HandlerFunc{
		"/loaded.css":  css(`.loaded::before { content: "Loaded " }`),
		"/imports.css": css(`@import "/missing.css"; .imports::before { content: "Imports " }`),
		"/retried.css": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("cache-control", "no-store")
			if asked.Add(1) == 1 {
				w.WriteHeader(http.StatusInternalServerError)
				return
			}
			css(`.retried::before { content: "Retried " }`)(w, r)
		},
		"/missing.css": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("content-type", "text/css")
			w.WriteHeader(http.StatusNotFound)
			_, _ = w.Write([]byte(`button::after { content: " missing" }`))
		},
	})
	page := `<button class=loaded>one</button><button class=imports>two</button><button class=retried>three</button><script>
		const add = (url) => new Promise((done) => {
			const link = document.createElement("link");
			link.rel = "stylesheet";
			link.href = "` + other + `" + url;
			link.onload = link.onerror = done;
			document.head.append(link);
		});
		window.ready = Promise.all(["/loaded.css", "/imports.css", "/missing.css", "/retried.css"].map(add)).then(() => "first");
		window.retry = () => add("/retried.css").then(() => "retried");
	</script>`
	d := testenv.Apart(t)
	tab := d.Open(serve(t, map[string]http.HandlerFunc{"/": testenv.HTML(page)}))
	testenv.Evaluate[string](t, d, `ready`)
	names := func() string { return strings.Join(testenv.TagTexts(testenv.GetDom(t, d, tab)), ", ") }
	if got := names(); !strings.Contains(got, "Loaded one") || !strings.Contains(got, "Imports two") || strings.Contains(got, "Retried") || strings.Contains(got, "missing") {
		t.Errorf("got %s", got)
	}
	if got := testenv.Evaluate[string](t, d, `getComputedStyle(document.querySelector("button"), "::after").content`); got != "none" {
		t.Errorf("the browser uses what comes with an HTTP error: %s", got)
	}
	testenv.Evaluate[string](t, d, `retry()`)
	if got := names(); !strings.Contains(got, "Retried three") || strings.Contains(got, "missing") {
		t.Errorf("after a second request, got %s", got)
	}
}
