// Package recordingtest creates states of a changing page for tests and benchmarks of recordings.
package recordingtest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/dom"
)

// Start is the start time of recordings of the pages.
var Start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// Page changes at random, as the page of a shop does: prices, counts and rows. Two pages with the same seed change in the same way.
type Page struct {
	// Random is the source of the changes.
	Random   *rand.Rand
	elements []*dom.Element
	revision uint64
	refs     dom.Ref
}

// NewPage returns a page with the given number of elements.
func NewPage(seed uint64, elements int) *Page {
	p := &Page{Random: rand.New(rand.NewPCG(seed, 7))}
	for range elements {
		p.elements = append(p.elements, p.element())
	}
	return p
}

func (p *Page) element() *dom.Element {
	p.refs++
	n := p.refs
	return &dom.Element{
		Ref: n, Parent: dom.NoRef, Tag: "a", Role: "link", Text: fmt.Sprintf("Product %d of series %d", n, p.Random.IntN(50)),
		Href: fmt.Sprintf("https://shop.example/products/%d", n), InViewport: n < 40,
	}
}

// Revision returns the revision of the newest state.
func (p *Page) Revision() uint64 { return p.revision }

// Change changes the texts of some elements and occasionally replaces a row. It returns the new state.
func (p *Page) Change() actor.Published {
	for range 1 + p.Random.IntN(3) {
		at := p.Random.IntN(len(p.elements))
		changed := *p.elements[at]
		if p.Random.IntN(10) == 0 {
			changed = *p.element()
		}
		changed.Value = fmt.Sprintf("%d.%02d €", p.Random.IntN(500), p.Random.IntN(100))
		p.elements[at] = &changed
	}
	return p.Published()
}

// Published returns the page as the next state of tab t1.
func (p *Page) Published() actor.Published {
	p.revision++
	s := &dom.Snapshot{
		Epoch: "e", Revision: p.revision, Document: 1, URL: "https://shop.example/", Title: "Shop", Elements: dom.ListOf(slices.Clone(p.elements)),
		History: []dom.Visit{{URL: "https://shop.example/", Title: "Shop"}}, ObservedAt: Start.Add(time.Duration(p.revision) * time.Second).UTC(),
	}
	info := actor.Info{ID: "t1", Session: "default", URL: s.URL, Title: s.Title, Status: actor.StatusReady, Revision: s.Revision, Epoch: s.Epoch}
	return actor.Published{Snapshot: s, Info: info, Refs: p.refs + 1}
}
