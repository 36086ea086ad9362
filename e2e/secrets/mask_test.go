package secrets

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/draw"
	"image/jpeg"
	"image/png"
	"net/http"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/domtap/domtap/actor/tabpool"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/browser"
	"github.com/domtap/domtap/internal/server"
	"github.com/domtap/domtap/internal/sessions"
	"github.com/domtap/domtap/internal/testenv"
)

// hidden is at every place that is masked: by the session's selector .m, by the daemon's #own, or because it is a value.
const hidden = "zq4hidden"

const private = `<!doctype html><title>Account</title>
<style>body{margin:8px;background:#fff} #box,#slid{background:#f0f} #slid{position:absolute;left:500px;top:20px;width:80px;height:20px}</style>
<p class=m id=box style="width:200px;height:30px">HIDDEN-1 <b>HIDDEN-2</b><span id=slid>HIDDEN-3</span></p>
<h1>visible-heading</h1><h2 id=own>HIDDEN-4</h2>
<p>The sum is <span class=m>HIDDEN-5</span> today, visible-sum</p>
<button class=m>HIDDEN-6</button> <button>Pay <i class=m>HIDDEN-7</i> now</button>
<button aria-label="HIDDEN-8" class=m>x</button> <button aria-labelledby=named>y</button><span id=named class=m>HIDDEN-9</span>
<a href="/HIDDEN-10" title="HIDDEN-11" class=m>HIDDEN-12</a> <a href="/shown">visible-link</a>
<img alt="HIDDEN-13" class=m src="data:image/gif;base64,R0lGODlhAQABAAAAACw=" width=40 height=20>
<div class=m><table><caption>HIDDEN-14</caption><tr><th>HIDDEN-15<tr><td>HIDDEN-16</table><h2>HIDDEN-17</h2><input placeholder="HIDDEN-18" title="HIDDEN-19"></div>
<label>Name <input id=name value="HIDDEN-20"></label> <label>Note <textarea id=note>HIDDEN-21</textarea></label>
<label>Bank <select id=bank><option>visible-bank<option selected>HIDDEN-22</select></label>
<div contenteditable role=textbox aria-label="visible-letter" id=letter>HIDDEN-23 <b title="HIDDEN-24">HIDDEN-25</b><form><input name=isContentEditable value="HIDDEN-26">HIDDEN-27</form></div>
<label>Amount visible-label <input id=amount value="HIDDEN-28"> units</label>
<button>Take <span role=textbox contenteditable>HIDDEN-29</span> visible-take</button>
<input type=submit value="visible-submit"> <input type=submit class=m value="HIDDEN-30">
<div id=host></div><div id=shut></div><div id=slots><em>HIDDEN-31</em></div>
<div style="display:none" class=m>HIDDEN-32</div><p data-secret="HIDDEN-33" class=m>x</p>
<ul><li>visible-item <svg class=m width=10 height=10><title>HIDDEN-34</title></svg></li></ul>
<div role=alert class=m>HIDDEN-35</div><div role=alert>Careful: <span class=m>HIDDEN-36</span></div>
<iframe id=near style="width:300px;height:50px" src="/inner"></iframe>
<iframe id=far style="width:300px;height:50px" src="OTHER/inner"></iframe>
<iframe id=clear style="width:300px;height:50px" src="/clear"></iframe>
<iframe id=whole style="width:300px;height:50px" src="/whole"></iframe>
<button id=last class=m>HIDDEN-37</button> <button id=reveal>Reveal</button>
<script>
host.attachShadow({mode: "open"}).innerHTML = "<button class=m>HIDDEN-38</button><button>visible-shadow</button>";
shut.attachShadow({mode: "closed"}).innerHTML = "<button class=m>HIDDEN-39</button><button>visible-closed</button>";
slots.attachShadow({mode: "open"}).innerHTML = "<button class=m><slot></slot></button>";
reveal.onclick = () => {
  last.remove();
  own.textContent = "HIDDEN-40";
  named.firstChild.data = "HIDDEN-41";
  note.value = "HIDDEN-42";
  bank.parentNode.insertAdjacentHTML("afterend", "<button class=m>HIDDEN-43</button><button>visible-news</button>");
};
</script>`

// leaks searches answers for hidden text.
type leaks struct {
	t    *testing.T
	seen strings.Builder
}

// see searches one answer or its error.
func (l *leaks) see(name string, answer proto.Message, err error) {
	l.t.Helper()
	text := fmt.Sprint(answer)
	if err != nil {
		text = fmt.Sprint(status.Convert(err).Proto())
	}
	if at := strings.Index(text, hidden); at >= 0 {
		l.t.Errorf("%s tells …%s…", name, text[max(0, at-200):min(len(text), at+40)])
	}
	l.seen.WriteString(text)
}

// TestMaskedTextIsInNoResponse uses every call that returns text of a page, with masked text at every place.
func TestMaskedTextIsInNoResponse(t *testing.T) {
	t.Parallel()
	var other string
	url := testenv.Pages(t, map[string]http.HandlerFunc{
		"/": func(w http.ResponseWriter, r *http.Request) {
			testenv.HTML(strings.NewReplacer("HIDDEN", hidden, "OTHER", other).Replace(private))(w, r)
		},
		"/inner": testenv.HTML(`<button>visible-inner <b class=m>` + hidden + `-44</b></button><input value="` + hidden + `-45">`),
		"/clear": testenv.HTML(`<body style="background:#0f0"><button>visible-clear</button>`),
		"/whole": testenv.HTML(`<body class=m><button>` + hidden + `-46</button><p>` + hidden + `-47`),
	})
	other = strings.Replace(url, "127.0.0.1", "localhost", 1)
	d := testenv.StartWith(t, tabpool.Config{}, server.Config{AllowEval: true},
		browser.Config{Flags: []string{"site-per-process"}, Mask: sessions.Mask{Selectors: []string{"#own"}}})
	ctx := testenv.Within(t, limit)
	mask := &domtapv1.Mask{Selectors: []string{".m"}, Values: true}
	made, err := d.Sessions.CreateSession(ctx, &domtapv1.CreateSessionRequest{SessionId: "masked", Settings: &domtapv1.SessionSettings{Mask: mask}})
	if err != nil || !proto.Equal(made.GetSession().GetSettings().GetMask(), mask) {
		t.Fatal(made, err)
	}
	l := &leaks{t: t}
	d.Record()
	opened, err := d.Tabs.OpenTab(ctx, &domtapv1.OpenTabRequest{SessionId: "masked", Url: url, Viewport: &domtapv1.Viewport{Width: 600, Height: 1000}})
	if err != nil {
		t.Fatal(err)
	}
	l.see("OpenTab", opened, err)
	tab := opened.GetTab().GetId()
	last := readings(ctx, d, l, tab)
	acts(ctx, d, l, tab, last)
	for _, want := range []string{"visible-heading", "visible-sum", "visible-link", "visible-letter", "visible-label", "visible-submit",
		"visible-item", "visible-inner", "visible-clear", "visible-shadow", "visible-closed", "visible-news", "visible-take", "••••"} {
		if !strings.Contains(l.seen.String(), want) {
			t.Errorf("nothing told of %s", want)
		}
	}
	pictures(ctx, t, d, tab)
	l.recordings(d).painted(t)
	_, err = d.Sessions.UpdateSession(ctx, &domtapv1.UpdateSessionRequest{SessionId: "masked", Settings: &domtapv1.SessionSettings{}})
	if status.Code(err) != codes.InvalidArgument {
		t.Errorf("taking the mask off: %v", err)
	}
	t.Run("the daemon's alone", func(t *testing.T) {
		testenv.InSessions(t, d, func(t *testing.T, d *testenv.Daemon) { ownIsMasked(t, d, url) })
	})
}

// ownIsMasked reads text that only the daemon's mask matches, and takes a picture of it.
func ownIsMasked(t *testing.T, d *testenv.Daemon, url string) {
	opened, err := d.Tabs.OpenTab(t.Context(), &domtapv1.OpenTabRequest{Url: url, Viewport: &domtapv1.Viewport{Width: 480, Height: 400}})
	if err != nil {
		t.Fatal(err)
	}
	tab, no := opened.GetTab().GetId(), false
	dom, err := d.Dom.GetDom(t.Context(), &domtapv1.GetDomRequest{TabId: tab, InteractiveOnly: &no, IncludeAttributes: []string{"id"}, IncludeGeometry: true})
	if err != nil {
		t.Fatal(err)
	}
	shot, err := d.Pages.Screenshot(t.Context(), &domtapv1.ScreenshotRequest{TabId: tab})
	if err != nil {
		t.Fatal(err)
	}
	picture, err := png.Decode(bytes.NewReader(shot.GetImage()))
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(dom.GetElements(), func(e *domtapv1.Element) bool { return e.GetAttributes()["id"] == "own" })
	if i < 0 || dom.GetElements()[i].GetText() != "••••" {
		t.Fatalf("got %v", dom.GetElements())
	}
	r := dom.GetElements()[i].GetRect()
	at := image.Rect(int(r.GetX())+1, int(r.GetY())+1, int(r.GetX()+r.GetWidth())-1, int(r.GetY()+r.GetHeight())-1)
	for y := at.Min.Y; y < at.Max.Y; y++ {
		for x := at.Min.X; x < at.Max.X; x++ {
			if picture.At(x, y) != picture.At(at.Min.X, at.Min.Y) {
				t.Fatalf("the picture shows something at %d,%d of %v", x, y, at)
			}
		}
	}
	if at.Empty() {
		t.Errorf("it has no place: %v", r)
	}
}

// readings reads in every way, and returns the ref of the last masked button.
func readings(ctx context.Context, d *testenv.Daemon, l *leaks, tab string) (last uint32) {
	names := []string{"id", "title", "value", "data-secret", "aria-label", "placeholder", "href", "selected"}
	unlimited, no := int32(0), false
	dom, err := d.Dom.GetDom(ctx, &domtapv1.GetDomRequest{TabId: tab, MaxElements: &unlimited, MaxTokens: &unlimited, InteractiveOnly: &no, IncludeAttributes: names, IncludeGeometry: true})
	l.see("GetDom", dom, err)
	if err != nil {
		l.t.Error(err)
	}
	happened, err := d.Timelines.GetTimeline(ctx, &domtapv1.GetTimelineRequest{TabId: tab})
	if l.see("GetTimeline", happened, err); err != nil || len(happened.GetEntries()) < 2 {
		l.t.Errorf("the timeline is %v, %v", happened, err)
	}
	for _, e := range dom.GetElements() {
		if e.GetAttributes()["id"] == "last" {
			last = e.GetRef()
		}
	}
	for _, format := range []domtapv1.Format{domtapv1.Format_FORMAT_LINES, domtapv1.Format_FORMAT_TREE} {
		compact, err := d.Dom.GetCompact(ctx, &domtapv1.GetCompactRequest{TabId: tab, MaxElements: &unlimited, MaxTokens: &unlimited, InteractiveOnly: &no, Format: format})
		l.see("GetCompact", compact, err)
		if err != nil {
			l.t.Error(err)
		}
	}
	for _, mode := range []domtapv1.ReadMode{domtapv1.ReadMode_READ_MODE_AUTO, domtapv1.ReadMode_READ_MODE_CONTENT, domtapv1.ReadMode_READ_MODE_INTERACTIVE, domtapv1.ReadMode_READ_MODE_VISUAL} {
		read, err := d.Pages.ReadPage(ctx, &domtapv1.ReadPageRequest{TabId: tab, Mode: mode})
		if err != nil {
			l.t.Errorf("%v: %v", mode, err)
		}
		l.see("ReadPage", read, err)
	}
	extracted, err := d.Pages.Extract(ctx, &domtapv1.ExtractRequest{TabId: tab, Selectors: []string{
		"body", "p", ".m", ".m *", "h2", "a@href", "a@title", "img@alt", "img", "input", "input@value", "textarea", "select", "option", "option@selected", "option@value",
		"#letter", "#letter *", "button", "p@data-secret", "svg", "svg title", "form", "em", "div", "caption", "[placeholder]@placeholder", "label", "html"}})
	if err != nil {
		l.t.Error(err)
	}
	l.see("Extract", extracted, err)
	table, err := d.Pages.Extract(ctx, &domtapv1.ExtractRequest{TabId: tab, Table: &domtapv1.ExtractTable{}})
	l.see("Extract of a table", table, err)
	return last
}

// acts performs an action, watches its effects, and uses removed elements.
func acts(ctx context.Context, d *testenv.Daemon, l *leaks, tab string, last uint32) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	no, unlimited := false, int32(0)
	stream, err := d.Dom.WatchDom(ctx, &domtapv1.WatchDomRequest{TabId: tab, InteractiveOnly: &no, MaxElements: &unlimited, MaxTokens: &unlimited})
	if err != nil {
		l.t.Fatal(err)
	}
	first, err := stream.Recv()
	l.see("WatchDom", first, err)
	step := func(steps ...*domtapv1.Step) {
		done, err := d.Actions.Interact(ctx, &domtapv1.InteractRequest{TabId: tab, Steps: steps})
		l.see("Interact", done, err)
	}
	by := func(selector string) *domtapv1.Target { return &domtapv1.Target{Selector: selector} }
	for !strings.Contains(l.seen.String(), "visible-news") {
		if err := ctx.Err(); err != nil {
			l.t.Fatal(err)
		}
		step(&domtapv1.Step{Action: &domtapv1.Step_Click{Click: &domtapv1.ClickStep{Target: by("#reveal")}}})
	}
	for told := false; !told; {
		m, err := stream.Recv()
		if err != nil {
			l.t.Fatal(err)
		}
		l.see("WatchDom", m, err)
		told = strings.Contains(fmt.Sprint(m), "visible-news")
	}
	step(&domtapv1.Step{Action: &domtapv1.Step_Click{Click: &domtapv1.ClickStep{Target: &domtapv1.Target{Ref: &last}}}})
	step(&domtapv1.Step{Action: &domtapv1.Step_Click{Click: &domtapv1.ClickStep{Target: &domtapv1.Target{Role: "button", Name: "no such"}}}})
	step(&domtapv1.Step{Action: &domtapv1.Step_Select{Select: &domtapv1.SelectStep{Target: by("#bank"), Values: []string{"visible-bank"}}}})
	step(&domtapv1.Step{Action: &domtapv1.Step_Fill{Fill: &domtapv1.FillStep{Target: by("#name"), Text: hidden + "-typed"}}})
	step(&domtapv1.Step{Action: &domtapv1.Step_Hover{Hover: &domtapv1.HoverStep{Target: by("#own")}}})
	filled, err := d.Actions.FillForm(ctx, &domtapv1.FillFormRequest{TabId: tab, Fields: []*domtapv1.FormField{{Label: "Amount", Value: "12"}, {Label: "nothing like it", Value: "1"}}})
	l.see("FillForm", filled, err)
}

// pictures takes pictures. Masked areas must have one colour, other areas must be visible, and calls that could reveal masked text must be
// refused.
func pictures(ctx context.Context, t *testing.T, d *testenv.Daemon, tab string) {
	magenta, green := [3]byte{0xff, 0, 0xff}, [3]byte{0, 0xff, 0}
	for _, r := range []*domtapv1.ScreenshotRequest{{}, {Marks: true}, {Format: domtapv1.ImageFormat_IMAGE_FORMAT_JPEG}} {
		r.TabId = tab
		shot, err := d.Pages.Screenshot(ctx, r)
		if err != nil {
			t.Errorf("%v: %v", r, err)
			continue
		}
		decode := png.Decode
		if r.GetFormat() == domtapv1.ImageFormat_IMAGE_FORMAT_JPEG {
			decode = jpeg.Decode
		}
		img, err := decode(bytes.NewReader(shot.GetImage()))
		if err != nil {
			t.Fatal(err)
		}
		if img.Bounds().Size() != (image.Point{X: 600, Y: 1000}) {
			t.Errorf("%v", img.Bounds())
		}
		if n := pixels(img, magenta); n > 0 {
			t.Errorf("%v: %d pixels of a masked box are left", r, n)
		}
		if n := pixels(img, green); n == 0 {
			t.Errorf("%v: the frame without anything masked is not there", r)
		}
	}
	for name, do := range map[string]func() error{
		"a full page": func() error {
			_, err := d.Pages.Screenshot(ctx, &domtapv1.ScreenshotRequest{TabId: tab, FullPage: true})
			return err
		},
		"webp": func() error {
			_, err := d.Pages.Screenshot(ctx, &domtapv1.ScreenshotRequest{TabId: tab, Format: domtapv1.ImageFormat_IMAGE_FORMAT_WEBP})
			return err
		},
		"a PDF": func() error { _, err := d.Pages.Pdf(ctx, &domtapv1.PdfRequest{TabId: tab}); return err },
		"a script": func() error {
			_, err := d.Pages.Evaluate(ctx, &domtapv1.EvaluateRequest{TabId: tab, Expression: "1"})
			return err
		},
	} {
		if err := do(); status.Code(err) != codes.FailedPrecondition || !strings.Contains(err.Error(), "masks") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// pixels counts the pixels that are close to a colour. The race detector, which would be most of its work, does not look at it.
//
//go:norace
func pixels(img image.Image, want [3]byte) (n int) {
	near := func(a, b byte) bool { return max(a, b)-min(a, b) < 24 }
	flat := image.NewRGBA(img.Bounds())
	draw.Draw(flat, flat.Rect, img, flat.Rect.Min, draw.Src)
	for p := flat.Pix; len(p) >= 4; p = p[4:] {
		if near(p[0], want[0]) && near(p[1], want[1]) && near(p[2], want[2]) {
			n++
		}
	}
	return n
}
