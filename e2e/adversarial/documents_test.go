package adversarial

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/testenv"
)

// htmlNames lists names of HTML elements. Elements of other namespaces may have the same names, without the properties.
var htmlNames = strings.Fields(`a area audio base body button canvas datalist details dialog embed fieldset form frame h1 html iframe img input label
	legend li link map meter object ol optgroup option output progress q section select slot summary table td template textarea th title tr video`)

// named returns the markup of an element for each of htmlNames, with attributes that matter to a reader.
func named() string {
	var b strings.Builder
	for _, name := range htmlNames {
		fmt.Fprintf(&b, `<%s href="#x" id="i" type="checkbox" role="button" tabindex="0" for="i" src="x" value="v" usemap="#m" list="i" aria-labelledby="i">word<b>in</b></%[1]s>`, name)
	}
	return b.String()
}

// documents maps names of documents other than HTML pages to path, media type, body, and a word that a read must contain.
func documents() map[string][3]string {
	styled := `<?xml-stylesheet type="text/xsl" href="/sheet"?><list><item>Styled rope</item></list>`
	svg := `<svg xmlns="http://www.w3.org/2000/svg" width="100" height="50"><text y="20">%s</text>%s</svg>`
	return map[string][3]string{
		"/json":  {"application/json", `{"name": "Knotted rope", "list": [1, {"b": null}]}`, "Knotted rope"},
		"/empty": {"application/json", ``, ""},
		"/xml":   {"text/xml", `<list><item>Plain rope</item></list>`, "Plain rope"},
		"/xsl":   {"text/xml", styled, "Styled rope"},
		"/sheet": {"text/xsl", `<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform"><xsl:template match="/"><html><body><p><xsl:value-of select="."/></p></body></html></xsl:template></xsl:stylesheet>`, ""},
		"/bad":   {"text/xml", `<a href="x"><b></a>`, "errors"},
		"/names": {"text/xml", `<list xmlns:h="http://www.w3.org/1999/xhtml"><h:style/>` + named() + `</list>`, ""},
		"/xhtml": {"application/xhtml+xml", `<html xmlns="http://www.w3.org/1999/xhtml"><body><p>Strict rope</p><math xmlns="http://www.w3.org/1998/Math/MathML">` + named() + `</math></body></html>`, "Strict rope"},
		"/svg":   {"image/svg+xml", fmt.Sprintf(svg, "Drawn rope", ""), ""},
		"/drawn": {"image/svg+xml", fmt.Sprintf(svg, "Drawn", named()), ""},
		"/text":  {"text/plain", "Written rope\n\n  more", "Written rope"},
		"/image": {"image/gif", "GIF89a\x01\x00\x01\x00\x80\x00\x00\xff\xff\xff\x00\x00\x00!\xf9\x04\x01\x00\x00\x00\x00,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02D\x01\x00;", ""},
		"/video": {"video/mp4", "\x00\x00\x00\x18ftypmp42\x00\x00\x00\x00mp42isom", ""},
		"/audio": {"audio/wav", "RIFF\x24\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00@\x1f\x00\x00@\x1f\x00\x00\x01\x00\x08\x00data\x00\x00\x00\x00", ""},
	}
}

// TestDocumentsThatAreNoPages reads and acts on documents other than HTML pages, at the top and in frames. None may crash its renderer or
// fail its reader.
func TestDocumentsThatAreNoPages(t *testing.T) {
	handlers := map[string]http.HandlerFunc{}
	var frames strings.Builder
	for path, doc := range documents() {
		handlers[path] = func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("content-type", doc[0])
			_, _ = w.Write([]byte(doc[1]))
		}
		fmt.Fprintf(&frames, "<iframe src=%s></iframe><object data=%[1]s></object><embed src=%[1]s>", path)
	}
	handlers["/frames"] = testenv.HTML("<!doctype html><title>Frames</title><button>Host</button>" + frames.String())
	base := testenv.Pages(t, handlers)
	d := testenv.Shared(t)
	tab := ""
	for path, doc := range documents() {
		t.Run(path, func(t *testing.T) {
			d := d.For(t)
			tab = d.Show(tab, base+path)
			readAll(t, d, tab, doc[2])
		})
	}
	t.Run("/frames", func(t *testing.T) {
		d := d.For(t)
		tab = d.Show(tab, base+"/frames")
		readAll(t, d, tab, "Host")
	})
}

// readAll reads a tab in every way and acts on it. A read of all elements must contain word.
func readAll(t *testing.T, d *testenv.Daemon, tab, word string) {
	t.Helper()
	ctx := testenv.Within(t, testenv.Patience)
	all, err := d.Dom.GetCompact(ctx, &domtapv1.GetCompactRequest{TabId: tab, InteractiveOnly: proto.Bool(false)})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(all.GetText(), word) {
		t.Errorf("no %q in\n%s", word, all.GetText())
	}
	_, snapshot := d.Dom.GetCompact(ctx, &domtapv1.GetCompactRequest{TabId: tab, Format: domtapv1.Format_FORMAT_DENSE})
	_, read := d.Pages.ReadPage(ctx, &domtapv1.ReadPageRequest{TabId: tab})
	_, find := d.Dom.Find(ctx, &domtapv1.FindRequest{TabId: tab, Query: "rope"})
	_, shot := d.Pages.Screenshot(ctx, &domtapv1.ScreenshotRequest{TabId: tab})
	x, y := 20.0, 20.0
	_, click := d.Actions.Interact(ctx, &domtapv1.InteractRequest{TabId: tab, Steps: []*domtapv1.Step{
		{Action: &domtapv1.Step_Click{Click: &domtapv1.ClickStep{Target: &domtapv1.Target{X: &x, Y: &y}}}}}})
	_, press := d.Actions.Interact(ctx, &domtapv1.InteractRequest{TabId: tab, Steps: []*domtapv1.Step{
		{Action: &domtapv1.Step_Press{Press: &domtapv1.PressStep{Key: "End"}}}}})
	for what, err := range map[string]error{"snapshot": snapshot, "read": read, "find": find, "screenshot": shot, "click": click, "press": press} {
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	d.All(tab)
}
