package e2e

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/harness"
)

// brief lists `tag role "text"` of elements, with the states that matter here.
func brief(elements []*domtapv1.Element) []string {
	var out []string
	for _, e := range elements {
		s := fmt.Sprintf("%s %s %q", e.GetTag(), e.GetRole(), e.GetText())
		if e.GetTag() == "label" {
			s += " " + e.GetType()
		}
		if e.GetChecked() == domtapv1.CheckedState_CHECKED_STATE_TRUE {
			s += " checked"
		}
		if e.GetDisabled() {
			s += " disabled"
		}
		out = append(out, s)
	}
	return out
}

// usable reads all elements of a tab that can be used.
func usable(t *testing.T, d *harness.Daemon, tab string) []*domtapv1.Element {
	t.Helper()
	r, err := d.Dom.GetDom(t.Context(), &domtapv1.GetDomRequest{TabId: tab, MaxElements: proto.Int32(0), MaxTokens: proto.Int32(0)})
	if err != nil {
		t.Fatal(err)
	}
	return r.GetElements()
}

// only opens the page of elements with nothing left of it but one section.
func only(t *testing.T, d *harness.Daemon, url, section string) string {
	t.Helper()
	tab := d.Open(url + "/pages/elements.html")
	evaluate[any](t, d, fmt.Sprintf(`for (const s of document.querySelectorAll("section")) if (s.id !== %q) s.remove()`, section))
	return tab
}

// TestEverythingOfUseIsListed reads the sections of pages/elements.html.
func TestEverythingOfUseIsListed(t *testing.T) {
	url := serve(t, nil)
	d := harness.StartDaemon(t)
	for section, want := range map[string][]string{
		"cursor": {
			`div generic "Card"`, `div generic "Text within and reset"`, `span generic "Nested rule"`, `div generic "Inline style"`,
			`div generic "Own picture"`, `a link "Wrapped link"`, `input checkbox "Wrapped box"`, `div generic "Large card small link"`,
			`a link "small link"`, `div generic "Two one two"`, `a link "one"`, `a link "two"`, `button button "In a button"`,
			`a link "In a link"`, `label label "No control" `,
		},
		"maps": {`button button "Between"`, `area link "Rectangle"`, `area link "Circle"`, `area link "Bracket"`, `area link "Rest"`},
		"svg":  {`a link "Drawn"`, `a link "Old link"`, `g button "Drawn button"`, `rect generic "Focusable"`},
		"contents": {
			`button button "Text only"`, `a link "Child Second"`, `div button "Deep"`,
		},
		"labels": {
			`label checkbox "Gift wrap" checkbox checked`, `label radio "Red" radio`, `label button "Choose a file" file`,
			`input checkbox "I agree to the terms"`, `a link "terms"`, `input checkbox "Clipped"`, `label checkbox "In a slit" checkbox`,
			`input checkbox "Styled box"`, `label checkbox "Disabled" checkbox disabled`, `input textbox "Plain field"`,
		},
		"edit": {
			`div generic "Empty value"`, `div generic "True nested"`, `div generic "Plain text"`, `div generic "Outer island inner"`, `i generic "inner"`,
		},
		"hidden": {
			`details group ""`, `summary button "More"`, `details group ""`, `summary button "Less"`, `button button "Open details"`,
			`button button "Open dialog"`, `button button "Open popover"`, `button button "Hidden from readers"`, `a link "Fixed out of a fold"`,
			`a link "Skip to content"`, `a link "Skip to navigation"`, `button button "No mouse"`, `button button "Visible again"`,
			`button button "Content in time"`, `a link "Scrolled away"`, `a link "Scrolled to"`,
		},
	} {
		t.Run(section, func(t *testing.T) {
			tab := only(t, d, url, section)
			if got := brief(usable(t, d, tab)); !slices.Equal(got, want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		})
	}
	_ = time.Second
	_ = proto.Int32
	_ = http.StatusOK
}
