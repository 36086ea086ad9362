package testenv

import (
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/domtap/domtap/compact/dense"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// CheckDense reads a page as DENSE, with the selection of a request. It fails the test unless the text lists the elements of GetDom in
// order, with their refs, names, roles and states. It returns the text.
func CheckDense(t testing.TB, d *Daemon, tab string, r *domtapv1.GetCompactRequest) string {
	t.Helper()
	r.TabId, r.Format = tab, domtapv1.Format_FORMAT_DENSE
	r.MaxTokens = proto.Int32(0)
	got, want := readTwice(t, d, r)
	elements, err := dense.Parse(got.GetText())
	if err != nil {
		t.Fatalf("%v in\n%s", err, got.GetText())
	}
	listed := want.GetElements()
	if strings.Contains(got.GetText(), " elements; find searches them\n") {
		listed = slices.DeleteFunc(slices.Clone(listed), (*domtapv1.Element).GetCovered)
	}
	if len(elements) != len(listed) {
		t.Fatalf("%d elements in the text, want %d:\n%s", len(elements), len(listed), got.GetText())
	}
	for i, e := range listed {
		read := elements[i]
		if read.Ref != e.GetRef() || read.Name != e.GetText() || read.Role != e.GetRole() || read.Covered != e.GetCovered() ||
			!slices.Equal(read.States, stateWords(e)) {
			t.Errorf("the text has %+v, GetDom %v", read, e)
		}
	}
	return got.GetText()
}

// maxReads limits how often a constantly changing page is read.
const maxReads = 20

// readTwice reads a page as text and as elements, at the same revision.
func readTwice(t testing.TB, d *Daemon, r *domtapv1.GetCompactRequest) (*domtapv1.GetCompactResponse, *domtapv1.GetDomResponse) {
	t.Helper()
	for range maxReads {
		got, err := d.Dom.GetCompact(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		want, err := d.Dom.GetDom(t.Context(), &domtapv1.GetDomRequest{
			TabId: r.TabId, ViewportOnly: r.ViewportOnly, MaxElements: r.MaxElements, MaxTokens: r.MaxTokens, InteractiveOnly: r.InteractiveOnly,
			FullSnapshot: r.FullSnapshot, RootRef: r.RootRef, FrameId: r.FrameId,
		})
		if err != nil {
			t.Fatal(err)
		}
		if got.GetRevision() == want.GetRevision() {
			return got, want
		}
	}
	t.Fatalf("the page changed between two reads, %d times", maxReads)
	return nil, nil
}

// stateWords returns the states of an element, in the words of the compact formats.
func stateWords(e *domtapv1.Element) []string {
	words := []string{}
	say := func(holds bool, word string) {
		if holds {
			words = append(words, word)
		}
	}
	say(e.GetChecked() == domtapv1.CheckedState_CHECKED_STATE_TRUE, "checked")
	say(e.GetChecked() == domtapv1.CheckedState_CHECKED_STATE_MIXED, "mixed")
	say(e.GetDisabled(), "disabled")
	say(e.GetExpanded(), "expanded")
	say(e.Expanded != nil && !e.GetExpanded(), "collapsed")
	say(e.GetSelected(), "selected")
	say(e.GetPressed() == domtapv1.CheckedState_CHECKED_STATE_TRUE, "pressed")
	say(e.GetPressed() == domtapv1.CheckedState_CHECKED_STATE_MIXED, "pressed=mixed")
	say(e.GetRequired(), "required")
	say(e.GetReadonly(), "readonly")
	say(e.GetFocused(), "focused")
	say(e.GetInvalid(), "invalid")
	return words
}
