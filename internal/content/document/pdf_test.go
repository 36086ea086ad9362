package document_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/domtap/domtap/internal/content/document"
)

// paper is the text of a PDF of two pages: headings, a hyphenated word, a link, a table, a word from right to left, and a page without text.
const paper = `{"pages": 3, "read": [{"w": 600, "h": 800, "items": [
	["Annual report", 50, 60, 200, 24, 0], ["This is the first para", 50, 100, 110, 10, 0], ["graph, and it is comp-", 161, 100, 100, 10, 0],
	["lete. See", 50, 112, 50, 10, 0], [" ", 100, 112, 3, 10, 0], ["the site", 103, 112, 40, 10, 0], [".", 143, 112, 2, 10, 0],
	["Figures", 50, 150, 60, 16, 0],
	["Year", 50, 180, 20, 10, 0], ["Sales", 150, 180, 25, 10, 0], ["Cost", 250, 180, 20, 10, 0],
	["2024", 50, 194, 20, 10, 0], ["1,000", 150, 194, 25, 10, 0], ["900", 250, 194, 20, 10, 0],
	["2025", 50, 208, 20, 10, 0], ["2,000", 150, 208, 25, 10, 0], ["<i>", 250, 208, 20, 10, 0],
	["\u05e9\u05dc\u05d5\u05dd", 300, 300, 30, 10, 2], ["\u05e2\u05d5\u05dc\u05dd", 265, 300, 30, 10, 2]],
	"links": [["https://example.com/site", 102, 102, 143, 115]]}, {"w": 600, "h": 800, "items": [], "links": []},
	{"w": 0, "h": 0, "items": [], "links": [], "damaged": true}]}`

func TestPDFsHaveHeadingsTablesAndLinks(t *testing.T) {
	c, err := document.OfPDF([]byte(paper))
	if err != nil {
		t.Fatal(err)
	}
	text := read(c)
	for _, want := range []string{
		"[page 1 of 3]", "\n# Annual report\n", "\n## Figures\n", "This is the first paragraph, and it is complete. See [the site](https://example.com/site).",
		"| Year | Sales | Cost |\n| --- | --- | --- |\n| 2024 | 1,000 | 900 |\n| 2025 | 2,000 |", "\u05e9\u05dc\u05d5\u05dd \u05e2\u05d5\u05dc\u05dd",
	} {
		if !strings.Contains(strings.ReplaceAll(text, "\\[", "["), want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if c.Pages != 3 || c.Note != "1 of 3 pages have no text: they are empty or pictures; 1 pages are damaged" {
		t.Errorf("%d pages, note %q", c.Pages, c.Note)
	}
}

func TestPDFsWithoutTextSayWhy(t *testing.T) {
	for data, want := range map[string]string{
		`{"pages": 0, "problem": "password", "read": []}`:                        "encrypted",
		`{"pages": 0, "problem": "damaged", "read": []}`:                         "damaged",
		`{"pages": 0, "problem": "slow", "read": []}`:                            "in time",
		`{"pages": 1, "read": [{"w": 1, "h": 1, "items": [], "links": []}]}`:     "pictures",
		`{"pages": 900, "read": [{"w": 1, "h": 1, "items": [["a",1,1,1,1,0]]}]}`: "only the first 1 pages",
		`{"pages": 1, "read": [{"w": 1, "h": 1, "items": [], "more": true}]}`:    "more text than was read",
	} {
		if c, err := document.OfPDF([]byte(data)); err != nil || !strings.Contains(c.Note, want) {
			t.Errorf("%s: %+v, %v", data, c, err)
		}
	}
}

// TestPDFsWithManyLinesAreReadInLinearTime reads pages that would take minutes if the time for a line depended on the number of lines.
func TestPDFsWithManyLinesAreReadInLinearTime(t *testing.T) {
	const lines = 25_000
	long := strings.Repeat("word ", 20)
	for name, line := range map[string]func(b *strings.Builder, i int){
		"columns of prose": func(b *strings.Builder, i int) {
			fmt.Fprintf(b, `["%s", 50, %d, 200, 10, 0], ["%s", 400, %d, 200, 10, 0]`, long, 12*i, long, 12*i)
		},
		"sizes":       func(b *strings.Builder, i int) { fmt.Fprintf(b, `["a", 50, %d, 200, %d, 0]`, 12*i, 1+i) },
		"a paragraph": func(b *strings.Builder, i int) { fmt.Fprintf(b, `["%s", 50, %d, 200, 10, 0]`, long, 12*i) },
		"one line": func(b *strings.Builder, i int) {
			fmt.Fprintf(b, `["a", %d, %d, 5, 10, 0]`, 100*(i%(lines/4)), 12*(i/(lines/4)))
		},
	} {
		var b strings.Builder
		b.WriteString(`{"pages": 1, "read": [{"w": 600, "h": 800, "links": [], "items": [`)
		for i := range lines {
			if i > 0 {
				b.WriteByte(',')
			}
			line(&b, i)
		}
		b.WriteString("]}]}")
		if c, err := document.OfPDF([]byte(b.String())); err != nil || len(c.HTML) < lines {
			t.Errorf("%s: %d bytes, %v", name, len(c.HTML), err)
		}
	}
}

// FuzzPDFsAreReadWithoutPanic converts any result of the reader.
func FuzzPDFsAreReadWithoutPanic(f *testing.F) {
	f.Add([]byte(paper))
	f.Add([]byte(`{"pages": -1, "read": [{"items": [["a", 1e308, -1e308, 1e308, 0, 3], ["b"]], "links": [["x"]]}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if c, err := document.OfPDF(data); err == nil {
			_ = read(c)
		}
	})
}
