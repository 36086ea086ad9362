package streams

import (
	"net/http"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/testenv"
)

// TestAStreamContinuesWhileItsFrameIsHidden checks that a stream of a frame continues while the frame is hidden, however the page hides it,
// and ends with NOT_FOUND when the frame is removed from the page. No elements of a hidden frame are listed, but the elements of a
// transparent one are.
func TestAStreamContinuesWhileItsFrameIsHidden(t *testing.T) {
	for name, hide := range map[string]string{
		"visibility":         "f.style.visibility = 'hidden'",
		"display":            "f.style.display = 'none'",
		"hidden":             "box.hidden = true",
		"content-visibility": "box.style.contentVisibility = 'hidden'",
		"no size":            "f.style.border = 0; f.width = f.height = 0",
		"opacity":            "f.style.opacity = 0",
	} {
		t.Run(name, func(t *testing.T) {
			url := serve(t, map[string]http.HandlerFunc{"/": testenv.HTML(`<title>Frame</title><button>Outside</button>
<div><iframe srcdoc="<button>Inside</button>"></iframe></div>
<script>parts = [document.querySelector('iframe'), document.querySelector('div')]</script>`)})
			d := testenv.Shared(t)
			tab := d.Open(url)
			run := func(script string) {
				t.Helper()
				r, err := d.Pages.Evaluate(t.Context(), &domtapv1.EvaluateRequest{TabId: tab, Expression: "() => { const [f, box] = parts; " + script + " }"})
				if err != nil || r.GetException() != "" {
					t.Fatal(r.GetException(), err)
				}
			}
			inside, ok := testenv.Find(d.All(tab), "Inside")
			if !ok {
				t.Fatal("the frame's button is not listed")
			}
			f := testenv.Follow(t, d, &domtapv1.WatchDomRequest{TabId: tab, FrameId: inside.GetFrameId()})
			// reads waits until the stream equals the response of GetDom for the frame, and returns the number of elements.
			reads := func() int {
				t.Helper()
				want, err := d.Dom.GetDom(t.Context(), &domtapv1.GetDomRequest{TabId: tab, FrameId: inside.GetFrameId()})
				if err != nil {
					t.Fatal(err)
				}
				if err := f.Reaches(testenv.Within(t, patience), want); err != nil {
					t.Fatal(err)
				}
				return len(want.GetElements())
			}
			if n := reads(); n != 1 {
				t.Fatalf("the frame has %d elements", n)
			}
			run(hide)
			if n := reads(); n != 0 && name != "opacity" {
				t.Errorf("the hidden frame has %d elements", n)
			}
			run("f.style = ''; f.width = 300; f.height = 100; box.style = ''; box.hidden = false")
			if n := reads(); n != 1 {
				t.Errorf("the frame, shown again, has %d elements", n)
			}
			run(hide + "; requestAnimationFrame(() => f.remove())")
			ctx := testenv.Within(t, patience)
			for {
				_, news, err := f.State()
				if err != nil {
					if status.Code(err) != codes.NotFound {
						t.Errorf("the stream ended with %v", err)
					}
					return
				}
				select {
				case <-news:
				case <-ctx.Done():
					t.Fatal("the stream of a frame that is gone does not end")
				}
			}
		})
	}
}
