package e2e

import (
	"net/http"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/testenv"
)

// served returns a handler for a document of a media type.
func served(mediaType, body string, headers ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", mediaType)
		for i := 0; i+1 < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		_, _ = w.Write([]byte(body))
	}
}

// largeJSON is a document that is read as an outline.
var largeJSON = `{"total": 200, "items": [` + strings.Repeat(`{"name": "Knotted rope", "note": "`+strings.Repeat("strong ", 30)+`"},`, 199) + `{"name": "last"}]}`

// TestDocumentsOfTabsSayWhatTheyAre reads tabs that show documents other than pages.
func TestDocumentsOfTabsSayWhatTheyAre(t *testing.T) {
	url := serve(t, map[string]http.HandlerFunc{
		"/data.json": served("application/json", largeJSON),
		"/list.csv":  served("text/plain", "id,name\n1,Rope\n"),
		"/feed.xml":  served("text/xml", `<feed><entry id="1"><name>Rope</name></entry></feed>`),
		"/notes.txt": served("text/plain", "Written rope\n\n  more"),
		"/dot.gif":   served("image/gif", "GIF89a\x01\x00\x01\x00\x80\x00\x00\xff\xff\xff\x00\x00\x00!\xf9\x04\x01\x00\x00\x00\x00,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02D\x01\x00;"),
		"/page":      testenv.HTML("<title>Page</title><p>Rope"),
	})
	d := testenv.Apart(t)
	for path, want := range map[string]struct {
		kind domtapv1.DocumentKind
		text string
	}{
		"/data.json": {domtapv1.DocumentKind_DOCUMENT_KIND_JSON, "$.items: array of 200\n"},
		"/list.csv":  {domtapv1.DocumentKind_DOCUMENT_KIND_CSV, "| id | name |\n"},
		"/feed.xml":  {domtapv1.DocumentKind_DOCUMENT_KIND_XML, "<entry id=\"1\">\n    <name>Rope</name>"},
		"/notes.txt": {domtapv1.DocumentKind_DOCUMENT_KIND_TEXT, "Written rope\n\n  more"},
		"/dot.gif":   {domtapv1.DocumentKind_DOCUMENT_KIND_IMAGE, ""},
		"/page":      {domtapv1.DocumentKind_DOCUMENT_KIND_UNSPECIFIED, "Rope"},
	} {
		got := readPage(t, d, &domtapv1.ReadPageRequest{TabId: d.Show("", url+path)})
		if got.GetDocument().GetKind() != want.kind || !strings.Contains(got.GetText(), want.text) {
			t.Errorf("%s is %v with the text\n%.500s", path, got.GetDocument(), got.GetText())
		}
	}
}

// TestValuesOfJSONAreReadByPath reads one value of a JSON document, and all of it in parts.
func TestValuesOfJSONAreReadByPath(t *testing.T) {
	url := serve(t, map[string]http.HandlerFunc{"/data.json": served("application/json", largeJSON)})
	d := testenv.Apart(t)
	tab := d.Show("", url+"/data.json")
	if got := readPage(t, d, &domtapv1.ReadPageRequest{TabId: tab, Path: "$.items[199].name"}); !strings.Contains(got.GetText(), "last") || strings.Contains(got.GetText(), "Knotted") {
		t.Errorf("the value is\n%s", got.GetText())
	}
	part := readPage(t, d, &domtapv1.ReadPageRequest{TabId: tab, Mode: readContent, MaxTokens: proto.Int32(300)})
	whole := part.GetText()
	for part.GetNextCursor() != "" {
		part = readPage(t, d, &domtapv1.ReadPageRequest{TabId: tab, Cursor: part.GetNextCursor(), MaxTokens: proto.Int32(50000)})
		if part.GetChangedSince() {
			t.Fatal("a document that stays the same has changed")
		}
		whole += part.GetText()
	}
	if !strings.Contains(whole, largeJSON) {
		t.Errorf("the parts have %d bytes and are not the document of %d", len(whole), len(largeJSON))
	}
	_, err := d.Pages.ReadPage(testenv.Within(t, testenv.Patience), &domtapv1.ReadPageRequest{TabId: tab, Path: "$.items[200]"})
	if status.Code(err) != codes.NotFound || !strings.Contains(err.Error(), "array of 200") {
		t.Errorf("a value that does not exist: %v", err)
	}
}

// TestDownloadsAreRead clicks links that download, and reads the files by guid and by name.
func TestDownloadsAreRead(t *testing.T) {
	url := serve(t, map[string]http.HandlerFunc{
		"/":     testenv.HTML(`<title>Files</title><a href=/list>List</a> <a href=/bin>Archive</a>`),
		"/list": served("text/csv", "id,name\n1,Rope\n", "Content-Disposition", `attachment; filename="list.csv"`),
		"/bin":  served("application/zip", "PK\x03\x04....", "Content-Disposition", `attachment; filename="a.zip"`),
	})
	d := testenv.Shared(t).In(t, "documents")
	tab := d.Open(url + "/")
	for _, link := range []string{"List", "Archive"} {
		answer, err := d.Actions.Interact(testenv.Within(t, testenv.Patience), &domtapv1.InteractRequest{TabId: tab, Steps: []*domtapv1.Step{
			{Action: &domtapv1.Step_Click{Click: &domtapv1.ClickStep{Target: &domtapv1.Target{Role: "link", Name: link}}}}}})
		if err != nil {
			t.Fatal(err)
		}
		summary := answer.GetResults()[0].GetSummary()
		if strings.Contains(summary, "is complete") && !strings.Contains(summary, map[string]string{"List": "(text/plain, 15 bytes)", "Archive": "(application/zip, 8 bytes)"}[link]) {
			t.Errorf("the step says %s", summary)
		}
	}
	files := completed(t, d, 2)
	for _, id := range []string{files["list.csv"].GetGuid(), "list.csv"} {
		got := readPage(t, d, &domtapv1.ReadPageRequest{TabId: tab, Download: id})
		if got.GetDocument().GetKind() != domtapv1.DocumentKind_DOCUMENT_KIND_CSV || !strings.Contains(got.GetText(), "| 1 | Rope |") || got.GetDocument().GetName() != "list.csv" {
			t.Errorf("%s is %v", id, got)
		}
	}
	got := readPage(t, d, &domtapv1.ReadPageRequest{TabId: tab, Download: "a.zip"})
	if got.GetDocument().GetKind() != domtapv1.DocumentKind_DOCUMENT_KIND_OTHER || got.GetText() != "" || got.GetDocument().GetNote() == "" {
		t.Errorf("an archive is %v", got)
	}
	other := testenv.Shared(t).In(t, "others")
	_, err := other.Pages.ReadPage(testenv.Within(t, testenv.Patience), &domtapv1.ReadPageRequest{TabId: other.Open(url + "/"), Download: "list.csv"})
	if status.Code(err) != codes.NotFound {
		t.Errorf("another session's download: %v", err)
	}
}

// completed waits until n downloads of a session are complete, and returns them by file name.
func completed(t *testing.T, d *testenv.Daemon, n int) map[string]*domtapv1.Download {
	t.Helper()
	ctx := testenv.Within(t, testenv.Patience)
	for {
		list, err := d.Sessions.ListDownloads(ctx, &domtapv1.ListDownloadsRequest{SessionId: d.Session})
		if err != nil {
			t.Fatal(err)
		}
		files := map[string]*domtapv1.Download{}
		for _, one := range list.GetDownloads() {
			if one.GetState() == domtapv1.DownloadState_DOWNLOAD_STATE_COMPLETED {
				files[one.GetSuggestedFilename()] = one
			}
		}
		if len(files) == n {
			return files
		}
	}
}

// TestPDFsAreReadAsText downloads PDFs that Chromium has printed, and files that are no intact PDFs, and reads them.
func TestPDFsAreReadAsText(t *testing.T) {
	d := testenv.Shared(t).In(t, "pdfs")
	source := serve(t, map[string]http.HandlerFunc{"/": testenv.HTML(`<title>Report</title><h1>Harbour report</h1><p>Knotted rope is <a href="https://example.com/rope">sold here</a>.
		<table style="width: 100%"><tr><th>Year<th>Sales<th>Cost<tr><td>2024<td>1,000<td>900<tr><td>2025<td>2,000<td>800</table><h2 style="break-before: page">Second part</h2><p>The end of it, in some more words.`)})
	printed, err := d.Pages.Pdf(testenv.Within(t, testenv.Patience), &domtapv1.PdfRequest{TabId: d.Open(source + "/")})
	if err != nil {
		t.Fatal(err)
	}
	whole := string(printed.GetPdf())
	broken := []byte(whole)
	for i := 7; i < len(broken); i += 97 {
		broken[i] ^= 0x55
	}
	attached := func(name, body string) http.HandlerFunc {
		return served("application/pdf", body, "Content-Disposition", `attachment; filename="`+name+`"`)
	}
	url := serve(t, map[string]http.HandlerFunc{
		"/":  testenv.HTML(`<title>Files</title><a href=/a>Whole</a> <a href=/b>Broken</a> <a href=/c>Cut</a>`),
		"/a": attached("whole.pdf", whole), "/b": attached("broken.pdf", string(broken)), "/c": attached("cut.pdf", whole[:len(whole)/3]),
	})
	tab := d.Open(url + "/")
	for _, link := range []string{"Whole", "Broken", "Cut"} {
		if _, err := d.Actions.Interact(testenv.Within(t, testenv.Patience), &domtapv1.InteractRequest{TabId: tab, Steps: []*domtapv1.Step{
			{Action: &domtapv1.Step_Click{Click: &domtapv1.ClickStep{Target: &domtapv1.Target{Role: "link", Name: link}}}}}}); err != nil {
			t.Fatal(err)
		}
	}
	completed(t, d, 3)
	got := readPage(t, d, &domtapv1.ReadPageRequest{TabId: tab, Download: "whole.pdf"})
	for _, want := range []string{"# Harbour report", "[sold here](https://example.com/rope)", "| 2024 | 1,000 | 900 |", "# Second part"} {
		if !strings.Contains(got.GetText(), want) {
			t.Errorf("no %q in\n%s", want, got.GetText())
		}
	}
	if about := got.GetDocument(); about.GetKind() != domtapv1.DocumentKind_DOCUMENT_KIND_PDF || about.GetPages() != 2 || about.GetNote() != "" || len(got.GetOutline()) < 2 {
		t.Errorf("the document is %v with the outline %v", about, got.GetOutline())
	}
	for _, name := range []string{"broken.pdf", "cut.pdf"} {
		if got := readPage(t, d, &domtapv1.ReadPageRequest{TabId: tab, Download: name}); got.GetText() == "" && got.GetDocument().GetNote() == "" {
			t.Errorf("%s has no text and no reason: %v", name, got)
		}
	}
}
