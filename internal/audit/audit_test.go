package audit

import (
	"slices"
	"strings"
	"testing"

	"github.com/domtap/domtap/dom"
)

func words(s string) int { return len(strings.Fields(s)) }

func rules(found []Finding) (names []string) {
	for _, f := range found {
		names = append(names, f.Rule.Name)
	}
	return names
}

func TestErrorsComeFirstThenDocumentOrder(t *testing.T) {
	elements := []*dom.Element{
		{Ref: 5, Role: "heading", Level: 1, Text: "One", Kind: dom.Structural},
		{Ref: 9, Role: "heading", Level: 3, Text: "Three", Kind: dom.Structural},
		{Ref: 2, Role: "button", Kind: dom.Interactive},
		{Ref: 3, Role: "textbox", Kind: dom.Interactive, Placeholder: "Search"},
		{Ref: 4, Role: "link", Kind: dom.Interactive, Text: "Named"},
		{Ref: 7, Role: "heading", Level: 4, Text: "In a frame", Frame: "f", Kind: dom.Structural},
	}
	main, err := Read("", []byte(`{"title":true,"lang":"","findings":[["tab-order",4,"a",7],["image-alt",-1,"img#x.y"],["no-such-rule",1,"b"],["contrast",9,"h3",2.34,4.5],["contrast",9,"h3",2.34,4.5,0]]}`))
	if err != nil {
		t.Fatal(err)
	}
	report := Make(elements, []Facts{main})
	if got, want := rules(report.Findings), []string{"page-lang", "image-alt", "contrast", "control-name", "heading-order", "tab-order"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if report.Errors != 4 || report.Warnings != 2 {
		t.Errorf("got %d errors, %d warnings", report.Errors, report.Warnings)
	}
	if f := report.Findings[4]; f.Ref != 9 || f.Message != "a heading of level 3 follows one of level 1: levels should not be skipped" {
		t.Errorf("got %+v", f)
	}
}

func TestEveryRuleHasItsDetails(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range Rules {
		if n := strings.Count(r.text, "%"); n != r.details || seen[r.Name] || r.Criterion == "" || r.Conformance == "" || r.Level != Error && r.Level != Warning {
			t.Errorf("%s: %d verbs for %d details", r.Name, n, r.details)
		}
		seen[r.Name] = true
	}
}

func TestTheTextKeepsToItsBudget(t *testing.T) {
	var report Report
	var lines []string
	for range 300 {
		report.Findings = append(report.Findings, finding("image-alt", 1, ""))
		lines = append(lines, "[1] (img)")
		report.Errors++
	}
	for _, budget := range []int{60, 100, 1000} {
		text := Text("URL: x\n", report, lines, budget, words)
		if n := words(text); n > budget || n < budget/2 {
			t.Errorf("%d words for a budget of %d", n, budget)
		}
		if strings.Count(text, "error image-alt") != 1 || strings.Contains(text, "more: --max-tokens") != (budget < 1000) {
			t.Errorf("got %s", text)
		}
	}
}

func TestVitals(t *testing.T) {
	f, err := Read("", []byte(`{"vitals":{"lcp":2600,"lcpElement":"img#hero\u2028x","cls":0.3,"inpBelow":104,"fcp":-1,"ttfb":1e99,"fid":7}}`))
	if err != nil {
		t.Fatal(err)
	}
	want := "vitals: LCP 2600 ms (needs improvement) <img#hero x>, CLS 0.300 (poor), INP below 104 ms (good), FCP absent, TTFB absent, FID 7 ms (good)\n"
	if got := vitals(f.Vitals); got != want {
		t.Errorf("got %s", got)
	}
	if got := vitals(Vitals{}); strings.Count(got, "absent") != 5 {
		t.Errorf("got %s", got)
	}
}

// FuzzWhatAPageSaysIsBounded passes arbitrary data as the answer of a page.
func FuzzWhatAPageSaysIsBounded(f *testing.F) {
	f.Add([]byte(`{"findings":[["covered",1,"div","p"],["target-size",0,"b",1,2]],"vitals":{"lcp":1},"lang":"en","title":true}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		facts, err := Read("", data)
		if err != nil {
			return
		}
		report := Make(nil, []Facts{facts})
		lines := make([]string, len(report.Findings))
		text := Text("", report, lines, 500, words)
		for _, line := range strings.Split(text, "\n") {
			if len(line) > 2000 || strings.ContainsFunc(line, func(r rune) bool { return r < ' ' || r == 0x2028 }) {
				t.Errorf("got %q", line)
			}
		}
	})
}
