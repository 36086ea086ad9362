package provider

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/domtap/domtap/internal/search"
)

// maxComplaint limits the characters of a provider's message in an error.
const maxComplaint = 300

// maxRetry limits the time until a quota is renewed to one month, the usual period of a plan.
const maxRetry = 31 * 24 * time.Hour

// statuses maps HTTP statuses to kinds of errors, for providers that do not override them. 5xx means Unavailable, and all others mean
// NotUnderstood.
var statuses = map[int]search.ErrorKind{
	http.StatusBadRequest:            search.Rejected,
	http.StatusUnauthorized:          search.KeyRefused,
	http.StatusPaymentRequired:       search.Quota,
	http.StatusForbidden:             search.KeyRefused,
	http.StatusRequestTimeout:        search.Unavailable,
	http.StatusRequestEntityTooLarge: search.Rejected,
	http.StatusRequestURITooLong:     search.Rejected,
	http.StatusUnprocessableEntity:   search.Rejected,
	http.StatusTooManyRequests:       search.Quota,
}

// advice maps each kind of refusal to a hint for the user.
var advice = map[search.ErrorKind]string{
	search.KeyRefused:    "the key was refused: correct the daemon's key (--search-key-file of domtap serve, or DOMTAP_SEARCH_KEY)",
	search.Quota:         "the quota is used up: wait, or use another provider or plan",
	search.NotUnderstood: "the response does not have the documented format: check the provider's URL",
	search.Unavailable:   "it failed: try again later, or use another provider",
	search.Rejected:      "the query was rejected: shorten or simplify it",
}

// refused returns the error for an answer with a status other than 200.
func (r *remote) refused(response *http.Response, body []byte) error {
	said := r.complaint(body)
	kind := r.kindOf(response.StatusCode, said)
	text := advice[kind]
	if kind == search.KeyRefused && !r.keyed {
		text = "access was refused: " + r.access()
	}
	text += fmt.Sprintf(" (status %d", response.StatusCode)
	if said.message != "" {
		text += ": " + said.message
	}
	failed := r.failed(kind, text+")")
	if kind == search.Quota {
		failed.RetryAfter = r.retryAfter(response.Header)
	}
	return failed
}

// kindOf returns the kind of error for an answer. It uses the provider's code, then the provider's status, then the common table.
func (r *remote) kindOf(status int, said complaint) search.ErrorKind {
	for _, by := range []string{said.code, strconv.Itoa(status)} {
		if kind, ok := r.refusals[by]; ok && by != "" {
			return kind
		}
	}
	if kind, ok := statuses[status]; ok {
		return kind
	}
	if status >= http.StatusInternalServerError {
		return search.Unavailable
	}
	return search.NotUnderstood
}

// access returns a hint for providers that have no keys.
func (r *remote) access() string {
	return "its settings.yml must list json in search.formats, and its limiter must let the daemon pass"
}

// retryAfter returns the time until the quota is renewed, or 0 if it is unknown.
func (r *remote) retryAfter(h http.Header) time.Duration {
	wait := retryAfter(h.Get("Retry-After"), time.Now())
	if wait == 0 && r.retry != nil {
		wait = r.retry(h)
	}
	return min(max(0, wait), maxRetry)
}

// retryAfter parses a Retry-After header, which contains seconds or a date.
func retryAfter(text string, now time.Time) time.Duration {
	if wait := seconds(text); wait > 0 {
		return wait
	}
	if at, err := http.ParseTime(text); err == nil {
		return at.Sub(now)
	}
	return 0
}

// seconds parses a number of seconds, at most maxRetry. It returns 0 if text is not a number.
func seconds(text string) time.Duration {
	n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	if err != nil || n < 0 {
		return 0
	}
	return time.Duration(min(n, int64(maxRetry/time.Second))) * time.Second
}
