// Package transcript makes chat transcripts smaller: of the page snapshots that browser tools have answered with it
// keeps the newest, and puts a placeholder in the place of the others, which a model no longer needs. Reports of what changed
// (format DIFF) go with the snapshots that they lead away from: those behind the oldest that is kept stay.
//
// It knows the shapes that are in use, also mixed: OpenAI chat completions and responses, Anthropic messages, Vercel AI SDK UI
// and model messages, MCP results (as JSON-RPC). A transcript is a JSON array of messages, or an object with the array under
// "messages" or "input".
//
// What it guarantees:
//
//   - Nothing but results of tools is touched: what users, assistants and systems say, calls and their arguments, ids, order,
//     unknown fields and the white space between them come out byte for byte as they went in.
//   - The output is valid JSON with as many messages, calls and results as the input. A result keeps its kind: a text
//     stays a text, an object an object.
//   - Pruning twice is pruning once.
//   - Memory is bounded by the largest message and what lies behind the oldest snapshot that is kept, not by the transcript.
//     (Whether that one stays is only known at the end. Before the first snapshot, a report of changes counts as one there.)
//
// It has no state and no goroutine.
package transcript

import (
	"bytes"
	"io"
	"path"
	"strings"

	"github.com/domtap/domtap/internal/truncate"
)

// Placeholder is what stands in the place of a snapshot, unless Options name another.
const Placeholder = "[DOM content removed - previous page state]"

const (
	// DefaultMinBytes is the least size of a snapshot.
	DefaultMinBytes = 256
	// largeResult is how large a result of a tool without a name must be to count whatever it holds.
	largeResult = 10 << 10
)

// Options say what to prune. The zero value keeps no snapshot at all; Default keeps one.
type Options struct {
	// Keep is how many of the newest snapshots stay, 0 and above.
	Keep int
	// Tools are patterns (as of path.Match, in lower case) for the names of tools whose results are snapshots. Nil: those of
	// the common browser tools, of which texts below four times MinBytes must also look like a page: a few words
	// on what was done are no snapshot. A prefix that ends with "__" or "." (of an MCP server) does not count.
	Tools []string
	// MinBytes is the least size of a snapshot: shorter results ("ok") stay. 0: DefaultMinBytes.
	MinBytes int
	// Placeholder is written instead. Empty: Placeholder. It is cut to half of MinBytes, so that it is no snapshot itself.
	Placeholder string
	// usual says that Tools are those that were meant by nil.
	usual bool
}

// Default keeps the newest snapshot.
func Default() Options { return Options{Keep: 1} }

// Stats say what pruning did.
type Stats struct {
	// Messages, and how many results of them were snapshots or reports of changes, of which Removed were replaced.
	Messages, Snapshots, Removed int
	BytesBefore, BytesAfter      int64
}

// browserTools are the names under which browser tools answer with a page.
var browserTools = []string{
	"browser_*", "browser-*", "browser", "playwright_*", "puppeteer_*", "stagehand_*", "pinchtab_*", "domtap_*", "take_snapshot",
	"navigate_page", "new_page", "snapshot", "page_snapshot", "get_dom", "get_page*", "get_elements*", "read_page", "navigate",
	"goto", "click", "hover", "fill", "fill_form", "type", "type_text", "press_key", "wait_for", "visit_*", "open_page",
	"open_url", "web_browser*", "computer",
}

// otherTools are those that may answer with HTML that is no page: a file of it is not to be lost.
var otherTools = []string{
	"*file*", "read", "view", "cat", "bash", "shell*", "exec*", "run_*", "edit*", "write*", "grep*", "glob*", "search*",
	"*_search", "str_replace*", "apply_patch", "python*", "*sql*", "git*",
}

// withDefaults fills in what is unset.
func (o Options) withDefaults() Options {
	o.Keep = max(0, o.Keep)
	if o.Tools == nil {
		o.Tools, o.usual = browserTools, true
	}
	if o.MinBytes <= 0 {
		o.MinBytes = DefaultMinBytes
	}
	if o.Placeholder == "" {
		o.Placeholder = Placeholder
	}
	if limit := o.MinBytes / 2; len(o.Placeholder) > limit {
		o.Placeholder = truncate.Bytes(o.Placeholder, limit)
	}
	return o
}

// Transcript prunes a transcript that is in memory. When it fails, the transcript is not JSON or no transcript, and
// the error says where.
func Transcript(in []byte, o Options) ([]byte, Stats, error) {
	var out bytes.Buffer
	stats, err := Stream(&out, bytes.NewReader(in), o)
	if err != nil {
		return nil, Stats{}, err
	}
	return out.Bytes(), stats, nil
}

// Stream prunes a transcript on its way from r to w. When it fails, what was written is a beginning of the output and
// no JSON.
func Stream(w io.Writer, r io.Reader, o Options) (Stats, error) {
	p := newPruner(w, r, o.withDefaults())
	err := p.transcript()
	p.stats.BytesBefore, p.stats.BytesAfter = p.in.offset, p.out.n
	return p.stats, err
}

// kind is what a tool answered.
type kind uint8

const (
	// other is not to be touched.
	other kind = iota
	// snapshot is the state of a page.
	snapshot
	// report is what changed since a snapshot.
	report
)

// kindOf says what a tool answered.
func (o *Options) kindOf(tool string, r *result) kind {
	size := r.size()
	if size < o.MinBytes {
		return other
	}
	name := strings.ToLower(tool)
	named := matches(o.Tools, name)
	switch {
	case !named && name != "" && matches(otherTools, base(name)):
		return other
	case r.looksLikeReport():
		return report
	case named && (!o.usual || size >= 4*o.MinBytes || r.hasPicture()), name == "" && size > largeResult, r.looksLikePage():
		return snapshot
	}
	return other
}

// base is a tool's name without that of the server that it belongs to: mcp__playwright__browser_click.
func base(name string) string {
	if i := strings.LastIndex(name, "__"); i >= 0 {
		name = name[i+2:]
	}
	if i := strings.LastIndexAny(name, ".:/"); i >= 0 {
		name = name[i+1:]
	}
	return name
}

func matches(patterns []string, name string) bool {
	short := base(name)
	for _, pattern := range patterns {
		for _, n := range [...]string{name, short} {
			if ok, err := path.Match(pattern, n); ok && err == nil {
				return true
			}
		}
	}
	return false
}
