// Package report has the figures of a comparison of programs, and draws tables and a chart from them alone. Package bench/peers
// measures them.
package report

import (
	"cmp"
	"slices"
)

// Result is a whole run, as docs/peers.json has it.
type Result struct {
	// Date is the day of the run, in UTC, as 2006-01-02.
	Date string `json:"date"`
	// Commit is that of domtap.
	Commit string `json:"commit"`
	// Command prints the figures again.
	Command string `json:"command"`
	// Conditions says what else the machine did; empty: nothing that is known of.
	Conditions string  `json:"conditions,omitempty"`
	Machine    Machine `json:"machine"`
	// Browser is what the browser's --version says.
	Browser string `json:"browser"`
	// Tokenizer is what tokens are counted by.
	Tokenizer string `json:"tokenizer"`
	// Repetitions is how often each operation was measured; rows of Text were observed once.
	Repetitions int `json:"repetitions"`
	// Seconds is how long the run took.
	Seconds int     `json:"seconds"`
	Tools   []Named `json:"tools"`
	Rows    []Row   `json:"rows"`
}

// Machine is what the run ran on.
type Machine struct {
	System    string `json:"system"`
	Processor string `json:"processor"`
	Cores     int    `json:"cores"`
	MemoryMB  int    `json:"memory_mb"`
	// LoadBefore and LoadAfter are the load averages of a minute at the beginning and at the end; 0 where the system has none.
	LoadBefore float64 `json:"load_before"`
	LoadAfter  float64 `json:"load_after"`
}

// Named is one of the programs.
type Named struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	// How says how it is driven.
	How string `json:"how"`
	// Missing says why there are no figures of it; empty: there are.
	Missing string `json:"missing,omitempty"`
}

// Row is one measure of all programs.
type Row struct {
	ID string `json:"id"`
	// Title says what was measured, Group what that belongs to.
	Title string `json:"title"`
	Group string `json:"group"`
	Unit  Unit   `json:"unit"`
	// Cells are in the order of Result.Tools.
	Cells []Cell `json:"cells"`
}

// Unit is what a figure counts.
type Unit string

// The units. Less is better of all but percents; texts are not compared.
const (
	Tokens       Unit = "tokens"
	Milliseconds Unit = "ms"
	Megabytes    Unit = "MB"
	Percent      Unit = "%"
	Calls        Unit = "calls"
	Text         Unit = "text"
)

// Cell is what one program did.
type Cell struct {
	// Median, Min and Max are of N measurements. N is 0 when there are none.
	Median float64 `json:"median"`
	Min    float64 `json:"min"`
	Max    float64 `json:"max"`
	N      int     `json:"n"`
	// Text is what happened, of a Text row.
	Text string `json:"text,omitempty"`
	// Failed says what went wrong, in any of the measurements.
	Failed string `json:"failed,omitempty"`

	values []float64
}

// Add counts one more measurement.
func (c *Cell) Add(v float64) {
	c.values = append(c.values, v)
	slices.Sort(c.values)
	c.N = len(c.values)
	c.Min, c.Max = c.values[0], c.values[c.N-1]
	c.Median = (c.values[(c.N-1)/2] + c.values[c.N/2]) / 2
}

// best are the indices of the cells that are better than all others; none where there is nothing to compare.
func (r Row) best() []int {
	if r.Unit == Text {
		return nil
	}
	order := cmp.Compare[float64]
	if r.Unit == Percent {
		order = func(a, b float64) int { return cmp.Compare(b, a) }
	}
	var best []int
	measured := 0
	for i, c := range r.Cells {
		if c.N == 0 {
			continue
		}
		measured++
		switch {
		case len(best) == 0 || order(c.Median, r.Cells[best[0]].Median) < 0:
			best = []int{i}
		case order(c.Median, r.Cells[best[0]].Median) == 0:
			best = append(best, i)
		}
	}
	if measured < 2 || len(best) == measured {
		return nil
	}
	return best
}

// row finds a row by its ID.
func (r *Result) row(id string) *Row {
	for i := range r.Rows {
		if r.Rows[i].ID == id {
			return &r.Rows[i]
		}
	}
	return nil
}

// Cell is the place of a program's figure in a row, which is made when it is new.
func (r *Result) Cell(row Row, tool int) *Cell {
	found := r.row(row.ID)
	if found == nil {
		row.Cells = make([]Cell, len(r.Tools))
		r.Rows = append(r.Rows, row)
		found = &r.Rows[len(r.Rows)-1]
	}
	return &found.Cells[tool]
}
