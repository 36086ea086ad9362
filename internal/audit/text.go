package audit

import (
	"fmt"
	"strings"
)

// Text formats a report in at most budget tokens: a header, the web vitals, and the findings by rule, with one line per element. lines
// holds the elements of the first findings. count counts tokens. Each line ends with a line break, so that the cost of a text is the sum of
// its lines.
func Text(header string, r Report, lines []string, budget int, count func(string) int) string {
	var b strings.Builder
	b.WriteString(header)
	b.WriteString(summary(r))
	b.WriteString(vitals(r.Vitals))
	left := budget - count(b.String())
	shown := 0
	const rest = "-- 100000 more: --max-tokens, --errors\n" // the approximate cost of the last line
	left -= count(rest)
	var last string
	for i, f := range r.Findings {
		if i >= len(lines) {
			break
		}
		text := ""
		// Consecutive findings of one rule share a heading if their message is the same.
		if title := heading(f); title != last {
			text, last = title, title
		}
		if lines[i] != "" {
			text += "  " + lines[i] + "\n"
		}
		cost := count(text)
		if cost > left {
			break
		}
		left -= cost
		b.WriteString(text)
		shown++
	}
	if more := len(r.Findings) - shown; more > 0 {
		fmt.Fprintf(&b, "-- %d more: --max-tokens, --errors\n", more)
	}
	return b.String()
}

// heading returns the line of a finding without its element.
func heading(f Finding) string {
	level := "error"
	if f.Rule.Level == Warning {
		level = "warning"
	}
	return fmt.Sprintf("%s %s (WCAG %s %s): %s\n", level, f.Rule.Name, f.Rule.Criterion, f.Rule.Conformance, f.Message)
}

func summary(r Report) string {
	text := fmt.Sprintf("# %s, %s", counted(r.Errors, "error"), counted(r.Warnings, "warning"))
	if r.UnknownTexts > 0 {
		text += fmt.Sprintf("; contrast of %s not known", counted(r.UnknownTexts, "text"))
	}
	if r.Truncated {
		text += "; the page is too large to be checked as a whole"
	}
	return text + "\n"
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// limits are the thresholds of a vital: values up to good are good, values from poor on are poor (web.dev/vitals).
type limits struct{ good, poor float64 }

// vitals returns the line with the web vitals. "absent" marks a value that the browser has not measured.
func vitals(v Vitals) string {
	parts := []string{
		rated("LCP", v.LCP, limits{2500, 4000}, milliseconds), rated("CLS", v.CLS, limits{0.1, 0.25}, ratio), interaction(v),
		rated("FCP", v.FCP, limits{1800, 3000}, milliseconds), rated("TTFB", v.TTFB, limits{800, 1800}, milliseconds),
	}
	if v.FID != nil {
		parts = append(parts, rated("FID", v.FID, limits{100, 300}, milliseconds))
	}
	if v.LCPElement != "" {
		parts[0] += " <" + v.LCPElement + ">"
	}
	return "vitals: " + strings.Join(parts, ", ") + "\n"
}

func interaction(v Vitals) string {
	if v.INP == nil && v.INPBelow != nil {
		return fmt.Sprintf("INP below %s (good)", milliseconds(*v.INPBelow))
	}
	return rated("INP", v.INP, limits{200, 500}, milliseconds)
}

func rated(name string, v *float64, l limits, format func(float64) string) string {
	switch {
	case v == nil:
		return name + " absent"
	case *v <= l.good:
		return name + " " + format(*v) + " (good)"
	case *v <= l.poor:
		return name + " " + format(*v) + " (needs improvement)"
	}
	return name + " " + format(*v) + " (poor)"
}

func milliseconds(v float64) string { return fmt.Sprintf("%.0f ms", v) }

func ratio(v float64) string { return fmt.Sprintf("%.3f", v) }
