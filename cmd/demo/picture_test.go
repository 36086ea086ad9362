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
		commands: []printed{{"domtap compact", "[15] Bid 270 € on Lighthouse lamp (button)"}, {"domtap click 15", clicked}},
		watched:  printed{"domtap watch", "~ [14] Watch (checkbox checked) ← (checkbox)"},
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
	for _, want := range []string{"domtap click 15", "Withdraw from Lighthouse lamp (button)", "$ domtap watch", "Bid 280 € on"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the picture does not show %q", want)
		}
	}
}
