package heal

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/domtap/domtap/dom"
)

// state returns elements for words such as `7:button:Pay`, with a key of tag and text. `7:button:Pay:/x` has an href, and the parent of
// `>7:button:Pay` is the last element before it without a ">".
func state(words string) []*dom.Element {
	var out []*dom.Element
	parent := dom.NoRef
	for _, word := range strings.Fields(words) {
		inner := strings.HasPrefix(word, ">")
		parts := append(strings.SplitN(strings.TrimPrefix(word, ">"), ":", 4), "")
		el := &dom.Element{Parent: dom.NoRef, Tag: parts[1], Role: parts[1], Text: parts[2], Href: parts[3]}
		if _, err := fmt.Sscan(parts[0], &el.Ref); err != nil {
			panic(err)
		}
		if inner {
			el.Parent = parent
		} else {
			parent = el.Ref
		}
		out = append(out, el)
	}
	return out
}

func TestReplacementIsTheOneThatWasRenderedAnew(t *testing.T) {
	for _, c := range []struct {
		before, now string // of the first element of before
		want        string
	}{
		{"1:button:Pay 2:link:Help", "2:link:Help 3:button:Pay", "3"},
		{"1:button:Pay", "3:button:Pay 4:button:Pay", ""},
		{"1:button:Pay 2:button:Pay", "3:button:Pay", ""},
		{"1:button:Pay 2:button:Pay", "2:button:Pay", ""},
		{"1:button:Pay 2:link:Pay", "2:link:Pay 3:button:Pay", "3"},
		{"1:button:Pay", "3:button:Buy", ""},
		{"1:button:", "3:button:", ""},
		{"1:link:Open:/a 2:button:X", "3:link:Open:/b 4:button:X", "3"},
		{"1:link:Open:/a 2:button:X", "4:button:Y 3:link:Open:/b 5:button:X", ""},
		{"1:link:Open:/a 2:button:X", "3:link:Open:/b 4:button:Z", ""},
		{"1:link:Open:/a 2:link:Open:/b", "3:link:Open:/c", ""},
		{"1:link:Open:/a", "3:link:Open:/b 4:link:Open:/c", ""},
	} {
		before := state(c.before)
		got := ""
		if replacement := Replacement(before[0], before, state(c.now)); replacement != nil {
			got = fmt.Sprint(replacement.Ref)
		}
		if got != c.want {
			t.Errorf("%s → %s: replacement %q, want %q", c.before, c.now, got, c.want)
		}
	}
}

func TestReplacementStandsBelowTheSameAncestors(t *testing.T) {
	before := state("0:list:L >1:link:Open:/a 2:button:X")
	for now, want := range map[string]bool{"5:list:L >6:link:Open:/b 7:button:X": true, "6:link:Open:/b 7:button:X": false, "5:row:L >6:link:Open:/b 7:button:X": false} {
		if got := Replacement(before[1], before, state(now)) != nil; got != want {
			t.Errorf("%s: %v, want %v", now, got, want)
		}
	}
}

func TestReusedElementsAreKnown(t *testing.T) {
	for _, c := range []struct {
		told, now string // of ref 2
		want      ReuseKind
	}{
		{"1:link:Apple 2:button:Delete 3:link:Pear", "1:link:Apple 2:button:Delete 3:link:Pear", Same},
		{"1:link:Apple 2:button:Delete 3:link:Pear", "1:link:Fig 2:button:Delete 3:link:Pear", Doubtful},
		{"1:link:Apple 2:button:Delete 3:link:Pear", "2:button:Delete 3:link:Pear", Same},
		{"1:link:Apple 2:button:Delete", "2:button:Delete 1:link:Apple", Same},
		{"2:button:Play", "2:button:Pause", Other},
		{"2:button:Likes(3)", "2:button:Likes(4)", Same},
		{"1:link:Inbox(1) 2:button:New", "1:link:Inbox(2) 2:button:New", Same},
		{"2:button:Go", "2:link:Go", Other},
		{"2:link:Open:/a", "2:link:Open:/b", Other},
		{"1:button:X", "1:button:X 2:button:Y", Same},
		{"2:button:X", "1:button:Y", Same},
		{"2:button:1", "2:button:2", Other},
		{"1:link:Name 2:button:Send", "1:link:Name(required) 2:button:Send", Same},
		{"2:row:Alice", "2:row:Carol", Doubtful},
	} {
		if _, got := Reused(2, state(c.told), state(c.now)); got != c.want {
			t.Errorf("%s → %s: %v, want %v", c.told, c.now, got, c.want)
		}
	}
}

// TestNoReplacementAmongDuplicates checks on random pages that every replacement is new and the only element with its name, and that an element with a
// duplicate has no replacement.
func TestNoReplacementAmongDuplicates(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	random := func(from int) []*dom.Element {
		var words []string
		for i := range 1 + rng.IntN(8) {
			words = append(words, fmt.Sprintf("%d:%s:%s:%s", from+i, []string{"button", "link"}[rng.IntN(2)],
				[]string{"", "Pay", "Help", "Open"}[rng.IntN(4)], []string{"", "/a", "/b"}[rng.IntN(3)]))
		}
		return state(strings.Join(words, " "))
	}
	count := func(elements []*dom.Element, like *dom.Element) (keys, names int) {
		for _, el := range elements {
			if el.Role != like.Role {
				continue
			}
			if el.Key() == like.Key() {
				keys++
			}
			if el.Text == like.Text {
				names++
			}
		}
		return keys, names
	}
	found := 0
	for range 20_000 {
		before := random(0)
		now := append(random(100), before[1+rng.IntN(len(before)):]...)
		gone := before[0]
		replacement := Replacement(gone, before, now)
		if replacement == nil {
			continue
		}
		found++
		keysThen, namesThen := count(before, gone)
		keysNow, namesNow := count(now, replacement)
		if replacement.Ref < 100 || replacement.Role != gone.Role || replacement.Text != gone.Text || keysThen != 1 || keysNow != 1 ||
			replacement.Key() != gone.Key() && (namesThen != 1 || namesNow != 1) {
			t.Fatalf("%v is taken for %v of %v in %v", replacement, gone, before, now)
		}
	}
	if found < 100 {
		t.Errorf("only %d were found: the test tries too little", found)
	}
}

// FuzzReplacementAndReusedTakeAnything checks that Replacement and Reused neither panic nor loop for any pair of states.
func FuzzReplacementAndReusedTakeAnything(f *testing.F) {
	f.Add([]byte{1, 2, 3}, []byte{4, 5, 6}, uint32(1))
	f.Fuzz(func(t *testing.T, a, b []byte, ref uint32) {
		elements := func(bytes []byte) []*dom.Element {
			var out []*dom.Element
			for i, c := range bytes[:min(len(bytes), 64)] {
				out = append(out, &dom.Element{Ref: dom.Ref(c % 16), Parent: dom.Ref(c / 16), Kind: dom.Kind(c % 3), Tag: "a", Text: string(rune('a' + i%3))})
			}
			return out
		}
		before, now := elements(a), elements(b)
		if len(before) > 0 {
			Replacement(before[0], before, now)
		}
		Reused(dom.Ref(ref), before, now)
	})
}
