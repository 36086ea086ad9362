package secrets

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/domtap/domtap/actor/tabpool"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/browser"
	"github.com/domtap/domtap/internal/server"
	"github.com/domtap/domtap/internal/sessions"
	"github.com/domtap/domtap/internal/testenv"
)

// shownPassword has a button for each way in which a page reveals the value of a password field. Revealed text is magenta.
const shownPassword = `<!doctype html><title>Sign in</title>
<style>body{margin:8px;background:#fff} .s{background:#f0f;border:0;width:300px;height:40px;font-size:30px;display:block} input[type=password].s{background:#fff} i.green{display:block;width:90px;height:30px;background:#0f0}</style>
<i class=green></i><div id=box><input id=p name=p type=password aria-label=Password class=s></div>
<p id=out></p><div id=host></div><iframe id=in style="width:400px;height:60px;border:5px solid #00f" src="/inner"></iframe>
<script>
const copy = () => { const n = p.cloneNode(true); n.type = "text"; return n; };
const ways = {
  property: () => { p.type = "text" },
  attribute: () => { p.setAttribute("type", "text") },
  removed: () => { p.removeAttribute("type") },
  clone: () => { p.replaceWith(copy()) },
  renamed: () => { const n = copy(); n.id = "q"; n.name = ""; p.replaceWith(n) },
  outer: () => { const v = p.value; p.outerHTML = p.outerHTML.replace("password", "text"); p.value = v },
  inner: () => { const v = p.value; box.innerHTML = "<input class=s id=z>"; z.value = v },
  area: () => { const t = document.createElement("textarea"); t.className = "s"; t.value = p.value; p.replaceWith(t) },
  span: () => { out.innerHTML = "<span class=s></span>"; out.firstChild.textContent = p.value },
  letters: () => { out.innerHTML = "<span class=s></span>"; for (const c of p.value) out.firstChild.append(Object.assign(document.createElement("b"), {textContent: c})) },
  editor: () => { out.innerHTML = "<div class=s contenteditable></div>"; out.firstChild.textContent = p.value },
  shadow: () => { const v = p.value, r = host.attachShadow({mode: "open"}); r.innerHTML = "<style>input{background:#f0f;border:0;width:300px;height:40px;font-size:30px;display:block}</style><input>"; r.lastChild.value = v },
};
for (const way in ways) document.body.append(Object.assign(document.createElement("button"), {id: "by-" + way, textContent: way, onclick: ways[way]}));
</script>`

// innerPassword reveals its own password in a frame.
const innerPassword = `<!doctype html><style>body{margin:4px} input{background:#f0f;border:0;width:200px;height:30px}</style>
<input type=password value="inner-zq4hidden" id=f><script>f.type = "text"</script>`

// TestShownPasswordsAreInNoPicture reveals a password in every way, and checks all pictures, with and without a mask.
func TestShownPasswordsAreInNoPicture(t *testing.T) {
	url := testenv.Pages(t, map[string]http.HandlerFunc{"/": testenv.HTML(shownPassword), "/inner": testenv.HTML(innerPassword)})
	t.Run("without masks", func(t *testing.T) {
		d := testenv.Shared(t)
		ways := strings.Fields("property attribute removed clone renamed outer inner area span letters editor shadow")
		for i, way := range ways {
			t.Run(way, func(t *testing.T) { lookAtPassword(t, d, url, way, i == 0) })
		}
	})
	t.Run("with a mask", func(t *testing.T) {
		d := testenv.StartWith(t, tabpool.Config{}, server.Config{}, browser.Config{Mask: sessions.Mask{Selectors: []string{"#other"}}})
		for _, way := range strings.Fields("property clone renamed inner span") {
			t.Run(way, func(t *testing.T) { lookAtPassword(t, d, url, way, false) })
		}
	})
}

// lookAtPassword types a password, lets the page reveal it, and checks the pictures and answers. With all, it checks every kind of picture.
func lookAtPassword(t *testing.T, d *testenv.Daemon, url, way string, all bool) {
	ctx := testenv.Within(t, limit)
	l := &leaks{t: t}
	if all {
		d.Record()
	}
	// The race detector makes the work on each pixel slow. So the pictures are small.
	opened, err := d.Tabs.OpenTab(ctx, &domtapv1.OpenTabRequest{Url: url, Viewport: &domtapv1.Viewport{Width: 480, Height: 400}})
	if err != nil {
		t.Fatal(err)
	}
	tab := opened.GetTab().GetId()
	by := func(selector string) *domtapv1.Target { return &domtapv1.Target{Selector: selector} }
	shot := &domtapv1.Step{Action: &domtapv1.Step_Screenshot{Screenshot: &domtapv1.ScreenshotStep{}}}
	done, err := d.Actions.Interact(ctx, &domtapv1.InteractRequest{TabId: tab, Steps: []*domtapv1.Step{
		{Action: &domtapv1.Step_Fill{Fill: &domtapv1.FillStep{Target: by("#p"), Text: hidden + "-1"}}},
		{Action: &domtapv1.Step_Click{Click: &domtapv1.ClickStep{Target: by("#by-" + way)}}},
		shot,
	}})
	if err != nil || !done.GetResults()[1].GetOk() {
		t.Fatal(done, err)
	}
	covered(t, "a step", done.GetResults()[2].GetImage())
	for _, r := range done.GetResults() {
		r.Image = nil
	}
	l.see("Interact", done, err)
	no := false
	dom, err := d.Dom.GetDom(ctx, &domtapv1.GetDomRequest{TabId: tab, InteractiveOnly: &no, IncludeAttributes: []string{"value", "type"}})
	l.see("GetDom", dom, err)
	if all {
		lookEverywhere(ctx, t, d, tab)
		readings(ctx, d, l, tab)
		filmed(t, d, tab)
		l.recordings(d).painted(t)
	}
}

// lookEverywhere takes all kinds of pictures except pictures of steps.
func lookEverywhere(ctx context.Context, t *testing.T, d *testenv.Daemon, tab string) {
	t.Helper()
	for name, r := range map[string]*domtapv1.ScreenshotRequest{"a screenshot": {}, "marks": {Marks: true}, "JPEG": {Format: domtapv1.ImageFormat_IMAGE_FORMAT_JPEG}} {
		r.TabId = tab
		picture, err := d.Pages.Screenshot(ctx, r)
		if err != nil {
			t.Fatal(name, err)
		}
		covered(t, name, picture.GetImage())
	}
	read, err := d.Pages.ReadPage(ctx, &domtapv1.ReadPageRequest{TabId: tab, Mode: domtapv1.ReadMode_READ_MODE_VISUAL})
	if err != nil {
		t.Fatal(err)
	}
	covered(t, "ReadPage", read.GetImage())
	_, err = d.Pages.Screenshot(ctx, &domtapv1.ScreenshotRequest{TabId: tab, FullPage: true})
	refused(t, "a full page", err)
	_, err = d.Pages.Screenshot(ctx, &domtapv1.ScreenshotRequest{TabId: tab, Format: domtapv1.ImageFormat_IMAGE_FORMAT_WEBP})
	refused(t, "WebP", err)
	_, err = d.Pages.Pdf(ctx, &domtapv1.PdfRequest{TabId: tab})
	refused(t, "a PDF", err)
}

// refused fails the test unless a call was refused.
func refused(t *testing.T, name string, err error) {
	t.Helper()
	if status.Code(err) != codes.FailedPrecondition {
		t.Errorf("%s: %v", name, err)
	}
}

// covered fails the test if a picture contains magenta, or nothing of the page.
func covered(t *testing.T, name string, encoded []byte) {
	t.Helper()
	img, err := png.Decode(bytes.NewReader(encoded))
	if err != nil {
		img, err = jpeg.Decode(bytes.NewReader(encoded))
	}
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	coveredIn(t, name, img)
}

func coveredIn(t *testing.T, name string, img image.Image) {
	t.Helper()
	if n := pixels(img, [3]byte{0xff, 0, 0xff}); n > 0 {
		t.Errorf("%s shows %d pixels of a secret", name, n)
	}
	if pixels(img, [3]byte{0, 0xff, 0}) == 0 {
		t.Errorf("%s does not show the page", name)
	}
}

// filmed records a video and checks its frames.
func filmed(t *testing.T, d *testenv.Daemon, tab string) {
	t.Helper()
	stream, err := d.Pages.RecordVideo(testenv.Within(t, limit), &domtapv1.RecordVideoRequest{TabId: tab, Duration: durationpb.New(300 * time.Millisecond), MaxWidth: proto.Int32(800)})
	if err != nil {
		t.Fatal(err)
	}
	var film bytes.Buffer
	for {
		m, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		film.Write(m.GetGif())
	}
	frames, err := gif.DecodeAll(&film)
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range frames.Image {
		if i == 0 {
			coveredIn(t, "a video", f)
		} else if n := pixels(f, [3]byte{0xff, 0, 0xff}); n > 0 {
			t.Errorf("frame %d of a video shows %d pixels of a secret", i, n)
		}
	}
}
