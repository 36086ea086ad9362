package bench

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/testenv"
	"github.com/domtap/domtap/internal/tokens"
)

const (
	// denseMedian limits the median cost of a page in DENSE, in tokens.
	denseMedian = 2000
	// denseShare limits the total tokens of all pages in DENSE to a percentage of their tokens in LINES.
	denseShare = 35
)

// TestDenseCostsLittleOfLines reads every .html file of the folder $DOMTAP_PAGES in full, as LINES and as DENSE. It compares the tokens,
// and compares the content of the text with GetDom.
func TestDenseCostsLittleOfLines(t *testing.T) {
	url, files := savedPages(t)
	d := testenv.StartDaemon(t)
	table := []string{"page                 elements  LINES  DENSE"}
	var all []int
	sumLines, sumDense := 0, 0
	for _, file := range files {
		name := filepath.Base(file)
		tab := d.Open(url + "/" + name)
		lines, err := d.Dom.GetCompact(t.Context(), &domtapv1.GetCompactRequest{TabId: tab, MaxElements: proto.Int32(0), MaxTokens: proto.Int32(0)})
		if err != nil {
			t.Fatal(err)
		}
		text := testenv.CheckDense(t, d, tab, &domtapv1.GetCompactRequest{MaxElements: proto.Int32(0)})
		was, now := tokens.Count(lines.GetText()), tokens.Count(text)
		table = append(table, fmt.Sprintf("%-20s %8d %6d %6d", strings.TrimSuffix(name, ".html"), lines.GetMetadata().GetTotalElements(), was, now))
		all, sumLines, sumDense = append(all, now), sumLines+was, sumDense+now
		if _, err := d.Tabs.CloseTab(t.Context(), &domtapv1.CloseTabRequest{TabId: tab}); err != nil {
			t.Error(err)
		}
	}
	slices.Sort(all)
	median := (all[(len(all)-1)/2] + all[len(all)/2]) / 2
	t.Logf("\n%s\nmedian of DENSE %d, sum %d of %d: %d %%", strings.Join(table, "\n"), median, sumDense, sumLines, 100*sumDense/sumLines)
	if median > denseMedian || 100*sumDense > denseShare*sumLines {
		t.Errorf("DENSE costs %d tokens at the median and %d of the %d of LINES", median, sumDense, sumLines)
	}
}
