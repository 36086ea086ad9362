package rules

import (
	"fmt"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/dom"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/folders"
	"github.com/domtap/domtap/internal/lazyregexp"
)

// Limits of several services, as documented in the protos.
const (
	MaxTimeout = 5 * time.Minute
	// MaxID limits the names of tabs, sessions, frames and the like, in bytes.
	MaxID = 200
	// MaxClientID limits the name of a client, in characters.
	MaxClientID = 100
	// MaxHeaders limits the HTTP headers in one list.
	MaxHeaders = 50

	maxHeaderValue = 8 << 10
	maxText        = 100_000
	maxWords       = 1000
	maxSearchText  = 1000
	maxOffset      = 10 * 365 * 24 * time.Hour
)

// The range of max_tokens. 0 is always allowed and means unlimited.
const (
	minBudget = 200
	maxBudget = 50_000
)

// headerName matches the name of an HTTP header.
var headerName = lazyregexp.New("^[!#$%&'*+.^_`|~0-9A-Za-z-]+$")

// TabID requires the name of a tab.
func (v *Violations) TabID(id string) {
	if v.Want(id != "", "tab_id", "is required: ListTabs names the open tabs") {
		v.MaxBytes("tab_id", id, MaxID)
	}
}

// SessionID checks the name of a session. The empty name means the default session.
func (v *Violations) SessionID(id string) { v.MaxBytes("session_id", id, MaxID) }

// Ref checks an optional ref.
func (v *Violations) Ref(field string, ref *uint32) {
	v.Want(ref == nil || dom.Ref(*ref) != dom.NoRef, field, "must be the ref of an element, from GetDom or GetCompact")
}

// URL checks a URL against the syntax and the URL policy. File URLs are checked by the tab, which knows the daemon's directories.
func (v *Violations) URL(url string) {
	err := ParseURL(url)
	if err == nil || folders.IsURL(url) && err.Kind == apierr.Refused {
		return
	}
	if err.Kind == apierr.Refused {
		v.refused = err
		return
	}
	v.Want(false, "url", err.Message)
}

// ClientID checks the ID that a client chose for itself.
func (v *Violations) ClientID(id string) {
	v.Want(utf8.RuneCountInString(id) <= MaxClientID, "client_id", "must have at most 100 characters")
}

// Budget checks max_tokens. unset is the default of the request, for the error message.
func (v *Violations) Budget(field string, budget, unset int32) {
	v.Want(budget == 0 || minBudget <= budget && budget <= maxBudget,
		field, fmt.Sprintf("must be 0 (unlimited) or 200 to 50000; unset means %d", unset))
}

// DiffFormat checks the format of the changes after an action or a wait.
func (v *Violations) DiffFormat(format domtapv1.Format) {
	v.Want(IsDiffFormat(format), "format", "must be DIFF or DENSE_DIFF, or unset for the structured diff")
}

// IsDiffFormat reports whether a format is one of changes.
func IsDiffFormat(format domtapv1.Format) bool {
	switch format {
	case domtapv1.Format_FORMAT_UNSPECIFIED, domtapv1.Format_FORMAT_DIFF, domtapv1.Format_FORMAT_DENSE_DIFF:
		return true
	}
	return false
}

// Viewport checks an optional viewport.
func (v *Violations) Viewport(field string, size *domtapv1.Viewport) {
	if size == nil {
		return
	}
	v.Want(1 <= size.GetWidth() && size.GetWidth() <= 10_000, field+".width", "must be 1 to 10000 CSS pixels")
	v.Want(1 <= size.GetHeight() && size.GetHeight() <= 10_000, field+".height", "must be 1 to 10000 CSS pixels")
}

// Text checks a text to type into the page.
func (v *Violations) Text(field, text string) {
	v.Want(utf8.RuneCountInString(text) <= maxText, field, "must have at most 100000 characters")
}

// PromptText checks the text for a prompt, which is nil if the prompt keeps its default.
func (v *Violations) PromptText(field string, text *string, accept bool) {
	if text == nil {
		return
	}
	v.Text(field, *text)
	v.Want(accept, field, "must not be set when the dialog is dismissed: set accept too")
}

// Words checks a text of an element or its surroundings.
func (v *Violations) Words(field, words string) {
	v.Want(utf8.RuneCountInString(words) <= maxWords, field, fmt.Sprintf("must have at most %d characters", maxWords))
	v.Want(words == "" || !Blank(words), field, "must not be blank")
}

// SearchText checks a text to search for. It refuses white space, which would match everywhere.
func (v *Violations) SearchText(field, text string) {
	v.Want(text == "" || !Blank(text), field, "must not be blank")
	v.Want(len(text) <= maxSearchText, field, "must have at most 1000 bytes: a part of the text is enough")
}

// Blank reports whether a text has only white space.
func Blank(text string) bool { return strings.TrimSpace(text) == "" }

// Timeout checks an optional timeout.
func (v *Violations) Timeout(field string, d *durationpb.Duration) {
	ok := d == nil || d.CheckValid() == nil && 0 < d.AsDuration() && d.AsDuration() <= MaxTimeout
	v.Want(ok, field, "must be more than 0 and at most 5 minutes")
}

// Within reports whether a duration is valid and in a range.
func Within(d *durationpb.Duration, least, most time.Duration) bool {
	return d.CheckValid() == nil && least <= d.AsDuration() && d.AsDuration() <= most
}

// Moment checks an optional moment of a recording.
func (v *Violations) Moment(at *domtapv1.Moment) {
	if at == nil {
		return
	}
	switch when := at.GetWhen().(type) {
	case *domtapv1.Moment_Time:
		v.Want(when.Time.CheckValid() == nil, "at.time", "must be a valid time")
	case *domtapv1.Moment_Offset:
		v.Want(Within(when.Offset, 0, maxOffset), "at.offset", "must be 0 to 10 years")
	case nil:
		v.Want(false, "at", "must have a time, an offset or a revision")
	}
	v.MaxBytes("at.epoch", at.GetEpoch(), MaxID)
}

// InRange reports whether low <= n <= high. It returns false for NaN.
func InRange(n, low, high float64) bool { return low <= n && n <= high }

// Headers checks a list of HTTP headers.
func (v *Violations) Headers(field string, headers []*domtapv1.Header) {
	v.MaxEntries(field, len(headers), MaxHeaders)
	for i, h := range headers[:min(len(headers), MaxHeaders)] {
		at := fmt.Sprintf("%s[%d]", field, i)
		v.HeaderName(at+".name", h.GetName())
		v.HeaderValue(at+".value", h.GetValue(), maxHeaderValue)
	}
}

// HeaderName checks the name of an HTTP header.
func (v *Violations) HeaderName(field, name string) {
	v.Want(len(name) <= MaxID && headerName().MatchString(name), field, "must be the name of an HTTP header")
}

// HeaderValue checks the value of an HTTP header.
func (v *Violations) HeaderValue(field, value string, most int) {
	v.MaxBytes(field, value, most)
	plain := !strings.ContainsFunc(value, func(r rune) bool {
		return r < ' ' && r != '\t' || r == 0x7f || r == utf8.RuneError
	})
	v.Want(plain, field, "must not contain line breaks or other control characters")
}

// Origin checks an origin.
func (v *Violations) Origin(field, origin string) {
	u, err := url.Parse(origin)
	ok := err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && u.User == nil && u.Path == "" &&
		u.RawQuery == "" && u.Fragment == "" && len(origin) <= MaxID+len("https://")+MaxID
	v.Want(ok, field, "must be an origin, such as https://example.com, without a path")
}
