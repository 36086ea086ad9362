package provider

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/domtap/domtap/internal/search"
)

// maxComplaint is the most characters of a provider's complaint that an error repeats.
const maxComplaint = 300

// maxRetry bounds how long a quota lasts: a month, as plans have it.
const maxRetry = 31 * 24 * time.Hour

// statuses are what the statuses of HTTP mean for providers that do not say otherwise. 5xx are Unavailable, and all
// others NotUnderstood.
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

// advice is what to do about each kind of refusal.
var advice = map[search.ErrorKind]string{
	search.KeyRefused:    "the key was refused: correct the key that the daemon has (--search-key-file of domtap serve, or DOMTAP_SEARCH_KEY)",
	search.Quota:         "the quota is used up: wait, or use another provider or plan",
	search.NotUnderstood: "the answer is not what it documents: check its URL",
	search.Unavailable:   "it failed: try again later, or use another provider",
	search.Rejected:      "the query was rejected: shorten or simplify it",
}

// refused is the error for an answer with a status other than 200.
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

// kindOf finds what an answer means: by the provider's code, its status, or the common table.
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

// access says what a provider without keys wants.
func (r *remote) access() string {
	return "its settings.yml must list json in search.formats, and its limiter must let the daemon pass"
}

// retryAfter returns how long a quota lasts; 0: nobody says it.
func (r *remote) retryAfter(h http.Header) time.Duration {
	wait := retryAfter(h.Get("Retry-After"), time.Now())
	if wait == 0 && r.retry != nil {
		wait = r.retry(h)
	}
	return min(max(0, wait), maxRetry)
}

// retryAfter reads a Retry-After header: seconds, or a date.
func retryAfter(text string, now time.Time) time.Duration {
	if wait := seconds(text); wait > 0 {
		return wait
	}
	if at, err := http.ParseTime(text); err == nil {
		return at.Sub(now)
	}
	return 0
}

// seconds reads a number of seconds, at most maxRetry; 0: it is none.
func seconds(text string) time.Duration {
	n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	if err != nil || n < 0 {
		return 0
	}
	return time.Duration(min(n, int64(maxRetry/time.Second))) * time.Second
}
