// Package observer holds the scripts that domtap runs in the documents of a page, and reads what they send.
//
// The scripts in js/ are joined in the order of their names, minified (domtap.min.js) and run in an isolated world of every
// document: the page's own scripts neither see them nor can change what they call. They walk the
// document when they are first asked to, keep a model of every element that counts, and from then on
// send only what changed, in the columnar form that js/50-writer.js describes.
//
// What arrives is untrusted all the same, for a page can take over its renderer: Decode checks every
// number and bounds every string, and the model that applies a patch checks what it refers to.
package observer

import (
	_ "embed"
	"encoding/json"
	"slices"
	"strings"
)

// World names the isolated world, Binding the function through which it pushes. Both exist in that
// world only.
const (
	World   = "domtap"
	Binding = "__domtapPush"
)

// Call is the JavaScript function that runs a command of the agent: its arguments are the command, its
// argument, and the Digits of an Ack, all passed as data. Commands that are frequent have few different
// arguments, for the reason that Digits gives.
const Call = "function(c,a,...d){return __domtapCall(c,a,d)}"

// Entry is the function that Call calls. Where it is not defined, Script has not run to its end; Again runs it anew.
const (
	Entry = "__domtapCall"
	Again = "delete globalThis.__domtap;\n"
)

// Adopt is the JavaScript function that tells the agent which frame the element it is called on holds.
const Adopt = "function(f){return __domtapAdopt.call(this,f)}"

// Learn is the JavaScript function that tells the agent what the browser knows of nodes: its arguments are
// a LearnRequest and the nodes.
const Learn = "function(a,...n){return __domtapLearn(a,n)}"

// minified is the scripts in js/ as one, minified: every document parses it, so its size counts (ADR 33). The words limitsHere
// and masksHere stand for what Limits and Masks say. A test compares it with the sources.
//
//go:generate go test -run TestScriptIsThatOfTheSources -update
//go:embed domtap.min.js
var minified string

const (
	limitsHere = "__LIMITS__"
	masksHere  = "__MASKS__"
)

// Limits bound what the scripts keep in each document.
type Limits struct {
	// Elements is how many are kept, at 0.5 to 1 KB each; 0: MaxElements.
	Elements int `json:"elements"`
}

// MaxElements is the largest bound that may be set, and the usual one.
const MaxElements = 200_000

// Masks are what the scripts never tell: "••••" stands in its place.
type Masks struct {
	// Selectors mask what matches them, with all that is below it. One that the browser does not take masks everything.
	Selectors []string `json:"selectors"`
	// Values masks what stands in form fields and in what is edited.
	Values bool `json:"values"`
}

// Script is the source to run in every document, without masks.
func (l Limits) Script() string { return l.Masked(nil) }

// Masked is the source to run in every document; nil: nothing is masked but secrets, as always.
func (l Limits) Masked(masks *Masks) string { return l.fill(minified, masks) }

// fill puts limits and masks into a script.
func (l Limits) fill(script string, masks *Masks) string {
	if l.Elements == 0 {
		l.Elements = MaxElements
	}
	limits, err := json.Marshal(l)
	if err != nil {
		panic(err) // numbers encode
	}
	if masks != nil && masks.Selectors == nil {
		masks = &Masks{Selectors: []string{}, Values: masks.Values}
	}
	hidden, err := json.Marshal(masks)
	if err != nil {
		panic(err) // strings encode
	}
	return strings.NewReplacer(limitsHere, string(limits), masksHere, string(hidden)).Replace(script)
}

// Window is how many patches an agent sends before it waits for an acknowledgement. One acknowledgement stands for
// all patches before it, too; those with additions, and those that answer a read, are to be acknowledged at once.
const Window = 16

// ReadRequest is the argument of the command "read".
type ReadRequest struct {
	Structural bool `json:"structural"`
	// Contexts counts for the first patch only.
	Contexts   Contexts `json:"contexts,omitzero"`
	Attributes []string `json:"attributes"`
	Geometry   bool     `json:"geometry"`
	// Full asks for everything from the start.
	Full bool `json:"full"`
	// Probed says that a document which has grown is to be read nevertheless: it was probed just now.
	Probed bool `json:"probed"`
	// FailedSheets is as in PrepareRequest; nil: those of the last request.
	FailedSheets []string `json:"failedSheets,omitzero"`
}

// Contexts says when the first patch of a document gets structure, which tells elements of one role and name apart, although
// the read does not ask for structure. The zero value means never.
type Contexts string

const (
	// ContextsIfAlike means: if elements of the document share role and name.
	ContextsIfAlike Contexts = "alike"
	// ContextsAlways is for pages of several documents, because no document sees the names in the others.
	ContextsAlways Contexts = "always"
)

// ContextsOf returns what a read for contexts asks of each document of a page.
func ContextsOf(documents int) Contexts {
	if documents > 1 {
		return ContextsAlways
	}
	return ContextsIfAlike
}

// PrepareRequest is the argument of the command "prepare".
type PrepareRequest struct {
	// Contexts is what the first read will probably ask for.
	Contexts Contexts `json:"contexts"`
	// FailedSheets are the URLs of the document's style sheets that could not be loaded: there are no rules in these.
	FailedSheets []string `json:"failedSheets,omitzero"`
}

// LearnRequest is the argument of Learn: the browser's numbers of elements that have a click listener, the
// first of the nodes, of those that have only a hover listener, the next ones, and of those that have neither any more.
// Closed shadow roots are the rest of the nodes.
type LearnRequest struct {
	On     []int64 `json:"on"`
	Hovers []int64 `json:"hovers,omitempty"`
	Off    []int64 `json:"off"`
}

// InternalsRequest is the argument of the command "internals": for each element that the agent asked about, an object of its
// role and aria-* values, or null.
type InternalsRequest struct {
	Answers json.RawMessage `json:"answers"`
}

// ObserveRequest is the argument of the command "observe".
type ObserveRequest struct {
	Push     bool `json:"push"`
	Geometry bool `json:"geometry"`
	// Notices asks for what a person would notice. In a Fresh document all of it is new.
	Notices bool `json:"notices,omitzero"`
	Fresh   bool `json:"fresh,omitzero"`
}

// NoticeRequest is the argument of the command "notice": a call begins or ends to ask for notices.
type NoticeRequest struct {
	On    bool `json:"on"`
	Fresh bool `json:"fresh"`
}

// CollectRequest is the argument of the command "collectNotices". Last: the call that asks for notices ends with that.
type CollectRequest struct {
	Last bool `json:"last"`
}

// Interests is the argument of the command "setInterests": what a document reports beside its changes, while it pushes.
type Interests struct {
	Structural bool       `json:"structural"`
	Attributes []string   `json:"attributes"`
	Selectors  []Selector `json:"selectors"`
}

// Equal reports whether two interests are the same.
func (i Interests) Equal(o Interests) bool {
	return i.Structural == o.Structural && slices.Equal(i.Attributes, o.Attributes) && slices.Equal(i.Selectors, o.Selectors)
}

// Selector is a CSS selector whose matches are reported; of Shown ones only those that are shown.
type Selector struct {
	CSS   string `json:"css"`
	Shown bool   `json:"shown"`
}

// FindRequest is the argument of the command "find".
type FindRequest struct {
	// By is label, placeholder, test_id, selector, group, shown, or, with Ref, submitter or innermost; with OnHover also ref, role or text.
	By    string `json:"by"`
	Words string `json:"words"`
	Ref   uint32 `json:"ref"`
	// Role goes with By role, where Words are the name, and with shown.
	Role string `json:"role,omitzero"`
	// OnHover asks for the elements to hover so that what is meant shows.
	OnHover bool `json:"onHover,omitzero"`
	// Whole compares Words only with whole words.
	Whole bool `json:"whole,omitzero"`
}

// FindAnswer is the answer of "find".
type FindAnswer struct {
	Invalid bool `json:"invalid"`
	// Found holds a ref, or -1, and a target.Fit each.
	Found  [][2]int64 `json:"found"`
	More   bool       `json:"more"`
	Hidden int        `json:"hidden"`
	Was    string     `json:"was"`
}

// RematchRequest is the argument of the command "rematch".
type RematchRequest struct {
	Ref  uint32 `json:"ref"`
	Heir uint32 `json:"heir"`
}

// RematchAnswer is its answer: why the heir is none, empty when it is.
type RematchAnswer struct {
	Why string `json:"why"`
}

// SettleRequest is the argument of "settle"; Limit is in milliseconds. Timers waits for those that the page set while it
// handled the action, too.
type SettleRequest struct {
	Limit  int64 `json:"limit"`
	Timers bool  `json:"timers,omitzero"`
}

// SettledRequest is the argument of "rest". Again says that what was waited for since the last answer is over.
type SettledRequest struct {
	Again bool `json:"again"`
}

// SettledAnswer is the answer of "rest" and "settle": why what the action set off may not be over; empty when the document knows
// that it is. Grown says that the document is to be probed before it is read.
type SettledAnswer struct {
	Why   string `json:"why"`
	Grown bool   `json:"grown"`
}

// BuildingRequest is the argument of "building". Report has the page notice what it says of that.
type BuildingRequest struct {
	Report bool `json:"report"`
}

// BuildingAnswer is its answer: whether the page is still being built, as a person sees it. Empty says that nothing is in view,
// although scripts or data were loaded.
type BuildingAnswer struct {
	Building bool `json:"building"`
	Empty    bool `json:"empty"`
}

// About is the answer of "about".
type About struct {
	Title string `json:"title"`
	// Status is the HTTP status of the document, 0 when it had none.
	Status int `json:"status"`
}

// MarkupRequest is the argument of "markup" for the content of one element; without, the answer is the whole document.
type MarkupRequest struct {
	Root uint32 `json:"root"`
}

// Markup is the answer of "markup": a document as a reader sees it.
type Markup struct {
	HTML string `json:"html"`
	// Unseen is text of the document that is not drawn.
	Unseen string `json:"unseen"`
	// Truncated says that the document held more than the script brings in.
	Truncated bool `json:"truncated"`
	// MediaArea is how much of the viewport pictures cover, and ViewArea its own area, both in square CSS
	// pixels. Pictures that overlap count twice.
	MediaArea float64 `json:"mediaArea"`
	ViewArea  float64 `json:"viewArea"`
	URL       string  `json:"url"`
	Title     string  `json:"title"`
}
