// Package audit creates a report on the accessibility of a page. It uses the facts that its documents report (Facts, from the script
// internal/browser/documents/audit.js) and the roles and names that domtap computes for their elements.
//
// The rules are domtap's own. Each rule names its success criterion of WCAG 2.2, if it has one. The rules cover what a program can check;
// most criteria need a person. Data from documents is untrusted: Read bounds it and ignores what it does not know.
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

// Level is the severity of a finding.
type Level uint8

// The levels.
const (
	// Error means that the page fails the criterion.
	Error Level = iota + 1
	// Warning means that a person should check.
	Warning
)

// Finding is one accessibility barrier.
type Finding struct {
	Rule *Rule
	// Ref is dom.NoRef for the document and for elements that are not in the snapshot.
	Ref   dom.Ref
	Frame dom.FrameID
	// At is the tag of an element with its id and classes. It is empty for the document.
	At string
	// Message describes the problem and how to fix it.
	Message string
}

// Facts are the facts that one document reports.
type Facts struct {
	Frame dom.FrameID
	// Main reports whether this is the main document.
	Main         bool
	Title        bool
	Lang         string
	UnknownTexts int
	Truncated    bool
	Vitals       Vitals
	findings     []raw
}

// Vitals holds the web vitals of a document. A value is nil if it was not measured. Times are in milliseconds.
type Vitals struct {
	TTFB, FCP, LCP, CLS, INP, INPBelow, FID *float64
	LCPElement                              string
}

// raw is a finding in the form of the script: rule, ref, element, details.
type raw struct {
	rule    *Rule
	ref     dom.Ref
	at      string
	details []string
}

const (
	// maxFindings limits the findings of one document.
	maxFindings = 1000
	// maxWord limits texts from a page about an element, in characters.
	maxWord = 120
)

// Read parses the answer of a document.
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

// rawOf parses one finding. ok is false if its rule is unknown.
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

// checked returns the vitals without impossible values.
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

// word converts a text of a page to one short word.
func word(s string) string {
	s = strings.Join(strings.FieldsFunc(s[:min(len(s), 8*maxWord)], func(r rune) bool { return r <= ' ' || r >= 0x7f && r <= 0xa0 || r == 0x2028 || r == 0x2029 }), " ")
	head, cut := truncate.Head(s, maxWord)
	if cut {
		head += truncate.Ellipsis
	}
	return head
}

// Report holds the findings of a page.
type Report struct {
	// Findings lists errors first, then is sorted by frame and by order in the document.
	Findings         []Finding
	Errors, Warnings int
	Vitals           Vitals
	UnknownTexts     int
	Truncated        bool
}

// Make returns the report for a page from its elements, in document order, and the facts of its documents.
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
