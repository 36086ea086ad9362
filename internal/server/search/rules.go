package search

import (
	"strings"
	"unicode/utf8"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/search"
	"github.com/domtap/domtap/internal/server/rules"
)

// Limits of Search, as documented in the proto.
const (
	maxSearch       = 400
	defaultSearch   = 1500 // of max_tokens
	maxProviderName = 40
)

// Rules are the rules of the requests of SearchService.
var Rules = rules.Of(checkSearch)

func checkSearch(v *rules.Violations, r *domtapv1.SearchRequest) {
	v.Want(strings.TrimSpace(r.GetQuery()) != "" && utf8.RuneCountInString(r.GetQuery()) <= maxSearch, "query", "must have 1 to 400 characters")
	rules.Known(v, "kind", r.GetKind(), "must be WEB, NEWS, IMAGES, PLACES or SHOPPING")
	rules.Range(v, "limit", r.Limit, 1, search.MaxCount, "must be 1 to 50; unset means 10")
	v.MaxBytes("provider", r.GetProvider(), maxProviderName)
	v.Budget("max_tokens", r.GetMaxTokens(), defaultSearch)
	age := r.GetMaxAge()
	v.Want(age == nil || age.CheckValid() == nil && 0 <= age.AsDuration() && age.AsDuration() <= search.MaxAge, "max_age", "must be 0 to 24 hours; unset means 10 minutes")
}
