package journal

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/actor/restore"
	"github.com/domtap/domtap/dom"
)

// Limits on stored data. They are also enforced when reading.
const (
	// MaxTabs limits the number of stored tabs.
	MaxTabs = 1000
	// MaxURL limits the bytes of a URL. A tab with a longer URL is not stored.
	MaxURL = 64 << 10
	// MaxBytes limits the size of the file.
	MaxBytes = 8 << 20
	// maxName limits the bytes of ids and session names.
	maxName = 256
	// maxSide limits the sides of a viewport, in CSS pixels.
	maxSide = 10_000
)

// title starts the file and names its type and version. A hash of the remaining content follows it.
const title = "domtap-tabs 1 "

// document is the JSON after the first line.
type document struct {
	Tabs []tab `json:"tabs"`
}

// tab is the JSON form of a restore.Record.
type tab struct {
	ID       string     `json:"id"`
	Session  string     `json:"session"`
	URL      string     `json:"url"`
	Viewport [2]float64 `json:"viewport"`
	Scroll   [2]float64 `json:"scroll"`
	Boxes    []box      `json:"boxes,omitempty"`
	Refs     uint32     `json:"refs"`
	Restarts int        `json:"revivals,omitempty"`
}

type box struct {
	Path   []int      `json:"path"`
	Scroll [2]float64 `json:"scroll"`
}

// encode returns data in the format that Decode reads.
func encode(all []restore.Record) ([]byte, error) {
	d := document{Tabs: make([]tab, 0, len(all))}
	for _, k := range all {
		one := tab{
			ID: k.ID, Session: k.Session, URL: k.URL, Viewport: [2]float64{k.Viewport.Width, k.Viewport.Height},
			Scroll: [2]float64{k.Place.X, k.Place.Y}, Refs: uint32(k.Refs), Restarts: k.Restarts,
		}
		for _, b := range k.Place.Boxes {
			one.Boxes = append(one.Boxes, box{b.Path, [2]float64{b.X, b.Y}})
		}
		d.Tabs = append(d.Tabs, one)
	}
	body, err := json.Marshal(d)
	if err != nil {
		return nil, err
	}
	if len(body) > MaxBytes-len(title)-2*sha256.Size-2 {
		return nil, fmt.Errorf("the tabs take more than %d bytes", MaxBytes)
	}
	sum := sha256.Sum256(body)
	return fmt.Appendf(nil, "%s%s\n%s\n", title, hex.EncodeToString(sum[:]), body), nil
}

// Decode parses a journal, oldest tab first. It validates everything. If it returns an error, none of the data may be used.
func Decode(data []byte) ([]restore.Record, error) {
	head, body, found := bytes.Cut(data, []byte("\n"))
	sum, ours := bytes.CutPrefix(head, []byte(title))
	switch {
	case len(data) > MaxBytes:
		return nil, fmt.Errorf("it has more than %d bytes", MaxBytes)
	case !found || !ours:
		return nil, errors.New("it is not a journal of this version")
	}
	body = bytes.TrimSuffix(body, []byte("\n"))
	if want := sha256.Sum256(body); string(sum) != hex.EncodeToString(want[:]) {
		return nil, errors.New("its checksum does not match its contents")
	}
	var d document
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&d); err != nil {
		return nil, fmt.Errorf("it is not a valid JSON journal: %w", err)
	}
	if decoder.More() || len(d.Tabs) > MaxTabs {
		return nil, fmt.Errorf("it has more than %d tabs, or data after them", MaxTabs)
	}
	seen := map[string]bool{}
	all := make([]restore.Record, 0, len(d.Tabs))
	for _, one := range d.Tabs {
		k := one.kept()
		if err := check(k); err != nil {
			return nil, err
		}
		if seen[k.ID] {
			return nil, fmt.Errorf("it has tab %s twice", k.ID)
		}
		seen[k.ID] = true
		all = append(all, k)
	}
	return all, nil
}

func (t tab) kept() restore.Record {
	k := restore.Record{
		ID: t.ID, Session: t.Session, URL: t.URL, Viewport: dom.Box{Width: t.Viewport[0], Height: t.Viewport[1]},
		Place: driver.ScrollPosition{X: t.Scroll[0], Y: t.Scroll[1]}, Refs: dom.Ref(t.Refs), Restarts: t.Restarts,
	}
	for _, b := range t.Boxes {
		k.Place.Boxes = append(k.Place.Boxes, driver.ScrolledBox{Path: b.Path, X: b.Scroll[0], Y: b.Scroll[1]})
	}
	return k
}

// check returns an error if a tab cannot be stored.
func check(k restore.Record) error {
	name := func(s string) bool { return s != "" && len(s) <= maxName && utf8.ValidString(s) }
	side := func(v float64) bool { return v >= 0 && v <= maxSide }
	switch {
	case !name(k.ID) || !name(k.Session):
		return fmt.Errorf("%.20q in session %.20q is not a tab id", k.ID, k.Session)
	case k.URL == "" || !utf8.ValidString(k.URL):
		return fmt.Errorf("tab %s has no URL", k.ID)
	case len(k.URL) > MaxURL:
		return fmt.Errorf("the URL of tab %s has %d bytes, more than %d", k.ID, len(k.URL), MaxURL)
	case !side(k.Viewport.Width) || !side(k.Viewport.Height) || !k.Place.Valid():
		return fmt.Errorf("tab %s has an invalid size or scroll position", k.ID)
	case k.Refs == dom.NoRef || k.Restarts < 0 || k.Restarts > maxRestarts:
		return fmt.Errorf("tab %s has invalid numbers", k.ID)
	}
	return nil
}

// maxRestarts limits a counter whose real values are small.
const maxRestarts = 1000
