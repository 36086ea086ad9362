package secrets

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"image/jpeg"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/domtap/domtap/actor/tabpool"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/browser"
	"github.com/domtap/domtap/internal/recording"
	"github.com/domtap/domtap/internal/server"
	recorder "github.com/domtap/domtap/internal/server/recording"
	"github.com/domtap/domtap/internal/sessions"
	"github.com/domtap/domtap/internal/testenv"
)

// credentials is the value that a browser sends for user me in HTTP authentication.
var credentials = base64.StdEncoding.EncodeToString([]byte("me:" + hidden))

// recorded holds the contents of a test's recordings.
type recorded struct {
	text     strings.Builder
	states   int
	pictures []*recording.Picture
}

// recordings ends all recordings and searches for hidden text in every byte of their files: in the raw and the uncompressed bytes, and in
// the decoded contents.
func (l *leaks) recordings(d *testenv.Daemon) *recorded {
	l.t.Helper()
	found := new(recorded)
	all := d.For(l.t).StopRecording()
	if len(all) == 0 {
		l.t.Fatal("nothing was recorded")
	}
	for _, one := range all {
		raw, err := os.ReadFile(one.GetFile())
		if err != nil {
			l.t.Fatal(err)
		}
		l.bytes("the file", raw)
		l.see("Recording", one, nil)
		l.recording(one.GetFile(), found)
	}
	if found.states == 0 {
		l.t.Error("the recordings have no states")
	}
	return found
}

// recording searches one file.
func (l *leaks) recording(path string, found *recorded) {
	l.t.Helper()
	f, err := recording.Open(path)
	if err != nil {
		l.t.Fatal(err)
	}
	defer f.Close()
	if gaps := f.Missing(); len(gaps) > 0 {
		l.t.Errorf("the recording misses %v", gaps)
	}
	for contents, err := range f.Contents() {
		if err != nil {
			l.t.Error(err)
		}
		l.bytes("a block", contents)
		found.text.Write(contents)
	}
	c := f.Cursor(0)
	defer c.Close()
	for {
		m, err := c.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		switch {
		case err != nil:
			l.t.Fatal(err)
		case m.State != nil:
			found.states++
			l.bytes("a state", fmt.Appendf(nil, "%+v", *m.State.Snapshot))
			for _, e := range m.State.Snapshot.Elements.Slice() {
				l.bytes("an element", fmt.Appendf(nil, "%+v", *e))
			}
		case m.Picture != nil:
			found.pictures = append(found.pictures, m.Picture)
		}
	}
	if n := c.Damaged(); n > 0 {
		l.t.Errorf("%d parts of the recording are damaged", n)
	}
}

// bytes searches bytes for hidden text.
func (l *leaks) bytes(what string, b []byte) {
	l.t.Helper()
	for _, secret := range []string{hidden, credentials} {
		if at := bytes.Index(b, []byte(secret)); at >= 0 {
			l.t.Errorf("%s of a recording tells …%q…", what, b[max(0, at-200):min(len(b), at+40)])
		}
	}
}

// painted fails the test if a recorded picture shows a masked area, or if none shows the other areas.
func (r *recorded) painted(t *testing.T) {
	t.Helper()
	magenta, green := [3]byte{0xff, 0, 0xff}, [3]byte{0, 0xff, 0}
	if len(r.pictures) == 0 {
		t.Error("there are no pictures")
	}
	shown := 0
	for _, p := range r.pictures {
		img, err := jpeg.Decode(bytes.NewReader(p.GetData()))
		if err != nil {
			t.Fatal(err)
		}
		if n := pixels(img, magenta); n > 0 {
			t.Errorf("%d pixels of a masked box are in a picture", n)
		}
		shown += pixels(img, green)
	}
	if shown == 0 {
		t.Error("no picture shows the frame without anything masked")
	}
}

// vault asks for credentials, sets cookies and headers, stores and sends secrets in every way that a page can, and displays none of them.
const vault = `<!doctype html><title>Vault</title><link rel=icon href="data:,"><h1>visible-vault</h1>
<form id=form onsubmit="event.preventDefault(); send(secret.value).then(() => state.textContent = 'visible-sent')">
<label>Key <input id=secret type=password name=key></label><label>Pin <input id=pin autocomplete="one-time-code"></label>
<label>Private <input id=private class=m></label><input type=hidden name=csrf value="HIDDEN-csrf"><button>Sign in</button></form>
<p id=own>HIDDEN-own</p><p id=state>visible-start</p><label>File <input id=file type=file></label>
<button id=ask onclick="state.textContent = prompt('visible-question') ? 'visible-answered' : 'visible-refused'">Ask</button>
<script type=application/json>{"token": "HIDDEN-json"}</script>
<script>
// HIDDEN-comment
document.cookie = "page=HIDDEN-document-cookie";
localStorage.setItem("key", "HIDDEN-local"); sessionStorage.setItem("key", "HIDDEN-session-storage");
const database = indexedDB.open("vault", 1);
database.onupgradeneeded = () => database.result.createObjectStore("s").put("HIDDEN-indexed", 1);
const send = (body) => fetch(location.origin + "/api?access_token=HIDDEN-query", {method: "POST", body: "HIDDEN-body" + body,
  headers: {authorization: "Bearer HIDDEN-bearer", "x-api-key": "HIDDEN-header"}}).then((r) => r.text());
send("").then(() => state.textContent = "visible-loaded");
</script>`

// vaultHandler serves the vault only to the user me.
func vaultHandler(w http.ResponseWriter, r *http.Request) {
	if _, password, ok := r.BasicAuth(); !ok || password != hidden {
		if r.URL.Path != "/api" {
			w.Header().Set("www-authenticate", `Basic realm="vault"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
	}
	w.Header().Add("set-cookie", "sid="+hidden+"-cookie; HttpOnly")
	w.Header().Set("x-secret", hidden+"-response-header")
	if r.URL.Path == "/api" {
		_, _ = w.Write([]byte(hidden + "-answer"))
		return
	}
	testenv.HTML(strings.ReplaceAll(vault, "HIDDEN", hidden))(w, r)
}

// TestSecretsAreInNoRecording records everything, as `serve --record` does, while the browser handles secrets that pages do not display:
// text typed and filled into secret and masked fields, refused steps, credentials of URLs and sessions, cookies, headers, bodies, storage,
// uploads and dialogs.
func TestSecretsAreInNoRecording(t *testing.T) {
	t.Parallel()
	url := testenv.Serve(t, http.HandlerFunc(vaultHandler))
	d := testenv.StartWith(t, tabpool.Config{}, server.Config{RecordAll: new(recorder.Options)},
		browser.Config{Mask: sessions.Mask{Selectors: []string{"#own"}}})
	ctx := testenv.Within(t, limit)
	l := &leaks{t: t}
	for _, secret := range []string{hidden + "-cookie-set", hidden + "-again"} {
		_, err := d.Storage.SetCookies(ctx, &domtapv1.SetCookiesRequest{Cookies: []*domtapv1.Cookie{{Name: "set", Value: secret, Domain: "127.0.0.1", Path: "/"}}})
		if err != nil {
			t.Fatal(err)
		}
	}
	_, err := d.Sessions.CreateSession(ctx, &domtapv1.CreateSessionRequest{SessionId: "vault", Settings: &domtapv1.SessionSettings{
		Mask: &domtapv1.Mask{Selectors: []string{".m"}}, HttpCredentials: &domtapv1.HttpCredentials{Username: "me", Password: hidden}}})
	if err != nil {
		t.Fatal(err)
	}
	for session, address := range map[string]string{
		"vault": url, "": strings.Replace(url, "http://", "http://me:"+hidden+"@", 1),
	} {
		opened, err := d.Tabs.OpenTab(ctx, &domtapv1.OpenTabRequest{SessionId: session, Url: address + "/?access_token=" + hidden})
		if err != nil {
			t.Fatal(err)
		}
		l.vault(d, opened.GetTab().GetId(), address, session == "vault")
	}
	found := l.recordings(d)
	if n := len(found.pictures); n < 2 {
		t.Errorf("there are %d pictures", n)
	}
	for _, want := range []string{"visible-vault", "visible-loaded", "visible-answered", "visible-sent", "visible-question", "Interact", "FillForm", "/api", "••••"} {
		if !strings.Contains(found.text.String(), want) {
			t.Errorf("nothing in the recordings tells of %s", want)
		}
	}
}

// vault performs the actions that involve secrets, in a tab with the vault.
func (l *leaks) vault(d *testenv.Daemon, tab, address string, masked bool) {
	ctx := testenv.Within(l.t, limit)
	by := func(selector string) *domtapv1.Target { return &domtapv1.Target{Selector: selector} }
	wait := func(text string) {
		l.t.Helper()
		if _, err := d.Dom.WaitFor(ctx, &domtapv1.WaitForRequest{TabId: tab, Until: &domtapv1.WaitCondition{Text: text}}); err != nil {
			l.t.Fatal(err)
		}
	}
	act := func(steps ...*domtapv1.Step) error {
		got, err := d.Actions.Interact(ctx, &domtapv1.InteractRequest{TabId: tab, Steps: steps})
		if err == nil && !got.GetResults()[0].GetOk() {
			err = errors.New(got.GetResults()[0].GetError())
		}
		return err
	}
	must := func(steps ...*domtapv1.Step) {
		l.t.Helper()
		if err := act(steps...); err != nil {
			l.t.Error(err)
		}
	}
	fill := func(selector, text string) *domtapv1.Step {
		return &domtapv1.Step{Action: &domtapv1.Step_Fill{Fill: &domtapv1.FillStep{Target: by(selector), Text: text}}}
	}
	click := func(selector string) *domtapv1.Step {
		return &domtapv1.Step{Action: &domtapv1.Step_Click{Click: &domtapv1.ClickStep{Target: by(selector)}}}
	}
	wait("visible-loaded")
	must(&domtapv1.Step{Action: &domtapv1.Step_Type{Type: &domtapv1.TypeStep{Target: by("#secret"), Text: hidden + "-typed"}}})
	must(fill("#pin", hidden+"-pin"))
	if masked {
		must(fill("#private", hidden+"-private"))
	}
	if act(fill("#nowhere", hidden+"-refused")) == nil {
		l.t.Error("what is not there was filled")
	}
	_, _ = d.Actions.FillForm(ctx, &domtapv1.FillFormRequest{TabId: tab, Fields: []*domtapv1.FormField{
		{Label: "Key", Value: hidden + "-form"}, {Label: "no such field", Value: hidden + "-no-field"}}})
	must(click("#form button"))
	wait("visible-sent")
	must(&domtapv1.Step{Action: &domtapv1.Step_Upload{Upload: &domtapv1.UploadStep{Target: by("#file"),
		Files: []*domtapv1.UploadFile{{Name: "visible-file.txt", Content: []byte(hidden + "-upload")}}}}})
	_ = act(click("#ask")) // then a dialog is open
	if _, err := d.Tabs.AnswerDialog(ctx, &domtapv1.AnswerDialogRequest{TabId: tab, Accept: true, PromptText: proto.String(hidden + "-answer")}); err != nil {
		l.t.Error(err)
	}
	wait("visible-answered")
	_, err := d.Tabs.Navigate(ctx, &domtapv1.NavigateRequest{TabId: tab, Url: address + "/next?token=1&access_token=" + hidden + "-moved#access_token=" + hidden})
	if err != nil {
		l.t.Fatal(err)
	}
	wait("visible-loaded")
}
