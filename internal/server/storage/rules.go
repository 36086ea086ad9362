package storage

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/server/rules"
	"github.com/domtap/domtap/internal/sessions"
)

// Limits of storage, as documented in storage.proto and session.proto.
const (
	maxCookies = 5000
	maxCookie  = 8 << 10
	maxOrigins = 500
	maxEdits   = 1000
	// maxVersion is the largest integer that JavaScript represents exactly.
	maxVersion = 1<<53 - 1
)

// Rules are the rules of the requests of StorageService.
var Rules = rules.Union(
	rules.Of(checkListCookies),
	rules.Of(checkSetCookies),
	rules.Of(checkDeleteCookies),
	rules.Of(checkGetLocalStorage),
	rules.Of(checkEditLocalStorage),
	rules.Of(checkGetSessionStorage),
	rules.Of(checkEditSessionStorage),
)

func checkListCookies(v *rules.Violations, r *domtapv1.ListCookiesRequest) {
	v.SessionID(r.GetSessionId())
	checkCookieFilter(v, r.GetFilter())
}

func checkSetCookies(v *rules.Violations, r *domtapv1.SetCookiesRequest) {
	v.SessionID(r.GetSessionId())
	v.Want(1 <= len(r.GetCookies()) && len(r.GetCookies()) <= maxCookies, "cookies", fmt.Sprintf("must have 1 to %d entries", maxCookies))
	for i, one := range r.GetCookies()[:min(len(r.GetCookies()), maxCookies)] {
		checkCookie(v, fmt.Sprintf("cookies[%d]", i), one)
	}
}

func checkDeleteCookies(v *rules.Violations, r *domtapv1.DeleteCookiesRequest) {
	v.SessionID(r.GetSessionId())
	f := r.GetFilter()
	checkCookieFilter(v, f)
	empty := f.GetName() == "" && f.GetDomain() == "" && f.GetPath() == "" && (f == nil || f.PartitionKey == nil)
	v.Want(!empty || r.GetAll(), "filter", "must have a field, unless all is set")
	v.Want(empty || !r.GetAll(), "all", "must not be set with a filter")
}

func checkCookieFilter(v *rules.Violations, f *domtapv1.CookieFilter) {
	v.MaxBytes("filter.name", f.GetName(), maxCookie)
	v.MaxBytes("filter.domain", f.GetDomain(), rules.MaxID+rules.MaxID)
	v.MaxBytes("filter.path", f.GetPath(), maxCookie)
	v.MaxBytes("filter.partition_key", f.GetPartitionKey(), rules.MaxID+rules.MaxID)
}

func checkGetLocalStorage(v *rules.Violations, r *domtapv1.GetLocalStorageRequest) {
	v.SessionID(r.GetSessionId())
	checkOriginOrNone(v, r.GetOrigin())
}

func checkEditLocalStorage(v *rules.Violations, r *domtapv1.EditLocalStorageRequest) {
	v.SessionID(r.GetSessionId())
	if v.Want(r.GetOrigin() != "", "origin", "is required, such as https://example.com") {
		v.Origin("origin", r.GetOrigin())
	}
	checkEdit(v, r.GetEdit())
}

func checkGetSessionStorage(v *rules.Violations, r *domtapv1.GetSessionStorageRequest) {
	v.TabID(r.GetTabId())
	checkOriginOrNone(v, r.GetOrigin())
}

func checkEditSessionStorage(v *rules.Violations, r *domtapv1.EditSessionStorageRequest) {
	v.TabID(r.GetTabId())
	checkOriginOrNone(v, r.GetOrigin())
	checkEdit(v, r.GetEdit())
}

func checkOriginOrNone(v *rules.Violations, origin string) {
	if origin != "" {
		v.Origin("origin", origin)
	}
}

func checkEdit(v *rules.Violations, e *domtapv1.StorageEdit) {
	v.Want(e.GetClear() || len(e.GetDelete()) > 0 || len(e.GetSet()) > 0, "edit", "must have clear, delete or set")
	v.MaxEntries("edit.delete", len(e.GetDelete()), maxEdits)
	v.MaxEntries("edit.set", len(e.GetSet()), maxEdits)
}

// CheckState checks a storage state.
func CheckState(v *rules.Violations, field string, s *domtapv1.StorageState) {
	v.MaxEntries(field+".cookies", len(s.GetCookies()), maxCookies)
	for i, cookie := range s.GetCookies()[:min(len(s.GetCookies()), maxCookies)] {
		checkCookie(v, fmt.Sprintf("%s.cookies[%d]", field, i), cookie)
	}
	v.MaxEntries(field+".origins", len(s.GetOrigins()), maxOrigins)
	size := 0
	seen := map[string]bool{}
	for i, o := range s.GetOrigins()[:min(len(s.GetOrigins()), maxOrigins)] {
		at := fmt.Sprintf("%s.origins[%d].origin", field, i)
		v.Origin(at, o.GetOrigin())
		v.Want(!seen[o.GetOrigin()], at, "must not be listed twice")
		seen[o.GetOrigin()] = true
		for _, e := range o.GetLocalStorage() {
			size += len(e.GetName()) + len(e.GetValue())
		}
		size += checkDatabases(v, fmt.Sprintf("%s.origins[%d].indexed_db", field, i), o.GetIndexedDb())
	}
	v.Want(size <= sessions.MaxStateBytes, field+".origins",
		fmt.Sprintf("must have at most %d MiB in all", sessions.MaxStateBytes>>20))
}

var sameSites = []string{"", "Strict", "Lax", "None"}

func checkCookie(v *rules.Violations, field string, k *domtapv1.Cookie) {
	size := len(k.GetName()) + len(k.GetValue()) + len(k.GetPath())
	v.Want(size <= maxCookie, field, fmt.Sprintf("must have at most %d bytes", maxCookie))
	v.Want(k.GetName() != "" || k.GetValue() != "", field+".name", "is required")
	host := k.GetDomain() != "" && len(k.GetDomain()) <= rules.MaxID+rules.MaxID && !strings.ContainsAny(k.GetDomain(), "/:@ ")
	v.Want(host, field+".domain",
		"is required: a host such as example.com, or .example.com for subdomains too")
	v.Want(k.GetPath() == "" || strings.HasPrefix(k.GetPath(), "/"), field+".path", "must begin with /")
	v.Want(rules.InRange(k.GetExpires(), -1, 1e11), field+".expires", "must be seconds since 1970, or -1")
	v.Want(slices.Contains(sameSites, k.GetSameSite()), field+".same_site", "must be Strict, Lax, None or empty")
	v.Want(k.GetSameSite() != "None" || k.GetSecure(), field+".secure", "must be set for a cookie with same_site None")
	v.Want(slices.Contains(priorities, k.GetPriority()), field+".priority", "must be Low, Medium or High")
	if k.GetPartitionKey() != "" {
		v.Origin(field+".partition_key", k.GetPartitionKey())
		v.Want(k.GetSecure(), field+".secure", "must be set for a cookie with a partition_key")
	}
}

var priorities = []string{"", "Low", "Medium", "High"}

// checkDatabases checks the databases of an origin, and returns their total size in bytes.
func checkDatabases(v *rules.Violations, field string, all []*domtapv1.IndexedDatabase) int {
	v.MaxEntries(field, len(all), sessions.MaxDatabases)
	size := 0
	seen := map[string]bool{}
	for i, d := range all[:min(len(all), sessions.MaxDatabases)] {
		at := fmt.Sprintf("%s[%d]", field, i)
		v.Want(!seen[d.GetName()], at+".name", "must not be listed twice")
		seen[d.GetName()] = true
		whole := rules.InRange(d.GetVersion(), 1, maxVersion) && math.Trunc(d.GetVersion()) == d.GetVersion()
		v.Want(whole, at+".version", "must be a whole number of at least 1")
		size += len(d.GetName())
		for j, s := range d.GetStores() {
			size += checkStore(v, fmt.Sprintf("%s.stores[%d]", at, j), s)
		}
	}
	return size
}

func checkStore(v *rules.Violations, at string, s *domtapv1.ObjectStore) int {
	inline := s.KeyPath != nil || len(s.GetKeyPathArray()) > 0
	v.Want(s.KeyPath == nil || len(s.GetKeyPathArray()) == 0, at+".key_path", "must not be set with a key_path_array")
	size := len(s.GetName()) + len(s.GetKeyPath()) + len(strings.Join(s.GetKeyPathArray(), ""))
	for k, x := range s.GetIndexes() {
		v.Want((x.KeyPath != nil) != (len(x.GetKeyPathArray()) > 0), fmt.Sprintf("%s.indexes[%d].key_path", at, k), "is required, or a key_path_array")
		size += len(x.GetName()) + len(x.GetKeyPath()) + len(strings.Join(x.GetKeyPathArray(), ""))
	}
	for k, r := range s.GetRecords() {
		field := fmt.Sprintf("%s.records[%d]", at, k)
		keys, values := given(r.Key, r.KeyEncoded), given(r.Value, r.ValueEncoded)
		if inline {
			v.Want(keys == 0, field+".key", "must not be set: the store has a key_path")
		} else {
			v.Want(keys == 1 || keys == 0 && s.GetAutoIncrement(), field+".key", "is required, or key_encoded")
		}
		v.Want(values == 1, field+".value", "is required, or value_encoded")
		for _, one := range []*string{r.Key, r.KeyEncoded, r.Value, r.ValueEncoded} {
			if one != nil {
				size += len(*one)
				v.Want(json.Valid([]byte(*one)), field, "must be JSON")
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
