// Package trace makes one HTML file of what a recording has: steps, states of the page as text, pictures and the log. The
// file works without a network and without domtap.
//
// What the package guarantees:
//
//   - The file asks for nothing: its Content-Security-Policy forbids every request, and allows its own script and style by
//     their hashes alone.
//   - Content of pages is in it as JSON in an element that is not executed, with <, > and & escaped, and enters the document
//     as text.
//   - The file is at most as large as asked for. What was left out for that is said in it.
//   - The same input makes the same bytes.
package trace

import (
	"slices"
	"strings"
	"unique"
)

// Trace is what a file shows. Times are in milliseconds since Started.
type Trace struct {
	// Program is the version of domtap.
	Program string `json:"program"`
	// Started is the beginning, in milliseconds since 1970.
	Started  int64 `json:"started"`
	Duration int64 `json:"duration"`
	Tabs     []Tab `json:"tabs"`
	// Left says what the file does not have, one sentence each. Make adds to it.
	Left []string `json:"left"`
}

// Tab is one tab.
type Tab struct {
	ID string `json:"id"`
	// Steps are in the order of their times.
	Steps    []Step    `json:"steps"`
	States   []State   `json:"-"`
	Pictures []Picture `json:"pictures"`
	Log      []Line    `json:"log"`
	Clients  []Client  `json:"clients"`
}

// Step is an entry of the timeline: what a client did, or what the page did by itself.
type Step struct {
	ID uint64 `json:"id"`
	// At and End are when it began and when its effect was there.
	At  int64 `json:"at"`
	End int64 `json:"end"`
	// Kind is turn, read, navigation, dialog and so on.
	Kind   string `json:"kind"`
	Client string `json:"client,omitempty"`
	// Action and Target are what was done and to what; Text is the whole entry as one line.
	Action string `json:"action"`
	Target string `json:"target,omitempty"`
	Text   string `json:"text"`
	// Verdict and Outcome are those of a turn; Failed is why a call failed.
	Verdict string `json:"verdict,omitempty"`
	Outcome string `json:"outcome,omitempty"`
	Failed  string `json:"failed,omitempty"`
	// Call says that Took counts: milliseconds.
	Call      bool   `json:"call,omitempty"`
	Took      int64  `json:"took,omitempty"`
	Tokens    uint64 `json:"tokens,omitempty"`
	Estimated bool   `json:"estimated,omitempty"`
	// Diff is what the step changed, as DENSE_DIFF; Gone says that it was left out to keep the file small.
	Diff  string `json:"diff,omitempty"`
	Gone  bool   `json:"gone,omitempty"`
	Marks []Mark `json:"marks,omitempty"`
}

// Mark is where a step acted, in CSS pixels of the viewport.
type Mark struct {
	// Point is x and y; empty: no pointer was used.
	Point []float64 `json:"point,omitempty"`
	// Box is x, y, width and height of the element; empty: not known.
	Box []float64 `json:"box,omitempty"`
}

// State is the page from a time on.
type State struct {
	At       int64
	Revision uint64
	// Text is the page as DENSE.
	Text Text
	// Needed says that a step begins or ends with it: it is left out after the others.
	Needed bool
}

// Text is a text by its lines, of which equal ones of all texts are in memory once: the states of an hour differ in few.
type Text []unique.Handle[string]

// NewText makes a Text.
func NewText(text string) Text {
	var out Text
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		out = append(out, unique.Make(line))
	}
	return slices.Clip(out)
}

// Picture is what the viewport showed.
type Picture struct {
	At int64 `json:"at"`
	// Width and Height are in pixels; PageWidth is how many CSS pixels the width shows.
	Width     uint32  `json:"width"`
	Height    uint32  `json:"height"`
	PageWidth float64 `json:"page_width"`
	// Type is image/jpeg.
	Type string `json:"type"`
	Data []byte `json:"data"`
}

// Line is a line of the log: a message of the console, an error, or a request.
type Line struct {
	At int64 `json:"at"`
	// Kind is console, error or request.
	Kind string `json:"kind"`
	// Level is that of the console, or the method of a request.
	Level string `json:"level,omitempty"`
	Text  string `json:"text,omitempty"`
	URL   string `json:"url,omitempty"`
	// Status and the rest are those of a request; Took is in milliseconds.
	Status  int32  `json:"status,omitempty"`
	Type    string `json:"type,omitempty"`
	Failure string `json:"failure,omitempty"`
	Took    int64  `json:"took,omitempty"`
	Bytes   int64  `json:"bytes,omitempty"`
	// Problem marks warnings, errors, and requests that failed or were answered with 400 and above.
	Problem bool `json:"problem,omitempty"`
}

// Client is what a client cost.
type Client struct {
	Name      string `json:"name"`
	Calls     uint64 `json:"calls"`
	Failed    uint64 `json:"failed"`
	Tokens    uint64 `json:"tokens"`
	Estimated bool   `json:"estimated,omitempty"`
}
