//go:build unix

package peers

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// short lists the rows of the README's table.
var short = []string{"cold-ms", "read-1000-tokens", "act-1000-tokens", "act-1000-ms", "learn-tokens", "memory-all-10"}

// main returns the result without the second variants of programs, which have a remark in parentheses.
func (r *Result) main() *Result {
	reduced := *r
	reduced.Tools, reduced.Rows = nil, nil
	for _, t := range r.Tools {
		if !strings.Contains(t.Name, "(") {
			reduced.Tools = append(reduced.Tools, t)
		}
	}
	for _, row := range r.Rows {
		var cells []Cell
		for i, c := range row.Cells {
			if !strings.Contains(r.Tools[i].Name, "(") {
				cells = append(cells, c)
			}
		}
		row.Cells = cells
		reduced.Rows = append(reduced.Rows, row)
	}
	return &reduced
}

// versions returns the programs with their versions.
func (r *Result) versions() string {
	var all []string
	for _, t := range r.main().Tools {
		all = append(all, strings.TrimSpace(t.Name+" "+t.Version))
	}
	return strings.Join(all, ", ")
}

// Short returns the table for the README, with a line that states date, versions and machine.
func (r *Result) Short() string {
	r = r.main()
	var rows []Row
	for _, id := range short {
		if row := r.row(id); row != nil {
			rows = append(rows, *row)
		}
	}
	origin := fmt.Sprintf("%s, %s, on %d cores: %s.", upper(r.repeated()), r.Date, r.Machine.Cores, r.versions())
	if r.Conditions != "" {
		origin += " **" + r.Conditions + "**"
	}
	return r.table(rows, false) + "\n" + origin + " The best figure of each row is bold.\n"
}

// upper capitalizes the first letter of a sentence.
func upper(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

// Full returns the tables of all rows, one for each group, and a list of the programs and how they are controlled.
func (r *Result) Full() string {
	var b strings.Builder
	b.WriteString("| program | version | how it is driven |\n|---|---|---|\n")
	for _, t := range r.Tools {
		how := t.How
		if t.Missing != "" {
			how += "; no figures: " + escape(t.Missing)
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", t.Name, t.Version, how)
	}
	b.WriteString("\n" + r.origin())
	var groups []string
	for _, row := range r.Rows {
		if !slices.Contains(groups, row.Group) {
			groups = append(groups, row.Group)
		}
	}
	for _, group := range groups {
		var rows []Row
		for _, row := range r.Rows {
			if row.Group == group {
				rows = append(rows, row)
			}
		}
		fmt.Fprintf(&b, "\n### %s\n\n%s", group, r.table(rows, true))
	}
	return b.String()
}

// repeated states how often each operation was measured.
func (r *Result) repeated() string {
	if r.Repetitions == 1 {
		return "one run of each operation"
	}
	return fmt.Sprintf("medians of %d runs", r.Repetitions)
}

// origin states when, where and with what the figures were measured.
func (r *Result) origin() string {
	text := fmt.Sprintf("Measured on %s: %s; %s; %s, %d cores, %s GB, load %.1f before the run and %.1f after it; %s, in turns, in %d minutes; tokens by %s.",
		r.Date, r.versions(), r.Browser, r.Machine.System, r.Machine.Cores, strconv.Itoa((r.Machine.MemoryMB+512)/1024), r.Machine.LoadBefore, r.Machine.LoadAfter, r.repeated(), (r.Seconds+30)/60, r.Tokenizer)
	if r.Machine.Processor != "" {
		text = strings.Replace(text, r.Machine.System+",", r.Machine.System+", "+r.Machine.Processor+",", 1)
	}
	if r.Conditions != "" {
		text += " **" + r.Conditions + "**"
	}
	text += " The best figure of each row is bold; – means that there is no figure.\n"
	return text
}

// table formats rows. With spread, it also shows the minimum and maximum of each figure, and failures.
func (r *Result) table(rows []Row, spread bool) string {
	var b strings.Builder
	b.WriteString("| |")
	for _, t := range r.Tools {
		fmt.Fprintf(&b, " %s |", t.Name)
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(r.Tools)) + "\n")
	for _, row := range rows {
		title := row.Title
		if row.Unit != Text {
			title += ", " + string(row.Unit)
		}
		fmt.Fprintf(&b, "| %s |", title)
		best := row.best()
		for i, c := range row.Cells {
			text := c.figure(row.Unit, spread)
			if slices.Contains(best, i) {
				text = "**" + text + "**"
			}
			if spread && c.Failed != "" {
				text += " (failed: " + escape(c.Failed) + ")"
			} else if c.Failed != "" && c.N == 0 {
				text = "failed"
			}
			fmt.Fprintf(&b, " %s |", text)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// figure formats the value of a cell.
func (c Cell) figure(unit Unit, spread bool) string {
	switch {
	case unit == Text && c.Text == "", unit != Text && c.N == 0:
		return "–"
	case unit == Text:
		// The file with the results contains the program's message.
		text, _, _ := strings.Cut(c.Text, ": ")
		return escape(text)
	}
	text := number(c.Median)
	if spread && number(c.Min) != number(c.Max) {
		text += " (" + number(c.Min) + "–" + number(c.Max) + ")"
	}
	return text
}

// number formats a figure with three significant digits, or with all digits before the decimal point.
func number(v float64) string {
	digits := 0
	if v < 10 && v != math.Trunc(v) {
		digits = 1
	}
	whole, rest, _ := strings.Cut(strconv.FormatFloat(v, 'f', digits, 64), ".")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if rest != "" {
		whole += "." + rest
	}
	return whole
}

// escape escapes a text for the cell of a table.
func escape(text string) string {
	return strings.NewReplacer("|", `\|`, "<", "&lt;", ">", "&gt;", "`", "'", "*", `\*`, "[", `\[`, "]", `\]`).Replace(text)
}

// Insert replaces the text between the lines <!-- NAME:begin --> and <!-- NAME:end --> of a document.
func Insert(document, name, text string) (string, error) {
	begin, end := "<!-- "+name+":begin -->\n", "<!-- "+name+":end -->"
	before, rest, ok := strings.Cut(document, begin)
	_, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		return "", fmt.Errorf("the document has no lines %s and %s: add them where the table is to be", strings.TrimSpace(begin), end)
	}
	return before + begin + text + end + after, nil
}
