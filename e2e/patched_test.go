package e2e

import (
	_ "embed"
	"fmt"
	"math/rand/v2"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/domtap/domtap/compact/dense"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/testenv"
)

//go:embed patched.html
var patchedPage string

// TestContextsEqualThoseOfAFreshWalk changes a page at random and reads it from time to time. Names, roles, order, contexts and text must
// be the same as on a page where the changes were made before the first read.
func TestContextsEqualThoseOfAFreshWalk(t *testing.T) {
	d := testenv.Shared(t)
	url := serve(t, map[string]http.HandlerFunc{"/": testenv.HTML(patchedPage)})
	seeds, patches := testenv.Size(2, 4), testenv.Size(100, 1000)
	fresh := ""
	for seed := uint64(1); seed <= uint64(seeds); seed++ {
		rng := rand.New(rand.NewPCG(seed, 0))
		tab := d.Open(fmt.Sprintf("%s/?seed=%d", url, seed))
		page := d.Browser.Newest()
		readForWalk(t, d, tab)
		for done := 0; done < patches; {
			for range 1 + rng.IntN(3) {
				n := 1 + rng.IntN(20)
				done += n
				if err := page.Call(t.Context(), "Runtime.evaluate", map[string]any{"expression": fmt.Sprintf("patch(%d)", n)}, nil); err != nil {
					t.Fatal(err)
				}
			}
			got := readForWalk(t, d, tab)
			fresh = d.Show(fresh, fmt.Sprintf("%s/?seed=%d&patches=%d", url, seed, done))
			if want := readForWalk(t, d, fresh); got != want {
				t.Errorf("seed %d, after %d changes:\n%s", seed, done, firstDifference(got, want))
				break
			}
		}
		if _, err := d.Tabs.CloseTab(t.Context(), &domtapv1.CloseTabRequest{TabId: tab}); err != nil {
			t.Fatal(err)
		}
	}
}

// printedRef matches a ref in DENSE.
var printedRef = regexp.MustCompile(`\[\d+\]`)

// readForWalk returns everything that a walk finds on a page: a line for each element, and the page as DENSE without refs. Lines with refs
// are parsed, because the length of refs affects line breaks, and line breaks affect where roles are printed.
func readForWalk(t *testing.T, d *testenv.Daemon, tab string) string {
	t.Helper()
	var b strings.Builder
	for _, e := range d.All(tab).GetElements() {
		fmt.Fprintf(&b, "%*s%s %s %q ‹%s› %s level %d %v\n", e.GetDepth(), "", e.GetTag(), e.GetRole(), e.GetText(), e.GetContext(), e.GetValue(), e.GetLevel(), e.GetActionable())
	}
	for _, hrefs := range []bool{false, true} {
		page, err := d.Dom.GetCompact(t.Context(), &domtapv1.GetCompactRequest{TabId: tab, Format: domtapv1.Format_FORMAT_DENSE, Hrefs: hrefs,
			MaxElements: proto.Int32(0), MaxTokens: proto.Int32(0), IncludeHistory: proto.Bool(false)})
		if err != nil {
			t.Fatal(err)
		}
		_, text, _ := strings.Cut(page.GetText(), "\n") // without the URL
		for line := range strings.Lines(text) {
			if !printedRef.MatchString(line) {
				b.WriteString(line)
			}
		}
		elements, err := dense.Parse(text)
		if err != nil {
			t.Fatalf("%v:\n%s", err, text)
		}
		for _, e := range elements {
			e.Ref = 0
			fmt.Fprintf(&b, "%+v\n", e)
		}
	}
	return b.String()
}

// firstDifference returns the first lines in which two texts differ.
func firstDifference(got, want string) string {
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			from := max(0, i-4)
			return fmt.Sprintf("got\n%s\nwant\n%s", strings.Join(a[from:min(len(a), i+4)], "\n"), strings.Join(b[from:min(len(b), i+4)], "\n"))
		}
	}
	return fmt.Sprintf("%d lines, want %d", len(a), len(b))
}
