package document_test

import (
	"testing"
	"time"

	"github.com/domtap/domtap/actor/internal/document"
	"github.com/domtap/domtap/dom"
)

var now = time.Unix(1000, 0)

// full is the first patch of a main document with one button.
func full(name, title, button string) dom.Patch {
	none := dom.Place{Ref: dom.NoRef, New: -1}
	el := dom.Element{Role: "button", Text: button}
	return dom.Patch{
		Document: name, Sequence: 1, Full: true, URL: "https://x.example/" + name, Title: title,
		Ops: []dom.Op{{Kind: dom.OpAdd, After: none, Parent: none, Element: el}},
	}
}

func TestADocumentThatIsLeftIsRememberedAndItsRefsAreNotUsedAgain(t *testing.T) {
	d := document.New("e1", 0)
	a := d.Apply(full("a", "A", "Pay"))
	if a.Main != "a" || !a.First || a.URL != "https://x.example/a" || !a.Retitled || a.Title != "A" || a.Err != nil {
		t.Errorf("the first document: %+v", a)
	}
	first := d.Snapshot(&dom.Snapshot{Epoch: "e1", Revision: 4, Document: 1}, a.URL, a.Title, nil, now)
	if first.Revision != 5 || first.Document != 1 || d.Snapshot(first, a.URL, a.Title, nil, now) != first {
		t.Errorf("snapshot %+v, and another one without a change", first)
	}
	if d.Tombstone(0) != nil {
		t.Error("an element that is there has a tombstone")
	}
	b := d.Apply(full("b", "A", "Help"))
	d.Next(first, "e2")
	if b.Main != "b" || b.First || !b.Retitled {
		t.Errorf("the second document: %+v", b)
	}
	second := d.Snapshot(first, b.URL, b.Title, nil, now)
	if second.Document != 2 || second.Epoch != "e2" || second.Elements.Slice()[0].Ref != 1 || d.NextRef() != 2 {
		t.Errorf("snapshot %+v", second)
	}
	if was := d.Tombstone(0); was == nil || was.Text != "Pay" || was.Role != "button" {
		t.Errorf("tombstone %+v", was)
	}
}

func TestPatchesThatMakeNoSenseAreRefused(t *testing.T) {
	d := document.New("e", 7)
	d.Apply(full("a", "A", "Pay"))
	if a := d.Apply(dom.Patch{Document: "a", Sequence: 99}); a.Err == nil || a.Main != "" || a.Retitled {
		t.Errorf("a patch out of order: %+v", a)
	}
	if !d.MainBroken() || len(d.Broken()) != 1 {
		t.Errorf("broken are %v", d.Broken())
	}
	d.Commit("", "b")
	if a := d.Apply(full("b", "B", "Help")); a.Err != nil || d.MainBroken() || d.Current("") != "b" {
		t.Errorf("the next document: %+v", a)
	}
}

func TestAcknowledgementsAreDeliveredOnce(t *testing.T) {
	d := document.New("e", 7)
	d.Apply(full("a", "A", "Pay"))
	acks := d.Pending()
	if len(acks) != 1 || acks[0].Document != "a" || len(acks[0].Refs) != 1 || acks[0].Refs[0] != 7 {
		t.Errorf("pending are %+v", acks)
	}
	if d.Delivered(acks); len(d.Pending()) != 0 {
		t.Error("some are pending still")
	}
	if at := d.Where(7); at.Ref != 7 || at.Document != "a" {
		t.Errorf("the element stands in %+v", at)
	}
}

func TestAskedAndLimitedIsOneDocument(t *testing.T) {
	d := document.New("e", 0)
	d.AskStructure()
	if !d.Structural() || !d.Limit() || d.Limit() {
		t.Error("the first document")
	}
	d.Next(&dom.Snapshot{}, "")
	if d.Structural() || !d.Limit() {
		t.Error("the second document is as the first")
	}
	d.AskStructure()
	if d.Attach(); d.Structural() {
		t.Error("another page is as the last one")
	}
}
