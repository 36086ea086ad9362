// Package audit makes a report on the accessibility of a page: of what its documents say of themselves (Facts, from the script
// internal/browser/documents/audit.js) and of the roles and names that domtap computes of their elements.
//
// The rules are domtap's own. Each names the success criterion of WCAG 2.2 that it belongs to, if any. They find what a program can know; most
// criteria need a person. What documents say is untrusted: Read bounds it, and makes nothing of what it does not know.
package audit

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/domtap/domtap/dom"
	"github.com/domtap/domtap/internal/truncate"
)

// Level says how sure a finding is.
type Level uint8

// The levels.
const (
	// Error says that the page fails the criterion.
	Error Level = iota + 1
	// Warning says that a person should look.
	Warning
)

// Finding is one barrier.
type Finding struct {
	Rule *Rule
	// Ref is dom.NoRef for the document, and for elements that no snapshot has.
	Ref   dom.Ref
	Frame dom.FrameID
	// At is the tag of an element, with its id and classes; empty: the document.
	At string
	// Message says what is wrong and what to do.
	Message string
}

// Facts are what one document says of itself.
type Facts struct {
	Frame dom.FrameID
	// Main says that it is the main document.
	Main         bool
	Title        bool
	Lang         string
	UnknownTexts int
	Truncated    bool
	Vitals       Vitals
	findings     []raw
}

// Vitals are the web vitals of a document; nil: not measured. Times are in milliseconds.
type Vitals struct {
	TTFB, FCP, LCP, CLS, INP, INPBelow, FID *float64
	LCPElement                              string
}

// raw is a finding as the script writes it: rule, ref, element, details.
type raw struct {
	rule    *Rule
	ref     dom.Ref
	at      string
	details []string
}

const (
	// maxFindings bounds the findings of one document.
	maxFindings = 1000
	// maxWord bounds what a page says of an element, in characters.
	maxWord = 120
)

// Read reads what a document answered.
func Read(frame dom.FrameID, data []byte) (Facts, error) {
	var said struct {
		Findings  [][]any
		Unknown   int
		Truncated bool
		Title     bool
		Lang      string
		Vitals    *Vitals
	}
	if err := json.Unmarshal(data, &said); err != nil {
		return Facts{}, fmt.Errorf("the audit of a document is not understood: %w", err)
	}
	f := Facts{Frame: frame, Main: frame == "", Title: said.Title, Lang: word(said.Lang), UnknownTexts: max(said.Unknown, 0), Truncated: said.Truncated}
	if said.Vitals != nil {
		f.Vitals = said.Vitals.checked()
	}
	for _, one := range said.Findings[:min(len(said.Findings), maxFindings)] {
		if r, ok := rawOf(one); ok {
			f.findings = append(f.findings, r)
		}
	}
	return f, nil
}

// rawOf reads one finding; ok is false when it is of no known rule.
func rawOf(said []any) (r raw, ok bool) {
	if len(said) < 3 {
		return r, false
	}
	name, _ := said[0].(string)
	ref, _ := said[1].(float64)
	at, _ := said[2].(string)
	if r.rule = ruleOf(name); r.rule == nil || r.rule.details != len(said)-3 {
		return r, false
	}
	r.ref, r.at = dom.NoRef, word(at)
	if ref >= 0 && ref < float64(dom.NoRef) && ref == float64(dom.Ref(ref)) {
		r.ref = dom.Ref(ref)
	}
	for _, detail := range said[3:] {
		switch v := detail.(type) {
		case string:
			r.details = append(r.details, word(v))
		case float64:
			r.details = append(r.details, fmt.Sprintf("%.4g", v))
		default:
			return r, false
		}
	}
	return r, true
}

// checked are vitals without what cannot be.
func (v *Vitals) checked() Vitals {
	out := *v
	for _, one := range []**float64{&out.TTFB, &out.FCP, &out.LCP, &out.CLS, &out.INP, &out.INPBelow, &out.FID} {
		if p := *one; p != nil && !(*p >= 0 && *p < 1e9) {
			*one = nil
		}
	}
	out.LCPElement = word(v.LCPElement)
	return out
}

// word makes a text of a page one short word.
func word(s string) string {
	s = strings.Join(strings.FieldsFunc(s[:min(len(s), 8*maxWord)], func(r rune) bool { return r <= ' ' || r >= 0x7f && r <= 0xa0 || r == 0x2028 || r == 0x2029 }), " ")
	head, cut := truncate.Head(s, maxWord)
	if cut {
		head += truncate.Ellipsis
	}
	return head
}

// Report is what is found on a page.
type Report struct {
	// Findings are the errors first, then by frame and by order in the document.
	Findings         []Finding
	Errors, Warnings int
	Vitals           Vitals
	UnknownTexts     int
	Truncated        bool
}

// Make makes the report of a page: of its elements, in document order, and of the facts of its documents.
func Make(elements []*dom.Element, facts []Facts) Report {
	var out Report
	order := map[dom.Ref]int{}
	for i, e := range elements {
		order[e.Ref] = i
	}
	for _, f := range facts {
		out.Findings = append(out.Findings, ofDocument(f)...)
		for _, r := range f.findings {
			out.Findings = append(out.Findings, Finding{Rule: r.rule, Ref: r.ref, Frame: f.Frame, At: r.at, Message: r.rule.message(r.details)})
		}
		if f.Main {
			out.Vitals = f.Vitals
		}
		out.UnknownTexts += f.UnknownTexts
		out.Truncated = out.Truncated || f.Truncated || len(f.findings) >= maxFindings
	}
	out.Findings = append(append(out.Findings, names(elements)...), headings(elements)...)
	place := func(f Finding) int {
		if i, known := order[f.Ref]; known {
			return i + 1
		}
		return 0
	}
	slices.SortStableFunc(out.Findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Rule.Level, b.Rule.Level), cmp.Compare(a.Frame, b.Frame), cmp.Compare(place(a), place(b)))
	})
	for _, f := range out.Findings {
		if f.Rule.Level == Error {
			out.Errors++
		} else {
			out.Warnings++
		}
	}
	return out
}
