package compact

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/domtap/domtap/compact/dense"
	"github.com/domtap/domtap/diff"
	"github.com/domtap/domtap/dom"
)

// checkDenseDiff prints the changes between two views, and fails the test unless the text is well formed and parsing it returns the
// changes.
func checkDenseDiff(t *testing.T, from, to dense.Side) string {
	t.Helper()
	text := dense.Changes{From: from, To: to, Diff: diff.Compute(from.Shown, to.Shown)}.Text()
	for line := range strings.Lines(text) {
		line, ended := strings.CutSuffix(line, "\n")
		checkLine(t, line)
		if !ended || line == "" || !strings.ContainsRune("+-~=>C", rune(line[0])) {
			t.Fatalf("%q is no line", line)
		}
	}
	got, err := dense.ParseDiff(text)
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	was, now := byRef(from.Shown), byRef(to.Shown)
	replaced := checkRedrawn(t, got, was, now)
	only := func(here, there map[uint32]*dom.Element) (refs []uint32) {
		for ref := range here {
			if there[ref] == nil && !replaced[ref] {
				refs = append(refs, ref)
			}
		}
		return refs
	}
	if came, want := checkListed(t, got.Added, now), only(now, was); !sameRefs(came, want) {
		t.Fatalf("added %v, want %v in\n%s", came, want, text)
	}
	gone, want := checkRemoved(t, got.Removed, was), only(was, now)
	if len(gone)+got.More['-'] != len(want) || slices.ContainsFunc(gone, func(r uint32) bool { return !slices.Contains(want, r) }) {
		t.Fatalf("removed %v and %d more, want %v in\n%s", gone, got.More['-'], want, text)
	}
	checkChanged(t, text, got, was, now)
	return text
}

// checkBriefDiff checks that brief changes are well formed, and have the same counts as the list of all changes.
func checkBriefDiff(t *testing.T, from, to dense.Side) string {
	t.Helper()
	c := dense.Changes{From: from, To: to, Diff: diff.Compute(from.Shown, to.Shown)}
	all, err := dense.ParseDiff(c.Text())
	if err != nil {
		t.Fatal(err)
	}
	c.Brief = true
	text := c.Text()
	got, err := dense.ParseDiff(text)
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	for line := range strings.Lines(text) {
		checkLine(t, strings.TrimSuffix(line, "\n"))
	}
	for mark, lines := range map[byte][2]int{'+': {len(all.Added), len(got.Added)}, '-': {len(all.Removed), len(got.Removed)}, '~': {len(all.Changed), len(got.Changed)}} {
		if want, n := lines[0]+all.More[mark], lines[1]+got.More[mark]; n != want {
			t.Fatalf("%d elements with %c, want %d, in\n%s", n, mark, want, text)
		}
	}
	return text
}

// checkRedrawn checks that elements that were replaced by equal ones are equal, and returns the refs of both.
func checkRedrawn(t *testing.T, got dense.Diff, was, now map[uint32]*dom.Element) map[uint32]bool {
	t.Helper()
	refs := map[uint32]bool{}
	for _, r := range got.Redrawn {
		for k := range r.Count {
			a, b := was[r.Old+k], now[r.New+k]
			if a == nil || b == nil || now[r.Old+k] != nil || was[r.New+k] != nil {
				continue // elements between them that are not in the view
			}
			if x, y := unfocused(a), unfocused(b); x.Name != y.Name || x.Role != y.Role || x.Value != y.Value || !slices.Equal(x.States, y.States) {
				t.Fatalf("%+v was replaced by %+v", x, y)
			}
			refs[r.Old+k], refs[r.New+k] = true, true
		}
	}
	return refs
}

// checkRemoved checks that the parsed removed elements are correct, and returns their refs. None is behind a modal.
func checkRemoved(t *testing.T, got []dense.Element, was map[uint32]*dom.Element) (refs []uint32) {
	t.Helper()
	for _, e := range got {
		if e.Covered {
			t.Fatalf("%+v was removed, and is covered", e)
		}
		e.Covered = was[e.Ref] != nil && was[e.Ref].Covered
		refs = append(refs, checkListed(t, []dense.Element{e}, was)...)
	}
	return refs
}

// checkListed checks that the parsed elements are correct, and returns their refs.
func checkListed(t *testing.T, got []dense.Element, all map[uint32]*dom.Element) (refs []uint32) {
	t.Helper()
	for _, e := range got {
		if all[e.Ref] == nil {
			t.Fatalf("there is no element %d", e.Ref)
		}
		want := readable(all[e.Ref])
		want.Target, want.Context = e.Target, e.Context
		if !equalRead(e, want) {
			t.Fatalf("read %+v, want %+v", e, want)
		}
		refs = append(refs, e.Ref)
	}
	return refs
}

// checkChanged checks that the parsed old and new states of elements are correct, and that none is missing.
func checkChanged(t *testing.T, text string, got dense.Diff, was, now map[uint32]*dom.Element) {
	t.Helper()
	listed := map[uint32]bool{}
	for _, c := range got.Changed {
		listed[c.Now.Ref] = true
		checkListed(t, []dense.Element{c.Now}, now)
		old := unfocused(was[c.Now.Ref])
		if c.Was.States = slices.DeleteFunc(c.Was.States, isFocus); c.Was.Name != old.Name || c.Was.Left != old.Left || c.Was.Role != old.Role || c.Was.Value != old.Value || !slices.Equal(c.Was.States, old.States) {
			t.Fatalf("it was %+v, want %+v in\n%s", c.Was, old, text)
		}
	}
	for ref, e := range now {
		if was[ref] == nil || listed[ref] {
			continue
		}
		if a, b := unfocused(was[ref]), unfocused(e); a.Name != b.Name || a.Left != b.Left || a.Role != b.Role || a.Value != b.Value || !slices.Equal(a.States, b.States) {
			t.Fatalf("the change from %+v to %+v is not in\n%s", a, b, text)
		}
	}
}

// unfocused returns the parsed form of an element, without the focus.
func unfocused(e *dom.Element) dense.Element {
	out := readable(e)
	out.States = slices.DeleteFunc(out.States, isFocus)
	return out
}

func isFocus(word string) bool { return word == "focused" }

func byRef(all []*dom.Element) map[uint32]*dom.Element {
	out := map[uint32]*dom.Element{}
	for _, e := range all {
		out[uint32(e.Ref)] = e
	}
	return out
}

func sameRefs(a, b []uint32) bool {
	slices.Sort(a)
	slices.Sort(b)
	return slices.Equal(a, b)
}

// FuzzDenseDiffReadsBack checks for arbitrary pages that parsing the text of the changes returns the changes from one view to the other.
func FuzzDenseDiffReadsBack(f *testing.F) {
	f.Add([]byte(strings.Repeat("\xe1\x05\x80\x91\x03\xe0\x01\x00", 20)), []byte(strings.Repeat("\xe1\x05\x80\x81\x03\xe0\x02\x00", 20)), 0, "All of it…\nMore…+7\n\\…+12\nA long one…", "…+5")
	f.Add([]byte("\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09\x10\x11\x12\x13\x14\x15\x16"), []byte("\x01\x00\x03\x02\x40\x05\x06"), 0, "Delete (button)\n[7] Home", "a ← b")
	f.Add([]byte(strings.Repeat("\x21\x05\x00\x01\x33\x42", 20)), []byte(strings.Repeat("\x21\x05\x00\x01\x33\x42", 18)), 7, "Name (x\n ← (link) ‹3› →x\n\"\"\n+ [3] x", "\\")
	f.Add([]byte(strings.Repeat("\x21\x15\x80\x91\x03\x22\x01\x00", 20)), []byte(strings.Repeat("\x21\x15\x81\x95\x03\x32\x01\x08", 20)), 2, "\\[1] =[2]\n\"a\\\n…\n ( (b) [1 ←\n←", `=" [3] x" ← (y) checked`)
	f.Fuzz(func(t *testing.T, old, now []byte, shift int, names, value string) {
		if len(old) > 600 || len(now) > 600 {
			return
		}
		side := func(shape []byte, shift int) dense.Side {
			all := fuzzedPage(bytes.Clone(shape), strings.Split(names, "\n"), value)
			var shown []*dom.Element
			for _, e := range all {
				if e.Ref += dom.Ref(shift); e.Parent != dom.NoRef {
					e.Parent += dom.Ref(shift)
				}
				if e.Kind == dom.Interactive {
					shown = append(shown, e)
				}
			}
			return dense.Side{Page: dense.NewPage(dense.Options{Base: NewBase("https://a.example/")}, all, all), Shown: shown}
		}
		checkDenseDiff(t, side(old, 0), side(now, 3*(shift&0xff)))
		checkDenseDiff(t, side(old, 0), side(old, 3*(shift&0xff)))
		checkBriefDiff(t, side(old, 0), side(now, 3*(shift&0xff)))
	})
}
