package check

import (
	"fmt"
	"time"
	"unicode/utf8"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/dom"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/folders"
)

// Limits of several services, as documented in the protos.
const (
	MaxTimeout  = 5 * time.Minute
	maxInterval = time.Minute
	maxID       = 200
	maxClientID = 100
	maxText     = 100_000
	maxTokens   = 4 << 20
	maxSteps    = 32
	// maxAnswers limits the steps of a turn that return a text or a picture.
	maxAnswers = 8
	maxNames   = 16
)

// The range of max_tokens. 0 is always allowed and means unlimited.
const (
	minBudget = 200
	maxBudget = 50_000
)

func checkTabID(v *violations, id string) {
	if v.want(id != "", "tab_id", "is required: ListTabs names the open tabs") {
		v.want(len(id) <= maxID, "tab_id", fmt.Sprintf("must have at most %d bytes", maxID))
	}
}

func checkSessionID(v *violations, id string) {
	v.want(len(id) <= maxID, "session_id", fmt.Sprintf("must have at most %d bytes", maxID))
}

// checkRef checks an optional ref.
func checkRef(v *violations, field string, ref *uint32) {
	v.want(ref == nil || dom.Ref(*ref) != dom.NoRef, field, "must be the ref of an element, from GetDom or GetCompact")
}

// checkURL checks a URL against the syntax and the URL policy. File URLs are checked by the tab, which knows the daemon's directories.
func checkURL(v *violations, url string) {
	err := parseURL(url)
	if err == nil || folders.IsURL(url) && err.Kind == apierr.Refused {
		return
	}
	if err.Kind == apierr.Refused {
		v.refused = err
		return
	}
	v.want(false, "url", err.Message)
}

// checkClientID checks the ID that a client chose for itself.
func checkClientID(v *violations, id string) {
	v.want(utf8.RuneCountInString(id) <= maxClientID, "client_id", "must have at most 100 characters")
}

// checkBudget checks max_tokens. unset is the default of the request, for the error message.
func checkBudget(v *violations, field string, budget, unset int32) {
	v.want(budget == 0 || minBudget <= budget && budget <= maxBudget,
		field, fmt.Sprintf("must be 0 (unlimited) or 200 to 50000; unset means %d", unset))
}

// checkViewport checks an optional viewport.
func checkViewport(v *violations, field string, size *domtapv1.Viewport) {
	if size == nil {
		return
	}
	v.want(1 <= size.GetWidth() && size.GetWidth() <= 10_000, field+".width", "must be 1 to 10000 CSS pixels")
	v.want(1 <= size.GetHeight() && size.GetHeight() <= 10_000, field+".height", "must be 1 to 10000 CSS pixels")
}

// checkMaxBytes checks the length of a value in bytes.
func checkMaxBytes(v *violations, field, value string, limit int) {
	v.want(len(value) <= limit, field, fmt.Sprintf("must have at most %d bytes", limit))
}

// checkText checks a text to type into the page.
func checkText(v *violations, field, text string) {
	v.want(utf8.RuneCountInString(text) <= maxText, field, "must have at most 100000 characters")
}

func checkEpoch(v *violations, epoch string) {
	v.want(len(epoch) <= maxID, "epoch", fmt.Sprintf("must have at most %d bytes", maxID))
}

// checkInterval checks that an optional duration is at most maxInterval.
func checkInterval(v *violations, field string, t *durationpb.Duration) {
	ok := t == nil || t.CheckValid() == nil && 0 <= t.AsDuration() && t.AsDuration() <= maxInterval
	v.want(ok, field, "must be 0 to 1 minute")
}

func checkSpan(v *violations, at string, d *durationpb.Duration, least time.Duration, description string) {
	ok := d == nil || d.CheckValid() == nil && least <= d.AsDuration() && d.AsDuration() <= maxSpan
	v.want(ok, at, description)
}

func checkTimeout(v *violations, at string, d *durationpb.Duration) {
	ok := d == nil || d.CheckValid() == nil && 0 < d.AsDuration() && d.AsDuration() <= MaxTimeout
	v.want(ok, at, "must be more than 0 and at most 5 minutes")
}
