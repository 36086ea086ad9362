// Package transcript prunes chat transcripts. It keeps the newest page snapshots in the results of browser tools. A placeholder replaces
// older snapshots, which a model no longer needs. Diffs (format DIFF) are pruned with the snapshots that they are based on; diffs after the
// oldest kept snapshot stay.
//
// It supports these formats, also mixed: OpenAI chat completions and responses, Anthropic messages, Vercel AI SDK UI and model messages,
// and MCP results (as JSON-RPC). A transcript is a JSON array of messages, or an object with the array in "messages" or "input".
//
// What the package guarantees:
//
//   - Only results of tools change. Messages of users, assistants and systems, calls and their arguments, ids, order, unknown fields and
//     white space stay unchanged byte for byte.
//   - The output is valid JSON with the same number of messages, calls and results as the input. A result keeps its type: a text stays a
//     text, an object stays an object.
//   - Pruning is idempotent.
//   - Memory is bounded by the largest message and the part after the oldest kept snapshot, not by the transcript. The decision on a
//     snapshot requires the messages after it. Before the first snapshot, a diff counts as a snapshot.
//
// The package has no state and starts no goroutine.
package transcript

import (
	"bytes"
	"io"
	"path"
	"strings"

	"github.com/domtap/domtap/internal/truncate"
)

// Placeholder replaces snapshots unless Options specifies another text.
const Placeholder = "[DOM content removed - previous page state]"

const (
	// DefaultMinBytes is the minimum size of a snapshot.
	DefaultMinBytes = 256
	// largeResult is the minimum size of a result that counts as a snapshot if its tool has no name, regardless of its content.
	largeResult = 10 << 10
)

// Options configures pruning. The zero value keeps no snapshot; Default keeps one.
type Options struct {
	// Keep is the number of newest snapshots to keep.
	Keep int
	// Tools lists patterns (of path.Match, in lower case) for the names of tools whose results are snapshots. If nil, the common browser
	// tools are used. In that case texts smaller than four times MinBytes must also look like a page, because a short note about an action
	// is not a snapshot. A prefix of an MCP server that ends with "__" or "." is ignored.
	Tools []string
	// MinBytes is the minimum size of a snapshot. Shorter results such as "ok" stay. Zero selects DefaultMinBytes.
	MinBytes int
	// Placeholder replaces snapshots. If empty, the constant Placeholder is used. It is truncated to half of MinBytes, so that it does not
	// count as a snapshot itself.
	Placeholder string
	// usual reports that Tools was nil and was set to the common browser tools.
	usual bool
}

// Default returns options that keep the newest snapshot.
func Default() Options { return Options{Keep: 1} }

// Stats is the result of pruning.
type Stats struct {
	// Messages counts messages. Snapshots counts snapshots and diffs. Removed counts those that were replaced.
	Messages, Snapshots, Removed int
	BytesBefore, BytesAfter      int64
}

// browserTools lists the names of tools that return a page.
var browserTools = []string{
	"browser_*", "browser-*", "browser", "playwright_*", "puppeteer_*", "stagehand_*", "pinchtab_*", "domtap_*", "take_snapshot",
	"navigate_page", "new_page", "snapshot", "page_snapshot", "get_dom", "get_page*", "get_elements*", "read_page", "navigate",
	"goto", "click", "hover", "fill", "fill_form", "type", "type_text", "press_key", "wait_for", "visit_*", "open_page",
	"open_url", "web_browser*", "computer",
}

// otherTools lists tools that may return HTML that is not a page, such as a file. Their results are never pruned.
var otherTools = []string{
	"*file*", "read", "view", "cat", "bash", "shell*", "exec*", "run_*", "edit*", "write*", "grep*", "glob*", "search*",
	"*_search", "str_replace*", "apply_patch", "python*", "*sql*", "git*",
}

// searchTools lists tools that return a part of a page. Their results are treated like diffs.
var searchTools = []string{"browser_find", "domtap_find", "browser_page_tools", "browser_call_page_tool"}

// withDefaults sets the defaults.
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

// Transcript prunes a transcript in memory. It fails if the input is not JSON or not a transcript. The error contains the position.
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
	// other results are never replaced.
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

// base removes the server prefix from the name of a tool, as in mcp__playwright__browser_click.
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
