package storage

import (
	"cmp"
	"slices"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/sessions"
)

// State converts the storage state in a request.
func State(m *domtapv1.StorageState) sessions.State {
	s := sessions.State{Cookies: cookiesOf(m.GetCookies())}
	for _, o := range m.GetOrigins() {
		one := sessions.Origin{Origin: o.GetOrigin(), Entries: entries(o.GetLocalStorage())}
		for _, d := range o.GetIndexedDb() {
			one.Databases = append(one.Databases, database(d))
		}
		s.Origins = append(s.Origins, one)
	}
	return s
}

// StorageState is the inverse of State.
func StorageState(s sessions.State) *domtapv1.StorageState {
	m := new(domtapv1.StorageState)
	for _, c := range s.Cookies {
		m.Cookies = append(m.Cookies, cookieMessage(c))
	}
	for _, o := range s.Origins {
		one := &domtapv1.OriginStorage{Origin: o.Origin}
		for _, e := range o.Entries {
			one.LocalStorage = append(one.LocalStorage, &domtapv1.StorageEntry{Name: e.Name, Value: e.Value})
		}
		for i := range o.Databases {
			one.IndexedDb = append(one.IndexedDb, databaseMessage(&o.Databases[i]))
		}
		m.Origins = append(m.Origins, one)
	}
	return m
}

// cookiesOf converts the cookies in a request.
func cookiesOf(all []*domtapv1.Cookie) []sessions.Cookie {
	var list []sessions.Cookie
	for _, c := range all {
		one := sessions.Cookie{Name: c.GetName(), Value: c.GetValue(), Domain: c.GetDomain(), Path: c.GetPath(),
			Expires: c.GetExpires(), HTTPOnly: c.GetHttpOnly(), Secure: c.GetSecure(), SameSite: c.GetSameSite(), Priority: c.GetPriority()}
		if c.GetPartitionKey() != "" {
			one.Partition = &sessions.Partition{Site: c.GetPartitionKey(), CrossSite: c.GetHasCrossSiteAncestor()}
		}
		list = append(list, one)
	}
	return list
}

func cookieMessage(c sessions.Cookie) *domtapv1.Cookie {
	m := &domtapv1.Cookie{Name: c.Name, Value: c.Value, Domain: c.Domain, Path: c.Path,
		Expires: c.Expires, HttpOnly: c.HTTPOnly, Secure: c.Secure, SameSite: c.SameSite}
	if c.Priority != "" {
		m.Priority = &c.Priority
	}
	if p := c.Partition; p != nil {
		m.PartitionKey, m.HasCrossSiteAncestor = &p.Site, &p.CrossSite
	}
	return m
}

// cookieFilterOf converts a filter. A nil filter selects all cookies.
func cookieFilterOf(m *domtapv1.CookieFilter) sessions.CookieFilter {
	f := sessions.CookieFilter{Name: m.GetName(), Domain: m.GetDomain(), Path: m.GetPath()}
	if m != nil {
		f.Partition = m.PartitionKey
	}
	return f
}

// storedCookies converts cookies, with or without their values.
func storedCookies(all []sessions.Cookie, values bool) []*domtapv1.StoredCookie {
	var list []*domtapv1.StoredCookie
	for _, c := range all {
		one := &domtapv1.StoredCookie{Cookie: cookieMessage(c), ValueBytes: int32(len(c.Value))}
		if !values {
			one.Cookie.Value = ""
		}
		list = append(list, one)
	}
	return list
}

// editOf converts a change of storage.
func editOf(m *domtapv1.StorageEdit) sessions.Edit {
	return sessions.Edit{Clear: m.GetClear(), Delete: m.GetDelete(), Set: entries(m.GetSet())}
}

func entries(all []*domtapv1.StorageEntry) []sessions.Entry {
	var list []sessions.Entry
	for _, e := range all {
		list = append(list, sessions.Entry{Name: e.GetName(), Value: e.GetValue()})
	}
	return list
}

// storedOrigin converts the entries of an origin, with or without their values, sorted by name. If name is set, only that entry is
// converted.
func storedOrigin(origin string, all []sessions.Entry, name string, values bool) *domtapv1.StoredOrigin {
	out := &domtapv1.StoredOrigin{Origin: origin}
	for _, e := range all {
		if name != "" && e.Name != name {
			continue
		}
		one := &domtapv1.StoredEntry{Name: e.Name, ValueBytes: int32(len(e.Value))}
		if values {
			one.Value = &e.Value
		}
		out.Entries = append(out.Entries, one)
	}
	slices.SortFunc(out.Entries, func(a, b *domtapv1.StoredEntry) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

func database(m *domtapv1.IndexedDatabase) sessions.Database {
	d := sessions.Database{Name: m.GetName(), Version: m.GetVersion(), Stores: []sessions.ObjectStore{}}
	for _, s := range m.GetStores() {
		one := sessions.ObjectStore{Name: s.GetName(), KeyPath: sessions.KeyPath{Path: s.KeyPath, Array: s.GetKeyPathArray()}, AutoIncrement: s.GetAutoIncrement(),
			Indexes: []sessions.StoreIndex{}, Records: []sessions.Record{}}
		for _, x := range s.GetIndexes() {
			one.Indexes = append(one.Indexes, sessions.StoreIndex{Name: x.GetName(), KeyPath: sessions.KeyPath{Path: x.KeyPath, Array: x.GetKeyPathArray()},
				MultiEntry: x.GetMultiEntry(), Unique: x.GetUnique()})
		}
		for _, r := range s.GetRecords() {
			one.Records = append(one.Records, sessions.Record{Key: sessions.JSON(r.GetKey()), KeyEncoded: sessions.JSON(r.GetKeyEncoded()),
				Value: sessions.JSON(r.GetValue()), ValueEncoded: sessions.JSON(r.GetValueEncoded())})
		}
		d.Stores = append(d.Stores, one)
	}
	return d
}

func databaseMessage(d *sessions.Database) *domtapv1.IndexedDatabase {
	m := &domtapv1.IndexedDatabase{Name: d.Name, Version: d.Version}
	for i := range d.Stores {
		s := &d.Stores[i]
		one := &domtapv1.ObjectStore{Name: s.Name, KeyPath: s.Path, KeyPathArray: s.Array, AutoIncrement: s.AutoIncrement}
		for _, x := range s.Indexes {
			one.Indexes = append(one.Indexes, &domtapv1.StoreIndex{Name: x.Name, KeyPath: x.Path, KeyPathArray: x.Array, MultiEntry: x.MultiEntry, Unique: x.Unique})
		}
		for _, r := range s.Records {
			one.Records = append(one.Records, &domtapv1.StoreRecord{Key: text(r.Key), KeyEncoded: text(r.KeyEncoded), Value: text(r.Value), ValueEncoded: text(r.ValueEncoded)})
		}
		m.Stores = append(m.Stores, one)
	}
	return m
}

// text returns nil for empty JSON.
func text(j sessions.JSON) *string {
	if j == "" {
		return nil
	}
	return (*string)(&j)
}
