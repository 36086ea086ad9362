package requests

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
)

// TestASheetHasFailedWhenAllRequestsForItHave checks how each event changes the failed sheets.
func TestASheetHasFailedWhenAllRequestsForItHave(t *testing.T) {
	begin := func(id network.RequestID, url string) func(*Sheets) {
		return func(s *Sheets) { s.Begin(id, "F", "D", url) }
	}
	end := func(id network.RequestID, failed bool) func(*Sheets) { return func(s *Sheets) { s.End(id, failed) } }
	refuse := func(id network.RequestID) func(*Sheets) { return func(s *Sheets) { s.Refuse(id) } }
	for name, c := range map[string]struct {
		events []func(*Sheets)
		want   []string
	}{
		"no answer":                   {[]func(*Sheets){begin("1", "a"), end("1", true)}, []string{"a"}},
		"under way":                   {[]func(*Sheets){begin("1", "a")}, nil},
		"an HTTP error":               {[]func(*Sheets){begin("1", "a"), refuse("1"), end("1", false)}, []string{"a"}},
		"an answer":                   {[]func(*Sheets){begin("1", "a"), end("1", false)}, nil},
		"redirected, then no answer":  {[]func(*Sheets){begin("1", "a"), begin("1", "b"), end("1", true)}, []string{"a"}},
		"another one is under way":    {[]func(*Sheets){begin("1", "a"), begin("2", "a"), end("1", true)}, nil},
		"asked for again":             {[]func(*Sheets){begin("1", "a"), end("1", true), begin("2", "a")}, nil},
		"asked for again, got it":     {[]func(*Sheets){begin("1", "a"), end("1", true), begin("2", "a"), end("2", false)}, nil},
		"got it, asked for again":     {[]func(*Sheets){begin("1", "a"), end("1", false), begin("2", "a"), end("2", true)}, nil},
		"failed twice":                {[]func(*Sheets){begin("1", "a"), end("1", true), begin("2", "a"), end("2", true)}, []string{"a"}},
		"several":                     {[]func(*Sheets){begin("1", "b"), begin("2", "a"), end("1", true), end("2", true)}, []string{"a", "b"}},
		"events were missed":          {[]func(*Sheets){begin("1", "a"), end("1", true), (*Sheets).Forget}, nil},
		"missed, then failed":         {[]func(*Sheets){begin("1", "a"), (*Sheets).Forget, end("1", true), begin("2", "b"), end("2", true)}, nil},
		"a URL that is too long":      {[]func(*Sheets){begin("1", strings.Repeat("a", maxSheetURL+1)), end("1", true)}, nil},
		"another document took place": {[]func(*Sheets){begin("1", "a"), end("1", true), func(s *Sheets) { s.Keep("E", "F", false) }}, nil},
		"the document of a frame":     {[]func(*Sheets){begin("1", "a"), end("1", true), func(s *Sheets) { s.Keep("E", "G", false) }}, []string{"a"}},
		"another main document":       {[]func(*Sheets){begin("1", "a"), end("1", true), func(s *Sheets) { s.Keep("E", "G", true) }}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var s Sheets
			version := 0
			var last []string
			for i, event := range c.events {
				event(&s)
				urls, now := s.Failed("D")
				if now == version && !slices.Equal(urls, last) {
					t.Errorf("after event %d, %v has the version of %v", i, urls, last)
				}
				version, last = now, urls
			}
			if !slices.Equal(last, c.want) {
				t.Errorf("got %q, want %q", last, c.want)
			}
		})
	}
}

// TestSheetsAreBounded requests more sheets than are remembered, in more documents than are remembered.
func TestSheetsAreBounded(t *testing.T) {
	var s Sheets
	for d := range maxSheetDocuments + 10 {
		for i := range maxSheets + 10 {
			id := network.RequestID(fmt.Sprint(d, "/", i))
			s.Begin(id, "F", cdp.LoaderID(strconv.Itoa(d)), strconv.Itoa(i))
			s.End(id, true)
		}
	}
	if len(s.documents) > maxSheetDocuments || len(s.inFlight) > 0 {
		t.Errorf("%d documents and %d requests are remembered", len(s.documents), len(s.inFlight))
	}
	if urls, _ := s.Failed("0"); len(urls) != 0 {
		t.Errorf("of too many sheets, %d are known", len(urls))
	}
}
