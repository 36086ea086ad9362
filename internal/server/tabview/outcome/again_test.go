package outcome

import (
	"fmt"
	"strings"
	"testing"

	"github.com/domtap/domtap/dom"
)

// said returns a document with controls, which the printed page contains, and texts.
func said(controls, texts string) *dom.Snapshot {
	var all []*dom.Element
	add := func(kind dom.Kind, role, words string) {
		for word := range strings.FieldsSeq(words) {
			all = append(all, &dom.Element{Ref: dom.Ref(len(all)), Kind: kind, Role: role, Text: word})
		}
	}
	add(dom.Interactive, "button", controls)
	add(dom.Structural, "paragraph", texts)
	return &dom.Snapshot{Elements: dom.ListOf(all)}
}

// TestAPageThatComesBackSaysWhatIsNew compares documents. For a document that is mostly equal to the previous one, the new texts are
// returned; for a different one, nothing is.
func TestAPageThatComesBackSaysWhatIsNew(t *testing.T) {
	if got := Again(nil, said("Send", "a b c d e f"), ""); got != nil {
		t.Errorf("a page whose predecessor is not known says %v", got)
	}
	const page = "[0] Name (textbox) [1] Mail (textbox) [2] Send (button)"
	for _, c := range []struct{ name, before, after, want string }{
		{"a form with an error", "Help Imprint Welcome", "Help Imprint Welcome Missing-name", "Missing-name"},
		{"the same", "Help Imprint Welcome", "Help Imprint Welcome", ""},
		{"another page", "Help Imprint Welcome", "Thanks Number-12 Bye Again", ""},
		{"a small page", "", "Sent", ""},
		{"many errors", "a b c d e f g h i j k l", "a b c d e f g h i j k l E1 E2 E3 E4 E5", "E1, E2, E3 (2 more)"},
		{"in the page's text", "Help Imprint Welcome", "Help Imprint Welcome Send", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			controls := "Name Mail Send"
			if c.name == "a small page" {
				controls = "Name"
			}
			var got []string
			for _, o := range Again(said(controls, c.before), said(controls, c.after), page) {
				words := o.GetText()
				if o.GetDetail() != "" {
					words = fmt.Sprintf("%s (%s)", words, o.GetDetail())
				}
				got = append(got, words)
			}
			if text := strings.Join(got, ", "); text != c.want {
				t.Errorf("it says %q, want %q", text, c.want)
			}
		})
	}
}
