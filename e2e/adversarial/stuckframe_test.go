package adversarial

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/testenv"
)

// TestStuckFrameDoesNotHoldUpThePage reads a page with a frame of another site whose script never ends, and then ends the script. The page
// must answer while the frame hangs and report which frame did not answer. Afterwards it must contain the frame's changes.
func TestStuckFrameDoesNotHoldUpThePage(t *testing.T) {
	var other string
	release := make(chan struct{})
	url := testenv.Pages(t, map[string]http.HandlerFunc{
		"/": func(w http.ResponseWriter, r *http.Request) {
			testenv.HTML(`<button>Top</button><iframe src="`+other+`/inner"></iframe><button>End</button>`)(w, r)
		},
		"/inner": testenv.HTML(`<button id=b>Inner</button><script>onmessage = () => {
			const ask = new XMLHttpRequest; ask.open("GET", "/never", false); ask.send(); b.textContent = "Released" }</script>`),
		"/never": func(http.ResponseWriter, *http.Request) { <-release },
	})
	other = strings.Replace(url, "127.0.0.1", "localhost", 1)
	d := testenv.Shared(t, "site-per-process")
	tab := d.Open(url)
	if got := testenv.Texts(testenv.GetDom(t, d, tab)); !slices.Equal(got, []string{"button Top", "button Inner", "button End"}) {
		t.Fatalf("got %q", got)
	}
	testenv.Evaluate[bool](t, d, `frames[0].postMessage(1, "*"), document.querySelector("button").textContent = "Changed", true`)
	read := func() *domtapv1.GetDomResponse {
		r, err := d.Dom.GetDom(testenv.Within(t, testenv.Patience), &domtapv1.GetDomRequest{TabId: tab})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	// The message may arrive after the first read. The frame hangs at the second read at the latest.
	var late *domtapv1.GetDomResponse
	for late = read(); len(late.GetMetadata().GetLateFrames()) == 0; late = read() {
	}
	if got := testenv.Texts(late); !slices.Equal(got, []string{"button Changed", "button Inner", "button End"}) {
		t.Errorf("with a stuck frame: %q", got)
	}
	close(release)
	now := read()
	for ; len(now.GetMetadata().GetLateFrames()) > 0; now = read() {
	}
	if got := testenv.Texts(now); !slices.Equal(got, []string{"button Changed", "button Released", "button End"}) {
		t.Errorf("once the frame answers: %q", got)
	}
}

// TestFramesInFramesOfOtherProcesses reads a page with a frame of another site, which contains a frame of the first site. It reads right
// after the load and after each reload.
func TestFramesInFramesOfOtherProcesses(t *testing.T) {
	var here, other string
	url := testenv.Pages(t, map[string]http.HandlerFunc{
		"/": func(w http.ResponseWriter, r *http.Request) {
			testenv.HTML(`<button>Top</button><iframe src="`+other+`/middle" width=400 height=200></iframe>`)(w, r)
		},
		"/middle": func(w http.ResponseWriter, r *http.Request) {
			testenv.HTML(`<button>Middle</button><iframe src="`+here+`/inner"></iframe>`)(w, r)
		},
		"/inner": testenv.HTML(`<button>Inner</button>`),
	})
	here, other = url, strings.Replace(url, "127.0.0.1", "localhost", 1)
	d := testenv.Shared(t, "site-per-process")
	tab := d.Open(url)
	for i := range 10 {
		if got := testenv.Texts(testenv.GetDom(t, d, tab)); !slices.Equal(got, []string{"button Top", "button Middle", "button Inner"}) {
			t.Errorf("after %d reloads: %q", i, got)
		}
		if _, err := d.Tabs.Reload(t.Context(), &domtapv1.ReloadRequest{TabId: tab}); err != nil {
			t.Fatal(err)
		}
	}
}
