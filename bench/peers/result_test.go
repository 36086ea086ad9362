//go:build unix

package peers

import (
	"encoding/json"
	"strings"
	"testing"
)

// example returns a result of three programs. One of them is missing.
func example() *Result {
	r := &Result{
		Date: "2026-01-02", Browser: "Chromium 1", Tokenizer: "o200k_base", Repetitions: 3, Seconds: 100, Conditions: "Others used the machine.",
		Machine: Machine{System: "linux/amd64", Cores: 2, MemoryMB: 2048, LoadBefore: 0.5, LoadAfter: 0.7},
		Tools:   []Named{{Name: "domtap", Version: "1"}, {Name: "domtap (shell)", Version: "1"}, {Name: "peer", Version: "2"}, {Name: "gone", Missing: "no such file | there"}},
	}
	tokens := Row{ID: "read-1000-tokens", Title: "read", Group: "Read", Unit: Tokens}
	for _, v := range []float64{3000, 1000, 2000} {
		r.Cell(tokens, 0).Add(v)
	}
	r.Cell(tokens, 1).Add(100)
	r.Cell(tokens, 2).Add(1500)
	r.Cell(tokens, 2).Failed = "once | it timed out"
	recall := Row{ID: "recall-1000", Title: "recall", Group: "Read", Unit: Percent}
	r.Cell(recall, 0).Add(99.5)
	r.Cell(recall, 2).Add(100)
	r.Cell(Row{ID: "alert", Title: "alert", Group: "Trouble", Unit: Text}, 2).Text = "says nothing after 20 ms: “<b>”"
	return r
}

// TestTablesShowWhoIsBetter checks that a better peer is bold, and that failures and missing programs are stated.
func TestTablesShowWhoIsBetter(t *testing.T) {
	full := example().Full()
	for _, line := range []string{
		"| gone |  | ; no figures: no such file \\| there |",
		"| read, tokens | 2,000 (1,000–3,000) | **100** | 1,500 (failed: once \\| it timed out) | – |",
		"| recall, % | 100 | – | **100** | – |",
		"| alert | – | – | says nothing after 20 ms | – |",
	} {
		if !strings.Contains(full, line+"\n") {
			t.Errorf("the tables have no line\n%s\n%s", line, full)
		}
	}
	if want := "Measured on 2026-01-02: domtap 1, peer 2, gone; Chromium 1; linux/amd64, 2 cores, 2 GB, load 0.5 before the run and 0.7 after it; medians of 3 runs"; !strings.Contains(full, want) {
		t.Errorf("the tables do not say %q", want)
	}
	short := example().Short()
	for _, part := range []string{
		"| | domtap | peer | gone |\n", "| read, tokens | 2,000 | **1,500** | – |\n",
		"Medians of 3 runs, 2026-01-02, on 2 cores: domtap 1, peer 2, gone. **Others used the machine.** The best figure",
	} {
		if !strings.Contains(short, part) {
			t.Errorf("the short table has no\n%s\n%s", part, short)
		}
	}
}

// TestChart checks that each figure has a bar, and that a missing figure is marked.
func TestChart(t *testing.T) {
	chart := example().Chart()
	for _, part := range []string{"2026-01-02", "domtap 1, peer 2", `width="580" height="13" rx="2"/><text x="776" y="43">2,000`, "no figure", "prefers-color-scheme:dark"} {
		if !strings.Contains(chart, part) {
			t.Errorf("the chart has no %q:\n%s", part, chart)
		}
	}
}

func TestInsert(t *testing.T) {
	const document = "before\n<!-- peers:begin -->\nold\n<!-- peers:end -->\nafter\n"
	changed, err := Insert(document, "peers", "new\n")
	if want := "before\n<!-- peers:begin -->\nnew\n<!-- peers:end -->\nafter\n"; changed != want || err != nil {
		t.Errorf("got %q, %v, want %q", changed, err, want)
	}
	if again, err := Insert(changed, "peers", "new\n"); again != changed || err != nil {
		t.Errorf("the second time: got %q, %v", again, err)
	}
	if _, err := Insert("nothing", "peers", "new\n"); err == nil {
		t.Error("a document without the lines is no error")
	}
}

// TestDocumentsHaveTheFiguresOfTheLastRun renders docs/peers.json again.
func TestDocumentsHaveTheFiguresOfTheLastRun(t *testing.T) {
	result := new(Result)
	if err := json.Unmarshal([]byte(readFile(t, "docs/peers.json")), result); err != nil {
		t.Fatal(err)
	}
	if *redraw {
		draw(t, result)
	}
	const again = "run go test ./bench/peers -run=Documents -redraw"
	for name, table := range tables(result) {
		document := readFile(t, name)
		if rendered, err := Insert(document, "peers", table); err != nil || rendered != document {
			t.Errorf("%s does not have the figures of docs/peers.json (%v): %s", name, err, again)
		}
	}
	if readFile(t, "docs/peers.svg") != result.Chart() {
		t.Errorf("docs/peers.svg does not have the figures of docs/peers.json: %s", again)
	}
	if rows := strings.Count(result.Short(), "\n| "); rows < 5 || rows > 6 {
		t.Errorf("the table of the README has %d rows, want 5 or 6", rows)
	}
}
