package live

import (
	"strconv"
	"testing"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/testenv"
)

// most limits the number of elements in the live page, however large the shown page is.
const most = 900

// scrolled scrolls the page text from one end to the other in 40 frames. It returns the maximum number of elements in the document during
// that time, and the number of tasks longer than 50 ms.
const scrolled = `(async () => {
	let long = 0, most = 0
	const watch = new PerformanceObserver(list => { long += list.getEntries().length })
	watch.observe({type: 'longtask'})
	const box = document.getElementById('lines')
	for (let i = 0; i <= 40; i++) {
		box.scrollTop = box.scrollHeight * i / 40
		await new Promise(done => requestAnimationFrame(() => setTimeout(done)))
		most = Math.max(most, document.querySelectorAll('*').length)
	}
	long += watch.takeRecords().length
	watch.disconnect()
	return [most, long]
})()`

// For the live page, a page of 1,000 elements costs as little as a small one.
func showsLargePages(t *testing.T, st *stage) {
	large := st.d.Open(testenv.Serve(t, testenv.HTML(`<!doctype html><title>Large</title><body><script>
		for (let i = 0; i < 1000; i++) document.body.append(Object.assign(document.createElement('button'), {textContent: 'Item ' + i}))</script>`)))
	in[bool](st, st.live, `(location.hash = 'tab=`+large+`', document.getElementById('view').value = 'all', document.getElementById('view').dispatchEvent(new Event('change')), true)`)
	st.view("Page text")
	st.until(&domtapv1.WaitCondition{Element: &domtapv1.ElementCondition{Selector: `#lines [aria-setsize="1001"]`}}, "1,000 elements")
	got := in[[]int](st, st.live, scrolled)
	if got[0] > most {
		t.Errorf("the live page has %d elements for a page of 1,000, more than %d", got[0], most)
	}
	t.Logf("%d elements at most, %d tasks of more than 50 ms in 41 frames", got[0], got[1])
	// The last line can be reached by keyboard. It is then in the document.
	in[bool](st, st.live, `(document.getElementById('lines').focus(), true)`)
	st.do(press("End"))
	last := in[string](st, st.live, `new Promise(done => requestAnimationFrame(() => setTimeout(() => {
		const box = document.getElementById('lines'); done(document.getElementById(box.getAttribute('aria-activedescendant')).textContent)})))`)
	if last != "["+strconv.Itoa(999)+"] Item 999 (button)" {
		t.Errorf("the End key leads to %q", last)
	}
	// A change of one element renders only the visible lines.
	in[bool](st, large, `(document.querySelectorAll('button')[999].textContent = 'Changed', true)`)
	st.until(&domtapv1.WaitCondition{Element: &domtapv1.ElementCondition{Selector: "#lines-rows > .fresh"}}, "the change")
	if n := in[int](st, st.live, `document.querySelectorAll('*').length`); n > most {
		t.Errorf("after a change the live page has %d elements", n)
	}
	if _, err := st.d.Tabs.CloseTab(t.Context(), &domtapv1.CloseTabRequest{TabId: large}); err != nil {
		t.Fatal(err)
	}
	in[bool](st, st.live, `(location.hash = 'tab=`+st.shop+`', document.getElementById('view').value = 'agent', document.getElementById('view').dispatchEvent(new Event('change')), true)`)
	st.shows("Pay now")
}

// hasNoBarriers audits the page with domtap in both themes: every control must have a name, nothing may be covered, and text must have
// contrast.
func hasNoBarriers(t *testing.T, st *stage) {
	for _, theme := range []string{"light", "dark"} {
		in[bool](st, st.live, `(document.documentElement.dataset.theme = '`+theme+`', true)`)
		answer, err := st.d.Pages.Audit(testenv.Within(t, limit), &domtapv1.AuditRequest{TabId: st.live})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range answer.GetFindings() {
			if f.GetLevel() == domtapv1.AuditLevel_AUDIT_LEVEL_ERROR {
				t.Errorf("%s: %s: %s: %s", theme, f.GetRule(), f.GetElement(), f.GetMessage())
			} else {
				t.Logf("%s: %s: %s: %s", theme, f.GetRule(), f.GetElement(), f.GetMessage())
			}
		}
	}
	in[bool](st, st.live, `(document.documentElement.dataset.theme = 'auto', true)`)
	covered, err := st.d.Dom.GetDom(testenv.Within(t, limit), &domtapv1.GetDomRequest{TabId: st.live})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range covered.GetElements() {
		if e.GetCovered() || e.GetText() == "" {
			t.Errorf("a control is covered or has no name: %v", e)
		}
	}
}

// canBeDrivenByKeys uses the page without a pointer: the timeline, its details, the page text, another tab, and the list of keys.
func canBeDrivenByKeys(t *testing.T, st *stage) {
	in[bool](st, st.live, `(document.activeElement.blur(), true)`)
	focused := func() string {
		return in[string](st, st.live, `(e => e.id || e.className || e.tagName)(document.activeElement)`)
	}
	st.do(press("j"))
	if got := focused(); got != "step" {
		t.Errorf("j leads to %q", got)
	}
	last := in[string](st, st.live, `document.activeElement.textContent`)
	st.do(press("k"))
	if now := in[string](st, st.live, `document.activeElement.textContent`); now == last || focused() != "step" {
		t.Errorf("k stays at %q", now)
	}
	st.do(press("Enter"))
	st.until(&domtapv1.WaitCondition{Element: &domtapv1.ElementCondition{Selector: `#steps .more`}}, "the details of the line")
	st.do(press("Enter"))
	for key, want := range map[string]string{"2": "frame", "3": "lines", "4": "changes-box", "1": "step"} {
		st.do(press(key))
		if got := focused(); got != want {
			t.Errorf("%s leads to %q, not %q", key, got, want)
		}
	}
	st.do(press("?"))
	st.until(&domtapv1.WaitCondition{Element: &domtapv1.ElementCondition{Role: "dialog", Name: "Keys"}}, "the keys")
	st.do(press("Escape"))
	st.do(press("]"))
	if hash := in[string](st, st.live, `location.hash`); hash == "#tab="+st.shop || hash == "" {
		t.Errorf("] stays at %q", hash)
	}
	st.do(press("["))
	st.shows("Pay now")
}
