package bench

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/testenv"
	"github.com/domtap/domtap/internal/tokens"
)

// savedPages serves the folder $DOMTAP_PAGES on loopback and returns its .html files. Without the folder it skips the test.
func savedPages(t testing.TB) (url string, files []string) {
	t.Helper()
	dir := os.Getenv("DOMTAP_PAGES")
	if dir == "" {
		t.Skip("DOMTAP_PAGES names no folder of pages")
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.html"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no pages in %s: %v", dir, err)
	}
	return testenv.Serve(t, http.FileServer(http.Dir(dir))), files
}

// TestPages opens every .html file of the folder $DOMTAP_PAGES and prints a row for each: what domtap shows by default and its cost, how
// much of it matches the browser, and what a person could use. The requirements for the columns are tested by TestNeverOverTheLimits,
// TestNamesAndRolesEqualTheBrowsers, TestUsableElementsArePresent and TestLinesCostLittleOfTheTree, which also print what is missing.
// Without the folder the test is skipped.
func TestPages(t *testing.T) {
	url, files := savedPages(t)
	d := testenv.StartDaemon(t)
	table := []string{rowHeader}
	var sum row
	for _, file := range files {
		name := filepath.Base(file)
		start := time.Now()
		tab := d.Open(url + "/" + name)
		r := measure(t, d, tab, time.Since(start))
		table = append(table, fmt.Sprintf("%-20s %s", strings.TrimSuffix(name, ".html"), r))
		sum.add(r)
		if _, err := d.Tabs.CloseTab(t.Context(), &domtapv1.CloseTabRequest{TabId: tab}); err != nil {
			t.Error(err)
		}
	}
	table = append(table, fmt.Sprintf("%-20s %s", "total", sum))
	t.Logf("\n%s\n%s", strings.Join(table, "\n"), rowLegend)
}

// row holds the columns of a page.
type row struct {
	elements, shown, bytes, tokens int
	opened, first, again           time.Duration
	commands                       int // CDP commands for the first read
	compared, names, roles         int
	usable                         findings
	shares                         shares
}

const (
	rowHeader = "page                 elements shown   bytes tokens  open ms first ms again ms cmds  names=  roles=  usable  LINES/AX (bare)"
	rowLegend = "elements: interactive, without limits; shown, bytes, tokens: LINES with default options; first, again: the same GetCompact twice;\n" +
		"names=, roles=: % equal to the accessibility tree; usable: % of what CDP finds, of the kinds that count and of every kind;\n" +
		"LINES/AX: tokens of LINES as a part of those of the whole accessibility tree, and of the tree without text boxes"
)

func (r row) String() string {
	found, present := r.usable.counted()
	all, there := r.usable.every()
	return fmt.Sprintf("%8d %5d %7d %6d %8.1f %8.1f %8.1f %4d  %6.2f  %6.2f  %6.2f (%.2f of %d)  %.3f (%.3f)",
		r.elements, r.shown, r.bytes, r.tokens, ms(r.opened), ms(r.first), ms(r.again), r.commands,
		percent(r.names, r.compared), percent(r.roles, r.compared), percent(present, found), percent(there, all), all,
		r.shares.share(), r.shares.bareShare())
}

func (r *row) add(o row) {
	r.elements, r.shown, r.bytes, r.tokens = r.elements+o.elements, r.shown+o.shown, r.bytes+o.bytes, r.tokens+o.tokens
	r.opened, r.first, r.again, r.commands = r.opened+o.opened, r.first+o.first, r.again+o.again, r.commands+o.commands
	r.compared, r.names, r.roles = r.compared+o.compared, r.names+o.names, r.roles+o.roles
	r.usable.add(o.usable)
	r.shares.add(o.shares)
}

// measure returns the row of a tab that was just opened. It measures times first, before any other access to the page.
func measure(t *testing.T, d *testenv.Daemon, tab string, opened time.Duration) row {
	t.Helper()
	r := row{opened: opened}
	sent := d.Browser.Sent()
	var text string
	var m *domtapv1.ViewMetadata
	for _, took := range []*time.Duration{&r.first, &r.again} {
		start := time.Now()
		got, err := d.Dom.GetCompact(t.Context(), &domtapv1.GetCompactRequest{TabId: tab})
		*took = time.Since(start)
		if err != nil {
			t.Fatal(err)
		}
		if m == nil {
			r.commands = int(d.Browser.Sent() - sent)
		}
		text, m = got.GetText(), got.GetMetadata()
	}
	all, err := d.Dom.GetDom(t.Context(), &domtapv1.GetDomRequest{TabId: tab, MaxElements: proto.Int32(0), MaxTokens: proto.Int32(0)})
	if err != nil {
		t.Fatal(err)
	}
	r.elements, r.shown, r.bytes, r.tokens = len(all.GetElements()), int(m.GetIncludedElements()), len(text), tokens.Count(text)
	r.compared, r.names, r.roles = compareWithTree(quiet{t}, d, tab, "")
	r.usable = findUsable(quiet{t}, d, tab)
	r.shares = compareCost(quiet{t}, d, tab)
	return r
}

// quiet is a test that suppresses the log of its helpers, except errors.
type quiet struct{ testing.TB }

func (quiet) Logf(string, ...any) {}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
