package client

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// elements returns elements with refs from 0.
func elements(texts ...string) []*domtapv1.Element {
	out := make([]*domtapv1.Element, len(texts))
	for i, text := range texts {
		out[i] = &domtapv1.Element{Ref: uint32(i), Index: int32(i), Tag: "a", Text: text}
	}
	return out
}

// line formats elements, for example: [0 a] [9 new]
func line(list []*domtapv1.Element) string {
	words := make([]string, len(list))
	for i, e := range list {
		words[i] = fmt.Sprintf("[%d %s]", e.GetRef(), e.GetText())
	}
	return strings.Join(words, " ")
}

func TestApplyFollowsTheDocument(t *testing.T) {
	old := elements("a", "b", "c", "d")
	d := &domtapv1.Diff{
		Removed: []*domtapv1.RemovedElement{{Ref: 1}}, Moved: []*domtapv1.MovedElement{{Ref: 3, FromIndex: 3, ToIndex: 0}},
		Added:   []*domtapv1.Element{{Ref: 9, Index: 2, Text: "new"}},
		Changed: []*domtapv1.ChangedElement{{Ref: 3, Element: &domtapv1.Element{Ref: 3, Text: "D"}}},
	}
	before := line(old)
	got, err := Apply(old, d)
	if want := "[3 D] [0 a] [9 new] [2 c]"; err != nil || line(got) != want {
		t.Errorf("got %s, %v, want %s", line(got), err, want)
	}
	if line(old) != before {
		t.Error("the list that was given has changed")
	}
	for what, ruin := range map[string]func(*domtapv1.Diff){
		"an unknown element removed": func(d *domtapv1.Diff) { d.Removed[0].Ref = 77 },
		"an unknown element moved":   func(d *domtapv1.Diff) { d.Moved[0].Ref = 77 },
		"two at one place":           func(d *domtapv1.Diff) { d.Added[0].Index = 0 },
		"an unknown element changed": func(d *domtapv1.Diff) { d.Changed[0].Ref = 77 },
		"one taken out twice":        func(d *domtapv1.Diff) { d.Moved[0].Ref = 1 },
		"one added that is there":    func(d *domtapv1.Diff) { d.Added[0].Ref = 0 },
		"a place beyond the end":     func(d *domtapv1.Diff) { d.Added[0].Index = 8 },
	} {
		bad := proto.CloneOf(d)
		ruin(bad)
		if got, err := Apply(old, bad); !errors.Is(err, ErrMismatch) {
			t.Errorf("%s: got %s, %v", what, line(got), err)
		}
	}
}
