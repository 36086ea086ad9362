// Package trace creates one HTML file from a recording: steps, states of the page as text, pictures and the log. The file works without a
// network and without domtap.
//
// What the package guarantees:
//
//   - The file makes no requests. Its Content-Security-Policy forbids all requests and allows only its own script and style, by their
//     hashes.
//   - Page content is stored as JSON in an element that is not executed, with <, > and & escaped. It enters the document only as text.
//   - The file is at most as large as requested. It lists what was omitted to fit.
//   - The same input produces the same bytes.
package trace

import (
	"slices"
	"strings"
	"unique"
)

// Trace is the content of a file. Times are in milliseconds since Started.
type Trace struct {
	// Program is the version of domtap.
	Program string `json:"program"`
	// Started is the start time in milliseconds since 1970.
	Started  int64 `json:"started"`
	Duration int64 `json:"duration"`
	Tabs     []Tab `json:"tabs"`
	// Left lists what the file omits, one sentence each. Make appends to it.
	Left []string `json:"left"`
}

// Tab is one tab.
type Tab struct {
	ID string `json:"id"`
	// Steps is ordered by time.
	Steps    []Step    `json:"steps"`
	States   []State   `json:"-"`
	Pictures []Picture `json:"pictures"`
	Log      []Line    `json:"log"`
	Clients  []Client  `json:"clients"`
}

// Step is an entry of the timeline: an action of a client, or a change that the page made.
type Step struct {
	ID uint64 `json:"id"`
	// At is the start time. End is the time at which the effect was visible.
	At  int64 `json:"at"`
	End int64 `json:"end"`
	// Kind is turn, read, navigation, dialog or another kind of entry.
	Kind   string `json:"kind"`
	Client string `json:"client,omitempty"`
	// Action describes the action and Target its target. Text is the whole entry as one line.
	Action string `json:"action"`
	Target string `json:"target,omitempty"`
	Text   string `json:"text"`
	// Verdict and Outcome are set for a turn. Failed is the reason why a call failed.
	Verdict string `json:"verdict,omitempty"`
	Outcome string `json:"outcome,omitempty"`
	Failed  string `json:"failed,omitempty"`
	// Call reports that the step is a call. Took is then its duration in milliseconds.
	Call      bool   `json:"call,omitempty"`
	Took      int64  `json:"took,omitempty"`
	Tokens    uint64 `json:"tokens,omitempty"`
	Estimated bool   `json:"estimated,omitempty"`
	// Diff contains the changes of the step as DENSE_DIFF. Gone reports that Diff was omitted to keep the file small.
	Diff  string `json:"diff,omitempty"`
	Gone  bool   `json:"gone,omitempty"`
	Marks []Mark `json:"marks,omitempty"`
}

// Mark is the place of a step's action, in CSS pixels of the viewport.
type Mark struct {
	// Point is x and y. It is empty if no pointer was used.
	Point []float64 `json:"point,omitempty"`
	// Box is x, y, width and height of the element. It is empty if unknown.
	Box []float64 `json:"box,omitempty"`
}

// State is the page at and after a time.
type State struct {
	At       int64
	Revision uint64
	// Text is the page in the DENSE format.
	Text Text
	// Needed reports that a step starts or ends with this state. Such states are omitted last.
	Needed bool
}

// Text holds a text as lines. Equal lines of all texts share memory, because the states of an hour differ in few lines.
type Text []unique.Handle[string]

// NewText returns a Text with the lines of a string.
func NewText(text string) Text {
	var out Text
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		out = append(out, unique.Make(line))
	}
	return slices.Clip(out)
}

// Picture is a picture of the viewport.
type Picture struct {
	At int64 `json:"at"`
	// Width and Height are in pixels. PageWidth is the width in CSS pixels.
	Width     uint32  `json:"width"`
	Height    uint32  `json:"height"`
	PageWidth float64 `json:"page_width"`
	// Type is image/jpeg.
	Type string `json:"type"`
	Data []byte `json:"data"`
}

// Line is a line of the log: a console message, an error, or a request.
type Line struct {
	At int64 `json:"at"`
	// Kind is console, error or request.
	Kind string `json:"kind"`
	// Level is the level of a console message, or the method of a request.
	Level string `json:"level,omitempty"`
	Text  string `json:"text,omitempty"`
	URL   string `json:"url,omitempty"`
	// Status and the following fields describe a request. Took is in milliseconds.
	Status  int32  `json:"status,omitempty"`
	Type    string `json:"type,omitempty"`
	Failure string `json:"failure,omitempty"`
	Took    int64  `json:"took,omitempty"`
	Bytes   int64  `json:"bytes,omitempty"`
	// Problem marks warnings, errors, and requests that failed or had a status of 400 or above.
	Problem bool `json:"problem,omitempty"`
}

// Client summarizes the cost of a client.
type Client struct {
	Name      string `json:"name"`
	Calls     uint64 `json:"calls"`
	Failed    uint64 `json:"failed"`
	Tokens    uint64 `json:"tokens"`
	Estimated bool   `json:"estimated,omitempty"`
}
