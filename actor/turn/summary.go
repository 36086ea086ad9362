package turn

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/actor/internal/text"
	"github.com/domtap/domtap/actor/target"
	"github.com/domtap/domtap/dom"
	"github.com/domtap/domtap/internal/truncate"
)

// summarize describes an action in a few words: click "Submit".
func summarize(a driver.Action, el *dom.Element) string {
	verb := verbOf(a)
	switch {
	case a.Kind == driver.Press:
		return verb + " " + strconv.Quote(truncate.Runes(a.Text, text.Long))
	case a.Point != nil && a.Ref == dom.NoRef:
		return fmt.Sprintf("%s %g,%g", verb, a.Point.X, a.Point.Y)
	case a.Kind == driver.MouseMove && a.Untargeted():
		return fmt.Sprintf("%s by %g,%g", verb, a.Delta.X, a.Delta.Y)
	case a.Untargeted() && el == nil:
		return verb
	case el == nil:
		return verb + " " + number(a.Ref)
	}
	if name := target.DisplayName(el); name != "" {
		return verb + " " + strconv.Quote(name)
	}
	return verb + " " + target.Describe(el) + " " + number(el.Ref)
}

// verbOf returns the verb for an action. A double click has its own.
func verbOf(a driver.Action) string {
	if a.Kind == driver.Click && a.Clicks == 2 {
		return "dblclick"
	}
	return a.Kind.String()
}

func number(ref dom.Ref) string { return strconv.FormatUint(uint64(ref), 10) }

// word describes the outcome of an action in one or two words.
func word(deed driver.DoResult, err error) string {
	if err == nil {
		return cmp.Or(deed.Detail, "ok")
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return "timed out"
	}
	if e, ok := errors.AsType[*apierr.Error](err); ok {
		switch e.Kind {
		case apierr.Stale:
			if isOther(err) {
				return "reused for another element"
			}
			return "gone"
		case apierr.NotActionable:
			return "not actionable"
		case apierr.NotDelivered:
			return "not delivered"
		case apierr.Ambiguous:
			return "ambiguous"
		case apierr.NoMatch:
			return "not found"
		case apierr.Invalid:
			return "no such ref"
		case apierr.Aborted:
			return "the page navigated"
		case apierr.DialogOpen:
			return "a dialog is open"
		case apierr.Unresponsive:
			return "the page stopped answering"
		}
	}
	return "failed"
}

// DestinationMark starts the part of a summary about the page that an action led to.
const DestinationMark = " → "

// maxPlace limits how much of a title or URL a summary shows, in bytes.
const maxPlace = 80

// place describes a page in a few words: Thanks (/done). A URL on the same site as before is shortened to its path.
func place(title, now, before string) string {
	at := now
	to, err := url.Parse(now)
	from, bad := url.Parse(before)
	if err == nil && bad == nil && to.Host != "" && to.Host == from.Host && to.Scheme == from.Scheme {
		to.Scheme, to.Host, to.User = "", "", nil
		if at = to.String(); at == "" {
			at = "/"
		}
	}
	at = "(" + short(dom.MaskCredentials(at)) + ")"
	if title == "" {
		return at
	}
	return short(title) + " " + at
}

// short truncates a text of the page.
func short(s string) string {
	if len(s) <= maxPlace {
		return s
	}
	return truncate.Bytes(s, maxPlace) + truncate.Ellipsis
}
