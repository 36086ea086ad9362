package document_test

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/domtap/domtap/internal/content/document"
	"github.com/domtap/domtap/internal/content/markdown"
)

// read returns the Markdown of a document.
func read(c document.Content) string {
	return markdown.Of([]markdown.Source{{HTML: c.HTML, Whole: true}}).Text()
}

func TestFilesAreRecognizedByTheirContent(t *testing.T) {
	for _, test := range []struct {
		name, content string
		kind          document.Kind
	}{
		{"report", "%PDF-1.7\n", document.PDF},
		{"report.txt", "\n\n%PDF-1.4", document.PDF},
		{"data", ` {"a": [1, 2]}`, document.JSON},
		{"data.json", `[1`, document.JSON},
		{"notes", `[see below]`, document.Text},
		{"list.csv", "a,b\n1,2\n", document.CSV},
		{"feed", `<?xml version="1.0"?><a/>`, document.XML},
		{"page.html", "<!doctype html><p>x", document.HTML},
		{"picture.json", "\x89PNG\r\n\x1a\n", document.Image},
		{"files.csv", "PK\x03\x04", document.Other},
		{"empty", "", document.Text},
	} {
		if kind, _ := document.Sniff(test.name, http.DetectContentType([]byte(test.content)), []byte(test.content)); kind != test.kind {
			t.Errorf("%s is %s, want %s", test.name, kind, test.kind)
		}
	}
}

// people returns a JSON document that is too large to be shown whole.
func people() []byte {
	var b strings.Builder
	b.WriteString(`{"count": 300, "odd key": {"x": "<b>1</b>"}, "items": [`)
	for i := range 300 {
		if i > 0 {
			b.WriteString(",")
		}
		fmt.Fprintf(&b, `{"id": %d, "name": "Person %d", "tags": ["a", "b"], "address": {"city": "Oslo", "street": "A long street with a long name %d", "lines": ["%s"]}}`,
			i, i, i, strings.Repeat("word ", 25))
	}
	b.WriteString("]}")
	return []byte(b.String())
}

func TestJSONIsAnOutlineWhosePathsCanBeAskedFor(t *testing.T) {
	c, err := document.OfJSON(people(), "", false)
	if err != nil {
		t.Fatal(err)
	}
	text := read(c)
	for _, want := range []string{`$.count: 300`, `$["odd key"]: {"x":"<b>1</b>"}`, "$.items: array of 300", "$.items[0].address.city: \"Oslo\"", "… 297 more, to $.items[299]"} {
		if !strings.Contains(text, want) {
			t.Errorf("the outline has no %q:\n%s", want, text)
		}
	}
	for path, want := range map[string]string{
		"$.items[299].name": "Person 299", "items[1].id": "1", `$["odd key"].x`: "<b>1</b>", `$["odd key"]`: "\"x\": \"<b>1</b>\"", "$.items[2].tags": "[\n  \"a\",\n  \"b\"\n]",
	} {
		c, err := document.OfJSON(people(), path, false)
		if err != nil || !strings.Contains(read(c), want) {
			t.Errorf("%s is %q, %v; want %q", path, read(c), err, want)
		}
	}
	for _, path := range []string{"$.none", "$.items[300]", "$.items.x", "$.count.x", "$.items[", `$["odd`, "$.items[-1]", "$.", "$[0]"} {
		if _, err := document.OfJSON(people(), path, false); !errors.Is(err, document.ErrNoValue) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestBrokenDocumentsAreText(t *testing.T) {
	for name, c := range map[string]document.Content{
		"xml": document.OfXML([]byte("<a><b")), "csv": document.OfCSV([]byte("one column\nonly")),
	} {
		if !strings.Contains(read(c), map[string]string{"xml": "<a><b", "csv": "one column"}[name]) {
			t.Errorf("%s is %q", name, read(c))
		}
	}
	c, err := document.OfJSON([]byte(`{"a": 1} x`), "", false)
	if err != nil || c.Note == "" || !strings.Contains(read(c), `{"a": 1} x`) {
		t.Errorf("broken JSON is %+v, %v", c, err)
	}
	if _, err := document.OfJSON([]byte(strings.Repeat("[", 10000)), "$", false); err == nil {
		t.Error("JSON that is nested too deeply has values")
	}
}

func TestTablesAndXMLAreReadable(t *testing.T) {
	if text := read(document.OfCSV([]byte("id;name\n1;\"Ann; | <i>B</i>\"\n"))); !strings.Contains(text, "| id | name |\n| --- | --- |\n| 1 | Ann; \\| <i>B</i> |") &&
		!strings.Contains(text, "| 1 | Ann; \\| \\<i>B\\</i> |") {
		t.Errorf("the table is\n%s", text)
	}
	text := read(document.OfXML([]byte(`<?xml version="1.0"?><list><item id="1"><name>A &amp; B</name><none/></item></list>`)))
	if want := "<list>\n  <item id=\"1\">\n    <name>A &amp; B</name>\n    <none/>\n  </item>\n</list>"; !strings.Contains(text, want) {
		t.Errorf("the XML is\n%s", text)
	}
}

func TestTextsAreNotMuchLongerThanTheirDocuments(t *testing.T) {
	members := make([]string, 60)
	for i := range members {
		members[i] = fmt.Sprintf(`"m%d": [%s1]`, i, strings.Repeat("1,", 200))
	}
	longKey := fmt.Sprintf(`{"%s": {%s}}`, strings.Repeat("k", 100_000), strings.Join(members, ","))
	if c, err := document.OfJSON([]byte(longKey), "", false); err != nil || len(c.HTML) > 10_000 || !strings.Contains(c.HTML, "object of 1: kkk") {
		t.Errorf("the outline of JSON with a long key has %d bytes, %v", len(c.HTML), err)
	}
	deep := fmt.Sprintf(`{"a": %s%s0%s}`, strings.Repeat("[", 400), strings.Repeat("0,", 10_000), strings.Repeat("]", 400))
	if c, err := document.OfJSON([]byte(deep), "a", true); err != nil || len(c.HTML) > 1_000_000 {
		t.Errorf("JSON of %d bytes has a text of %d bytes, %v", len(deep), len(c.HTML), err)
	}
}

func TestTextsOfOneElementShareALineOnlyIfTheyAreShort(t *testing.T) {
	c := document.OfXML([]byte("<a><b>one<![CDATA[two]]></b>" + strings.Repeat("<![CDATA[text]]>", 1000) + "<c>" + strings.Repeat("<![CDATA[text]]>", 1000) + "</c></a>"))
	lines := strings.Split(c.HTML, "\n")
	if !slices.Contains(lines, "  &lt;b&gt;one&lt;![CDATA[two]]&gt;&lt;/b&gt;") {
		t.Errorf("the element with a short text is not on one line:\n%s", brief(c.HTML))
	}
	for _, line := range lines {
		if len(line) > 1000 {
			t.Fatalf("a line has %d bytes", len(line))
		}
	}
}

func brief(text string) string { return text[:min(len(text), 1000)] }

// FuzzDocumentsAreReadWithoutPanic converts any bytes as each kind. A path of an outline must have a value.
func FuzzDocumentsAreReadWithoutPanic(f *testing.F) {
	f.Add(people(), "$.items[1]")
	f.Add([]byte("a,b\n\"1"), "")
	f.Add([]byte("<a b='c'>d<!-- e --></a>"), `$["`)
	f.Fuzz(func(t *testing.T, data []byte, path string) {
		document.Sniff("x.json", http.DetectContentType(data), data)
		_ = read(document.OfCSV(data))
		_ = read(document.OfXML(data))
		c, err := document.OfJSON(data, path, false)
		if err == nil {
			_ = read(c)
		}
	})
}
