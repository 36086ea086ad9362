// Package transcript prunes chat transcripts: it keeps the newest page snapshots in the results of
// browser tools and replaces older ones, which a model no longer needs, by a placeholder. Diffs (format
// DIFF) go with the snapshots that they start from: diffs after the oldest kept snapshot stay.
//
// It supports these shapes, also mixed: OpenAI chat completions and responses, Anthropic messages,
// Vercel AI SDK UI and model messages, MCP results (as JSON-RPC). A transcript is a JSON array of
// messages, or an object with the array under "messages" or "input".
//
// What it guarantees:
//
//   - Only results of tools change. Messages of users, assistants and systems, calls and their
//     arguments, ids, order, unknown fields and white space stay byte for byte.
//   - The output is valid JSON with as many messages, calls and results as the input. A result keeps
//     its type: a text stays a text, an object an object.
//   - Pruning is idempotent.
//   - Memory is bounded by the largest message and the part after the oldest kept snapshot, not by the
//     transcript. (Whether a snapshot stays is only known at the end. Before the first snapshot, a diff
//     counts as one.)
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

// Placeholder replaces a snapshot, unless Options name another text.
const Placeholder = "[DOM content removed - previous page state]"

const (
	// DefaultMinBytes is the minimum size of a snapshot.
	DefaultMinBytes = 256
	// largeResult is the size from which on a result of a tool without a name counts as a snapshot,
	// whatever it has.
	largeResult = 10 << 10
)

// Options configure pruning. The zero value keeps no snapshot; Default keeps one.
type Options struct {
	// Keep is how many of the newest snapshots stay, 0 or more.
	Keep int
	// Tools are patterns (of path.Match, in lower case) for the names of tools whose results are
	// snapshots. Nil: the common browser tools, whose texts below four times MinBytes must also look like
	// a page: a short note about an action is not a snapshot. A prefix that ends with "__" or "." (of an
	// MCP server) is ignored.
	Tools []string
	// MinBytes is the minimum size of a snapshot: shorter results ("ok") stay. 0: DefaultMinBytes.
	MinBytes int
	// Placeholder replaces snapshots. Empty: the constant Placeholder. It is cut to half of MinBytes, so
	// that it is not a snapshot itself.
	Placeholder string
	// usual says that Tools was nil and has the common browser tools.
	usual bool
}

// Default keeps the newest snapshot.
func Default() Options { return Options{Keep: 1} }

// Stats are the result of pruning.
type Stats struct {
	// Messages counts messages; Snapshots counts snapshots and diffs, of which Removed were replaced.
	Messages, Snapshots, Removed int
	BytesBefore, BytesAfter      int64
}

// browserTools are the names of tools that return a page.
var browserTools = []string{
	"browser_*", "browser-*", "browser", "playwright_*", "puppeteer_*", "stagehand_*", "pinchtab_*", "domtap_*", "take_snapshot",
	"navigate_page", "new_page", "snapshot", "page_snapshot", "get_dom", "get_page*", "get_elements*", "read_page", "navigate",
	"goto", "click", "hover", "fill", "fill_form", "type", "type_text", "press_key", "wait_for", "visit_*", "open_page",
	"open_url", "web_browser*", "computer",
}

// otherTools may return HTML that is not a page, such as a file, and are never pruned.
var otherTools = []string{
	"*file*", "read", "view", "cat", "bash", "shell*", "exec*", "run_*", "edit*", "write*", "grep*", "glob*", "search*",
	"*_search", "str_replace*", "apply_patch", "python*", "*sql*", "git*",
}

// searchTools return some elements of a page, which are worth as much as a report.
var searchTools = []string{"browser_find", "domtap_find"}

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

// Transcript prunes a transcript in memory. It fails if the input is not JSON or not a transcript; the
// error says where.
func Transcript(in []byte, o Options) ([]byte, Stats, error) {
	var out bytes.Buffer
	stats, err := Stream(&out, bytes.NewReader(in), o)
	if err != nil {
		return nil, Stats{}, err
	}
	return out.Bytes(), stats, nil
}

// Stream prunes a transcript from r to w. If it fails, the output is incomplete and not valid JSON.
func Stream(w io.Writer, r io.Reader, o Options) (Stats, error) {
	p := newPruner(w, r, o.withDefaults())
	err := p.transcript()
	p.stats.BytesBefore, p.stats.BytesAfter = p.in.offset, p.out.n
	return p.stats, err
}

// kind is the kind of a result.
type kind uint8

const (
	// other results stay.
	other kind = iota
	// snapshot is the state of a page.
	snapshot
	// report is a diff since a snapshot.
	report
)

// kindOf returns the kind of a result.
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
	case o.usual && matches(searchTools, name), r.looksLikeReport():
		return report
	case named && (!o.usual || size >= 4*o.MinBytes || r.hasPicture()), name == "" && size > largeResult, r.looksLikePage():
		return snapshot
	}
	return other
}

// base removes the name of the server from the name of a tool: mcp__playwright__browser_click.
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
