package markdown

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/domtap/domtap/compact"
	"github.com/domtap/domtap/internal/golden"
	"github.com/domtap/domtap/internal/tokens"
)

// markdown converts a page without searching for its main content.
func markdown(body string) *Document {
	page := assemble([]Source{{URL: "https://site.example/page", HTML: body}})
	w := newWriter(compact.NewBase("https://site.example/page"))
	w.blocks(page.body)
	d := &Document{}
	d.Blocks, d.Outline = w.finish()
	return d
}

// TestTranscripts converts the section html of testdata/*.txtar and compares the result with the section markdown.
func TestTranscripts(t *testing.T) {
	golden.Run(t, "testdata/*.txtar", 1, func(_ *testing.T, html string) string { return markdown(html).Text() })
}

// prose returns a text with the given number of words.
func prose(words int) string {
	var b strings.Builder
	for i := range words {
		fmt.Fprintf(&b, "word%d ", i)
		if i%12 == 11 {
			b.WriteString("ends, here. ")
		}
		if i%60 == 59 {
			b.WriteString("</p><p>")
		}
	}
	return "<p>" + b.String() + "</p>"
}

func TestArticleHasNoSurroundings(t *testing.T) {
	d := Of([]Source{{URL: "https://site.example/a", Title: "How boats float - The Site", HTML: `
		<nav><a href="/">Home</a><a href="/b">Boats</a></nav><header>The Site</header>
		<main><article><h1>How boats float</h1>` + prose(400) + `<h2>Why</h2>` + prose(100) + `</article></main>
		<aside><h3>Related</h3><a href="/c">Other</a></aside><footer>Imprint</footer>`}})
	text := d.Text()
	for _, not := range []string{"Home", "The Site", "Related", "Imprint"} {
		if strings.Contains(text, not) {
			t.Errorf("%q is in the text: %.200s", not, text)
		}
	}
	if !d.Article || !strings.HasPrefix(text, "# How boats float\n\n") || !strings.Contains(text, "\n\n## Why\n\n") || !strings.Contains(text, "word399") {
		t.Errorf("article %v: %.200s", d.Article, text)
	}
	if len(d.Outline) != 2 || d.Outline[1].Text != "Why" || d.Blocks[d.Outline[1].Block].Level != 2 {
		t.Errorf("outline: %+v", d.Outline)
	}
}

// TestElementsThatTheSearchMadeAreBlocks reads a page whose paragraphs are div elements. The search for the main content renames them.
func TestElementsThatTheSearchMadeAreBlocks(t *testing.T) {
	var page strings.Builder
	for i := range 40 {
		fmt.Fprintf(&page, "<div class=msg><b>User %d</b> <time>10:%02d</time><div>Message %d: hello there<br>second line</div></div>", i, i, i)
	}
	d := Of([]Source{{URL: "https://site.example/", Title: "Chat", HTML: page.String()}})
	if want := "# Chat\n\n**User 0** 10:00\n\nMessage 0: hello there\nsecond line\n\n**User 1** 10:01\n\n"; !d.Article || !strings.HasPrefix(d.Text(), want) {
		t.Errorf("article %v: %.200q", d.Article, d.Text())
	}
}

func TestFrontPageIsEverythingButTheNavigation(t *testing.T) {
	var cards strings.Builder
	for i := range 40 {
		fmt.Fprintf(&cards, `<div><a href="/s%d">Story number %d of the day</a><p>What it is about in a line.</p></div>`, i, i)
	}
	d := Of([]Source{{URL: "https://site.example/", Title: "The Site", HTML: `<nav><a href="/about">About</a></nav>` + cards.String() + `<footer>Imprint</footer>`}})
	text := d.Text()
	if d.Article {
		t.Errorf("a front page was taken for an article: %.300s", text)
	}
	if !strings.Contains(text, "[Story number 0 of the day](/s0)") || !strings.Contains(text, "Story number 39") || strings.Contains(text, "About") || strings.Contains(text, "Imprint") {
		t.Errorf("%.300s", text)
	}
}

func TestFramesStandWhereTheyAre(t *testing.T) {
	d := Of([]Source{
		{URL: "https://site.example/", HTML: `<p>before</p><x-frame name="F1"></x-frame><p>after</p><x-frame name="gone"></x-frame><x-frame name="F1"></x-frame>`},
		{Frame: "F1", HTML: `<p>in one</p><x-frame name="F2"></x-frame></div></body><p>still in one</p>`},
		{Frame: "F2", HTML: `<p>in two</p><x-frame name="F1"></x-frame>`, Truncated: true},
		{Frame: "F3", HTML: `<p>nowhere</p>`},
	})
	if got, want := d.Text(), "before\n\nin one\n\nin two\n\nstill in one\n\nafter\n"; got != want || !d.Truncated {
		t.Errorf("got %q, want %q; truncated %v", got, want, d.Truncated)
	}
}

func TestNestingHasABound(t *testing.T) {
	for name, page := range map[string]string{
		"elements": strings.Repeat("<div>", 5000) + "deep" + strings.Repeat("</div>", 5000),
		"quotes":   strings.Repeat("<blockquote>", 150) + "deep",
		"inline":   strings.Repeat("<b><i><a href=/x>", 120) + "deep",
		"lists":    strings.Repeat("<ul><li>", 120) + "deep",
		"tables":   strings.Repeat("<table><tr><td>a<td>", 60) + "deep",
	} {
		if text := Of([]Source{{HTML: page}}).Text(); !strings.Contains(text, "deep") {
			t.Errorf("%s: %.100q", name, text)
		}
	}
}

func TestChoose(t *testing.T) {
	for _, c := range []struct {
		name    string
		signals Signals
		want    Mode
		reason  string
	}{
		{"article", Signals{Words: 1500, LinkWords: 300, ArticleWords: 1000, ArticleLinkWords: 50, Links: 80, Controls: 10, Fields: 2}, Content, "main text of 1000 words"},
		{"article with a thousand comments and reply buttons", Signals{Words: 30_000, LinkWords: 2000, ArticleWords: 900, Links: 900, Controls: 1200, Fields: 3}, Content, "main text"},
		{"short notice", Signals{Words: 120, ArticleWords: 110, Links: 3, Controls: 1}, Content, "1 controls"},
		{"front page", Signals{Words: 2000, LinkWords: 1500, Links: 300, Controls: 5, Fields: 1}, Interactive, "75% of the words are links"},
		{"search results", Signals{Words: 700, LinkWords: 250, Links: 60, Paragraphs: 10, Controls: 4, Fields: 1}, Interactive, "60 links"},
		{"login form", Signals{Words: 20, LinkWords: 4, Links: 2, Controls: 4, Fields: 2}, Interactive, "4 controls (2 fields)"},
		{"long form with help", Signals{Words: 500, ArticleWords: 450, Links: 2, Controls: 60, Fields: 58}, Interactive, "60 controls"},
		{"mail", Signals{Words: 900, LinkWords: 100, Links: 30, Controls: 150, Fields: 2}, Interactive, "150 controls"},
		{"map", Signals{Words: 25, Links: 2, Controls: 6, Media: 0.95}, Visual, "95% of the viewport"},
		{"gallery of pictures without words", Signals{Words: 10, LinkWords: 5, Links: 40, Media: 0.7}, Visual, "only 10 words"},
		{"picture over an article", Signals{Words: 900, ArticleWords: 800, Media: 0.9}, Content, "main text"},
		{"text without a main content", Signals{Words: 200, LinkWords: 20, Links: 5, Controls: 2, Paragraphs: 4}, Content, "mostly text"},
		{"nothing", Signals{}, Content, "0 words"},
		{"one button", Signals{Words: 1, Controls: 1}, Interactive, "1 controls"},
	} {
		if got, reason := Choose(c.signals); got != c.want || !strings.Contains(reason, c.reason) {
			t.Errorf("%s: mode %d because %q, want %d because of %q", c.name, got, reason, c.want, c.reason)
		}
	}
}

func TestSignalsIgnoreTheNavigation(t *testing.T) {
	d := Of([]Source{{MediaArea: 300, ViewArea: 1000, HTML: `<nav><a href="/x">one two</a><button>menu</button></nav>
		<div>three <a href="/y">four</a> <input type=text> <input type=submit value=Go> <div role=slider></div> <div contenteditable=true></div></div>`}})
	s := d.Signals
	if s.Words != 2 || s.LinkWords != 1 || s.Links != 1 || s.Controls != 4 || s.Fields != 2 || s.Media != 0.3 {
		t.Errorf("%+v", s)
	}
}

// walk reads a document page by page and checks each against the budget.
func walk(t *testing.T, d *Document, budget int) []Page {
	t.Helper()
	var pages []Page
	text := ""
	for at := (Position{}); len(d.Blocks) > 0; {
		p := d.Cut(at, budget, tokens.Count)
		pages, text = append(pages, p), text+p.Text
		if n := tokens.Count(p.Text); n != p.Tokens || budget > 0 && n > budget {
			t.Fatalf("a page has %d tokens and says %d; the budget is %d", n, p.Tokens, budget)
		}
		if !utf8.ValidString(p.Text) || p.Text == "" {
			t.Fatalf("a page is %q", p.Text)
		}
		if !p.More {
			break
		}
		if !d.Contains(p.Next) {
			t.Fatalf("the next page is to start at %v", p.Next)
		}
		at = p.Next
	}
	if text != d.Text() {
		t.Fatalf("the pages make\n%q\nof\n%q", text, d.Text())
	}
	return pages
}

func TestPagesEndWhereAReaderWould(t *testing.T) {
	d := markdown("<h1>Title</h1><p>" + strings.Repeat("A sentence of some words. ", 60) + "</p><h2>Next</h2><p>" + strings.Repeat("Another sentence, then. ", 60) +
		"</p><pre>" + strings.Repeat("a line of code\n", 300) + "</pre><p>" + strings.Repeat("x", 5000) + "</p><p>" + strings.Repeat("語", 2000) + "</p>")
	pages := walk(t, d, 400)
	if !strings.HasPrefix(pages[1].Text, "## Next") {
		t.Errorf("the second page starts with %.40q: a heading belongs to what follows it", pages[1].Text)
	}
	for i, p := range pages[:6] {
		if !strings.HasSuffix(p.Text, "\n") {
			t.Errorf("page %d ends within a line: %q", i, p.Text[max(0, len(p.Text)-40):])
		}
	}
	if small := walk(t, d, 200); len(small) <= len(pages) {
		t.Errorf("%d pages of 200 tokens, %d of 400", len(small), len(pages))
	}
	if whole := walk(t, d, 0); len(whole) != 1 {
		t.Errorf("%d pages without a budget", len(whole))
	}
	sentences := markdown("<p>" + strings.Repeat("One more sentence of this long paragraph, number. ", 200) + "</p>")
	for _, p := range walk(t, sentences, 300) {
		if !strings.HasSuffix(strings.TrimSpace(p.Text), ".") {
			t.Errorf("a page ends within a sentence: %q", p.Text[len(p.Text)-30:])
		}
	}
}

// FuzzMarkdownIsClean reads arbitrary pages. The text must be well-formed and contain no invisible characters and no links to scripts. Its
// pages must contain the whole text once.
func FuzzMarkdownIsClean(f *testing.F) {
	files, _ := filepath.Glob("testdata/*.txtar")
	for _, file := range files {
		if a, err := txtar.ParseFile(file); err == nil {
			f.Add(string(a.Files[0].Data), 200)
		}
	}
	f.Add(`<x-frame name="a"><table><tr><th colspan=40 rowspan=9>x`, 1)
	f.Add("<p>a\xff\u2028b</p><svg><a href=javascript:x>y", 3)
	f.Fuzz(func(t *testing.T, page string, budget int) {
		d := Of([]Source{{URL: "https://site.example/", Title: "T", HTML: page}, {Frame: "a", HTML: page}})
		text := d.Text()
		if !utf8.ValidString(text) {
			t.Fatalf("no UTF-8: %q", text)
		}
		for _, r := range text {
			if r != '\n' && r != '\t' && (unicode.IsControl(r) || compact.IsInvisible(r)) {
				t.Fatalf("%U in %q", r, text)
			}
		}
		if strings.Contains(strings.ToLower(text), "](javascript:") {
			t.Fatalf("a link to a script: %q", text)
		}
		for _, b := range d.Blocks {
			if !strings.HasSuffix(b.Text, "\n") {
				t.Fatalf("a block without a line end: %q", b.Text)
			}
		}
		for _, h := range d.Outline {
			if d.Blocks[h.Block].Level != h.Level || h.Text == "" {
				t.Fatalf("the outline has %+v", h)
			}
		}
		walk(t, d, max(20, min(budget, 1000)))
	})
}
