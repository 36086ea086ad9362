package render

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/plural"
)

// Stats returns the tables of an account: methods, steps, reads, sessions and tabs.
func Stats(answer *domtapv1.GetStatsResponse) string {
	total := answer.GetTotal()
	var b strings.Builder
	fmt.Fprintf(&b, "since %s; tokens of %s, those with ~ estimated\n", answer.GetSince().AsTime().Format(time.RFC3339), Line(answer.GetTokenizer()))
	if len(total.GetMethods()) == 0 {
		return b.String() + "no calls yet\n"
	}
	b.WriteString("\n" + methodGrid(total))
	if len(total.GetSteps()) > 0 {
		b.WriteString("\n" + stepGrid(total.GetSteps()))
	}
	if text := reads(total.GetReads()); text != "" {
		b.WriteString("\n" + text)
	}
	if places := slices.Concat(answer.GetSessions(), answer.GetTabs()); len(places) > 0 {
		b.WriteString("\n" + placeGrid(places))
	}
	return b.String()
}

// sums adds up the methods of an account.
func sums(a *domtapv1.Account) *domtapv1.MethodStats {
	all := &domtapv1.MethodStats{Method: "all", Failures: map[string]int64{}}
	for _, m := range a.GetMethods() {
		all.Calls += m.GetCalls()
		all.Failed += m.GetFailed()
		all.Tokens += m.GetTokens()
		all.EstimatedTokens += m.GetEstimatedTokens()
		all.FullTokens += m.GetFullTokens()
		all.SavedTokens += m.GetSavedTokens()
	}
	return all
}

func methodGrid(a *domtapv1.Account) string {
	rows := [][]string{strings.Fields("METHOD CALLS FAILED TOKENS ~TOKENS ~FULL SAVED P50 P90 P99 MAX FAILURES")}
	for _, m := range append(slices.Clone(a.GetMethods()), sums(a)) {
		row := []string{
			Line(m.GetMethod()), number(m.GetCalls()), number(m.GetFailed()), number(m.GetTokens()), number(m.GetEstimatedTokens()),
			number(m.GetFullTokens()), saved(m),
		}
		if l := m.GetLatency(); l != nil {
			row = append(row, brief(l.GetP50().AsDuration()), brief(l.GetP90().AsDuration()), brief(l.GetP99().AsDuration()), brief(l.GetMax().AsDuration()))
		} else {
			row = append(row, "-", "-", "-", "-")
		}
		rows = append(rows, append(row, reasons(m.GetFailures())))
	}
	return grid("lrrrrrrrrrrl", rows)
}

func stepGrid(all []*domtapv1.StepStats) string {
	rows := [][]string{strings.Fields("STEP DONE FAILED SKIPPED SUCCESS HEALED FAILURES")}
	for _, s := range all {
		rows = append(rows, []string{
			Line(s.GetKind()), number(s.GetDone()), number(s.GetFailed()), number(s.GetSkipped()), share(s.GetDone(), s.GetDone()+s.GetFailed()),
			number(s.GetHealed()), reasons(s.GetFailures()),
		})
	}
	return grid("lrrrrrl", rows)
}

// reads returns one line for each kind of read with calls.
func reads(r *domtapv1.ReadStats) string {
	var b strings.Builder
	if r.GetPages() > 0 {
		fmt.Fprintf(&b, "%s of elements: the page unchanged in %d, the same view in %d; %d answered with changes, %d with the whole page instead\n",
			plural.Of(r.GetPages(), "read"), r.GetHeadHits(), r.GetViewHits(), r.GetIncremental(), r.GetResyncs())
	}
	if r.GetTexts() > 0 {
		fmt.Fprintf(&b, "%s of text: %d from the cache\n", plural.Of(r.GetTexts(), "read"), r.GetTextHits())
	}
	if r.GetFoldedLandmarks() > 0 {
		fmt.Fprintf(&b, "navigation folded: %s with %s\n", plural.Of(r.GetFoldedLandmarks(), "landmark"), plural.Of(r.GetFoldedElements(), "element"))
	}
	return b.String()
}

func placeGrid(places []*domtapv1.Account) string {
	rows := [][]string{strings.Fields("SESSION TAB CALLS FAILED TOKENS ~TOKENS ~FULL SAVED")}
	for _, a := range places {
		tab, all := "-", sums(a)
		if a.GetTabId() != "" {
			tab = Line(a.GetTabId())
		}
		rows = append(rows, []string{
			Line(a.GetSessionId()), tab, number(all.GetCalls()), number(all.GetFailed()), number(all.GetTokens()), number(all.GetEstimatedTokens()),
			number(all.GetFullTokens()), saved(all),
		})
	}
	return grid("llrrrrrr", rows)
}

func number(n int64) string { return strconv.FormatInt(n, 10) }

// saved returns the percentage of tokens that responses saved compared to whole pages. It is 0 if the responses cost more.
func saved(m *domtapv1.MethodStats) string {
	return share(max(m.GetSavedTokens(), 0), m.GetFullTokens())
}

// share returns a part of a whole in percent, or "-" if the whole is 0.
func share(part, whole int64) string {
	if whole == 0 {
		return "-"
	}
	return fmt.Sprintf("%.0f%%", 100*float64(part)/float64(whole))
}

// brief returns a duration with about three digits.
func brief(d time.Duration) string {
	for _, unit := range []time.Duration{time.Second, time.Millisecond, time.Microsecond} {
		if d >= 100*unit {
			return d.Round(unit).String()
		}
		if d >= unit {
			return d.Round(unit / 100).String()
		}
	}
	return d.String()
}

// reasons lists the reasons of failures with their counts.
func reasons(failures map[string]int64) string {
	var words []string
	for _, name := range slices.Sorted(maps.Keys(failures)) {
		words = append(words, fmt.Sprintf("%s %d", Line(name), failures[name]))
	}
	return strings.Join(words, ", ")
}

// grid lays out rows in columns, each aligned left (l) or right (r).
func grid(columns string, rows [][]string) string {
	widths := make([]int, len(columns))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	var b strings.Builder
	for _, row := range rows {
		var line strings.Builder
		for i, cell := range row {
			width := widths[i]
			if columns[i] == 'l' {
				width = -width
			}
			fmt.Fprintf(&line, "%*s  ", width, cell)
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	return b.String()
}
