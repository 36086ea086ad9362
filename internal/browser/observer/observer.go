// Package observer contains the scripts that domtap runs in the documents of a page, and decodes their messages.
//
// The scripts in js/ are joined in the order of their names, minified (domtap.min.js) and run in an isolated world of every document. The
// page's own scripts can neither see them nor change the functions that they call. The first read walks the document and builds a model of
// its relevant elements. Later messages contain only changes, in the columnar format that js/50-writer.js describes.
//
// Messages are untrusted nevertheless, because a page can take over its renderer. Decode checks every number and limits every string. The
// model that applies a patch checks its references.
package observer

import (
	_ "embed"
	"encoding/json"
	"slices"
	"strings"
)

// World is the name of the isolated world. Binding is the function that sends its messages. It exists only in that world.
const (
	World   = "domtap"
	Binding = "__domtapPush"
)

// Call is the JavaScript function that runs a command of the agent. Its arguments are the name of the command, the command's argument, and
// the Digits of an Ack, all passed as data. Frequent commands have few different arguments; see Digits for the reason.
const Call = "function(c,a,...d){return __domtapCall(c,a,d)}"

// Entry is the function that Call calls. If it is undefined, Script did not run to its end. Again is a prefix that lets the script run once
// more.
const (
	Entry = "__domtapCall"
	Again = "delete globalThis.__domtap;\n"
)

// Adopt is the JavaScript function that passes the agent the ID of a frame. It is called on the frame's element.
const Adopt = "function(f){return __domtapAdopt.call(this,f)}"

// Learn is the JavaScript function that passes the agent the browser's information about nodes. Its arguments are a LearnRequest and the
// nodes.
const Learn = "function(a,...n){return __domtapLearn(a,n)}"

// minified is the joined and minified scripts in js/. Every document parses it, so its size matters (ADR 33). Limits and Masks replace the
// words limitsPlaceholder and masksPlaceholder. A test compares it with the sources.
//
//go:generate go test -run TestScriptIsThatOfTheSources -update
//go:embed domtap.min.js
var minified string

const (
	limitsPlaceholder = "__LIMITS__"
	masksPlaceholder  = "__MASKS__"
)

// Limits limits the memory of the scripts in each document.
type Limits struct {
	// Elements limits the number of elements, of 0.5 to 1 KB each. Zero means MaxElements.
	Elements int `json:"elements"`
}

// MaxElements is the highest and the default value of Limits.Elements.
const MaxElements = 200_000

// Masks selects content that the scripts replace by "••••".
type Masks struct {
	// Selectors masks the matching elements and their descendants. A selector that the browser rejects masks everything.
	Selectors []string `json:"selectors"`
	// Values masks the content of form fields and of editable elements.
	Values bool `json:"values"`
}

// Script returns the source to run in every document, without masks.
func (l Limits) Script() string { return l.Masked(nil) }

// Masked returns the source to run in every document. If masks is nil, only secrets are masked.
func (l Limits) Masked(masks *Masks) string { return l.fill(minified, masks) }

// fill inserts limits and masks into a script.
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
	return strings.NewReplacer(limitsPlaceholder, string(limits), masksPlaceholder, string(hidden)).Replace(script)
}

// Window is the number of patches that an agent sends before it waits for an acknowledgement. An acknowledgement covers all earlier patches
// too. A patch that adds elements or answers a read must be acknowledged immediately.
const Window = 16

// ReadRequest is the argument of the command "read".
type ReadRequest struct {
	Structural bool `json:"structural"`
	// Contexts applies only to the first patch.
	Contexts   Contexts `json:"contexts,omitzero"`
	Attributes []string `json:"attributes"`
	Geometry   bool     `json:"geometry"`
	// Full requests a patch with the whole document.
	Full bool `json:"full"`
	// Probed reads the document even if it has grown, because it was probed just now.
	Probed bool `json:"probed"`
	// FailedSheets is as in PrepareRequest. If nil, the list of the last request remains in effect.
	FailedSheets []string `json:"failedSheets,omitzero"`
}

// Contexts selects when the first patch of a document includes structure that the read did not request. Structure distinguishes elements
// with the same role and name. The zero value means never.
type Contexts string

const (
	// ContextsIfAlike includes structure if elements of the document share role and name.
	ContextsIfAlike Contexts = "alike"
	// ContextsAlways is for pages with several documents, because no document knows the names in the others.
	ContextsAlways Contexts = "always"
)

// ContextsOf returns the Contexts that a read for contexts requests from each document of a page.
func ContextsOf(documents int) Contexts {
	if documents > 1 {
		return ContextsAlways
	}
	return ContextsIfAlike
}

// PrepareRequest is the argument of the command "prepare".
type PrepareRequest struct {
	// Contexts is the value that the first read will probably request.
	Contexts Contexts `json:"contexts"`
	// FailedSheets contains the URLs of the document's style sheets that could not be loaded and so have no rules.
	FailedSheets []string `json:"failedSheets,omitzero"`
}

// LearnRequest is the first argument of Learn. It contains the browser's IDs of elements: On of the elements with a click listener, Hovers of
// the elements with only a hover listener, and Off of the elements that have lost both. The nodes that follow as arguments of Learn are, in
// this order, the elements of On, the elements of Hovers, and closed shadow roots.
type LearnRequest struct {
	On     []int64 `json:"on"`
	Hovers []int64 `json:"hovers,omitempty"`
	Off    []int64 `json:"off"`
}

// InternalsRequest is the argument of the command "internals". Answers contains, for each element that the agent asked about, an object
// with its role and aria-* values, or null.
type InternalsRequest struct {
	Answers json.RawMessage `json:"answers"`
}

// ObserveRequest is the argument of the command "observe".
type ObserveRequest struct {
	Push     bool `json:"push"`
	Geometry bool `json:"geometry"`
	// Notices requests notices. In a Fresh document all notices are new.
	Notices bool `json:"notices,omitzero"`
	Fresh   bool `json:"fresh,omitzero"`
}

// NoticeRequest is the argument of the command "notice", which starts or stops the collection of notices for a call.
type NoticeRequest struct {
	On    bool `json:"on"`
	Fresh bool `json:"fresh"`
}

// CollectRequest is the argument of the command "collectNotices". Last stops the collection.
type CollectRequest struct {
	Last bool `json:"last"`
}

// Interests is the argument of the command "setInterests". It selects what a document reports besides its changes while it pushes.
type Interests struct {
	Structural bool       `json:"structural"`
	Attributes []string   `json:"attributes"`
	Selectors  []Selector `json:"selectors"`
}

// Equal reports whether two interests are the same.
func (i Interests) Equal(o Interests) bool {
	return i.Structural == o.Structural && slices.Equal(i.Attributes, o.Attributes) && slices.Equal(i.Selectors, o.Selectors)
}

// Selector is a CSS selector whose matches are reported. Shown excludes hidden matches.
type Selector struct {
	CSS   string `json:"css"`
	Shown bool   `json:"shown"`
}

// FindRequest is the argument of the command "find".
type FindRequest struct {
	// By is label, placeholder, test_id, selector, group or shown. With Ref, it may also be submitter or innermost; with OnHover, also ref,
	// role or text.
	By    string `json:"by"`
	Words string `json:"words"`
	Ref   uint32 `json:"ref"`
	// Role is set if By is role or shown. With role, Words is the name.
	Role string `json:"role,omitzero"`
	// OnHover requests the elements to hover to make the target appear.
	OnHover bool `json:"onHover,omitzero"`
	// Whole matches Words only with whole words.
	Whole bool `json:"whole,omitzero"`
}

// FindAnswer is the response to "find".
type FindAnswer struct {
	Invalid bool `json:"invalid"`
	// Found contains pairs of a ref, or -1, and a target.Fit.
	Found  [][2]int64 `json:"found"`
	More   bool       `json:"more"`
	Hidden int        `json:"hidden"`
	Was    string     `json:"was"`
	Inert  string     `json:"inert"`
}

// RematchRequest is the argument of the command "rematch".
type RematchRequest struct {
	Ref       uint32 `json:"ref"`
	Successor uint32 `json:"successor"`
}

// RematchAnswer is the response to "rematch". Why is the reason why the element is no replacement, or empty if it is.
type RematchAnswer struct {
	Why string `json:"why"`
}

// SettleRequest is the argument of "settle". Limit is in milliseconds. Timers also waits for timers that the page set while it handled the
// action.
type SettleRequest struct {
	Limit  int64 `json:"limit"`
	Timers bool  `json:"timers,omitzero"`
}

// SettledRequest is the argument of "settled". Again reports that the work that the last response named is over.
type SettledRequest struct {
	Again bool `json:"again"`
}

// SettledAnswer is the response to "settled" and "settle". Why is the reason why the effects of the action may continue. It is empty if the
// document knows that they are over. Grown reports that the document must be probed before it is read.
type SettledAnswer struct {
	Why   string `json:"why"`
	Grown bool   `json:"grown"`
}

// BuildingRequest is the argument of "building". Report requests a notice with the page's loading message.
type BuildingRequest struct {
	Report bool `json:"report"`
}

// BuildingAnswer is the response to "building". Building reports whether the page is visibly still being built. Empty reports that nothing
// is in view, although scripts or data were loaded.
type BuildingAnswer struct {
	Building bool `json:"building"`
	Empty    bool `json:"empty"`
}

// About is the response to "about".
type About struct {
	Title string `json:"title"`
	// Status is the HTTP status of the document, or 0 if it had none.
	Status int `json:"status"`
}

// MarkupRequest is the argument of "markup" for the content of one element. Without an argument, "markup" returns the whole document.
type MarkupRequest struct {
	Root uint32 `json:"root"`
}

// Markup is the response to "markup": a document as a reader sees it.
type Markup struct {
	HTML string `json:"html"`
	// Unseen is the text of the document that is not visible.
	Unseen string `json:"unseen"`
	// Truncated reports that the document exceeds the script's limit.
	Truncated bool `json:"truncated"`
	// MediaArea is the area of the viewport that pictures cover. ViewArea is the area of the viewport. Both are in square CSS pixels.
	// Overlapping pictures count twice.
	MediaArea float64 `json:"mediaArea"`
	ViewArea  float64 `json:"viewArea"`
	URL       string  `json:"url"`
	Title     string  `json:"title"`
	// Type is the document's media type, such as "text/html".
	Type string `json:"type"`
}
