// Package textcache stores the texts of pages for callers that read them in parts. A text is frozen when its first part is read, so that
// the parts fit together even if the page changes.
//
// Memory is bounded by fixed limits over all tabs. A Cache is safe for concurrent use.
package textcache

import (
	"container/list"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/dom"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/content/injection"
	"github.com/domtap/domtap/internal/content/markdown"
	"github.com/domtap/domtap/internal/server/tabview"
	"github.com/domtap/domtap/internal/tokens"
)

// Limits of the cache. When one is exceeded, the least recently used text is dropped; its cursors expire, and the caller reads from the
// start. The newest text is kept regardless of its length.
const (
	maxTexts    = 64
	maxTabTexts = 8
	maxBytes    = 64 << 20
)

// maxCounted is the size in bytes up to which the tokens of a text are counted. Those of longer texts are estimated.
const maxCounted = 1 << 20

// idRange is the number of possible text IDs.
const idRange = 1_000_000_000

// Cache holds the texts of pages.
type Cache struct {
	mu sync.Mutex
	// used holds the *Text values, most recently used first.
	used *list.List
	size int
	// next is the ID of the next text. It starts at a random number, so that cursors of an earlier daemon do not match texts of this one.
	next uint32
}

// New returns an empty cache.
func New() *Cache { return &Cache{used: list.New(), next: rand.Uint32N(idRange)} }

// Text is the text of a page at the time of its first read. It is immutable.
type Text struct {
	Document *markdown.Document
	// Tokens is the cost of the whole text.
	Tokens int
	// Signals lists the suspected prompt injections.
	Signals []injection.Signal

	// About describes a document that is not a page. It is nil for a page.
	About *domtapv1.ReadDocument
	// Fixed reports that the text cannot change, because it is a file.
	Fixed bool

	// variant distinguishes texts of the same document.
	variant string
	// hidden counts the documents whose invisible text addresses a model.
	hidden  int
	id      uint32
	tab     *actor.Tab
	sources [sha256.Size]byte
	size    int
}

// Keep caches and returns the text of a page. For an unchanged page, it returns the cached text with the same cursors, and known is true.
func (t *Cache) Keep(tab *actor.Tab, markup []driver.Markup) (text *Text, known bool) {
	sum, hidden := hash(markup), countConcealed(markup)
	if text = t.find(func(k *Text) bool { return k.tab == tab && k.About == nil && k.sources == sum && k.hidden == hidden }); text != nil {
		return text, true
	}
	made := newText(tab, markup, hidden)
	made.sources = sum
	t.add(made)
	return made, false
}

// Source identifies the text of a document that is not a page.
type Source struct {
	// Markup is the markup of the tab that shows the document, or stands for a file.
	Markup []driver.Markup
	// Variant distinguishes the texts of one document, such as those of the values at two paths.
	Variant string
}

// Document returns the cached text of a document, if there is one.
func (t *Cache) Document(tab *actor.Tab, s Source) (text *Text, known bool) {
	sum := hash(s.Markup)
	text = t.find(func(k *Text) bool {
		return k.tab == tab && k.About != nil && k.sources == sum && k.variant == s.Variant
	})
	return text, text != nil
}

// KeepDocument caches and returns the text of a document that was converted to markup. fixed reports that the text cannot change.
func (t *Cache) KeepDocument(tab *actor.Tab, s Source, markup []driver.Markup, about *domtapv1.ReadDocument, fixed bool) *Text {
	made := newText(tab, markup, countConcealed(markup))
	made.sources, made.variant, made.About, made.Fixed = hash(s.Markup), s.Variant, about, fixed
	t.add(made)
	return made
}

func newText(tab *actor.Tab, markup []driver.Markup, hidden int) *Text {
	d := Document(markup)
	whole := d.Text()
	return &Text{Document: d, Tokens: count(whole), Signals: injectionSignals(whole, hidden), hidden: hidden, tab: tab, size: len(whole)}
}

// add adds a text and gives it an ID.
func (t *Cache) add(made *Text) {
	t.mu.Lock()
	defer t.mu.Unlock()
	made.id = t.next
	t.next = (t.next + 1) % idRange
	t.makeRoom(made)
	t.used.PushFront(made)
	t.size += made.size
}

// countConcealed counts the documents whose invisible text addresses a model.
func countConcealed(markup []driver.Markup) (n int) {
	for _, m := range markup {
		if injection.Scan(m.Unseen)&injection.Addresses != 0 {
			n++
		}
	}
	return n
}

// injectionSignals lists the suspected prompt injections of a text. hidden is the number of documents with invisible ones.
func injectionSignals(text string, hidden int) []injection.Signal {
	var all []injection.Signal
	for _, kind := range injection.Scan(text).Names() {
		all = append(all, injection.Signal{Kind: kind, Ref: dom.NoRef, Where: "page", Count: 1})
	}
	if hidden > 0 {
		all = append(all, injection.Signal{Kind: injection.Hidden.Names()[0], Ref: dom.NoRef, Where: "hidden", Count: hidden})
	}
	return all
}

// count counts the tokens of a text. It estimates the tokens of a very long text.
func count(text string) int {
	if len(text) > maxCounted {
		return tokens.Estimate(text)
	}
	return tokens.Count(text)
}

// At returns the text that a cursor of the tab belongs to, and the position in it. If there is none, it returns tabview.ErrCursorExpired.
func (t *Cache) At(tab *actor.Tab, cursor string) (*Text, markdown.Position, error) {
	id, at, ok := parseCursor(cursor)
	if !ok {
		return nil, markdown.Position{}, tabview.ErrCursorExpired
	}
	known := t.find(func(k *Text) bool { return k.tab == tab && k.id == id })
	if known == nil || !known.Document.Contains(at) {
		return nil, markdown.Position{}, tabview.ErrCursorExpired
	}
	return known, at, nil
}

// find returns the text that matches, and marks it as used.
func (t *Cache) find(is func(*Text) bool) *Text {
	t.mu.Lock()
	defer t.mu.Unlock()
	for item := t.used.Front(); item != nil; item = item.Next() {
		if known := item.Value.(*Text); is(known) {
			t.used.MoveToFront(item)
			return known
		}
	}
	return nil
}

// makeRoom drops the texts of ended tabs, and then the least recently used texts above the limits.
func (t *Cache) makeRoom(next *Text) {
	own := 0
	for item := t.used.Front(); item != nil; {
		here := item
		item = item.Next()
		known := here.Value.(*Text)
		if known.tab == next.tab {
			own++
		}
		if ended(known.tab) || known.tab == next.tab && own >= maxTabTexts {
			t.remove(here)
		}
	}
	for t.used.Len() > 0 && (t.used.Len() >= maxTexts || t.size+next.size > maxBytes) {
		t.remove(t.used.Back())
	}
}

func (t *Cache) remove(item *list.Element) {
	t.size -= t.used.Remove(item).(*Text).size
}

func ended(tab *actor.Tab) bool {
	select {
	case <-tab.Done():
		return true
	default:
		return false
	}
}

// Changed reports whether the page's text has changed.
func (t *Text) Changed(markup []driver.Markup) bool {
	if hash(markup) == t.sources {
		return false
	}
	return t.About != nil || Document(markup).Text() != t.Document.Text()
}

// Document converts the markup of a page to a document.
func Document(markup []driver.Markup) *markdown.Document {
	sources := make([]markdown.Source, len(markup))
	for i, m := range markup {
		sources[i] = markdown.Source{
			Frame: string(m.Frame), URL: m.URL, Title: m.Title, HTML: m.HTML, Whole: m.Whole,
			Truncated: m.Truncated, MediaArea: m.MediaArea, ViewArea: m.ViewArea,
		}
	}
	return markdown.Of(sources)
}

// ofFile returns the markup of a page, or only the text of a text file: browsers add controls next to it after a while.
func ofFile(m driver.Markup) string {
	start := strings.Index(m.HTML, "<pre")
	if start < 0 || m.Type == "" || m.Type == "text/html" || m.Type == "application/xhtml+xml" {
		return m.HTML
	}
	text, _, _ := strings.Cut(m.HTML[start:], "</pre>")
	return text
}

func hash(markup []driver.Markup) (sum [sha256.Size]byte) {
	h := sha256.New()
	for _, m := range markup {
		parts := []string{string(m.Frame), m.URL, m.Title, ofFile(m)}
		if m.HTML == "" { // a document of a viewer, which has no markup
			parts = append(parts, m.Type, m.Document)
		}
		for _, part := range parts {
			_, _ = fmt.Fprintf(h, "%d:", len(part))
			_, _ = h.Write([]byte(part))
		}
	}
	h.Sum(sum[:0])
	return sum
}

// prefix distinguishes cursors of texts from cursors of package tabview.
const prefix = "r"

// IsCursor reports whether a cursor has the prefix of a text cursor.
func IsCursor(cursor string) bool { return strings.HasPrefix(cursor, prefix) }

// Cursor returns the cursor of a position in the text.
func (t *Text) Cursor(at markdown.Position) string { return formatCursor(t.id, at) }

func formatCursor(id uint32, at markdown.Position) string {
	c := fmt.Sprintf("%s%09d.%d", prefix, id, at.Block)
	if at.Offset > 0 {
		c += "." + strconv.Itoa(at.Offset)
	}
	return c
}

// parseCursor is the inverse of formatCursor. It accepts only strings that formatCursor returns.
func parseCursor(cursor string) (id uint32, at markdown.Position, ok bool) {
	parts := strings.Split(strings.TrimPrefix(cursor, prefix), ".")
	if len(parts) < 2 || len(parts) > 3 {
		return 0, markdown.Position{}, false
	}
	var numbers [3]uint64
	for i, part := range parts {
		n, err := strconv.ParseUint(part, 10, 31)
		if err != nil {
			return 0, markdown.Position{}, false
		}
		numbers[i] = n
	}
	id, at = uint32(numbers[0]), markdown.Position{Block: int(numbers[1]), Offset: int(numbers[2])}
	return id, at, formatCursor(id, at) == cursor
}
