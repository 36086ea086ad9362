package main

import (
	"encoding/xml"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
)

const clicked = `click "Bid 270 € on Lighthouse lamp": ok
~ [15] Bid 280 € on Lighthouse lamp (button) ← Bid 270 € on Lighthouse lamp
+ [17] Withdraw from Lighthouse lamp (button)
- [16] You lead with 260 €`

func TestAddedRefsAreThoseOfNewAndChangedElements(t *testing.T) {
	if got, want := addedRefs(clicked), []uint32{15, 17}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestThePictureIsWellFormedAndShowsTheSession(t *testing.T) {
	lot := element{Ref: 15, Tag: "button", Role: "button", Text: "Bid 280 € on Lighthouse lamp"}
	lot.Rect.X, lot.Rect.Y, lot.Rect.Width, lot.Rect.Height = 49, 637, 251, 62
	svg := draw(shown{
		commands: []printed{{"domtap compact", "[15] Bid 270 € on Lighthouse lamp (button)"}, {"domtap click 15", clicked}, {"domtap watch", "~ [14] Watch (checkbox checked) ← (checkbox)"}},
		page:     []element{lot},
	})
	var text strings.Builder
	for d := xml.NewDecoder(strings.NewReader(svg)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, svg)
		}
		if data, ok := token.(xml.CharData); ok {
			text.Write(data)
		}
	}
	for _, want := range []string{"domtap click 15", "Withdraw from Lighthouse lamp (button)", "$ domtap watch", "Bid 280 € on", "← Bid 270 € on", "Lighthouse lamp"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the picture does not show %q", want)
		}
	}
}

func TestBadgesCoverNoTextAndNoBadge(t *testing.T) {
	place := func(ref uint32, role, text string, x, y, width, height float64) element {
		e := element{Ref: ref, Role: role, Text: text}
		e.Rect.X, e.Rect.Y, e.Rect.Width, e.Rect.Height = x, y, width, height
		return e
	}
	page := []element{
		place(0, "link", "Lots", 400, 20, 35, 22), place(1, "link", "Bids", 455, 20, 35, 22), // no room for a badge between the two
		place(2, "label", "Find", 500, 18, 200, 28), place(3, "searchbox", "Find", 540, 18, 160, 28),
		place(4, "button", "Bid", 49, 300, 200, 40), place(50, "button", "Withdraw", 49, 345, 200, 40),
	}
	taken := texts(page)
	for _, e := range page {
		if e.Role == "label" {
			continue
		}
		b := badge(e, taken)
		for _, other := range taken {
			if b.overlaps(other) || b.x < 0 || b.y < 0 {
				t.Errorf("the badge of %q at %+v covers %+v", e.Text, b, other)
			}
		}
		taken = append(taken, b)
	}
}

func TestLongLinesAreWrapped(t *testing.T) {
	for line, want := range map[string][]string{
		"short":                 {"short"},
		"":                      {""},
		"~ [1] 270 € on a lamp": {"~ [1] 270 €", "    on a", "    lamp"},
		"averyveryverylongword": {"averyveryverylongword"},
	} {
		if got := wrap(line, 11); !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", line, got, want)
		}
	}
}
