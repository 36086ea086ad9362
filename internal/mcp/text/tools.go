package text

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/truncate"
)

// maxDescribed limits the parameters and the description of a tool in a list, in characters.
const maxDescribed = 200

// maxOptions limits the listed values of a parameter.
const maxOptions = 6

// Tools returns a list of the tools that a page offers, a line each. line makes one line of a text of the page. Words of domtap come first in
// a line, where no text of the page can imitate them.
func Tools(all []*domtapv1.PageTool, line func(string) string) string {
	var b strings.Builder
	for _, t := range all {
		if words := describedAs(t); len(words) > 0 {
			fmt.Fprintf(&b, "[%s] ", strings.Join(words, ", "))
		}
		fmt.Fprintf(&b, "%s(%s)", line(t.GetName()), truncate.Runes(line(parameters(t.GetInputSchemaJson())), maxDescribed))
		if t.GetDescription() != "" {
			b.WriteString(" " + truncate.Runes(line(t.GetDescription()), maxDescribed))
		}
		b.WriteString("\n")
	}
	return b.String()
}

// describedAs returns what the page says about the effects of a tool, and its frame.
func describedAs(t *domtapv1.PageTool) (words []string) {
	for _, one := range []struct {
		is   bool
		word string
	}{
		{t.GetReadOnly(), "read-only"}, {t.GetConsequential(), "consequential"}, {t.GetUntrustedContent(), "untrusted content"}, {t.GetDebugging(), "debugging"},
		{t.GetForm() && t.GetAutoSubmit(), "submits a form"}, {t.GetForm() && !t.GetAutoSubmit(), "fills a form"}, {t.GetFrameId() != "", "frame " + t.GetFrameId()},
	} {
		if one.is {
			words = append(words, one.word)
		}
	}
	return words
}

// parameters returns the parameters of a schema, the required ones first, such as: item: string, count?: integer.
func parameters(schema string) string {
	var s struct {
		Properties map[string]struct {
			Type any
			Enum []any
		}
		Required []string
	}
	if schema == "" || json.Unmarshal([]byte(schema), &s) != nil {
		return ""
	}
	var required, optional []string
	for name, p := range s.Properties {
		kind := ""
		if word, is := p.Type.(string); is {
			kind = ": " + word
		}
		if len(p.Enum) > 0 {
			kind = ": " + values(p.Enum)
		}
		if slices.Contains(s.Required, name) {
			required = append(required, name+kind)
		} else {
			optional = append(optional, name+"?"+kind)
		}
	}
	slices.Sort(required)
	slices.Sort(optional)
	return strings.Join(append(required, optional...), ", ")
}

// values returns the values of a parameter, such as: daily|weekly.
func values(all []any) string {
	words := make([]string, 0, maxOptions)
	for _, one := range all[:min(len(all), maxOptions)] {
		words = append(words, fmt.Sprint(one))
	}
	return strings.Join(words, "|")
}

// agreements has the words for each agreement of a claim with what was observed.
var agreements = map[domtapv1.Agreement]string{
	domtapv1.Agreement_AGREEMENT_CONFIRMED:    "what was observed agrees with what the tool says",
	domtapv1.Agreement_AGREEMENT_UNCONFIRMED:  "what was observed neither shows nor contradicts what the tool says",
	domtapv1.Agreement_AGREEMENT_CONTRADICTED: "what was observed CONTRADICTS what the tool says",
}

// Agreement returns whether what a tool claims agrees with what was observed, in a few words. It is empty if the tool has not answered.
func Agreement(a domtapv1.Agreement) string { return agreements[a] }

// Claim returns what a tool claims. Each line begins with "> ", so that none looks like a line of domtap.
func Claim(c *domtapv1.ToolClaim) string {
	if c.GetOutput() == "" {
		return ""
	}
	return "> " + strings.ReplaceAll(strings.TrimSuffix(c.GetOutput(), "\n"), "\n", "\n> ") + "\n"
}

// Requests returns the requests that were sent during the call of a tool, a line each.
func Requests(all []*domtapv1.ToolRequest, line func(string) string) string {
	var b strings.Builder
	for _, sent := range all {
		fmt.Fprintf(&b, "sent: %s %s", line(sent.GetMethod()), line(sent.GetUrl()))
		if sent.GetStatus() != 0 {
			fmt.Fprintf(&b, " → %d", sent.GetStatus())
		}
		b.WriteString("\n")
	}
	return b.String()
}
