package audit

import (
	"fmt"
	"slices"
	"strings"

	"github.com/domtap/domtap/dom"
)

// Rule is a rule of the audit.
type Rule struct {
	// Name is an identifier such as "control-name".
	Name  string
	Level Level
	// Criterion is the number of the success criterion of WCAG 2.2, and Conformance its level. Both are empty for a best practice.
	Criterion, Conformance string
	// text describes the problem and how to fix it. It has a %s for each detail.
	text    string
	details int
}

func (r *Rule) message(details []string) string {
	args := make([]any, len(details))
	for i, d := range details {
		args[i] = d
	}
	return fmt.Sprintf(r.text, args...)
}

// Rules lists all rules, in the order of their criteria.
var Rules = []*Rule{
	{"image-alt", Error, "1.1.1", "A", "the image has no alternative text: add alt, or alt=\"\" where it only decorates", 0},
	{"broken-reference", Error, "1.3.1", "A", "%s points to the id %q, which is not there: correct the id", 2},
	{"duplicate-id", Error, "1.3.1", "A", "%s points to the id %q, which %s elements have: make ids unique", 3},
	{"heading-order", Warning, "1.3.1", "A", "a heading of level %s follows one of level %s: levels should not be skipped", 2},
	{"heading-empty", Error, "1.3.1", "A", "the heading has no text", 0},
	{"placeholder-label", Warning, "3.3.2", "A", "only its placeholder names the field, and that goes when something is typed: add a label", 0},
	{"contrast", Error, "1.4.3", "AA", "the contrast of the text to its background is %s and should be at least %s (%s more texts have these colours)", 3},
	{"page-zoom", Warning, "1.4.4", "AA", "the page forbids zooming: remove user-scalable=no and maximum-scale", 0},
	{"autoplay", Warning, "1.4.2", "A", "it plays sound by itself and has no controls: add controls, or muted", 0},
	{"keyboard", Error, "2.1.1", "A", "it can be clicked with a mouse and not reached with the keyboard: make it a button or a link, or give it a role and tabindex=0", 0},
	{"page-bypass", Warning, "2.4.1", "A", "the page has no main landmark, no headings and no skip link: nothing leads past what repeats", 0},
	{"page-title", Error, "2.4.2", "A", "the document has no title", 0},
	{"tab-order", Warning, "2.4.3", "A", "tabindex=%s puts it before everything without one: use 0, and the order of the document", 1},
	{"covered", Warning, "2.4.11", "AA", "%s covers the middle of it", 1},
	{"target-size", Warning, "2.5.8", "AA", "it is %s by %s pixels, and other targets are near: make it 24 by 24, or leave space around it", 2},
	{"page-lang", Error, "3.1.1", "A", "the document does not say its language: add lang to <html>", 0},
	{"control-name", Error, "4.1.2", "A", "the %s has no name: add a text, a label or aria-label", 1},
	{"frame-title", Error, "4.1.2", "A", "the frame has no title: add title", 0},
	{"hidden-focus", Error, "4.1.2", "A", "it takes the focus, and aria-hidden hides it from screen readers: take it out of the tab order, or do not hide it", 0},
}

// ruleOf returns a rule by its name, or nil if there is none.
func ruleOf(name string) *Rule {
	if i := slices.IndexFunc(Rules, func(r *Rule) bool { return r.Name == name }); i >= 0 {
		return Rules[i]
	}
	return nil
}

func finding(rule string, ref dom.Ref, frame dom.FrameID, details ...string) Finding {
	r := ruleOf(rule)
	return Finding{Rule: r, Ref: ref, Frame: frame, Message: r.message(details)}
}

// ofDocument checks the rules that do not concern an element.
func ofDocument(f Facts) (found []Finding) {
	if f.Main && !f.Title {
		found = append(found, finding("page-title", dom.NoRef, f.Frame))
	}
	if f.Main && f.Lang == "" {
		found = append(found, finding("page-lang", dom.NoRef, f.Frame))
	}
	return found
}

// controls maps the roles that require an accessible name (WAI-ARIA 1.2) to the words used for them.
var controls = map[string]string{
	"button": "button", "link": "link", "textbox": "field", "searchbox": "field", "combobox": "combo box", "listbox": "list box", "checkbox": "checkbox",
	"radio": "radio button", "switch": "switch", "slider": "slider", "spinbutton": "field", "menuitem": "menu item", "menuitemcheckbox": "menu item",
	"menuitemradio": "menu item", "tab": "tab", "option": "option", "treeitem": "tree item",
}

// names checks that controls have names.
func names(elements []*dom.Element) (found []Finding) {
	for _, e := range elements {
		kind := controls[e.Role]
		if kind == "" || e.Kind != dom.Interactive || strings.TrimSpace(e.Text) != "" || strings.TrimSpace(e.Placeholder) != "" {
			continue
		}
		found = append(found, finding("control-name", e.Ref, e.Frame, kind))
	}
	return found
}

// headings checks the headings of each document.
func headings(elements []*dom.Element) (found []Finding) {
	last := map[dom.FrameID]int{}
	for _, e := range elements {
		if e.Role != "heading" || e.Level < 1 {
			continue
		}
		if before := last[e.Frame]; before > 0 && e.Level > before+1 {
			found = append(found, finding("heading-order", e.Ref, e.Frame, fmt.Sprint(e.Level), fmt.Sprint(before)))
		}
		last[e.Frame] = e.Level
	}
	return found
}
