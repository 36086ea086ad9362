package bench

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"testing"

	"google.golang.org/protobuf/proto"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/testenv"
	"github.com/domtap/domtap/internal/tokens"
)

// limits are the limits of a request. If nil, domtap's defaults apply.
type limits struct{ elements, tokens *int32 }

func (l limits) String() string {
	text := ""
	if l.elements != nil {
		text += fmt.Sprintf("%d elements ", *l.elements)
	}
	if l.tokens != nil {
		text += fmt.Sprintf("%d tokens ", *l.tokens)
	}
	return text + "at most"
}

// holds returns the effective limits.
func (l limits) holds() (elements, tokens int) {
	elements, tokens = 300, 8000
	if l.elements != nil {
		elements = int(*l.elements)
	}
	if l.tokens != nil {
		tokens = int(*l.tokens)
	}
	return elements, tokens
}

// everyLimit returns the limits to test.
func everyLimit() []limits {
	list := []limits{{}}
	for _, n := range []int32{200, 500, 1000, 4000} {
		list = append(list, limits{tokens: proto.Int32(n)})
	}
	for _, n := range []int32{1, 10, 50, 300} {
		list = append(list, limits{elements: proto.Int32(n)})
	}
	return list
}

// TestNeverOverTheLimits reads pages to the end with many limits and in both formats. No text exceeds its limits, each costs as many tokens
// as its answer states, and together they form the page. Some pages ship with the test; it also uses the pages in $DOMTAP_PAGES, if that
// names a folder.
func TestNeverOverTheLimits(t *testing.T) {
	mux := http.NewServeMux()
	mux.HandleFunc("/cards.html", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("content-type", "text/html; charset=utf-8")
		fmt.Fprint(w, HTML(testenv.Size(150, 400)))
	})
	mux.Handle("/testdata/", http.StripPrefix("/testdata", http.FileServer(http.Dir("testdata"))))
	paths := []string{"/cards.html", "/testdata/names.html", "/testdata/usable/usable.html"}
	if dir := os.Getenv("DOMTAP_PAGES"); dir != "" {
		files, err := filepath.Glob(filepath.Join(dir, "*.html"))
		if err != nil || len(files) == 0 {
			t.Fatalf("no pages in %s: %v", dir, err)
		}
		for _, file := range files {
			paths = append(paths, "/"+filepath.Base(file))
		}
		mux.Handle("/", http.FileServer(http.Dir(dir)))
	}
	url := testenv.Serve(t, mux)
	d := testenv.StartDaemon(t)
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			tab := d.Open(url + path)
			for _, format := range []domtapv1.Format{domtapv1.Format_FORMAT_LINES, domtapv1.Format_FORMAT_TREE} {
				for _, l := range everyLimit() {
					neverOver(t, d, tab, format, l)
				}
			}
			if _, err := d.Tabs.CloseTab(t.Context(), &domtapv1.CloseTabRequest{TabId: tab}); err != nil {
				t.Error(err)
			}
		})
	}
}

// maxCalls limits the answers of one walk. A page of 400 elements, read one by one, needs that many.
const maxCalls = 2000

// neverOver walks a tab with one format and one set of limits. A page that changes during the walk cannot be compared with its earlier
// state, but the limits still apply.
func neverOver(t *testing.T, d *testenv.Daemon, tab string, format domtapv1.Format, l limits) {
	t.Helper()
	before := unlimited(t, d, tab, format)
	r := &domtapv1.GetCompactRequest{TabId: tab, Format: format, MaxElements: l.elements, MaxTokens: l.tokens}
	var given []uint32
	for range maxCalls {
		got, err := d.Dom.GetCompact(t.Context(), r)
		if err != nil {
			t.Fatalf("%v %v: %v", format, l, err)
		}
		refs := checkAnswer(t, got, l)
		given = append(given, refs...)
		if r.Cursor = got.GetMetadata().GetNextCursor(); r.Cursor == "" {
			break
		}
	}
	after := unlimited(t, d, tab, format)
	if !slices.Equal(before, after) {
		t.Logf("%v %v: the page changed in between", format, l)
		return
	}
	slices.Sort(given)
	slices.Sort(after)
	// A tree omits wrappers without content, so it may lack some elements of the list.
	if format == domtapv1.Format_FORMAT_TREE {
		once := slices.Compact(slices.Clone(given))
		interactive := unlimited(t, d, tab, domtapv1.Format_FORMAT_LINES)
		if len(once) != len(given) || !isSubset(given, after) || !isSubset(interactive, given) {
			t.Errorf("%v %v: a tree in parts repeats elements, has others than the list, or lacks what a person acts on", format, l)
		}
		return
	}
	if !slices.Equal(given, after) {
		t.Errorf("%v %v: all parts together have %d elements, the whole has %d", format, l, len(given), len(after))
	}
}

// refsInText matches the refs of LINES, at the start of a line, and of TREE, in brackets.
var refsInText = regexp.MustCompile(`(?m)^\[([0-9]+)\] |^ *- .*\[ref=e([0-9]+)\](?::.*)?$`)

// checkAnswer checks an answer against its limits and returns the refs in its text.
func checkAnswer(t *testing.T, got *domtapv1.GetCompactResponse, l limits) []uint32 {
	t.Helper()
	elements, budget := l.holds()
	m := got.GetMetadata()
	if cost := tokens.Count(got.GetText()); cost > budget || cost != int(m.GetTokens()) {
		t.Errorf("%v: the text costs %d tokens, the answer says %d", l, cost, m.GetTokens())
	}
	var refs []uint32
	for _, match := range refsInText.FindAllStringSubmatch(got.GetText(), -1) {
		ref, err := strconv.ParseUint(match[1]+match[2], 10, 32)
		if err != nil {
			t.Fatal(err)
		}
		refs = append(refs, uint32(ref))
	}
	if len(refs) > elements || len(refs) > int(m.GetIncludedElements()) || m.GetIncludedElements() > int32(elements) {
		t.Errorf("%v: the text has %d elements, the answer says %d", l, len(refs), m.GetIncludedElements())
	}
	if m.GetTruncated() != (m.GetNextCursor() != "") && m.GetIncludedElements() > 0 {
		t.Errorf("%v: truncated is %v, the cursor %q", l, m.GetTruncated(), m.GetNextCursor())
	}
	return refs
}

// unlimited returns the refs of all elements that a format shows.
func unlimited(t *testing.T, d *testenv.Daemon, tab string, format domtapv1.Format) []uint32 {
	t.Helper()
	r, err := d.Dom.GetDom(t.Context(), &domtapv1.GetDomRequest{TabId: tab, MaxElements: proto.Int32(0), MaxTokens: proto.Int32(0),
		InteractiveOnly: proto.Bool(format == domtapv1.Format_FORMAT_LINES)})
	if err != nil {
		t.Fatal(err)
	}
	var refs []uint32
	for _, e := range r.GetElements() {
		refs = append(refs, e.GetRef())
	}
	return refs
}

// isSubset reports whether all elements of part are in whole, which is sorted.
func isSubset(part, whole []uint32) bool {
	for _, ref := range part {
		if _, found := slices.BinarySearch(whole, ref); !found {
			return false
		}
	}
	return true
}
