package bench

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/harness"
	"github.com/domtap/domtap/tokens"
)

// TestPages opens every .html file of the folder $DOMTAP_PAGES and prints what it took: elements in all and
// shown by default, bytes and tokens of the default text, times, and how many commands the browser was sent
// for the first read. Without the folder there is nothing to do.
func TestPages(t *testing.T) {
	dir := os.Getenv("DOMTAP_PAGES")
	if dir == "" {
		t.Skip("DOMTAP_PAGES names no folder of pages")
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.html"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no pages in %s: %v", dir, err)
	}
	url := harness.Serve(t, http.FileServer(http.Dir(dir)))
	d := harness.StartDaemon(t)
	t.Logf("%-20s %8s %6s %7s %7s %9s %9s %8s", "page", "elements", "shown", "bytes", "tokens", "open ms", "read ms", "commands")
	for _, file := range files {
		name := filepath.Base(file)
		start := time.Now()
		tab := d.Open(url + "/" + name)
		opened := time.Since(start)
		sent := d.Browser.Sent()
		start = time.Now()
		r, err := d.Dom.GetCompact(t.Context(), &domtapv1.GetCompactRequest{TabId: tab})
		read := time.Since(start)
		sent = d.Browser.Sent() - sent
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		all, err := d.Dom.GetDom(t.Context(), &domtapv1.GetDomRequest{TabId: tab, MaxElements: proto.Int32(0), MaxTokens: proto.Int32(0)})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		text := r.GetText()
		if n := tokens.Count(text); n > 8000 || n != int(r.GetMetadata().GetTokens()) {
			t.Errorf("%s: the text has %d tokens, the answer says %d", name, n, r.GetMetadata().GetTokens())
		}
		if lines := strings.Count(text, "\n["); lines != int(r.GetMetadata().GetIncludedElements()) || lines > 300 {
			t.Errorf("%s: %d lines for %d elements", name, lines, r.GetMetadata().GetIncludedElements())
		}
		t.Logf("%-20s %8d %6d %7d %7d %9.1f %9.1f %8d", strings.TrimSuffix(name, ".html"), len(all.GetElements()),
			r.GetMetadata().GetIncludedElements(), len(text), r.GetMetadata().GetTokens(), ms(opened), ms(read), sent)
		if _, err := d.Tabs.CloseTab(t.Context(), &domtapv1.CloseTabRequest{TabId: tab}); err != nil {
			t.Error(err)
		}
	}
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
