//go:build unix

package peers

import (
	"fmt"
	"html"
	"strings"
)

// charted lists the rows of the chart with their titles.
var charted = []struct{ id, title string }{
	{"read-1000-tokens", "Open and read a page of 1,000 controls (tokens)"},
	{"act-1000-tokens", "Click one of 1,000 controls and read the result (tokens)"},
	{"tasks-tokens", "Open and read the ten applications of e2e/tasks (tokens)"},
	{"act-1000-ms", "Click one of 1,000 controls and read the result (ms)"},
	{"cold-ms", "Cold start to the first page read (ms)"},
	{"memory-all-10", "Memory with ten tabs, the browser included (MB)"},
}

// Sizes in the chart, in pixels.
const (
	chartWidth = 860
	chartLeft  = 190
	chartBar   = 13
	chartStep  = 18
	chartGap   = 38
)

// style has the colors for light and dark pages.
const style = `text{font:12px system-ui,sans-serif;fill:#1f2328}.t{font-weight:600}.s{fill:#59636e;font-size:11px}.b{fill:#fff}.o{fill:#0969da}.p{fill:#8c959f}` +
	`@media(prefers-color-scheme:dark){text{fill:#e6edf3}.s{fill:#9198a1}.b{fill:#0d1117}.o{fill:#4493f8}.p{fill:#6e7681}}`

// Chart returns the chart for the README. The lengths of its bars compare the programs within each group. Shorter is better.
func (r *Result) Chart() string {
	r = r.main()
	var b strings.Builder
	y := 24
	for _, c := range charted {
		row := r.row(c.id)
		if row == nil {
			continue
		}
		fmt.Fprintf(&b, `<text class="t" x="16" y="%d">%s</text>`+"\n", y, html.EscapeString(c.title))
		y += 8
		most := 0.0
		for _, cell := range row.Cells {
			most = max(most, cell.Median)
		}
		for i, t := range r.Tools {
			cell, class := row.Cells[i], "p"
			if strings.HasPrefix(t.Name, "domtap") {
				class = "o"
			}
			fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="end">%s</text>`, chartLeft-8, y+chartBar-2, html.EscapeString(t.Name))
			if cell.N == 0 || most == 0 {
				fmt.Fprintf(&b, `<text class="s" x="%d" y="%d">no figure</text>`+"\n", chartLeft, y+chartBar-2)
				y += chartStep
				continue
			}
			width := max(1, int(cell.Median/most*(chartWidth-chartLeft-90)))
			fmt.Fprintf(&b, `<rect class="%s" x="%d" y="%d" width="%d" height="%d" rx="2"/><text x="%d" y="%d">%s</text>`+"\n",
				class, chartLeft, y, width, chartBar, chartLeft+width+6, y+chartBar-2, number(cell.Median))
			y += chartStep
		}
		y += chartGap - chartStep
	}
	for _, line := range []string{"Shorter is better. Measured on " + r.Date + " with " + r.Browser + ", on " + fmt.Sprint(r.Machine.Cores) + " cores.", r.versions(), r.Conditions} {
		if line == "" {
			continue
		}
		fmt.Fprintf(&b, `<text class="s" x="16" y="%d">%s</text>`+"\n", y, html.EscapeString(line))
		y += 16
	}
	head := fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %[1]d %[2]d" role="img" aria-label="What domtap and other programs cost, as bars">`+"\n<style>%[3]s</style>\n"+`<rect class="b" width="100%%" height="100%%"/>`+"\n", chartWidth, y, style)
	return head + b.String() + "</svg>\n"
}
