package bench

import (
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

// TestReadPages reads every .html file of the folder $DOMTAP_PAGES. It prints the format that AUTO chooses and why, the cost of the whole
// content, the number of blocks and headings, and the time.
func TestReadPages(t *testing.T) {
	url, files := savedPages(t)
	d := testenv.StartDaemon(t)
	t.Logf("%-20s %-12s %7s %7s %9s %8s  %s", "page", "auto", "tokens", "blocks", "headings", "read ms", "reason")
	for _, file := range files {
		name := filepath.Base(file)
		tab := d.Open(url + "/" + name)
		start := time.Now()
		auto, err := d.Pages.ReadPage(t.Context(), &domtapv1.ReadPageRequest{TabId: tab})
		took := time.Since(start)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if n := tokens.Count(auto.GetText()); n > 1500 || n != int(auto.GetTokens()) {
			t.Errorf("%s: the text has %d tokens, the answer says %d", name, n, auto.GetTokens())
		}
		whole, err := d.Pages.ReadPage(t.Context(), &domtapv1.ReadPageRequest{TabId: tab, Mode: domtapv1.ReadMode_READ_MODE_CONTENT, MaxTokens: proto.Int32(0)})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		mode := strings.ToLower(strings.TrimPrefix(auto.GetMode().String(), "READ_MODE_"))
		t.Logf("%-20s %-12s %7d %7d %9d %8.1f  %s", strings.TrimSuffix(name, ".html"), mode, whole.GetTokens(),
			whole.GetTotalBlocks(), len(whole.GetOutline()), ms(took), auto.GetReason())
		if keep := os.Getenv("DOMTAP_READ_DIR"); keep != "" {
			if err := os.WriteFile(filepath.Join(keep, name+".md"), []byte(whole.GetText()), 0o644); err != nil {
				t.Error(err)
			}
		}
		if _, err := d.Tabs.CloseTab(t.Context(), &domtapv1.CloseTabRequest{TabId: tab}); err != nil {
			t.Error(err)
		}
	}
}
