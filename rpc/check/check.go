// Package check decides whether a request may be carried out as it stands. It looks at nothing but
// the request: whether a tab, a ref or a revision exists is for the actors to say.
//
// Request finds every fault of a request at once, so that a client can mend them all in one go. What
// passes it holds the ranges that the protos state, and handlers rely on that.
package check

import (
	"fmt"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/dom"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// Violation is one field that is out of range.
type Violation struct {
	// Field is the path of the field, such as "steps[2].click.target.ref".
	Field string
	// Description says what the field must be.
	Description string
}

// Invalid is the error for a request with fields out of range.
type Invalid struct {
	// Violations holds every violated field, in the order of the request's fields.
	Violations []Violation
}

// Error lists the violations.
func (e *Invalid) Error() string {
	parts := make([]string, len(e.Violations))
	for i, v := range e.Violations {
		parts[i] = v.Field + ": " + v.Description
	}
	return strings.Join(parts, "; ")
}

// Unsupported is the error for a request that is well formed and asks for what is not built yet.
type Unsupported struct {
	// Field is the path of the field that asks for it, or the name of the method.
	Field string
	// Instead says what works.
	Instead string
}

// Error names the field and what works instead.
func (e *Unsupported) Error() string {
	return fmt.Sprintf("%s is not implemented yet: %s", e.Field, e.Instead)
}

// Limits of the requests, as the protos state them.
const (
	MaxTimeout  = 5 * time.Minute
	maxInterval = time.Minute
	maxID       = 200
	maxClientID = 100
	maxText     = 100_000
	maxTokens   = 4 << 20
	maxSteps    = 8
	maxNames    = 16
	// maxViolations is how many faults an error names; package trailers bounds how long it is.
	maxViolations = 25
)

// Request returns nil for a request that may be carried out, and for messages that it does not know.
// Otherwise it returns an *Invalid, an *actor.Error of kind Refused for a URL that the policy forbids,
// or an *Unsupported: the first of these that applies.
func Request(m proto.Message) error {
	c := new(collector)
	switch r := m.(type) {
	case *domtapv1.GetDomRequest:
		c.getDom(r)
	case *domtapv1.GetCompactRequest:
		c.getCompact(r)
	case *domtapv1.WatchDomRequest:
		c.watchDom(r)
	case *domtapv1.WaitForRequest:
		c.waitFor(r)
	case *domtapv1.InteractRequest:
		c.interact(r)
	case *domtapv1.FillFormRequest:
		c.fillForm(r)
	case *domtapv1.ScreenshotRequest:
		c.screenshot(r)
	case *domtapv1.ReadPageRequest:
		c.readPage(r)
	case *domtapv1.CountTokensRequest:
		c.want(len(r.GetText()) <= maxTokens, "text", "must have at most 4 MiB; count it in parts")
	case *domtapv1.PruneTranscriptRequest:
		c.pruneTranscript(r)
	case *domtapv1.GetHistoryRequest:
		c.tabID(r.GetTabId())
	default:
		if !c.seeing(m) && !c.sessions(m) {
			c.tabs(m)
		}
	}
	return c.err()
}

// tabs checks the requests of TabService.
func (c *collector) tabs(m proto.Message) {
	switch r := m.(type) {
	case *domtapv1.OpenTabRequest:
		c.openTab(r)
	case *domtapv1.NavigateRequest:
		c.tabID(r.GetTabId())
		if c.want(r.GetUrl() != "", "url", "is required") {
			c.url("url", r.GetUrl())
		}
		c.navigation(r)
	case *domtapv1.GoBackRequest:
		c.tabID(r.GetTabId())
		c.navigation(r)
	case *domtapv1.GoForwardRequest:
		c.tabID(r.GetTabId())
		c.navigation(r)
	case *domtapv1.ReloadRequest:
		c.tabID(r.GetTabId())
		c.navigation(r)
	case *domtapv1.GetTabRequest:
		c.tabID(r.GetTabId())
	case *domtapv1.CloseTabRequest:
		c.tabID(r.GetTabId())
	case *domtapv1.SetRestoreRequest:
		c.tabID(r.GetTabId())
	case *domtapv1.AnswerDialogRequest:
		c.tabID(r.GetTabId())
		c.text("prompt_text", r.GetPromptText())
		c.want(r.PromptText == nil || r.GetAccept(), "prompt_text", "must not be set when the dialog is dismissed: set accept too")
	case *domtapv1.GetStatsRequest:
		c.sessionID(r.GetSessionId())
		c.want(len(r.GetTabId()) <= maxID, "tab_id", fmt.Sprintf("must have at most %d bytes", maxID))
	case *domtapv1.ListTabsRequest:
		c.sessionID(r.GetSessionId())
	case *domtapv1.WatchTabsRequest:
		c.sessionID(r.GetSessionId())
	}
}

func (c *collector) openTab(r *domtapv1.OpenTabRequest) {
	if r.GetUrl() != "" {
		c.url("url", r.GetUrl())
	}
	c.sessionID(r.GetSessionId())
	if v := r.GetViewport(); v != nil {
		c.want(1 <= v.GetWidth() && v.GetWidth() <= 10_000, "viewport.width", "must be 1 to 10000 CSS pixels")
		c.want(1 <= v.GetHeight() && v.GetHeight() <= 10_000, "viewport.height", "must be 1 to 10000 CSS pixels")
	}
	c.navigation(r)
}

func (c *collector) screenshot(r *domtapv1.ScreenshotRequest) {
	c.tabID(r.GetTabId())
	_, known := domtapv1.ImageFormat_name[int32(r.GetFormat())]
	c.want(known, "format", "must be PNG, JPEG or WEBP")
	if r.Quality != nil {
		lossy := r.GetFormat() == domtapv1.ImageFormat_IMAGE_FORMAT_JPEG || r.GetFormat() == domtapv1.ImageFormat_IMAGE_FORMAT_WEBP
		c.want(lossy && 1 <= r.GetQuality() && r.GetQuality() <= 100, "quality", "must be 1 to 100, and only with JPEG or WEBP")
	}
	c.ref("ref", r.Ref)
	c.want(r.Ref == nil || !r.GetFullPage(), "full_page", "must not be set together with ref")
	c.want(!r.GetMarks() || r.GetFormat() != domtapv1.ImageFormat_IMAGE_FORMAT_WEBP, "marks", "must be drawn as PNG or JPEG")
}

func (c *collector) readPage(r *domtapv1.ReadPageRequest) {
	c.tabID(r.GetTabId())
	mode := r.GetMode()
	_, known := domtapv1.ReadMode_name[int32(mode)]
	c.want(known, "mode", "must be AUTO, CONTENT, INTERACTIVE or VISUAL")
	budget := r.GetMaxTokens()
	c.want(budget == 0 || minBudget <= budget && budget <= maxBudget,
		"max_tokens", "must be 0 (unlimited) or 200 to 50000; unset means 1500")
	cursor := r.GetCursor()
	c.want(len(cursor) <= maxReadCursor, "cursor", "must be the next_cursor of an answer or the cursor of a heading, as it came")
	chosen := mode != domtapv1.ReadMode_READ_MODE_UNSPECIFIED && mode != domtapv1.ReadMode_READ_MODE_AUTO
	text := strings.HasPrefix(cursor, "r")
	c.want(cursor == "" || !chosen || text == (mode == domtapv1.ReadMode_READ_MODE_CONTENT),
		"mode", "is not that of the answer that the cursor came with: leave it unset")
}

// collector gathers what is wrong with a request.
type collector struct {
	violations []Violation
	refused    error
	missing    *Unsupported
}

// err returns the gravest fault.
func (c *collector) err() error {
	switch {
	case len(c.violations) > 0:
		return &Invalid{Violations: c.violations}
	case c.refused != nil:
		return c.refused
	case c.missing != nil:
		return c.missing
	}
	return nil
}

// want notes a violation unless ok, and returns ok.
func (c *collector) want(ok bool, field, description string) bool {
	if !ok && len(c.violations) < maxViolations {
		c.violations = append(c.violations, Violation{Field: field, Description: description})
	}
	return ok
}

// unsupported notes the first thing that is not built yet.
func (c *collector) unsupported(field, instead string) {
	if c.missing == nil {
		c.missing = &Unsupported{Field: field, Instead: instead}
	}
}

func (c *collector) tabID(id string) {
	if c.want(id != "", "tab_id", "is required: ListTabs names the open tabs") {
		c.want(len(id) <= maxID, "tab_id", fmt.Sprintf("must have at most %d bytes", maxID))
	}
}

func (c *collector) sessionID(id string) {
	c.want(len(id) <= maxID, "session_id", fmt.Sprintf("must have at most %d bytes", maxID))
}

// ref checks a ref that may be unset.
func (c *collector) ref(field string, ref *uint32) {
	c.want(ref == nil || dom.Ref(*ref) != dom.NoRef, field, "must be the ref of an element, from GetDom or GetCompact")
}

// url checks a URL against the syntax and the policy.
func (c *collector) url(field, url string) {
	err := parseURL(url)
	if err == nil {
		return
	}
	if err.Kind == actor.Refused {
		c.refused = err
		return
	}
	c.want(false, field, err.Message)
}

// navigation checks what all requests that load a document have in common.
func (c *collector) navigation(r interface {
	GetWaitUntil() domtapv1.WaitUntil
	GetTimeout() *durationpb.Duration
}) {
	_, known := domtapv1.WaitUntil_name[int32(r.GetWaitUntil())]
	c.want(known, "wait_until", "must be COMMIT, DOM_CONTENT_LOADED, LOAD or NETWORK_IDLE")
	c.timeout("timeout", r.GetTimeout())
}
