package sideeffects

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/actor/tabpool"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/browser"
	"github.com/domtap/domtap/internal/server"
	"github.com/domtap/domtap/internal/testenv"
)

// bigButton serves a page with one button that runs a script on click.
func bigButton(script string) http.HandlerFunc {
	return testenv.HTML(`<!doctype html><title>Start</title><button id=b>Go</button><script>b.onclick = () => { ` + script + ` }</script>`)
}

// pressFirst clicks the first actionable element of a tab.
func pressFirst(t testing.TB, d *testenv.Daemon, tab string) *domtapv1.InteractResponse {
	t.Helper()
	r, err := d.Actions.Interact(testenv.Within(t, testenv.Patience), testenv.ClickOn(tab, d.FirstControl(tab)))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// tabOf returns the state of a tab.
func tabOf(t testing.TB, d *testenv.Daemon, id string) *domtapv1.Tab {
	t.Helper()
	r, err := d.Tabs.GetTab(t.Context(), &domtapv1.GetTabRequest{TabId: id})
	if err != nil {
		t.Fatal(err)
	}
	return r.GetTab()
}

// answerDialog answers the open dialog.
func answerDialog(t testing.TB, d *testenv.Daemon, r *domtapv1.AnswerDialogRequest) *domtapv1.AnswerDialogResponse {
	t.Helper()
	answer, err := d.Tabs.AnswerDialog(testenv.Within(t, testenv.Patience), r)
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

// stillUsable fails unless the tab can be navigated, read and clicked.
func stillUsable(t testing.TB, d *testenv.Daemon, tab, url string) {
	t.Helper()
	// A navigation that the page started earlier may be committed after the caller's navigation. The call then fails, and the caller
	// navigates again. By that time, the restored page may have started the next navigation.
	const attempts = 5
	var r *domtapv1.GetDomResponse
	var err error
	for range attempts {
		if _, err = d.Tabs.Navigate(testenv.Within(t, testenv.Patience), &domtapv1.NavigateRequest{TabId: tab, Url: url}); err == nil {
			r, err = d.Dom.GetDom(testenv.Within(t, testenv.Patience), &domtapv1.GetDomRequest{TabId: tab, FullSnapshot: true})
		}
		if testenv.Reason(err) != "NAVIGATED_AWAY" {
			break
		}
	}
	if n := len(r.GetElements()); err != nil || n != 3 {
		t.Fatalf("the tab reads %d elements, %v", n, err)
	}
	pressFirst(t, d, tab)
}

// nextDialog waits until a tab has a dialog with the message.
func nextDialog(t testing.TB, d *testenv.Daemon, tab, message string) *domtapv1.Dialog {
	t.Helper()
	stream, err := d.Tabs.WatchTabs(testenv.Within(t, testenv.Patience), &domtapv1.WatchTabsRequest{})
	if err != nil {
		t.Fatal(err)
	}
	for {
		m, err := stream.Recv()
		if err != nil {
			t.Fatalf("waiting for the dialog %q: %v", message, err)
		}
		if dialog := m.GetTab().GetDialog(); m.GetTab().GetId() == tab && dialog != nil && dialog.GetMessage() == message {
			return dialog
		}
	}
}

// nextNavigation returns a function that waits until a tab has another document than now.
func nextNavigation(t testing.TB, d *testenv.Daemon, tab string) func() {
	t.Helper()
	stream, err := d.Tabs.WatchTabs(testenv.Within(t, testenv.Patience), &domtapv1.WatchTabsRequest{})
	if err == nil {
		_, err = stream.Recv() // the stream has started
	}
	if err != nil {
		t.Fatal(err)
	}
	return func() {
		for {
			m, err := stream.Recv()
			if err != nil {
				t.Fatalf("waiting for a navigation: %v", err)
			}
			if m.GetTab().GetId() == tab && m.GetNavigated() != nil {
				return
			}
		}
	}
}

// TestDialogsAreState opens dialogs in every way that a page can. None may block a call, and the answer must reach the page.
func TestDialogsAreState(t *testing.T) {
	var other string
	count := testenv.Size(30, 100)
	handlers := map[string]http.HandlerFunc{
		"/ok":      testenv.HTML(testenv.SomeButtons),
		"/load":    testenv.HTML(`<title>Load</title><script>alert("at load"); document.title = "after"</script><button>Go</button>`),
		"/confirm": bigButton(`document.title = "confirm " + confirm("Sure?")`),
		"/prompt":  bigButton(`document.title = "prompt " + prompt("Name?", "Ada")`),
		"/loop":    bigButton(fmt.Sprintf(`for (let i = 0; i < %d; i++) alert(i); document.title = "done"`, count)),
		"/hidden":  testenv.HTML(`<title>Top</title><button>Go</button><iframe hidden srcdoc="<script>setTimeout(() => { alert('hidden'); top.document.title = 'after' }, 50)</script>"></iframe>`),
		"/other": func(w http.ResponseWriter, r *http.Request) {
			testenv.HTML(`<title>Top</title><button>Go</button><iframe src="`+other+`/inner"></iframe><script>onmessage = e => document.title = e.data</script>`)(w, r)
		},
		"/inner": testenv.HTML(`<script>setTimeout(() => { alert('inner'); top.postMessage('after', '*') }, 50)</script>`),
		"/huge":  bigButton(`alert("é".repeat(5e6)); document.title = "after"`),
	}
	url := testenv.Pages(t, handlers)
	other = strings.Replace(url, "127.0.0.1", "localhost", 1)
	d := testenv.Shared(t, "site-per-process")
	titled := func(t *testing.T, tab, want string) {
		t.Helper()
		testenv.Await(t, fmt.Sprintf("the title is %q", want), func() bool { return d.All(tab).GetTitle() == want })
	}
	yes := func(tab string) *domtapv1.AnswerDialogRequest {
		return &domtapv1.AnswerDialogRequest{TabId: tab, Accept: true}
	}

	t.Run("while the page loads", func(t *testing.T) {
		r, err := d.Tabs.OpenTab(testenv.Within(t, testenv.Patience), &domtapv1.OpenTabRequest{Url: url + "/load"})
		if err != nil || r.GetTab().GetDialog().GetMessage() != "at load" {
			t.Fatalf("opened as %v, %v", r, err)
		}
		tab := r.GetTab().GetId()
		everyCallAnswers(t, d, tab)
		answer := answerDialog(t, d, yes(tab))
		if got := answer.GetDialog(); got.GetType() != domtapv1.DialogType_DIALOG_TYPE_ALERT || got.GetId() != 1 ||
			got.GetAnswer() != domtapv1.DialogAnswer_DIALOG_ANSWER_ACCEPTED || answer.GetTab().GetDialog() != nil {
			t.Errorf("answered %v", answer)
		}
		titled(t, tab, "after")
		_, err = d.Tabs.AnswerDialog(t.Context(), yes(tab))
		if testenv.Reason(err) != "NO_DIALOG" || status.Code(err) != codes.FailedPrecondition {
			t.Errorf("answering nothing: %v", err)
		}
		stillUsable(t, d, tab, url+"/ok")
	})
	tab := ""
	for _, tt := range []struct {
		path   string
		answer *domtapv1.AnswerDialogRequest
		title  string
	}{
		{"/confirm", &domtapv1.AnswerDialogRequest{Accept: true}, "confirm true"},
		{"/confirm", &domtapv1.AnswerDialogRequest{}, "confirm false"},
		{"/prompt", &domtapv1.AnswerDialogRequest{Accept: true}, "prompt Ada"},
		{"/prompt", &domtapv1.AnswerDialogRequest{Accept: true, PromptText: proto.String("Zoë 👍")}, "prompt Zoë 👍"},
		{"/prompt", &domtapv1.AnswerDialogRequest{Accept: true, PromptText: proto.String("")}, "prompt "},
		{"/prompt", &domtapv1.AnswerDialogRequest{}, "prompt null"},
		{"/huge", &domtapv1.AnswerDialogRequest{Accept: true}, "after"},
	} {
		t.Run(tt.path[1:]+" becomes "+tt.title, func(t *testing.T) {
			tab = d.Show(tab, url+tt.path)
			r := pressFirst(t, d, tab)
			if r.GetVerdict() != domtapv1.Verdict_VERDICT_DIALOG || r.GetTab().GetDialog() == nil || !r.GetResults()[0].GetOk() {
				t.Errorf("the click answered %.500v", r)
			}
			if n := len([]rune(r.GetTab().GetDialog().GetMessage())); n > 1001 {
				t.Errorf("the message has %d characters", n)
			}
			tt.answer.TabId, tt.answer.DialogId = tab, r.GetTab().GetDialog().GetId()
			answerDialog(t, d, tt.answer)
			titled(t, tab, strings.TrimSpace(tt.title))
			stillUsable(t, d, tab, url+"/ok")
		})
	}
	t.Run("a loop", func(t *testing.T) {
		tab := d.Open(url + "/loop")
		pressFirst(t, d, tab)
		for i := range count {
			dialog := nextDialog(t, d, tab, fmt.Sprint(i))
			wrong := &domtapv1.AnswerDialogRequest{TabId: tab, Accept: true, DialogId: dialog.GetId() + 1}
			if _, err := d.Tabs.AnswerDialog(t.Context(), wrong); testenv.Reason(err) != "NO_DIALOG" {
				t.Fatalf("a dialog that is not there yet was answered: %v", err)
			}
			answer := answerDialog(t, d, &domtapv1.AnswerDialogRequest{TabId: tab, Accept: true, DialogId: dialog.GetId()})
			if answer.GetDialog().GetMessage() != fmt.Sprint(i) {
				t.Fatalf("answered %v, want %d", answer.GetDialog(), i)
			}
		}
		titled(t, tab, "done")
	})
	for path, message := range map[string]string{"/hidden": "hidden", "/other": "inner"} {
		t.Run("in a frame, "+path[1:], func(t *testing.T) {
			tab = d.Show(tab, url+path)
			nextDialog(t, d, tab, message)
			everyCallAnswers(t, d, tab)
			answerDialog(t, d, yes(tab))
			titled(t, tab, "after")
			stillUsable(t, d, tab, url+"/ok")
		})
	}
	t.Run("navigating away", func(t *testing.T) {
		tab = d.Show(tab, url+"/loop")
		pressFirst(t, d, tab)
		stillUsable(t, d, tab, url+"/ok") // within the same site
		tab = d.Show(tab, url+"/loop")
		pressFirst(t, d, tab)
		stillUsable(t, d, tab, other+"/ok")
		tab = d.Show(tab, url+"/loop")
		pressFirst(t, d, tab)
		if _, err := d.Tabs.Reload(testenv.Within(t, testenv.Patience), &domtapv1.ReloadRequest{TabId: tab}); err != nil {
			t.Error(err)
		}
		stillUsable(t, d, tab, url+"/ok")
	})
}

// everyCallAnswers makes every call that a page with an open dialog cannot answer. Each must report that immediately.
func everyCallAnswers(t *testing.T, d *testenv.Daemon, tab string) {
	t.Helper()
	calls := map[string]func(ctx context.Context) error{
		"GetDom": func(ctx context.Context) error {
			_, err := d.Dom.GetDom(ctx, &domtapv1.GetDomRequest{TabId: tab})
			return err
		},
		"GetCompact": func(ctx context.Context) error {
			_, err := d.Dom.GetCompact(ctx, &domtapv1.GetCompactRequest{TabId: tab})
			return err
		},
		"WatchDom": func(ctx context.Context) error {
			stream, err := d.Dom.WatchDom(ctx, &domtapv1.WatchDomRequest{TabId: tab})
			if err == nil {
				_, err = stream.Recv()
			}
			return err
		},
		"Interact": func(ctx context.Context) error {
			_, err := d.Actions.Interact(ctx, testenv.ClickOn(tab, 0))
			return err
		},
		"Screenshot": func(ctx context.Context) error {
			_, err := d.Pages.Screenshot(ctx, &domtapv1.ScreenshotRequest{TabId: tab})
			return err
		},
		"ReadPage": func(ctx context.Context) error {
			_, err := d.Pages.ReadPage(ctx, &domtapv1.ReadPageRequest{TabId: tab})
			return err
		},
	}
	for name, call := range calls {
		err := call(testenv.Within(t, testenv.Patience))
		if testenv.Reason(err) != "DIALOG_OPEN" || !strings.Contains(err.Error(), "AnswerDialog") {
			t.Errorf("%s behind a dialog: %v", name, err)
		}
	}
	if tabOf(t, d, tab).GetDialog() == nil {
		t.Error("GetTab tells of no dialog")
	}
}

// TestDialogPolicies sets policies that answer dialogs immediately. The dialogs must still be reported, and nothing may block.
func TestDialogPolicies(t *testing.T) {
	t.Parallel()
	url := testenv.Pages(t, map[string]http.HandlerFunc{
		"/ok":      testenv.HTML(testenv.SomeButtons),
		"/load":    testenv.HTML(`<title>Load</title><script>for (let i = 0; i < 5; i++) alert(i); document.title = "after " + confirm("Load?")</script><button>Go</button>`),
		"/confirm": bigButton(`document.title = [confirm("Sure?"), prompt("Name?", "Ada")]`),
		"/loop":    bigButton(`for (let i = 0; i < 100; i++) alert(i); document.title = "done"`),
		"/endless": bigButton(`while (true) alert("again")`),
	})
	for policy, titles := range map[driver.DialogPolicy][]string{
		driver.AcceptDialogs:  {"true,Ada", "after true"},
		driver.DismissDialogs: {"false,", "after false"},
	} {
		t.Run(titles[1], func(t *testing.T) {
			d := testenv.StartWith(t, tabpool.Config{Dialogs: policy}, server.Config{}, browser.Config{})
			testenv.InSessions(t, d, func(t *testing.T, d *testenv.Daemon) {
				if d.Session != driver.DefaultSession { // the daemon's policy applies only to the default session
					settings := &domtapv1.SessionSettings{DialogPolicy: domtapv1.DialogPolicy(policy) + domtapv1.DialogPolicy_DIALOG_POLICY_REPORT}
					if _, err := d.Sessions.UpdateSession(t.Context(), &domtapv1.UpdateSessionRequest{Settings: settings}); err != nil {
						t.Fatal(err)
					}
				}
				answeredAtOnce(t, d, url, titles)
			})
			if policy == driver.AcceptDialogs || testenv.Long() {
				answeredForTooLong(t, d, url)
			}
		})
	}
}

// answeredAtOnce opens dialogs in a session whose policy answers them. titles lists the expected titles of the pages.
func answeredAtOnce(t *testing.T, d *testenv.Daemon, url string, titles []string) {
	tab := d.Open(url + "/load")
	if got := tabOf(t, d, tab); got.GetTitle() != titles[1] || got.GetDialog() != nil {
		t.Errorf("loaded as %v", got)
	}
	tab = d.Show(tab, url+"/confirm")
	r := pressFirst(t, d, tab)
	if r.GetVerdict() != domtapv1.Verdict_VERDICT_DIALOG || r.GetTab().GetDialog() != nil || r.GetTab().GetTitle() != titles[0] {
		t.Errorf("the click answered %v", r)
	}
	if s := r.GetResults()[0].GetSummary(); !strings.Contains(s, `ok; confirm "Sure?" was`) || !strings.Contains(s, `prompt "Name?" was`) {
		t.Errorf("the step says %s", s)
	}
	stillUsable(t, d, tab, url+"/ok")
}

// answeredForTooLong opens a hundred dialogs, and then an endless series of dialogs, which the policy stops answering.
func answeredForTooLong(t *testing.T, d *testenv.Daemon, url string) {
	tab := d.Open(url + "/loop")
	if r := pressFirst(t, d, tab); r.GetTab().GetTitle() != "done" || len(r.GetResults()[0].GetSummary()) > 500 {
		t.Errorf("after 100 alerts: %v", r)
	}
	tab = d.Show(tab, url+"/endless")
	ref := d.FirstControl(tab)
	r, err := d.Actions.Interact(testenv.Within(t, testenv.Patience), testenv.ClickOn(tab, ref))
	if err != nil || r.GetTab().GetDialog().GetMessage() != "again" {
		t.Errorf("alerts without end: %v, %v", r, err)
	}
	stillUsable(t, d, tab, url+"/ok")
}

// TestBeforeUnload navigates away from pages that ask for confirmation.
func TestBeforeUnload(t *testing.T) {
	url := testenv.Pages(t, map[string]http.HandlerFunc{
		"/ok":   testenv.HTML(testenv.SomeButtons),
		"/stay": testenv.HTML(`<title>Stay</title><button>Go</button><script>onbeforeunload = e => { e.preventDefault(); return "x" }</script>`),
	})
	moves := func(d *testenv.Daemon, tab string) map[string]func(ctx context.Context) error {
		return map[string]func(ctx context.Context) error{
			"Navigate": func(ctx context.Context) error {
				_, err := d.Tabs.Navigate(ctx, &domtapv1.NavigateRequest{TabId: tab, Url: url + "/ok"})
				return err
			},
			"Reload": func(ctx context.Context) error {
				_, err := d.Tabs.Reload(ctx, &domtapv1.ReloadRequest{TabId: tab})
				return err
			},
			"GoBack": func(ctx context.Context) error {
				_, err := d.Tabs.GoBack(ctx, &domtapv1.GoBackRequest{TabId: tab})
				return err
			},
		}
	}
	// asking opens a page that asks for confirmation, and interacts with it, because the browser otherwise does not ask.
	asking := func(t *testing.T, d *testenv.Daemon) string {
		tab := d.Open(url + "/ok")
		if _, err := d.Tabs.Navigate(t.Context(), &domtapv1.NavigateRequest{TabId: tab, Url: url + "/stay"}); err != nil {
			t.Fatal(err)
		}
		pressFirst(t, d, tab)
		return tab
	}
	names := []string{"Navigate", "Reload", "GoBack"}
	// in returns a client for a session whose policy answers dialogs immediately.
	in := func(t *testing.T, session string, policy domtapv1.DialogPolicy) *testenv.Daemon {
		d := testenv.Shared(t).In(t, session)
		settings := &domtapv1.SessionSettings{DialogPolicy: policy}
		if _, err := d.Sessions.UpdateSession(t.Context(), &domtapv1.UpdateSessionRequest{Settings: settings}); err != nil {
			t.Fatal(err)
		}
		return d
	}
	t.Run("reported", func(t *testing.T) {
		d := testenv.Shared(t)
		for _, name := range names {
			tab := asking(t, d)
			for _, accept := range []bool{false, true} {
				if err := moves(d, tab)[name](testenv.Within(t, testenv.Patience)); testenv.Reason(err) != "DIALOG_OPEN" {
					t.Fatalf("%s: %v", name, err)
				}
				left := nextNavigation(t, d, tab)
				answerDialog(t, d, &domtapv1.AnswerDialogRequest{TabId: tab, Accept: accept})
				if accept {
					left()
				}
			}
			stillUsable(t, d, tab, url+"/ok")
		}
	})
	t.Run("dismissed", func(t *testing.T) {
		d := in(t, "dismissing", domtapv1.DialogPolicy_DIALOG_POLICY_DISMISS)
		for _, name := range names {
			tab := asking(t, d)
			if err := moves(d, tab)[name](testenv.Within(t, testenv.Patience)); testenv.Reason(err) != "NAVIGATION_FAILED" || !strings.Contains(err.Error(), "beforeunload") {
				t.Errorf("%s: %v", name, err)
			}
			if got := d.All(tab).GetTitle(); got != "Stay" {
				t.Errorf("%s: the tab shows %q", name, got)
			}
		}
	})
	t.Run("accepted", func(t *testing.T) {
		d := in(t, "accepting", domtapv1.DialogPolicy_DIALOG_POLICY_ACCEPT)
		for _, name := range names {
			tab := asking(t, d)
			if err := moves(d, tab)[name](testenv.Within(t, testenv.Patience)); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			stillUsable(t, d, tab, url+"/ok")
		}
	})
	t.Run("CloseTab", func(t *testing.T) {
		d := testenv.Shared(t)
		for _, open := range []bool{false, true} {
			tab := asking(t, d)
			if open {
				_ = moves(d, tab)["Navigate"](testenv.Within(t, testenv.Patience))
			}
			if _, err := d.Tabs.CloseTab(testenv.Within(t, testenv.Patience), &domtapv1.CloseTabRequest{TabId: tab}); err != nil {
				t.Error(err)
			}
		}
	})
}

// TestTheAnswerToADialogIsAnAction answers dialogs by steps. The answer of the last step must report what the page does next.
func TestTheAnswerToADialogIsAnAction(t *testing.T) {
	ok, cancel := &domtapv1.DialogStep{Accept: true}, &domtapv1.DialogStep{}
	cases := map[string]struct {
		script  string
		answers []*domtapv1.DialogStep
		verdict domtapv1.Verdict
		want    string
	}{
		"accepted":   {`said.textContent = confirm("Sure?") ? "2 files" : "kept"`, []*domtapv1.DialogStep{ok}, domtapv1.Verdict_VERDICT_CHANGED, "2 files"},
		"dismissed":  {`said.textContent = confirm("Sure?") ? "2 files" : "kept"`, []*domtapv1.DialogStep{cancel}, domtapv1.Verdict_VERDICT_CHANGED, "kept"},
		"prompt":     {`said.textContent = "Hello " + prompt("Name?")`, []*domtapv1.DialogStep{{Accept: true, PromptText: proto.String("Ada")}}, domtapv1.Verdict_VERDICT_CHANGED, "Hello Ada"},
		"second":     {`alert("One"); alert("Two"); said.textContent = "both"`, []*domtapv1.DialogStep{ok}, domtapv1.Verdict_VERDICT_DIALOG, "a dialog is open: alert"},
		"both":       {`alert("One"); alert("Two"); said.textContent = "both"`, []*domtapv1.DialogStep{ok, ok}, domtapv1.Verdict_VERDICT_CHANGED, "both"},
		"later":      {`alert("Sure?"); setTimeout(() => said.textContent = "gone", 50)`, []*domtapv1.DialogStep{ok}, domtapv1.Verdict_VERDICT_CHANGED, "gone"},
		"request":    {`if (confirm("Sure?")) fetch("/slow").then(() => said.textContent = "stored")`, []*domtapv1.DialogStep{ok}, domtapv1.Verdict_VERDICT_CHANGED, "stored"},
		"navigation": {`alert("Leave?"); location.href = "/ok"`, []*domtapv1.DialogStep{ok}, domtapv1.Verdict_VERDICT_NAVIGATED, "/ok"},
	}
	slow := func(http.ResponseWriter, *http.Request) { time.Sleep(300 * time.Millisecond) } // longer than the page needs to settle
	handlers := map[string]http.HandlerFunc{"/ok": testenv.HTML(testenv.SomeButtons), "/slow": slow}
	for name, c := range cases {
		handlers["/"+name] = testenv.HTML(`<!doctype html><title>Files</title><p id=said>3 files</p><button id=b>Go</button><script>b.onclick = () => { ` + c.script + ` }</script>`)
	}
	url := testenv.Pages(t, handlers)
	d := testenv.Shared(t)
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			tab := d.Open(url + "/" + name)
			pressFirst(t, d, tab)
			var answer *domtapv1.InteractResponse
			for _, step := range c.answers {
				var err error
				answer, err = d.Actions.Interact(testenv.Within(t, testenv.Patience), &domtapv1.InteractRequest{
					TabId: tab, Steps: []*domtapv1.Step{{Action: &domtapv1.Step_Dialog{Dialog: step}}},
				})
				if err != nil {
					t.Fatal(err)
				}
			}
			if got := answer.String(); answer.GetVerdict() != c.verdict || !strings.Contains(got, c.want) {
				t.Errorf("the answer is %s, want %v and %q", got, c.verdict, c.want)
			}
			checkRecordedAnswers(t, d, tab, len(c.answers))
		})
	}
}

// checkRecordedAnswers checks how many dialogs of a tab have an answer in its timeline.
func checkRecordedAnswers(t *testing.T, d *testenv.Daemon, tab string, want int) {
	t.Helper()
	got, err := d.Timelines.GetTimeline(testenv.Within(t, testenv.Patience), &domtapv1.GetTimelineRequest{TabId: tab})
	if err != nil {
		t.Fatal(err)
	}
	answered := 0
	for _, e := range got.GetEntries() {
		if e.GetDialog().GetAnswer() != domtapv1.DialogAnswer_DIALOG_ANSWER_UNSPECIFIED {
			answered++
		}
	}
	if answered != want {
		t.Errorf("the timeline has %d answered dialogs, want %d: %v", answered, want, got.GetEntries())
	}
}
