package browser

import (
	"context"
	"errors"
	"strconv"
	"testing"

	"github.com/chromedp/cdproto/target"

	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/internal/browser/devtools"
)

// openForged opens a page of a forged browser. The caller must call end.
func openForged(t *testing.T) (p *Page, f *forged, end func()) {
	t.Helper()
	b, f, end := newForged(t)
	opened, err := b.NewPage(t.Context(), driver.PageOptions{Session: driver.DefaultSession})
	if err != nil {
		end()
		t.Fatal(err)
	}
	return opened.(*Page), f, end
}

// TestAReadWaitsForTheContextsOfTheNextDocument rejects every call to a document's context until the events arrive that replace the
// context. On a busy machine, Chromium rejects such calls more often than a read restarts, because the renderer of the new document
// responds before it reports its contexts.
func TestAReadWaitsForTheContextsOfTheNextDocument(t *testing.T) {
	p, f, end := openForged(t)
	defer end()
	created := func(id string) {
		f.say([]byte(`{"method":"Runtime.executionContextCreated","params":{"context":{"id":` + id + `,"origin":"http://a.test","name":"domtap","uniqueId":"u` + id +
			`","auxData":{"isDefault":false,"type":"isolated","frameId":"T1"}}},"sessionId":"S1"}`))
	}
	f.mu.Lock()
	f.gone, f.refused = "u2", make(chan struct{}, 1)
	f.text = "x\t1\tf\t1\t0\t0\t1\t1\thttp://a.test/\ttitle\t0\n"
	f.mu.Unlock()
	created("2")
	go func() {
		<-f.refused
		for range 200 { // more barriers than a read may restart
			if p.barrier(t.Context()) != nil {
				return
			}
		}
		f.say([]byte(`{"method":"Runtime.executionContextsCleared","params":{},"sessionId":"S1"}`))
		created("3")
	}()
	out, err := p.Read(t.Context(), driver.ReadRequest{})
	if err != nil || len(out.Patches) != 1 {
		t.Fatalf("%d patches: %v", len(out.Patches), err)
	}
	if err := p.Close(context.WithoutCancel(t.Context())); err != nil {
		t.Error(err)
	}
}

// TestPagesOfABrowserThatIsGoneAreLost checks that the pages of a crashed browser count as lost and not as closed on purpose, because
// closed tabs are not restored. Close may follow as soon as the browser is done.
func TestPagesOfABrowserThatIsGoneAreLost(t *testing.T) {
	first, _, end := openForged(t)
	defer end()
	b, pages := first.browser, []*Page{first}
	for i := range 200 {
		id := target.ID(strconv.Itoa(i))
		p, _ := b.addPage(id, func() *Page { return newPage(b, newPageConfig{context: first.context, id: id, session: "S"}) })
		pages = append(pages, p)
	}
	b.conn.Cut()
	<-b.Done()
	b.cancel(errClosed) // as Close does
	for _, p := range pages {
		var last driver.Event
		for last = range p.Events() {
		}
		if gone, ok := last.(driver.Gone); !ok || !errors.Is(gone.Err, devtools.ErrLost) {
			t.Errorf("page %s ends with %#v", p.id, last)
		}
	}
}
