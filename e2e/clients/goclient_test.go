package clients

import (
	"bytes"
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/domtap/domtap/client"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/testenv"
)

// desk is a page on which each step of the Go client records the events that reach the page.
const desk = `<!doctype html><meta charset=utf-8><title>Desk</title><link rel=icon href="data:,">
<h1>Desk</h1><a href="/two">Two</a>
<form onsubmit="note('submit'); return false"><label>Name <input id=name></label><label>Plan <select id=plan><option>Free<option>Paid</select></label>
<label><input type=checkbox id=terms> Terms</label><button>Send</button></form>
<input placeholder="Search here" onkeydown="note('key ' + event.key)">
<button data-testid=twice ondblclick="note('twice')">Twice</button>
<button onmouseenter="note('over')">Over</button>
<button onclick="note(confirm('Sure?') ? 'sure' : 'unsure')">Ask</button>
<button onclick="note('hello ' + prompt('Who?', 'nobody'))">Who</button>
<label>Photo <input type=file onchange="this.files[0].text().then(t => note(this.files[0].name + '=' + t))"></label>
<div role=button draggable=true aria-label=Card style="width:60px;height:20px">Card</div>
<div role=button aria-label=Bin style="width:60px;height:20px" ondragover="event.preventDefault()" ondrop="note('drop')">Bin</div>
<ul><li>Ada <button onclick="note('delete Ada')">Delete</button><li>Bob <button onclick="note('delete Bob')">Delete</button></ul>
<button onclick="setTimeout(() => { later.hidden = false }, 50)">Later</button><button id=later hidden>Here</button>
<a href="/file" download=report.txt>Report</a>
<p style="height:3000px"></p><button onclick="note('low')">Low</button><output id=log></output>
<script>const note = text => { log.textContent += text + ';' }; console.log('desk is ready')</script>`

// goClient is a Go client that uses the page of a test.
type goClient struct {
	*testing.T
	ctx context.Context
	tab *client.Tab
	url string
}

// Each method of the Go client has its documented effect on a page in a real browser.
func TestGoClientOnAPage(t *testing.T) {
	mux := http.NewServeMux()
	mux.Handle("/", testenv.HTML(desk))
	mux.Handle("/two", testenv.HTML("<!doctype html><title>Two</title><h1>Two</h1>"))
	mux.HandleFunc("/file", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Disposition", "attachment; filename=report.txt")
		_, _ = w.Write([]byte("the report"))
	})
	d := testenv.StartDaemon(t)
	ctx, cancel := context.WithTimeout(t.Context(), answerLimit)
	defer cancel()
	c, err := client.Connect(ctx, client.Options{Address: "unix://" + d.Socket})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	url := testenv.Serve(t, mux)
	tab, err := c.OpenWith(ctx, &domtapv1.OpenTabRequest{Url: url + "/", SessionId: d.Session})
	if err != nil {
		t.Fatal(err)
	}
	g := &goClient{t, ctx, tab, url}
	g.acts()
	g.fills()
	g.reads()
	g.dialogs()
	g.downloads()
	g.navigates()
	if tabs, err := c.List(ctx); err != nil || len(tabs) != 1 || tabs[0].GetId() != tab.ID() {
		t.Errorf("the list is %v, %v", tabs, err)
	}
	if err := tab.Close(ctx); err != nil {
		t.Error(err)
	}
}

// do performs steps and checks what the page has recorded. An empty noted skips the check.
func (g *goClient) do(noted string, steps ...*domtapv1.Step) *domtapv1.InteractResponse {
	g.Helper()
	answer, err := g.tab.Act(g.ctx, steps...)
	if err != nil {
		g.Fatal(err)
	}
	if noted == "" { // a dialog may be open, which blocks scripts
		return answer
	}
	if log := g.noted(); !strings.HasSuffix(log, noted+";") {
		g.Errorf("the page noted %q, not %q", log, noted)
	}
	return answer
}

func (g *goClient) noted() (log string) {
	g.Helper()
	if err := g.tab.Evaluate(g.ctx, "log.textContent", &log); err != nil {
		g.Fatal(err)
	}
	return log
}

func (g *goClient) acts() {
	g.do("key x", client.Type(client.Placeholder("Search here"), "x"))
	g.do("key y", client.Type(nil, "y"))
	g.do("key Escape", client.Press("Escape"))
	g.do("twice", client.DoubleClick(client.TestID("twice")))
	g.do("over", client.Hover(client.Text("Over")))
	g.do("drop", client.Drag(client.Named("button", "Card"), client.Named("button", "Bin")))
	g.do("delete Bob", client.Click(client.Within(client.Named("button", "Delete"), "Bob")))
	g.do("low", client.ScrollTo(client.Text("Low")), client.Click(client.Text("Low")))
	g.do("", client.ScrollBy(nil, 0, -5000))
	g.do("photo.txt=a picture", client.Upload(client.Label("Photo"), client.File("photo.txt", []byte("a picture"))), client.WaitUntil(client.ForText("a picture")))
	answer := g.do("", client.Click(client.Named("button", "Later")), client.WaitUntil(client.ForElement("button", "Here")), client.ReadText(), client.TakeScreenshot())
	if r := answer.GetResults(); !strings.Contains(r[2].GetText(), "Here (button)") || !isPNG(r[3].GetImage()) {
		g.Errorf("read %q and %d bytes", r[2].GetText(), len(r[3].GetImage()))
	}
}

func (g *goClient) fills() {
	answer, err := g.tab.SubmitForm(g.ctx, client.Field("Name", "Ada"), client.Field("Plan", "Paid"), client.Field("Terms", "true"))
	if err != nil || !strings.HasSuffix(g.noted(), "submit;") {
		g.Errorf("%v, %v, %s", answer, err, g.noted())
	}
	var filled []any
	if err := g.tab.Evaluate(g.ctx, `[document.querySelector("#name").value, plan.value, terms.checked]`, &filled); err != nil || len(filled) != 3 ||
		filled[0] != "Ada" || filled[1] != "Paid" || filled[2] != true {
		g.Errorf("filled %v, %v", filled, err)
	}
	g.do("", client.Uncheck(client.Label("Terms")), client.Check(client.Label("Terms")), client.Select(client.Label("Plan"), "Free"), client.Fill(client.Selector("#name"), "Bob"))
	if _, err := g.tab.FillForm(g.ctx, client.Field("Name", "Eve"), client.Field("Age", "1")); client.Reason(err) == "" {
		g.Errorf("a field that is not there: %v", err)
	}
}

func (g *goClient) reads() {
	page, err := g.tab.ReadPage(g.ctx, &domtapv1.ReadPageRequest{Mode: domtapv1.ReadMode_READ_MODE_CONTENT})
	if err != nil || !strings.Contains(page.GetText(), "# Desk") {
		g.Errorf("%v, %v", page, err)
	}
	if shot, err := g.tab.Screenshot(g.ctx, nil); err != nil || !isPNG(shot.GetImage()) {
		g.Error(err)
	}
	if shot, err := g.tab.Screenshot(g.ctx, &domtapv1.ScreenshotRequest{Marks: true}); err != nil || len(shot.GetMarks()) == 0 {
		g.Error(err)
	}
	if pdf, err := g.tab.PDF(g.ctx, nil); err != nil || !bytes.HasPrefix(pdf, []byte("%PDF")) {
		g.Error(err)
	}
	var data struct{ Title string }
	if _, err := g.tab.Extract(g.ctx, `{"title": "h1"}`, &data); err != nil || data.Title != "Desk" {
		g.Errorf("%+v, %v", data, err)
	}
	if elements, err := g.tab.Elements(g.ctx); err != nil || len(elements) < 10 {
		g.Errorf("%d elements, %v", len(elements), err)
	}
	if found, err := g.tab.Find(g.ctx, "delete ada"); err != nil || len(found.GetMatches()) == 0 {
		g.Errorf("%v, %v", found, err)
	}
	log, err := g.tab.Log(g.ctx, 0)
	if err != nil || !strings.Contains(log.String(), "desk is ready") {
		g.Errorf("%v, %v", log, err)
	}
	if err := g.tab.Evaluate(g.ctx, "() => { throw Error('no') }", nil); err == nil || !strings.Contains(err.Error(), "no") {
		g.Errorf("an exception: %v", err)
	}
}

func (g *goClient) dialogs() {
	g.do("", client.Click(client.Text("Ask")))
	if info, err := g.tab.Info(g.ctx); err != nil || info.GetDialog().GetMessage() != "Sure?" {
		g.Errorf("%v, %v", info, err)
	}
	if dialog, err := g.tab.AcceptDialog(g.ctx); err != nil || dialog.GetAnswer() != domtapv1.DialogAnswer_DIALOG_ANSWER_ACCEPTED {
		g.Errorf("%v, %v", dialog, err)
	}
	g.do("", client.Click(client.Text("Ask")))
	if _, err := g.tab.DismissDialog(g.ctx); err != nil {
		g.Error(err)
	}
	g.do("", client.Click(client.Text("Who")))
	if _, err := g.tab.AnswerPrompt(g.ctx, "Ada"); err != nil {
		g.Error(err)
	}
	if log := g.noted(); !strings.HasSuffix(log, "sure;unsure;hello Ada;") {
		g.Errorf("the page noted %q", log)
	}
	if _, err := g.tab.AcceptDialog(g.ctx); client.Reason(err) != "NO_DIALOG" {
		g.Errorf("without a dialog: %v", err)
	}
}

// downloads clicks a link to a file, and lists downloads at each event until the file is complete.
func (g *goClient) downloads() {
	g.do("", client.Click(client.Text("Report")))
	for {
		all, err := g.tab.Downloads(g.ctx)
		if err != nil {
			g.Fatal(err)
		}
		if len(all) == 1 && all[0].GetState() == domtapv1.DownloadState_DOWNLOAD_STATE_COMPLETED {
			if all[0].GetReceivedBytes() != int64(len("the report")) {
				g.Errorf("downloaded %v", all[0])
			}
			return
		}
	}
}

func (g *goClient) navigates() {
	if page, err := g.tab.Navigate(g.ctx, g.url+"/two"); err != nil || page.GetTab().GetTitle() != "Two" {
		g.Errorf("%v, %v", page, err)
	}
	if page, err := g.tab.Back(g.ctx); err != nil || page.GetTab().GetTitle() != "Desk" {
		g.Errorf("%v, %v", page, err)
	}
	if page, err := g.tab.Forward(g.ctx); err != nil || page.GetTab().GetTitle() != "Two" {
		g.Errorf("%v, %v", page, err)
	}
	if page, err := g.tab.Reload(g.ctx); err != nil || page.GetTab().GetTitle() != "Two" {
		g.Errorf("%v, %v", page, err)
	}
	if _, err := g.tab.Forward(g.ctx); client.Reason(err) != "NO_HISTORY" {
		g.Errorf("at the end of the history: %v", err)
	}
	for name, until := range map[string]*domtapv1.WaitCondition{
		"url": client.ForURL("/two"), "text": client.ForText("two"), "gone": client.ForGone("button", "Send"),
		"network": client.ForNetworkIdle(10 * time.Millisecond), "quiet": client.ForQuiet(time.Millisecond),
	} {
		if _, err := g.tab.Wait(g.ctx, until); err != nil {
			g.Errorf("%s: %v", name, err)
		}
	}
	short, cancel := context.WithTimeout(g.ctx, time.Second)
	defer cancel()
	if _, err := g.tab.Wait(short, client.ForEnabled("button", "Never")); client.Reason(err) != "WAIT_TIMEOUT" {
		g.Errorf("what never comes: %v", err)
	}
	g.do("", client.GoBack())
}

func isPNG(image []byte) bool { return bytes.HasPrefix(image, []byte("\x89PNG")) }
