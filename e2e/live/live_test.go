package live

import (
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/gateway/ui"
	"github.com/domtap/domtap/internal/testenv"
)

// TestLivePage uses the page as a user does. Its parts depend on each other and share one browser.
func TestLivePage(t *testing.T) {
	t.Parallel()
	st := newStage(t, nil)
	for _, part := range []struct {
		name string
		test func(*testing.T, *stage)
	}{
		{"ShowsATab", showsATab},
		{"ShowsChanges", showsChanges},
		{"ShowsDialogs", showsDialogs},
		{"ShowsTheTimeline", showsTheTimeline},
		{"HoldsClients", holdsClients},
		{"TakesMarkupForText", takesMarkupForText},
		{"CanBeUsedByAll", canBeUsedByAll},
		{"CanBeDrivenByKeys", canBeDrivenByKeys},
		{"HasNoBarriers", hasNoBarriers},
		{"ShowsLargePages", showsLargePages},
		{"FollowsWhatComesAndGoes", followsWhatComesAndGoes},
		{"CallsAndLoadsNothingElse", callsAndLoadsNothingElse},
		{"KeepsItsPolicy", keepsItsPolicy},
		{"KeepsTheNewestChangesOnly", keepsTheNewestChangesOnly},
		{"PausesAndGoesOn", pausesAndGoesOn},
		{"GoesOnAfterACut", goesOnAfterACut},
		{"MasksSecretsOfURLs", masksSecretsOfURLs},
		{"AsksForTheToken", asksForTheToken},
	} {
		if !t.Run(part.name, func(t *testing.T) {
			st.t = t
			part.test(t, st)
		}) {
			return
		}
	}
}

func showsATab(t *testing.T, st *stage) {
	st.shows("Pay now")
	st.showsPicture()
	if size := in[[]int](st, st.live, `(i => [i.naturalWidth, i.naturalHeight])(document.getElementById('picture'))`); size[0] < 500 || size[1] < 300 {
		t.Errorf("the picture has %v pixels", size)
	}
	want, err := st.d.Dom.GetCompact(t.Context(), &domtapv1.GetCompactRequest{TabId: st.shop})
	if err != nil {
		t.Fatal(err)
	}
	if lines := st.lines(); lines != strings.TrimSpace(want.GetText()) {
		t.Errorf("the page shows the lines\n%s\nan agent gets\n%s", lines, want.GetText())
	}
	tab, err := st.d.Tabs.GetTab(t.Context(), &domtapv1.GetTabRequest{TabId: st.live})
	if err != nil || strings.Contains(tab.GetTab().GetUrl(), token) {
		t.Errorf("the address bar still has the token: %v %v", tab, err)
	}
	if kept := in[string](st, st.live, `JSON.stringify(localStorage) + document.cookie`); kept != "{}" {
		t.Errorf("the page keeps more than the session: %s", kept)
	}
}

// showsPicture waits until the live page shows a picture of the shop.
func (st *stage) showsPicture() {
	st.t.Helper()
	st.until(&domtapv1.WaitCondition{Element: &domtapv1.ElementCondition{
		Role: "img", Name: "What the page of tab " + st.shop, State: domtapv1.ElementState_ELEMENT_STATE_VISIBLE,
	}}, "a picture")
}

// lines returns the lines that the live page shows.
func (st *stage) lines() string {
	return in[string](st, st.live, `[...document.querySelectorAll('#lines-rows > [role=option]')].map(e => e.textContent).join('\n')`)
}

func showsChanges(t *testing.T, st *stage) {
	st.add("Refund")
	st.until(&domtapv1.WaitCondition{Element: &domtapv1.ElementCondition{Selector: "#lines-rows > .fresh"}}, "a line that is marked")
	if fresh := in[[]string](st, st.live, `[...document.querySelectorAll('#lines-rows > .fresh')].map(e => e.textContent)`); len(fresh) != 1 || !strings.Contains(fresh[0], " Refund (button") {
		t.Errorf("the marked lines are %q", fresh)
	}
	st.view("Changes")
	st.shows("Changes: +1 -0 ~0")
	if shown := in[string](st, st.live, `document.querySelector('#changes pre').textContent`); !strings.Contains(shown, "Added:\n  [1] <button>Refund</button>") {
		t.Errorf("the change is shown as %q", shown)
	}
	if revision := in[string](st, st.live, `document.getElementById('revision').textContent`); !regexp.MustCompile(`^revision \d+$`).MatchString(revision) {
		t.Errorf("the revision is shown as %q", revision)
	}
}

// view selects what is shown beside the timeline and the picture.
func (st *stage) view(name string) {
	st.t.Helper()
	in[bool](st, st.live, `([...document.querySelectorAll('.views button')].find(b => b.textContent === `+strconv.Quote(name)+`).click(), true)`)
}

func showsDialogs(t *testing.T, st *stage) {
	// The call may return before the dialog opens, or fail because of it.
	_, _ = st.d.Pages.Evaluate(testenv.Within(t, limit), &domtapv1.EvaluateRequest{TabId: st.shop, Expression: `setTimeout(() => alert('Really?'))`})
	st.shows("The page waits for an answer to its alert: Really?")
	st.until(&domtapv1.WaitCondition{Element: &domtapv1.ElementCondition{Selector: "#status[data-state=dialog]"}}, "the state of the tab")
	in[bool](st, st.live, `(document.getElementById('shoot').click(), true)`) // the time beside the button may change during a click
	st.shows("There is no picture: tab " + st.shop + " waits behind a dialog")
	if _, err := st.d.Tabs.AnswerDialog(testenv.Within(t, limit), &domtapv1.AnswerDialogRequest{TabId: st.shop, Accept: true}); err != nil {
		t.Fatal(err)
	}
	st.until(&domtapv1.WaitCondition{Element: &domtapv1.ElementCondition{Selector: "#status[data-state=ready]"}}, "the tab as ready")
	if said := in[string](st, st.live, `document.getElementById('dialog').textContent`); said != "" {
		t.Errorf("the dialog is still shown: %q", said)
	}
	st.showsPicture()
}

func takesMarkupForText(t *testing.T, st *stage) {
	const nasty = `<img src=x onerror="window.bad=1"><b>Buy</b>`
	in[bool](st, st.shop, `(document.title = '</title><script>window.bad=1</script>', true)`)
	st.add(nasty)
	st.view("Changes")
	st.shows(nasty)
	st.shows("<script>window.bad=1</script>")
	if n := in[int](st, st.live, `document.querySelectorAll('main :is(script, b, img:not(#picture)), nav script').length + (window.bad || 0)`); n != 0 {
		t.Errorf("the page made markup of text: %d", n)
	}
}

func followsWhatComesAndGoes(t *testing.T, st *stage) {
	other := st.d.Open(testenv.Serve(t, testenv.HTML(`<!doctype html><title>Another shop</title><a href=/>Home</a>`)))
	st.until(&domtapv1.WaitCondition{Element: &domtapv1.ElementCondition{Role: "link", Name: "Another shop"}}, "the new tab")
	st.do(clickTab(other))
	st.until(&domtapv1.WaitCondition{Element: &domtapv1.ElementCondition{Role: "heading", Name: "Another shop"}}, "the new tab as chosen")
	st.view("Page text")
	st.shows("Home")
	if _, err := st.d.Tabs.CloseTab(t.Context(), &domtapv1.CloseTabRequest{TabId: other}); err != nil {
		t.Fatal(err)
	}
	st.shows("The tab is closed.")
	st.until(&domtapv1.WaitCondition{Element: &domtapv1.ElementCondition{Selector: `#tabs a[href="#tab=` + other + `"]`, State: domtapv1.ElementState_ELEMENT_STATE_GONE}}, "the tab as gone")
	st.do(clickTab(st.shop))
	st.shows("Pay now")
}

func callsAndLoadsNothingElse(t *testing.T, st *stage) {
	own, err := url.Parse(st.page)
	if err != nil {
		t.Fatal(err)
	}
	may := ui.Methods()
	called := map[string]bool{}
	for _, e := range st.log(&domtapv1.ReadLogRequest{Kinds: []domtapv1.LogKind{domtapv1.LogKind_LOG_KIND_NETWORK}}) {
		u, err := url.Parse(e.GetUrl())
		if err != nil {
			t.Fatal(err)
		}
		if u.Scheme == "blob" {
			continue
		}
		if u.Host != own.Host {
			t.Errorf("the page asked for %s", e.GetUrl())
		}
		if method, isCall := strings.CutPrefix(u.Path, "/domtap.v1."); isCall {
			called[method] = true
			if !slices.Contains(may, method) {
				t.Errorf("the page called %s", method)
			}
		}
	}
	if len(called) < 7 {
		t.Errorf("the page called only %v: the test sees too little", called)
	}
	for _, wrong := range st.log(&domtapv1.ReadLogRequest{ProblemsOnly: true}) {
		if !isExpected(wrong) {
			t.Errorf("the log of the page has a problem: %v", wrong)
		}
	}
}

// isExpected reports whether a logged problem is an expected consequence of the earlier parts. The page cancels its calls when another tab
// is selected. A picture is refused while a dialog is open. A call in flight is aborted when its tab is closed (TAB_CLOSED), and a later
// call does not find the tab.
func isExpected(e *domtapv1.LogEntry) bool {
	u, err := url.Parse(e.GetUrl())
	switch {
	case err != nil:
		return false
	case strings.Contains(e.GetFailure(), "canceled"):
		return true
	case e.GetHttpStatus() == http.StatusBadRequest:
		return strings.HasSuffix(u.Path, "/Screenshot") || strings.HasSuffix(u.Path, "/GetReplay") // NO_REPLAY
	default:
		isOfClosed := e.GetHttpStatus() == http.StatusNotFound || e.GetHttpStatus() == http.StatusConflict
		return isOfClosed && strings.HasPrefix(u.Path, "/domtap.v1.")
	}
}

// clickTab selects a tab in the list.
func clickTab(id string) *domtapv1.Step {
	target := &domtapv1.Target{Selector: `#tabs a[href="#tab=` + id + `"]`}
	return &domtapv1.Step{Action: &domtapv1.Step_Click{Click: &domtapv1.ClickStep{Target: target}}}
}

// log returns the entries in the live page's log.
func (st *stage) log(r *domtapv1.ReadLogRequest) []*domtapv1.LogEntry {
	st.t.Helper()
	most := int32(1000)
	r.TabId, r.MaxEntries = st.live, &most
	answer, err := st.d.Pages.ReadLog(st.t.Context(), r)
	if err != nil {
		st.t.Fatal(err)
	}
	return answer.GetEntries()
}

// violations returns the reports of the page's Content-Security-Policy since the load.
const violations = `new Promise(done => {
	const seen = []
	new ReportingObserver(r => seen.push(...r.map(x => x.body.effectiveDirective)), {types: ['csp-violation'], buffered: true}).observe()
	setTimeout(() => done(seen))
})`

func keepsItsPolicy(t *testing.T, st *stage) {
	if broken := in[[]string](st, st.live, violations); len(broken) > 0 {
		t.Errorf("the page broke its own policy: %q", broken)
	}
	// Check that the policy is active and that the test detects violations.
	tried := in[[]string](st, st.live, `(() => {
		const failed = []
		for (const [name, f] of Object.entries({
			markup: () => { document.getElementById('taken').innerHTML = '<b>x</b>' },
			script: () => { document.createElement('script').src = '/main.js' },
		})) try { f() } catch { failed.push(name) }
		return failed
	})()`)
	if !slices.Equal(tried, []string{"markup", "script"}) {
		t.Errorf("only %q are forbidden", tried)
	}
	if broken := in[[]string](st, st.live, violations); len(broken) == 0 {
		t.Error("the test does not see what breaks the policy")
	}
}

func keepsTheNewestChangesOnly(t *testing.T, st *stage) {
	got := in[[]string](st, st.live, `import('/changes.js').then(show => {
		for (let i = 1; i <= 150; i++) show.addChange('entry ' + i, 'x'.repeat(20000), 'diff')
		const all = [...document.querySelectorAll('#changes > li')]
		return [String(all.length), all[0].querySelector('.when').textContent.slice(-9), all.at(-1).querySelector('.when').textContent.slice(-8), String(all[0].textContent.length < 7000)]
	})`)
	if !slices.Equal(got, []string{"100", "entry 150", "entry 51", "true"}) {
		t.Errorf("the changes are %q", got)
	}
}

func pausesAndGoesOn(t *testing.T, st *stage) {
	st.view("Changes")
	st.do(click("button", "Pause updates"))
	st.until(&domtapv1.WaitCondition{Element: &domtapv1.ElementCondition{Selector: `#updates[aria-pressed=true]`}}, "that it pauses")
	st.add("While paused")
	st.do(click("button", "Resume updates"))
	st.shows("<button>While paused</button>")
	st.shows("went on from revision")
}

func goesOnAfterACut(t *testing.T, st *stage) {
	in[bool](st, st.live, `import('/changes.js').then(show => { show.clearChanges(); return true })`)
	st.wire.Set(testenv.LinkState{Cut: true})
	st.until(&domtapv1.WaitCondition{Element: &domtapv1.ElementCondition{Selector: `#link[data-state=cut]`}}, "that it is cut")
	st.add("While cut")
	st.wire.Set(testenv.LinkState{})
	st.shows("<button>While cut</button>")
	st.until(&domtapv1.WaitCondition{Element: &domtapv1.ElementCondition{Selector: `#link[data-state=live]`}}, "that it is live")
	st.shows("went on from revision")
	if all := in[string](st, st.live, `document.getElementById('changes').textContent`); strings.Contains(all, "Read anew") {
		t.Errorf("it began anew: %s", all)
	}
	st.add("After the cut")
	st.shows("<button>After the cut</button>")
}

func asksForTheToken(t *testing.T, st *stage) {
	in[bool](st, st.live, `(location.hash = 'token=another-token-of-forty-three-characters', true)`)
	st.shows("The daemon does not accept this token.")
	if left := in[string](st, st.live, `document.getElementById('tabs').textContent + document.getElementById('lines-rows').textContent + document.getElementById('steps').textContent + document.getElementById('clients').textContent + JSON.stringify(sessionStorage) + location.hash`); left != "{}" {
		t.Errorf("without a token the page still has %q", left)
	}
	st.view("Page text")
	st.do(fill("Token", token), press("Enter"))
	st.until(&domtapv1.WaitCondition{Element: &domtapv1.ElementCondition{Role: "link", Name: "script", State: domtapv1.ElementState_ELEMENT_STATE_VISIBLE}}, "the tabs")
	st.shows("Pay now")
}

// canBeUsedByAll checks the requirements of assistive tools, and of users without a mouse or with low vision.
func canBeUsedByAll(t *testing.T, st *stage) {
	all := st.d.All(st.live)
	level := int32(0)
	for _, e := range all.GetElements() {
		switch e.GetRole() {
		case "button", "link", "checkbox", "combobox", "textbox", "region", "img":
			if e.GetText() == "" {
				t.Errorf("a %s has no name: %v", e.GetRole(), e)
			}
		case "heading":
			if e.GetLevel() > level+1 {
				t.Errorf("the heading %q of level %d follows one of level %d", e.GetText(), e.GetLevel(), level)
			}
			level = e.GetLevel()
		}
	}
	if found := in[string](st, st.live, `['header.top', 'nav[aria-labelledby]', 'main', 'h1'].map(s => document.querySelectorAll(s).length).join() + document.documentElement.lang`); found != "1,1,1,1en" {
		t.Errorf("landmarks and language are %q", found)
	}
	st.view("Page text")
	walked := st.walk()
	for _, want := range []string{"Skip to the tab", "Refresh", "Pause updates", "theme", "help", "Sign out", "#tab=" + st.shop, "#tab=" + st.live, "filter", "marks", "shoot", "frame", "Page text", "view", "lines"} {
		if !slices.ContainsFunc(walked, func(w focus) bool { return strings.Contains(w.What, want) }) {
			t.Errorf("the Tab key does not lead to %q: %v", want, walked)
		}
	}
	for _, w := range walked {
		if !w.Visible {
			t.Errorf("the focus on %q cannot be seen", w.What)
		}
	}
}

// focus describes the element that the Tab key focused.
type focus struct {
	What    string `json:"what"`
	Visible bool   `json:"visible"`
}

// walk presses Tab from the top of the page until it has visited all elements.
func (st *stage) walk() []focus {
	st.t.Helper()
	in[bool](st, st.live, `(b => { b.tabIndex = -1; b.focus(); b.removeAttribute('tabindex'); return true })(document.body)`)
	var walked []focus
	for range 60 {
		st.do(press("Tab"))
		text := in[string](st, st.live, `(e => e === document.body ? '' : JSON.stringify({
			what: [e.id, e.ariaLabel, e.getAttribute('href'), e.textContent.trim().slice(0, 30)].join(' '),
			visible: parseFloat(getComputedStyle(e).outlineWidth) >= 2 && getComputedStyle(e).outlineStyle !== 'none',
		}))(document.activeElement)`)
		if text == "" {
			break
		}
		var f focus
		if err := json.Unmarshal([]byte(text), &f); err != nil {
			st.t.Fatal(err)
		}
		if slices.Contains(walked, f) {
			break
		}
		walked = append(walked, f)
	}
	return walked
}

// masksSecretsOfURLs opens URLs with secrets in the shop, and searches the live page for these secrets. The server and the page must know
// the same parameter names.
func masksSecretsOfURLs(t *testing.T, st *stage) {
	const canary = "c4n4ry"
	query := "page=2"
	for _, name := range []string{"access_token", "X-Auth", "client%20secret", "session", "api-key", "csrf", "jwt", "key", "sig", "sid", "code", "pin", "state"} {
		query += "&" + name + "=" + canary
	}
	in[bool](st, st.shop, `(history.pushState(0, '', '/?`+query+`#/in?otp=`+canary+`'), console.error('none at ' + location.href), true)`)
	st.shows("none at")
	all := in[string](st, st.live, `document.getElementById('url').textContent + '\n' + document.body.textContent + [...document.querySelectorAll('[title], [aria-label], [href]')].map(e => e.title + e.ariaLabel + (e.href ?? '')).join()`)
	if at := strings.Index(all, canary); at >= 0 {
		t.Errorf("the live page has …%s…", all[max(0, at-120):min(len(all), at+20)])
	}
	if !strings.Contains(all, "page=2&access_token=***") {
		t.Error("the live page does not show the URL of the tab")
	}
}
