package check

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/sessions"
)

// Limits of storage, as documented in storage.proto and session.proto.
const (
	maxEdits = 1000
	// maxVersion is the largest integer that JavaScript represents exactly.
	maxVersion = 1<<53 - 1
)

func checkListCookies(v *violations, r *domtapv1.ListCookiesRequest) {
	checkSessionID(v, r.GetSessionId())
	checkCookieFilter(v, r.GetFilter())
}

func checkSetCookies(v *violations, r *domtapv1.SetCookiesRequest) {
	checkSessionID(v, r.GetSessionId())
	v.want(1 <= len(r.GetCookies()) && len(r.GetCookies()) <= maxCookies, "cookies", fmt.Sprintf("must have 1 to %d entries", maxCookies))
	for i, one := range r.GetCookies()[:min(len(r.GetCookies()), maxCookies)] {
		checkCookie(v, fmt.Sprintf("cookies[%d]", i), one)
	}
}

func checkDeleteCookies(v *violations, r *domtapv1.DeleteCookiesRequest) {
	checkSessionID(v, r.GetSessionId())
	f := r.GetFilter()
	checkCookieFilter(v, f)
	empty := f.GetName() == "" && f.GetDomain() == "" && f.GetPath() == "" && (f == nil || f.PartitionKey == nil)
	v.want(!empty || r.GetAll(), "filter", "must have a field, unless all is set")
	v.want(empty || !r.GetAll(), "all", "must not be set with a filter")
}

func checkCookieFilter(v *violations, f *domtapv1.CookieFilter) {
	checkMaxBytes(v, "filter.name", f.GetName(), maxCookie)
	checkMaxBytes(v, "filter.domain", f.GetDomain(), maxID+maxID)
	checkMaxBytes(v, "filter.path", f.GetPath(), maxCookie)
	checkMaxBytes(v, "filter.partition_key", f.GetPartitionKey(), maxID+maxID)
}

func checkGetLocalStorage(v *violations, r *domtapv1.GetLocalStorageRequest) {
	checkSessionID(v, r.GetSessionId())
	checkOriginOrNone(v, r.GetOrigin())
}

func checkEditLocalStorage(v *violations, r *domtapv1.EditLocalStorageRequest) {
	checkSessionID(v, r.GetSessionId())
	if v.want(r.GetOrigin() != "", "origin", "is required, such as https://example.com") {
		checkOrigin(v, "origin", r.GetOrigin())
	}
	checkEdit(v, r.GetEdit())
}

func checkGetSessionStorage(v *violations, r *domtapv1.GetSessionStorageRequest) {
	checkTabID(v, r.GetTabId())
	checkOriginOrNone(v, r.GetOrigin())
}

func checkEditSessionStorage(v *violations, r *domtapv1.EditSessionStorageRequest) {
	checkTabID(v, r.GetTabId())
	checkOriginOrNone(v, r.GetOrigin())
	checkEdit(v, r.GetEdit())
}

func checkOriginOrNone(v *violations, origin string) {
	if origin != "" {
		checkOrigin(v, "origin", origin)
	}
}

func checkEdit(v *violations, e *domtapv1.StorageEdit) {
	v.want(e.GetClear() || len(e.GetDelete()) > 0 || len(e.GetSet()) > 0, "edit", "must have clear, delete or set")
	v.want(len(e.GetDelete()) <= maxEdits, "edit.delete", fmt.Sprintf("must have at most %d entries", maxEdits))
	v.want(len(e.GetSet()) <= maxEdits, "edit.set", fmt.Sprintf("must have at most %d entries", maxEdits))
}

func checkState(v *violations, field string, s *domtapv1.StorageState) {
	v.want(len(s.GetCookies()) <= maxCookies, field+".cookies", fmt.Sprintf("must have at most %d entries", maxCookies))
	for i, cookie := range s.GetCookies()[:min(len(s.GetCookies()), maxCookies)] {
		checkCookie(v, fmt.Sprintf("%s.cookies[%d]", field, i), cookie)
	}
	v.want(len(s.GetOrigins()) <= maxOrigins, field+".origins", fmt.Sprintf("must have at most %d entries", maxOrigins))
	size := 0
	seen := map[string]bool{}
	for i, o := range s.GetOrigins()[:min(len(s.GetOrigins()), maxOrigins)] {
		at := fmt.Sprintf("%s.origins[%d].origin", field, i)
		checkOrigin(v, at, o.GetOrigin())
		v.want(!seen[o.GetOrigin()], at, "must not be listed twice")
		seen[o.GetOrigin()] = true
		for _, e := range o.GetLocalStorage() {
			size += len(e.GetName()) + len(e.GetValue())
		}
		size += checkDatabases(v, fmt.Sprintf("%s.origins[%d].indexed_db", field, i), o.GetIndexedDb())
	}
	v.want(size <= sessions.MaxStateBytes, field+".origins",
		fmt.Sprintf("must have at most %d MiB in all", sessions.MaxStateBytes>>20))
}

var sameSites = []string{"", "Strict", "Lax", "None"}

func checkCookie(v *violations, field string, k *domtapv1.Cookie) {
	size := len(k.GetName()) + len(k.GetValue()) + len(k.GetPath())
	v.want(size <= maxCookie, field, fmt.Sprintf("must have at most %d bytes", maxCookie))
	v.want(k.GetName() != "" || k.GetValue() != "", field+".name", "is required")
	host := k.GetDomain() != "" && len(k.GetDomain()) <= maxID+maxID && !strings.ContainsAny(k.GetDomain(), "/:@ ")
	v.want(host, field+".domain",
		"is required: a host such as example.com, or .example.com for subdomains too")
	v.want(k.GetPath() == "" || strings.HasPrefix(k.GetPath(), "/"), field+".path", "must begin with /")
	v.want(inRange(k.GetExpires(), -1, 1e11), field+".expires", "must be seconds since 1970, or -1")
	v.want(slices.Contains(sameSites, k.GetSameSite()), field+".same_site", "must be Strict, Lax, None or empty")
	v.want(k.GetSameSite() != "None" || k.GetSecure(), field+".secure", "must be set for a cookie with same_site None")
	v.want(slices.Contains(priorities, k.GetPriority()), field+".priority", "must be Low, Medium or High")
	if k.GetPartitionKey() != "" {
		checkOrigin(v, field+".partition_key", k.GetPartitionKey())
		v.want(k.GetSecure(), field+".secure", "must be set for a cookie with a partition_key")
	}
}

var priorities = []string{"", "Low", "Medium", "High"}

// checkDatabases checks the databases of an origin, and returns their total size in bytes.
func checkDatabases(v *violations, field string, all []*domtapv1.IndexedDatabase) int {
	v.want(len(all) <= sessions.MaxDatabases, field, fmt.Sprintf("must have at most %d entries", sessions.MaxDatabases))
	size := 0
	seen := map[string]bool{}
	for i, d := range all[:min(len(all), sessions.MaxDatabases)] {
		at := fmt.Sprintf("%s[%d]", field, i)
		v.want(!seen[d.GetName()], at+".name", "must not be listed twice")
		seen[d.GetName()] = true
		whole := inRange(d.GetVersion(), 1, maxVersion) && math.Trunc(d.GetVersion()) == d.GetVersion()
		v.want(whole, at+".version", "must be a whole number of at least 1")
		size += len(d.GetName())
		for j, s := range d.GetStores() {
			size += checkStore(v, fmt.Sprintf("%s.stores[%d]", at, j), s)
		}
	}
	return size
}

func checkStore(v *violations, at string, s *domtapv1.ObjectStore) int {
	inline := s.KeyPath != nil || len(s.GetKeyPathArray()) > 0
	v.want(s.KeyPath == nil || len(s.GetKeyPathArray()) == 0, at+".key_path", "must not be set with a key_path_array")
	size := len(s.GetName()) + len(s.GetKeyPath()) + len(strings.Join(s.GetKeyPathArray(), ""))
	for k, x := range s.GetIndexes() {
		v.want((x.KeyPath != nil) != (len(x.GetKeyPathArray()) > 0), fmt.Sprintf("%s.indexes[%d].key_path", at, k), "is required, or a key_path_array")
		size += len(x.GetName()) + len(x.GetKeyPath()) + len(strings.Join(x.GetKeyPathArray(), ""))
	}
	for k, r := range s.GetRecords() {
		field := fmt.Sprintf("%s.records[%d]", at, k)
		keys, values := given(r.Key, r.KeyEncoded), given(r.Value, r.ValueEncoded)
		if inline {
			v.want(keys == 0, field+".key", "must not be set: the store has a key_path")
		} else {
			v.want(keys == 1 || keys == 0 && s.GetAutoIncrement(), field+".key", "is required, or key_encoded")
		}
		v.want(values == 1, field+".value", "is required, or value_encoded")
		for _, one := range []*string{r.Key, r.KeyEncoded, r.Value, r.ValueEncoded} {
			if one != nil {
				size += len(*one)
				v.want(json.Valid([]byte(*one)), field, "must be JSON")
			}
		}
	}
	return size
}

// given counts the non-nil values.
func given(all ...*string) int {
	n := 0
	for _, one := range all {
		if one != nil {
			n++
		}
	}
	return n
}
