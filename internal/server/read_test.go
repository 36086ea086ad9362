package server

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"github.com/domtap/domtap/actor/actortest"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/dom"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/tokens"
)

const (
	modeContent     = domtapv1.ReadMode_READ_MODE_CONTENT
	modeInteractive = domtapv1.ReadMode_READ_MODE_INTERACTIVE
	modeVisual      = domtapv1.ReadMode_READ_MODE_VISUAL
)

// longArticle returns a page whose main content has many tokens.
func longArticle(parts int) string {
	var b strings.Builder
	b.WriteString(`<nav><a href="/x">Elsewhere</a></nav><article><h1>A long read about boats</h1>`)
	for i := range parts {
		fmt.Fprintf(&b, "<h2>Part %d</h2>", i)
		for j := range 4 {
			fmt.Fprintf(&b, "<p>Paragraph %d of part %d, which says this and that, and goes on for a while: %s.</p>", j, i, strings.Repeat("words upon words ", 12))
		}
	}
	return b.String() + "</article>"
}

// readable opens a tab on a page that is read as html and holds the nodes.
func (b *bench) readable(html string, nodes ...*actortest.Node) (*domtapv1.Tab, *actortest.Page) {
	b.t.Helper()
	b.browser.Serve(shopURL, func() actortest.Screen {
		return actortest.Screen{Title: "A long read about boats - Shop", Body: nodes, HTML: html}
	})
	return b.open(shopURL)
}

func (b *bench) readPage(r *domtapv1.ReadPageRequest) *domtapv1.ReadPageResponse {
	b.t.Helper()
	resp, err := b.pages.ReadPage(b.t.Context(), r)
	if err != nil {
		b.t.Fatal(err)
	}
	limit := int(r.GetMaxTokens())
	if r.MaxTokens == nil {
		limit = 1500
	}
	n := tokens.Count(resp.GetText())
	if n != int(resp.GetTokens()) || limit > 0 && n > limit || resp.GetTokenizer() != tokens.Name {
		b.t.Errorf("the text has %d tokens, the answer says %d of %s; the limit is %d", n, resp.GetTokens(), resp.GetTokenizer(), limit)
	}
	return resp
}

func TestReadingContinuesInTheSameText(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		tab, page := b.readable(longArticle(20))
		whole := b.readPage(&domtapv1.ReadPageRequest{TabId: tab.GetId(), Mode: modeContent, MaxTokens: proto.Int32(0)})
		if whole.GetNextCursor() != "" || whole.GetTokens() != whole.GetTotalTokens() || strings.Contains(whole.GetText(), "Elsewhere") {
			t.Errorf("the whole says %d of %d tokens, next %q", whole.GetTokens(), whole.GetTotalTokens(), whole.GetNextCursor())
		}
		r := &domtapv1.ReadPageRequest{TabId: tab.GetId()}
		first := b.readPage(r)
		if first.GetMode() != modeContent || !strings.Contains(first.GetReason(), "main text") || len(first.GetOutline()) != 21 ||
			first.GetUrl() != shopURL || first.GetTotalTokens() != whole.GetTotalTokens() {
			t.Errorf("the first part says %v, %q, %d headings, %q", first.GetMode(), first.GetReason(), len(first.GetOutline()), first.GetUrl())
		}
		text := first.GetText()
		for next := first.GetNextCursor(); next != ""; {
			r.Cursor = next
			part := b.readPage(r)
			changed := strings.Count(text, "## Part") > 8
			if part.GetChangedSince() != changed || part.GetMode() != modeContent || part.GetOutline() != nil {
				t.Errorf("a part says changed %v, %v, %d headings; want %v", part.GetChangedSince(), part.GetMode(), len(part.GetOutline()), changed)
			}
			if text += part.GetText(); strings.Count(text, "## Part") > 8 {
				page.Update(func(main *actortest.Frame) { main.HTML = "<p>Something else now</p>" })
			}
			next = part.GetNextCursor()
		}
		if text != whole.GetText() {
			t.Error("the parts do not make the whole")
		}
	})
}

func TestHeadingsAreWhereReadingCanStart(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		tab, page := b.readable(longArticle(6))
		first := b.readPage(&domtapv1.ReadPageRequest{TabId: tab.GetId(), MaxTokens: proto.Int32(200)})
		for _, h := range first.GetOutline() {
			part := b.readPage(&domtapv1.ReadPageRequest{TabId: tab.GetId(), Cursor: h.GetCursor(), MaxTokens: proto.Int32(200)})
			if want := strings.Repeat("#", int(h.GetLevel())) + " " + h.GetText() + "\n"; !strings.HasPrefix(part.GetText(), want) || part.GetChangedSince() {
				t.Errorf("from %q the text starts with %.30q", h.GetText(), part.GetText())
			}
		}
		// Another document in the tab, and a dialog in front of it, do not affect the cached text.
		page.Go("https://shop.example/other")
		page.OpenDialog(driver.Dialog{Type: "alert", Message: "!"})
		r := &domtapv1.ReadPageRequest{TabId: tab.GetId(), Cursor: first.GetOutline()[3].GetCursor()}
		if part := b.readPage(r); !part.GetChangedSince() || part.GetUrl() != shopURL || !strings.HasPrefix(part.GetText(), "## Part 2\n") {
			t.Errorf("after the page went away: changed %v, %q, %.20q", part.GetChangedSince(), part.GetUrl(), part.GetText())
		}
	})
}

func TestCursorsOfNoTextAreExpired(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		tab, _ := b.readable(longArticle(6))
		first := b.readPage(&domtapv1.ReadPageRequest{TabId: tab.GetId(), MaxTokens: proto.Int32(200)})
		other, _ := b.open(shopURL)
		name := strings.SplitN(first.GetNextCursor(), ".", 2)[0]
		for _, c := range []struct{ tab, cursor string }{
			{other.GetId(), first.GetNextCursor()}, {tab.GetId(), name + ".100000"}, {tab.GetId(), name + ".0.1000000"}, {tab.GetId(), name},
			{tab.GetId(), name + ".-1"}, {tab.GetId(), name + ".+1"}, {tab.GetId(), name + ".1.0"}, {tab.GetId(), "r"}, {tab.GetId(), "c000000000"}, {tab.GetId(), "x"},
		} {
			_, err := b.pages.ReadPage(t.Context(), &domtapv1.ReadPageRequest{TabId: c.tab, Cursor: c.cursor})
			wantCode(t, err, codes.FailedPrecondition, "CURSOR_EXPIRED")
		}
	})
}

func TestInteractivePageIsATree(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		tab, _ := b.readable(`<form><input><input><button>Go</button></form>`, append(buttons("Button", 60), actortest.Heading(1, "Sign in"))...)
		diff := &domtapv1.GetCompactRequest{TabId: tab.GetId(), Format: domtapv1.Format_FORMAT_TREE, MaxTokens: proto.Int32(1500), Incremental: true}
		if _, err := b.dom.GetCompact(t.Context(), diff); err != nil {
			t.Fatal(err)
		}
		r := &domtapv1.ReadPageRequest{TabId: tab.GetId(), MaxTokens: proto.Int32(200)}
		first := b.readPage(r)
		if first.GetMode() != modeInteractive || !strings.Contains(first.GetReason(), "3 controls (2 fields)") || !strings.Contains(first.GetText(), `- button "Button 0" [ref=e0]`) {
			t.Errorf("%v because %q:\n%s", first.GetMode(), first.GetReason(), first.GetText())
		}
		r.Cursor = first.GetNextCursor()
		second := b.readPage(r)
		if second.GetMode() != modeInteractive || strings.Contains(second.GetText(), `"Button 0"`) || second.GetMetadata().GetTotalElements() != 61 {
			t.Errorf("%v\n%s", second.GetMetadata(), second.GetText())
		}
		r.Mode = modeVisual
		_, err := b.pages.ReadPage(t.Context(), r)
		wantCode(t, err, codes.InvalidArgument, "")
	})
}

// picture returns a white PNG.
func picture(t *testing.T, width, height int) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, width, height))); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestVisualPageIsAPictureWithMarks(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		nodes := buttons("Button", 40)
		for i, n := range nodes {
			n.Box = dom.Box{X: 10, Y: float64(10 + 60*i), Width: 100, Height: 20}
		}
		tab, page := b.readable("", nodes...)
		page.Picture(picture(t, 2560, 1600))
		r := &domtapv1.ReadPageRequest{TabId: tab.GetId(), Mode: modeVisual, MaxTokens: proto.Int32(0)}
		got := b.readPage(r)
		shown := int(got.GetMetadata().GetTotalElements())
		if shown == 0 || shown == 40 || len(got.GetMarks()) != shown || strings.Count(got.GetText(), "\n[") != shown {
			t.Fatalf("%d elements, %d marks, %d lines", shown, len(got.GetMarks()), strings.Count(got.GetText(), "\n["))
		}
		img, err := png.Decode(bytes.NewReader(got.GetImage()))
		if err != nil {
			t.Fatal(err)
		}
		if got.GetImageScale() != 2560/1280.0 || img.Bounds().Dx() != 2560 {
			t.Errorf("scale %v, %v", got.GetImageScale(), img.Bounds())
		}
		if _, _, blue, _ := img.At(2*10, 2*10+20).RGBA(); blue == 0 {
			t.Error("nothing is drawn at the edge of the first box")
		}
		if m := got.GetMarks()[1]; m.GetRef() != 1 || m.GetName() != "Button 1" || m.GetRect().GetY() != 70 {
			t.Errorf("the second mark is %v", m)
		}
		page.Picture(picture(t, 1280, 800))
		r.MaxTokens = proto.Int32(200)
		first := b.readPage(r)
		r.Cursor, r.Mode, r.MaxTokens = first.GetNextCursor(), domtapv1.ReadMode_READ_MODE_UNSPECIFIED, proto.Int32(0)
		if r.Cursor != "" {
			if rest := b.readPage(r); rest.GetMode() != modeVisual || len(first.GetMarks())+len(rest.GetMarks()) != shown {
				t.Errorf("%v: %d and %d marks of %d", rest.GetMode(), len(first.GetMarks()), len(rest.GetMarks()), shown)
			}
		}
		shot, err := b.pages.Screenshot(t.Context(), &domtapv1.ScreenshotRequest{TabId: tab.GetId(), Marks: true, Format: domtapv1.ImageFormat_IMAGE_FORMAT_JPEG})
		if err != nil || len(shot.GetMarks()) != shown || !bytes.HasPrefix(shot.GetImage(), []byte{0xff, 0xd8}) {
			t.Errorf("%d marks, %v", len(shot.GetMarks()), err)
		}
	})
}

func TestReadingFailsAsReadingDoes(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		_, err := b.pages.ReadPage(t.Context(), &domtapv1.ReadPageRequest{TabId: "t99"})
		wantCode(t, err, codes.NotFound, "NOT_FOUND")
		tab, page := b.readable("<p>Text</p>")
		page.OpenDialog(driver.Dialog{Type: "alert"})
		for _, mode := range []domtapv1.ReadMode{0, modeContent, modeInteractive, modeVisual} {
			_, err = b.pages.ReadPage(t.Context(), &domtapv1.ReadPageRequest{TabId: tab.GetId(), Mode: mode})
			wantCode(t, err, codes.FailedPrecondition, "DIALOG_OPEN")
		}
	})
}

func TestFewTextsAreKept(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		tab, page := b.readable("")
		r := &domtapv1.ReadPageRequest{TabId: tab.GetId(), Mode: modeContent, MaxTokens: proto.Int32(200)}
		var cursors []string
		for i := range 9 {
			page.Update(func(main *actortest.Frame) { main.HTML = longArticle(3 + i) })
			cursors = append(cursors, b.readPage(r).GetNextCursor())
		}
		if again := b.readPage(r).GetNextCursor(); again != cursors[8] {
			t.Errorf("the same page read again has the cursor %q, had %q", again, cursors[8])
		}
		r.Cursor = cursors[1]
		b.readPage(r)
		r.Cursor = cursors[0]
		_, err := b.pages.ReadPage(t.Context(), r)
		wantCode(t, err, codes.FailedPrecondition, "CURSOR_EXPIRED")
	})
}
