package e2e

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/domtap/domtap/client"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/testenv"
	"github.com/domtap/domtap/internal/timeline"
)

const (
	timelineUser, timelineSecret = "ada@example.org", "pw-canary-7141"

	timelineLogin = `<!doctype html><title>Sign in</title><style>body{margin:0} button{position:absolute;left:200px;top:100px;width:80px;height:40px}</style>
<form id=f><label>Email <input name=user></label><label>Password <input name=pass type=password></label><button>Sign in</button></form><p role=alert id=a></p>
<script>f.onsubmit = async (e) => {
  e.preventDefault();
  const answer = await fetch("/login", {method: "POST", body: new FormData(f)});
  if (answer.ok) { await answer.text(); location.href = "/home"; return; }
  await answer.text();
  a.textContent = "Wrong password";
}</script>`
	timelineHome = `<!doctype html><title>Home</title><button onclick="alert('Bye')">Sign out</button>`
)

// timelineGolden is the timeline of the login as a user sees it. N stands for numbers that vary between runs.
const timelineGolden = `#1 agent OpenTab (N ms, about N tokens): tab opened
#2 navigated to SITE/
#3 agent GetCompact ×2 (N ms, N tokens): 3 elements
#4 agent Interact (N ms, about N tokens): fill "Email": ok; fill "Password": ok; click "Sign in": ok at 240,120 → changed (+0 -0 ~3) ! alert: Wrong password
#5 request failed: POST SITE/login HTTP 403
#6 agent Interact (N ms): click button "Log in": not found — TARGET_NOT_FOUND: …
#7 agent FillForm (N ms, about N tokens): fill "Password": ok; click "Sign in": ok → Home (/home) at 240,120 → navigated (+1 -3 ~0) ! heading: Home
#8 navigated to SITE/home
#9 agent Interact (N ms, about N tokens): press a character: ok, to the document; click "Sign out": ok, and a dialog is open: alert "Bye" at N,N → dialog
#10 alert dialog "Bye" accepted
#11 agent AnswerDialog (N ms, about N tokens)
`

// TestTimelineOfALogin signs in, with a wrong password first, and reads the timeline. The timeline must contain what a user needs, and no
// secrets.
func TestTimelineOfALogin(t *testing.T) {
	url := testenv.Pages(t, map[string]http.HandlerFunc{
		"/": testenv.HTML(timelineLogin), "/home": testenv.HTML(timelineHome),
		"/login": func(w http.ResponseWriter, r *http.Request) {
			if r.FormValue("pass") != timelineSecret {
				w.WriteHeader(http.StatusForbidden)
			}
		},
	})
	d := testenv.Shared(t)
	ctx := client.WithClientID(testenv.Within(t, testenv.Patience), "agent")
	opened, err := d.Tabs.OpenTab(ctx, &domtapv1.OpenTabRequest{Url: url + "/", SessionId: d.Session})
	if err != nil {
		t.Fatal(err)
	}
	tab := opened.GetTab().GetId()
	for range 2 {
		if _, err := d.Dom.GetCompact(ctx, &domtapv1.GetCompactRequest{TabId: tab}); err != nil {
			t.Fatal(err)
		}
	}
	act := func(steps ...*domtapv1.Step) error {
		_, err := d.Actions.Interact(ctx, &domtapv1.InteractRequest{TabId: tab, Steps: steps})
		return err
	}
	fill := func(label, text string) *domtapv1.Step {
		return &domtapv1.Step{Action: &domtapv1.Step_Fill{Fill: &domtapv1.FillStep{Target: &domtapv1.Target{Label: label}, Text: text}}}
	}
	click := func(name string) *domtapv1.Step {
		return &domtapv1.Step{Action: &domtapv1.Step_Click{Click: &domtapv1.ClickStep{Target: &domtapv1.Target{Role: "button", Name: name}}}}
	}
	if err := act(fill("Email", timelineUser), fill("Password", "wrong-"+timelineSecret), click("Sign in")); err != nil {
		t.Fatal(err)
	}
	if err := act(click("Log in")); err == nil {
		t.Error("there is a button Log in")
	}
	if _, err := d.Actions.FillForm(ctx, &domtapv1.FillFormRequest{TabId: tab, Submit: true, Fields: []*domtapv1.FormField{{Label: "Password", Value: timelineSecret}}}); err != nil {
		t.Fatal(err)
	}
	if err := act(&domtapv1.Step{Action: &domtapv1.Step_Press{Press: &domtapv1.PressStep{Key: "x"}}}, click("Sign out")); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Tabs.AnswerDialog(ctx, &domtapv1.AnswerDialogRequest{TabId: tab, Accept: true}); err != nil {
		t.Fatal(err)
	}
	got, err := d.Timelines.GetTimeline(ctx, &domtapv1.GetTimelineRequest{TabId: tab})
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, e := range got.GetEntries() {
		all.WriteString(timeline.Text(e) + "\n")
	}
	text := strings.ReplaceAll(all.String(), url, "SITE")
	text = regexp.MustCompile(`\d+( ms\b| tokens\b)`).ReplaceAllString(text, "N$1")
	text = regexp.MustCompile(`("Bye" at) \d+,\d+`).ReplaceAllString(text, "$1 N,N")
	text = regexp.MustCompile(`(TARGET_NOT_FOUND: ).*`).ReplaceAllString(text, "$1…")
	if text != timelineGolden {
		t.Errorf("the timeline is\n%swant\n%s", text, timelineGolden)
	}
	if whole := fmt.Sprint(got); strings.Contains(whole, timelineSecret) {
		t.Errorf("the password is in %s", whole)
	}
	var turn *domtapv1.TimelineTurn
	for _, e := range got.GetEntries() {
		if len(e.GetTurn().GetSteps()) == 3 {
			turn = e.GetTurn()
		}
	}
	if len(turn.GetSteps()) != 3 {
		t.Fatal("there is no turn with three steps")
	}
	email, password, button := turn.GetSteps()[0], turn.GetSteps()[1], turn.GetSteps()[2]
	if email.GetValue() != timelineUser || email.GetLength() != uint32(len(timelineUser)) || email.GetTarget().GetLabel() != "Email" || email.GetRole() != "textbox" {
		t.Errorf("the first step is %v", email)
	}
	if strings.Contains(password.GetValue(), "wrong") || password.GetLength() == 0 {
		t.Errorf("the second step is %v", password)
	}
	if want := (&domtapv1.Rect{X: 200, Y: 100, Width: 80, Height: 40}); !proto.Equal(button.GetBox(), want) || button.GetPoint().GetX() != 240 || button.GetPoint().GetY() != 120 {
		t.Errorf("it was clicked at %v in %v, want %v", button.GetPoint(), button.GetBox(), want)
	}
}
