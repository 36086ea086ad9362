package pagelog

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// source is a Source of a given size.
type source struct {
	id   string
	size int
}

func (s *source) Detail() Detail { return Detail{ID: s.id} }
func (s *source) Size() int      { return s.size }

func TestTheDetailsOfTheNewestRequestsAreKept(t *testing.T) {
	var l Log
	for i := range 300 {
		id := fmt.Sprint(i)
		l.Begin(id, 1, Entry{At: time.Unix(int64(i), 0), URL: "/" + id, Source: &source{id, 1000}})
		l.Update(id, func(e *Entry) { e.Source = &source{id, 4000} })
		l.End(id, 2, nil)
	}
	all, dropped := l.Requests()
	if len(all) != 300 || dropped != 0 {
		t.Fatalf("%d requests, %d dropped", len(all), dropped)
	}
	kept := 0
	for i, r := range all {
		if r.Detail == nil {
			if kept > 0 {
				t.Fatalf("request %d has no details, and an older one has", i)
			}
			continue
		}
		if kept++; r.Detail.ID != fmt.Sprint(i) {
			t.Errorf("request %d has the details of %s", i, r.Detail.ID)
		}
	}
	if most := maxDetails / (4000 + overhead); kept != most {
		t.Errorf("the details of %d requests are kept, want %d", kept, most)
	}
	if l.details.bytes > maxDetails {
		t.Errorf("they have %d bytes", l.details.bytes)
	}
}

func TestARequestKeepsItsName(t *testing.T) {
	var l Log
	l.Begin("a", 1, Entry{URL: "/a", Source: &source{"a", 10}})
	l.Begin("b", 1, Entry{URL: "/b"})
	first := l.Read(Query{}).Entries[0]
	l.End("a", 2, nil) // this moves the request
	moved := l.Read(Query{}).Entries[1]
	if moved.URL != "/a" || moved.Sequence == first.Sequence || moved.Request != first.Request {
		t.Errorf("got %+v, was %+v", moved, first)
	}
	if r, ok := l.Request(first.Request); !ok || r.URL != "/a" || r.Detail.ID != "a" || r.Source != nil {
		t.Errorf("got %+v, %v", r, ok)
	}
	if r, ok := l.Request(2); !ok || r.Detail != nil {
		t.Errorf("got %+v, %v", r, ok)
	}
	if _, ok := l.Request(7); ok {
		t.Error("a request that never was is found")
	}
}

func TestEvictedRequestsKeepNoDetails(t *testing.T) {
	var l Log
	for i := range limits[Network].Count + 500 {
		l.Begin(fmt.Sprint(i), 1, Entry{Source: &source{"x", 100}})
	}
	if n := len(l.details.items); n > limits[Network].Count+1 {
		t.Errorf("the details of %d requests are kept", n)
	}
	if want := limits[Network].Count * (100 + overhead); l.details.bytes > want {
		t.Errorf("they count %d bytes, more than %d", l.details.bytes, want)
	}
}

func TestLongURL(t *testing.T) {
	for in, want := range map[string]int{"https://a.example/" + strings.Repeat("x", 3000): MaxDetailURL + len("…"), "data:text/html," + strings.Repeat("x", 3000): 18} {
		if got := LongURL(in); len(got) != want {
			t.Errorf("%.20s has %d bytes, want %d", got, len(got), want)
		}
	}
}
