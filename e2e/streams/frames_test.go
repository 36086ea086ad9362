package streams

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/testenv"
)

// stepPage is a page that makes its next change when the server answers. change(n) makes the n-th change and may return a promise. wait is
// the delay before each change in milliseconds.
const stepPage = `<style>body { height: 9000px } button { position: fixed; top: 0 } #b { top: 50px }</style>
<button id=a>a 0</button> <button id=b>b 0</button><script>
(async () => {
  for (let n = 1; ; n++) {
    await fetch('/step');
    await new Promise((done) => setTimeout(done, wait + n % 17)); // at any time between two frames
    await change(n);
  }
})();
`

// steps is a watched page of this kind.
type steps struct {
	t      *testing.T
	next   *release
	stream domtapv1.DomService_WatchDomClient
}

// watchSteps opens a page that changes by the function change in script, and watches it.
func watchSteps(t *testing.T, script string) *steps {
	t.Helper()
	r := &steps{t: t, next: &release{let: make(chan struct{})}}
	url := serve(t, map[string]http.HandlerFunc{
		"/":     testenv.HTML(stepPage + script + `</script>`),
		"/step": r.next.hold("text/plain", nil),
	})
	d := testenv.Shared(t)
	tab := d.Open(url)
	var err error
	if r.stream, err = d.Dom.WatchDom(testenv.Within(t, 4*patience), &domtapv1.WatchDomRequest{TabId: tab}); err != nil {
		t.Fatal(err)
	}
	if _, err := r.stream.Recv(); err != nil {
		t.Fatal(err)
	}
	return r
}

// step lets the page change, and returns the next message with a change.
func (r *steps) step() *domtapv1.WatchDomResponse {
	r.t.Helper()
	select {
	case r.next.let <- struct{}{}:
	case <-r.stream.Context().Done():
		r.t.Fatal("the page does not ask for its next step")
	}
	for {
		m, err := r.stream.Recv()
		if err != nil {
			r.t.Fatal(err)
		}
		if len(m.GetDiff().GetAdded()) > 0 {
			return m
		}
	}
}

// texts returns the texts of the elements that a message adds.
func texts(m *domtapv1.WatchDomResponse) string {
	var out []string
	for _, e := range m.GetDiff().GetAdded() {
		out = append(out, e.GetText())
	}
	return strings.Join(out, ", ")
}

// TestAChangeIsWrittenBeforeItsFrameIsLaidOut checks that a patch does not wait until the browser has rendered the change, which takes long
// on a large page. Here every frame takes 20 ms between its callbacks and its end. After an idle period, Chromium often starts a frame
// before any task, and the frame has a timestamp before the change.
func TestAChangeIsWrittenBeforeItsFrameIsLaidOut(t *testing.T) {
	r := watchSteps(t, `
const wait = 300;
let end = 0, resolve = () => {};
new ResizeObserver(() => {
  const start = performance.now();
  while (performance.now() - start < 20);
  end = performance.timeOrigin + performance.now();
  resolve();
}).observe(b);
function change(n) {
  a.textContent = 'a ' + n + ' ' + end.toFixed(1); // tells when the frame of the change before ended
  b.style.width = 100 + n % 2 + 'px';
  return new Promise((done) => { resolve = done });
}`)
	var written time.Time
	for n := 1; n <= testenv.Size(20, 60); n++ {
		m := r.step()
		var step int
		var end float64
		if _, err := fmt.Sscanf(texts(m), "a %d %f", &step, &end); err != nil || step != n {
			t.Fatalf("step %d brought %q: %v", n, texts(m), err)
		}
		if ended := time.UnixMicro(int64(end * 1000)); n > 1 && written.After(ended) {
			t.Errorf("step %d: the patch was written %v after the frame", n-1, written.Sub(ended))
		}
		written = m.GetPageTime().AsTime()
	}
}

// TestWhatAFrameChangesIsOnePatch tests guarantee 3 for the callbacks of one frame. The listeners of its events change one element and
// request a callback, which changes another.
func TestWhatAFrameChangesIsOnePatch(t *testing.T) {
	r := watchSteps(t, `
const wait = 0;
let step = 0;
addEventListener('scroll', () => { a.textContent = 'a ' + step });
addEventListener('scroll', () => requestAnimationFrame(() => { b.textContent = 'b ' + step }));
function change(n) {
  step = n;
  scrollTo(0, 100 + n % 2);
}`)
	for n := 1; n <= 30; n++ {
		if got, want := texts(r.step()), fmt.Sprintf("a %d, b %[1]d", n); got != want {
			t.Fatalf("step %d brought %q, want %q", n, got, want)
		}
	}
}
