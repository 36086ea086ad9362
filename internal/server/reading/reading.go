// Package reading keeps the texts of pages for those who read them part by part: each is frozen when its first
// part is read, so that the parts fit together whatever the page does meanwhile.
//
// Its memory is bounded by fixed limits over all tabs. It may be used from any goroutine.
package reading

import (
	"container/list"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/dom"
	"github.com/domtap/domtap/internal/content/injection"
	"github.com/domtap/domtap/internal/content/markdown"
	"github.com/domtap/domtap/internal/server/views"
	"github.com/domtap/domtap/internal/tokens"
)

// Bounds of what is kept. What was not used for longest is forgotten first; whoever holds a cursor of it is told
// to read from the start. The last text is kept however long it is.
const (
	maxTexts    = 64
	maxTabTexts = 8
	maxBytes    = 64 << 20
)

// maxCounted is the longest text in bytes whose tokens are counted as a whole.
const maxCounted = 1 << 20

// idRange is how many texts have different names.
const idRange = 1_000_000_000

// Texts remembers texts.
type Texts struct {
	mu sync.Mutex
	// used holds *Text, the last used in front.
	used *list.List
	size int
	// next numbers the texts. It starts anywhere, so that cursors of an earlier daemon are not taken for those of
	// this one.
	next uint32
}

// NewTexts returns an empty memory.
func NewTexts() *Texts { return &Texts{used: list.New(), next: rand.Uint32N(idRange)} }

// Text is a page as it was read once. It is immutable.
type Text struct {
	Document *markdown.Document
	// Tokens is what the whole text costs.
	Tokens int
	// Signals is what the page has that looks made for a model.
	Signals []injection.Signal

	// hidden counts the documents that address a model in text that is not drawn.
	hidden  int
	id      uint32
	tab     *actor.Tab
	sources [sha256.Size]byte
	size    int
}

// Keep reads a page that was drawn like that and remembers it. A page that is as it was gives the same text,
// with the same cursors, and is known.
func (t *Texts) Keep(tab *actor.Tab, markup []actor.Markup) (text *Text, known bool) {
	sum, hidden := hash(markup), concealed(markup)
	if text = t.find(func(k *Text) bool { return k.tab == tab && k.sources == sum && k.hidden == hidden }); text != nil {
		return text, true
	}
	d := Document(markup)
	whole := d.Text()
	made := &Text{Document: d, Tokens: price(whole), Signals: noticed(whole, hidden), hidden: hidden, tab: tab, sources: sum, size: len(whole)}
	t.mu.Lock()
	defer t.mu.Unlock()
	made.id = t.next
	t.next = (t.next + 1) % idRange
	t.makeRoom(made)
	t.used.PushFront(made)
	t.size += made.size
	return made, false
}

// concealed counts the documents that address a model in text that is not drawn.
func concealed(markup []actor.Markup) (n int) {
	for _, m := range markup {
		if injection.Scan(m.Unseen)&injection.Addresses != 0 {
			n++
		}
	}
	return n
}

// noticed says what a text has that looks made for a model, and so many documents beside it.
func noticed(text string, hidden int) []injection.Signal {
	var all []injection.Signal
	for _, kind := range injection.Scan(text).Names() {
		all = append(all, injection.Signal{Kind: kind, Ref: dom.NoRef, Where: "page", Count: 1})
	}
	if hidden > 0 {
		all = append(all, injection.Signal{Kind: injection.Hidden.Names()[0], Ref: dom.NoRef, Where: "hidden", Count: hidden})
	}
	return all
}

// price returns what a text costs, about what for a very long one.
func price(text string) int {
	if len(text) > maxCounted {
		return tokens.Estimate(text)
	}
	return tokens.Count(text)
}

// At returns the text that a cursor of the tab belongs to, and its place in it. It fails with
// views.ErrCursorExpired when there is none.
func (t *Texts) At(tab *actor.Tab, cursor string) (*Text, markdown.Place, error) {
	id, at, ok := parseCursor(cursor)
	if !ok {
		return nil, markdown.Place{}, views.ErrCursorExpired
	}
	known := t.find(func(k *Text) bool { return k.tab == tab && k.id == id })
	if known == nil || !known.Document.Holds(at) {
		return nil, markdown.Place{}, views.ErrCursorExpired
	}
	return known, at, nil
}

// find returns the text for which a condition holds, and marks it as used.
func (t *Texts) find(is func(*Text) bool) *Text {
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

// makeRoom drops the texts of tabs that have ended, and then the oldest that are too many.
func (t *Texts) makeRoom(next *Text) {
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

func (t *Texts) remove(item *list.Element) {
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

// Changed reports whether a page that is drawn like that now reads differently.
func (t *Text) Changed(markup []actor.Markup) bool {
	return hash(markup) != t.sources && Document(markup).Text() != t.Document.Text()
}

// Document reads a page.
func Document(markup []actor.Markup) *markdown.Document {
	sources := make([]markdown.Source, len(markup))
	for i, m := range markup {
		sources[i] = markdown.Source{
			Frame: string(m.Frame), URL: m.URL, Title: m.Title, HTML: m.HTML,
			Truncated: m.Truncated, MediaArea: m.MediaArea, ViewArea: m.ViewArea,
		}
	}
	return markdown.Of(sources)
}

func hash(markup []actor.Markup) (sum [sha256.Size]byte) {
	h := sha256.New()
	for _, m := range markup {
		for _, part := range []string{string(m.Frame), m.URL, m.Title, m.HTML} {
			_, _ = fmt.Fprintf(h, "%d:", len(part))
			_, _ = h.Write([]byte(part))
		}
	}
	h.Sum(sum[:0])
	return sum
}

// prefix tells cursors of texts from those of package views.
const prefix = "r"

// IsCursor reports whether a cursor looks like one of a text.
func IsCursor(cursor string) bool { return strings.HasPrefix(cursor, prefix) }

// Cursor names a place in the text.
func (t *Text) Cursor(at markdown.Place) string { return formatCursor(t.id, at) }

func formatCursor(id uint32, at markdown.Place) string {
	c := fmt.Sprintf("%s%09d.%d", prefix, id, at.Block)
	if at.Offset > 0 {
		c += "." + strconv.Itoa(at.Offset)
	}
	return c
}

// parseCursor is the inverse of formatCursor; it accepts nothing else.
func parseCursor(cursor string) (id uint32, at markdown.Place, ok bool) {
	parts := strings.Split(strings.TrimPrefix(cursor, prefix), ".")
	if len(parts) < 2 || len(parts) > 3 {
		return 0, markdown.Place{}, false
	}
	var numbers [3]uint64
	for i, part := range parts {
		n, err := strconv.ParseUint(part, 10, 31)
		if err != nil {
			return 0, markdown.Place{}, false
		}
		numbers[i] = n
	}
	id, at = uint32(numbers[0]), markdown.Place{Block: int(numbers[1]), Offset: int(numbers[2])}
	return id, at, formatCursor(id, at) == cursor
}
