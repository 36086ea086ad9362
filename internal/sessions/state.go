package sessions

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"

	"github.com/domtap/domtap/actor/driver"
)

// State is the storage state of a session, including its logins.
type State struct {
	Cookies []Cookie
	Origins []Origin
	// Omissions lists data that the state could not keep.
	Omissions []Omission `json:",omitempty"`
}

// DropDatabases removes the databases from a state and reports whether there were any.
func (s *State) DropDatabases() (dropped bool) {
	s.Origins = slices.Clone(s.Origins)
	for i := range s.Origins {
		dropped = dropped || len(s.Origins[i].Databases) > 0
		s.Origins[i].Databases = nil
	}
	return dropped
}

// StateOptions selects the contents of a State.
type StateOptions struct {
	// Databases includes the IndexedDB databases of the origins.
	Databases bool
	// Room limits the total bytes of all databases. If the databases of an origin need more, or cannot be read, they are omitted and named
	// in Omissions. If Room is 0, such databases are an error.
	Room int
}

// Cookie is one cookie.
type Cookie struct {
	Name, Value string
	// Domain starts with a dot if the cookie also applies to subdomains.
	Domain, Path string
	// Expires is in seconds since 1970. If 0 or less, the cookie ends with the session.
	Expires          float64
	HTTPOnly, Secure bool
	// SameSite is Strict, Lax, None or empty.
	SameSite string
	// Priority is Low, High or empty, which is medium.
	Priority string `json:",omitempty"`
	// Partition is nil for an unpartitioned cookie.
	Partition *Partition `json:",omitempty"`
}

// Partition identifies the pages under which a partitioned cookie is sent.
type Partition struct {
	// Site is the site of the top-level page, such as https://example.com.
	Site string
	// CrossSite reports that the cookie was set under a page of another site.
	CrossSite bool `json:",omitempty"`
}

// Origin is the stored data of one origin, such as https://example.com.
type Origin struct {
	Origin string
	// Entries holds the local storage.
	Entries   []Entry
	Databases []Database `json:",omitempty"`
}

// Entry is one entry of local or session storage.
type Entry = driver.StorageEntry

// Edit describes a change of local or session storage.
type Edit = driver.StorageEdit

// MaxStateBytes limits the bytes of names and values in the storage of a State.
const MaxStateBytes = 10 << 20

// MaxDatabases limits the number of databases of an origin in a State.
const MaxDatabases = 100

// Database is an IndexedDB database. It has the same JSON form as in Playwright.
type Database struct {
	Name string `json:"name"`
	// Version is an integer of at least 1.
	Version float64       `json:"version"`
	Stores  []ObjectStore `json:"stores"`
}

// ObjectStore is an object store of a Database.
type ObjectStore struct {
	Name string `json:"name"`
	KeyPath
	AutoIncrement bool         `json:"autoIncrement"`
	Indexes       []StoreIndex `json:"indexes"`
	Records       []Record     `json:"records"`
}

// KeyPath is the location of a key in a value: at Path, or at the paths of Array. If both are empty, the key is stored outside the value.
type KeyPath struct {
	Path  *string  `json:"keyPath,omitempty"`
	Array []string `json:"keyPathArray,omitempty"`
}

// StoreIndex is an index of an ObjectStore.
type StoreIndex struct {
	Name string `json:"name"`
	KeyPath
	MultiEntry bool `json:"multiEntry"`
	Unique     bool `json:"unique"`
}

// Record is one record of an ObjectStore. Each field is JSON or empty. The encoded fields hold values that JSON cannot represent.
// StoreRecord in session.proto describes the encoding.
type Record struct {
	Key          JSON `json:"key,omitempty"`
	KeyEncoded   JSON `json:"keyEncoded,omitempty"`
	Value        JSON `json:"value,omitempty"`
	ValueEncoded JSON `json:"valueEncoded,omitempty"`
}

// JSON is a JSON value. An empty string means no value.
type JSON string

// MarshalJSON returns the value unchanged.
func (j JSON) MarshalJSON() ([]byte, error) { return []byte(j), nil }

// UnmarshalJSON stores the value without white space.
func (j *JSON) UnmarshalJSON(raw []byte) error {
	var text bytes.Buffer
	if err := json.Compact(&text, raw); err != nil {
		return err
	}
	*j = JSON(text.String())
	return nil
}

// Size returns how many bytes of MaxStateBytes a database uses.
func (d *Database) Size() int {
	size := len(d.Name)
	for i := range d.Stores {
		s := &d.Stores[i]
		size += len(s.Name) + s.KeyPath.size()
		for _, x := range s.Indexes {
			size += len(x.Name) + x.size()
		}
		for _, r := range s.Records {
			size += len(r.Key) + len(r.KeyEncoded) + len(r.Value) + len(r.ValueEncoded)
		}
	}
	return size
}

func (k KeyPath) size() int {
	size := 0
	if k.Path != nil {
		size += len(*k.Path)
	}
	for _, one := range k.Array {
		size += len(one)
	}
	return size
}

// Omission describes data that a State could not keep.
type Omission struct {
	Origin   string `json:"origin"`
	Database string `json:"database"`
	// Store is empty if the whole database was omitted.
	Store string `json:"store"`
	// Reason describes the data, such as "a Blob".
	Reason string `json:"reason"`
	// Records is the number of omitted records.
	Records int `json:"records"`
}

// Storage gives access to the stored data of a session's pages. Its methods are safe for concurrent use.
type Storage interface {
	// Masked reports whether values must be hidden from readers.
	Masked() bool
	// Cookies reads the cookies that match a filter.
	Cookies(ctx context.Context, f CookieFilter) ([]Cookie, error)
	// SetCookies adds or replaces cookies. If the browser refuses a cookie, none is set, and the error is an *apierr.Error of kind Invalid.
	SetCookies(ctx context.Context, cookies []Cookie) error
	// DeleteCookies deletes the cookies that match a filter and returns their number.
	DeleteCookies(ctx context.Context, f CookieFilter) (int, error)
	// LocalStorage reads the local storage of an origin. If origin is empty, it reads all origins that pages have shown. Origins without
	// entries are omitted.
	LocalStorage(ctx context.Context, origin string) ([]Origin, error)
	// EditLocalStorage changes the local storage of an origin.
	EditLocalStorage(ctx context.Context, origin string, e Edit) error
}

// CookieFilter selects the cookies that match all its non-empty fields. The zero value selects all cookies.
type CookieFilter struct {
	// Domain may have a leading dot.
	Name, Domain, Path string
	// Partition is a site. An empty string selects cookies without a partition; nil selects all cookies.
	Partition *string
}
