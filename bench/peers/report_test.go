//go:build unix

package peers

import (
	"cmp"
	"slices"
)

// Result is a complete run, in the format of docs/peers.json.
type Result struct {
	// Date is the day of the run, in UTC, as 2006-01-02.
	Date string `json:"date"`
	// Commit is the commit of domtap.
	Commit string `json:"commit"`
	// Command reproduces the figures.
	Command string `json:"command"`
	// Conditions describes other known activity on the machine. It is empty if there was none.
	Conditions string  `json:"conditions,omitempty"`
	Machine    Machine `json:"machine"`
	// Browser is the output of the browser's --version.
	Browser string `json:"browser"`
	// Tokenizer is the name of the tokenizer that counts tokens.
	Tokenizer string `json:"tokenizer"`
	// Repetitions is the number of measurements of each operation. Rows of Text were observed once.
	Repetitions int `json:"repetitions"`
	// Seconds is the duration of the run.
	Seconds int     `json:"seconds"`
	Tools   []Named `json:"tools"`
	Rows    []Row   `json:"rows"`
}

// Machine describes the machine of a run.
type Machine struct {
	System    string `json:"system"`
	Processor string `json:"processor"`
	Cores     int    `json:"cores"`
	MemoryMB  int    `json:"memory_mb"`
	// LoadBefore and LoadAfter are the one-minute load averages at the start and the end. They are 0 on systems without load averages.
	LoadBefore float64 `json:"load_before"`
	LoadAfter  float64 `json:"load_after"`
}

// Named is one of the programs.
type Named struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	// How describes how the program is controlled.
	How string `json:"how"`
	// Missing is the reason why a program has no figures. It is empty if it has figures.
	Missing string `json:"missing,omitempty"`
}

// Row is one measure of all programs.
type Row struct {
	ID string `json:"id"`
	// Title describes the measurement, Group is the group that it belongs to.
	Title string `json:"title"`
	Group string `json:"group"`
	Unit  Unit   `json:"unit"`
	// Cells is in the order of Result.Tools.
	Cells []Cell `json:"cells"`
}

// Unit is the unit of a figure.
type Unit string

// The units. For all units except percent, less is better. Texts are not compared.
const (
	Tokens       Unit = "tokens"
	Milliseconds Unit = "ms"
	Megabytes    Unit = "MB"
	Percent      Unit = "%"
	Calls        Unit = "calls"
	Text         Unit = "text"
)

// Cell is the result of one program.
type Cell struct {
	// Median, Min and Max summarize N measurements. N may be 0.
	Median float64 `json:"median"`
	Min    float64 `json:"min"`
	Max    float64 `json:"max"`
	N      int     `json:"n"`
	// Text is the observation in a Text row.
	Text string `json:"text,omitempty"`
	// Failed describes a failure in any of the measurements.
	Failed string `json:"failed,omitempty"`

	values []float64
}

// Add adds a measurement.
func (c *Cell) Add(v float64) {
	c.values = append(c.values, v)
	slices.Sort(c.values)
	c.N = len(c.values)
	c.Min, c.Max = c.values[0], c.values[c.N-1]
	c.Median = (c.values[(c.N-1)/2] + c.values[c.N/2]) / 2
}

// best returns the indices of the cells that are better than all others. It returns none if there is nothing to compare.
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

// row returns a row by its ID.
func (r *Result) row(id string) *Row {
	for i := range r.Rows {
		if r.Rows[i].ID == id {
			return &r.Rows[i]
		}
	}
	return nil
}

// Cell returns a program's cell in a row. It creates the row if necessary.
func (r *Result) Cell(row Row, tool int) *Cell {
	found := r.row(row.ID)
	if found == nil {
		row.Cells = make([]Cell, len(r.Tools))
		r.Rows = append(r.Rows, row)
		found = &r.Rows[len(r.Rows)-1]
	}
	return &found.Cells[tool]
}
