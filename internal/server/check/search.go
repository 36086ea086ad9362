package check

import (
	"strings"
	"unicode/utf8"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/search"
)

// Limits of Search, as documented in the proto.
const (
	maxSearch       = 400
	defaultSearch   = 1500
	maxProviderName = 40
)

func checkSearch(v *violations, r *domtapv1.SearchRequest) {
	v.want(strings.TrimSpace(r.GetQuery()) != "" && utf8.RuneCountInString(r.GetQuery()) <= maxSearch, "query", "must have 1 to 400 characters")
	_, known := domtapv1.SearchKind_name[int32(r.GetKind())]
	v.want(known, "kind", "must be WEB, NEWS, IMAGES, PLACES or SHOPPING")
	v.want(r.Limit == nil || 1 <= r.GetLimit() && r.GetLimit() <= search.MaxCount, "limit", "must be 1 to 50; unset means 10")
	checkMaxBytes(v, "provider", r.GetProvider(), maxProviderName)
	checkBudget(v, "max_tokens", r.GetMaxTokens(), defaultSearch)
	age := r.GetMaxAge()
	v.want(age == nil || age.CheckValid() == nil && 0 <= age.AsDuration() && age.AsDuration() <= search.MaxAge, "max_age", "must be 0 to 24 hours; unset means 10 minutes")
}
