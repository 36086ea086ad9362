package sessions

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"

	"github.com/domtap/domtap/actor/driver"
)

// State is the storage state of a session: what makes it logged in.
type State struct {
	Cookies []Cookie
	Origins []Origin
	// Omissions are what the state could not keep.
	Omissions []Omission `json:",omitempty"`
}

// DropDatabases takes the databases out of a state, and reports whether there were some.
func (s *State) DropDatabases() (dropped bool) {
	s.Origins = slices.Clone(s.Origins)
	for i := range s.Origins {
		dropped = dropped || len(s.Origins[i].Databases) > 0
		s.Origins[i].Databases = nil
	}
	return dropped
}

// StateOptions says what a State is to have.
type StateOptions struct {
	// Databases are the IndexedDB databases of the origins.
	Databases bool
	// Room is how many bytes all databases together may take. The databases of an origin that need more, or cannot be read, are left out and
	// named in Omissions. 0: such databases make the whole state fail.
	Room int
}

// Cookie is one cookie.
type Cookie struct {
	Name, Value string
	// Domain begins with a dot when the cookie is valid for subdomains too.
	Domain, Path string
	// Expires is in seconds since 1970; 0 or less: the cookie ends with the session.
	Expires          float64
	HTTPOnly, Secure bool
	// SameSite is Strict, Lax, None or empty.
	SameSite string
	// Priority is Low, High or empty, which is medium.
	Priority string `json:",omitempty"`
	// Partition is nil for a cookie that is not partitioned.
	Partition *Partition `json:",omitempty"`
}

// Partition says below which pages a partitioned cookie is sent.
type Partition struct {
	// Site is that of the top-level page, such as https://example.com.
	Site string
	// CrossSite says that the cookie was set below a page of another site.
	CrossSite bool `json:",omitempty"`
}

// Origin is what one origin, such as https://example.com, has stored.
type Origin struct {
	Origin string
	// Entries are its local storage.
	Entries   []Entry
	Databases []Database `json:",omitempty"`
}

// Entry is one entry of local or session storage.
type Entry = driver.StorageEntry

// Edit is a change of local or session storage.
type Edit = driver.StorageEdit

// MaxStateBytes is the limit on the bytes of names and values in the storage of a State.
const MaxStateBytes = 10 << 20

// MaxDatabases is the limit on the databases of an origin in a State.
const MaxDatabases = 100

// Database is an IndexedDB database. Its JSON form is Playwright's.
type Database struct {
	Name string `json:"name"`
	// Version is a whole number of at least 1.
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

// KeyPath says where a key is in a value: at Path, or at the paths of Array. With neither, a key is beside its value.
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

// Record is one record of an ObjectStore. Each field is JSON or empty; the encoded ones hold what JSON does not have. docs/sessions.md has
// the encoding.
type Record struct {
	Key          JSON `json:"key,omitempty"`
	KeyEncoded   JSON `json:"keyEncoded,omitempty"`
	Value        JSON `json:"value,omitempty"`
	ValueEncoded JSON `json:"valueEncoded,omitempty"`
}

// JSON is a value in JSON; empty: none.
type JSON string

// MarshalJSON writes the value as it is.
func (j JSON) MarshalJSON() ([]byte, error) { return []byte(j), nil }

// UnmarshalJSON keeps the value, without white space.
func (j *JSON) UnmarshalJSON(raw []byte) error {
	var text bytes.Buffer
	if err := json.Compact(&text, raw); err != nil {
		return err
	}
	*j = JSON(text.String())
	return nil
}

// Size is how many bytes of MaxStateBytes a database takes.
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

// Omission is something that a State could not keep.
type Omission struct {
	Origin   string `json:"origin"`
	Database string `json:"database"`
	// Store is empty when it is the whole database.
	Store string `json:"store"`
	// Reason says what it is, such as "a Blob".
	Reason string `json:"reason"`
	// Records is how many records there are of it.
	Records int `json:"records"`
}

// Storage is what the pages of a session have stored, piece by piece. Its methods are safe for concurrent use.
type Storage interface {
	// Masked reports whether values may not be shown to readers.
	Masked() bool
	// Cookies reads the cookies that match a filter.
	Cookies(ctx context.Context, f CookieFilter) ([]Cookie, error)
	// SetCookies adds or replaces cookies. When the browser refuses one, none is set, and the error is an *apierr.Error of kind Invalid.
	SetCookies(ctx context.Context, cookies []Cookie) error
	// DeleteCookies deletes the cookies that match a filter, and returns how many they were.
	DeleteCookies(ctx context.Context, f CookieFilter) (int, error)
	// LocalStorage reads the local storage of an origin, or of all origins that pages showed when it is empty. Origins without an entry
	// are left out.
	LocalStorage(ctx context.Context, origin string) ([]Origin, error)
	// EditLocalStorage changes the local storage of an origin.
	EditLocalStorage(ctx context.Context, origin string, e Edit) error
}

// CookieFilter selects cookies by what is not empty. The zero value selects all.
type CookieFilter struct {
	// Domain is with or without the dot.
	Name, Domain, Path string
	// Partition is a site; "": cookies without a partition; nil: all.
	Partition *string
}
