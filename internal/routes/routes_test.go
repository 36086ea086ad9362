package routes

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestPatternsMatchWholeURLs(t *testing.T) {
	for pattern, urls := range map[string]struct{ yes, no []string }{
		"https://a.example/x":             {[]string{"https://a.example/x"}, []string{"https://a.example/x/", "https://a.example/xy", "http://a.example/x", "https://a.example/x?q"}},
		"https://a.example":               {[]string{"https://a.example/"}, []string{"https://a.example/x"}},
		"HTTPS://A.Example/X":             {[]string{"https://a.example/X"}, []string{"https://a.example/x"}},
		"https://*.example/*":             {[]string{"https://a.example/", "https://a.b.example/x"}, []string{"https://a.example/x/y", "https://example/"}},
		"https://a.example/**":            {[]string{"https://a.example/", "https://a.example/x/y?z"}, []string{"https://b.example/"}},
		"**/*.{png,jpg}":                  {[]string{"https://a.example/x/y.png", "data/.jpg"}, []string{"https://a.example/x.gif", "https://a.example/x.png?v=1"}},
		"**/{api/**,*.json}":              {[]string{"https://a.example/api/x/y", "https://a.example/x.json"}, []string{"https://a.example/api"}},
		"**/x?q=*":                        {[]string{"https://a.example/x?q=1"}, []string{"https://a.example/xyq=1", "https://a.example/x?q=1/2"}},
		`**/a\*b\{\\`:                     {[]string{`https://a.example/a*b{\`}, []string{"https://a.example/axb"}},
		"**/a.b":                          {[]string{"https://a.example/a.b"}, []string{"https://a.example/axb"}},
		"https://a.example/é b":           {[]string{"https://a.example/%C3%A9%20b"}, []string{"https://a.example/é b"}},
		"**":                              {[]string{"", "x", "https://a.example/x\ny"}, nil},
		"https://{a,b}.example:8080/[x]?": {[]string{"https://b.example:8080/[x]?"}, []string{"https://b.example:8080/x"}},
	} {
		p, err := ParsePattern(pattern)
		if err != nil {
			t.Errorf("%s: %v", pattern, err)
			continue
		}
		for _, url := range urls.yes {
			if !p.Matches(url) || !wideMatches(p.wide, url) {
				t.Errorf("%s does not match %s (%s)", pattern, url, p.wide)
			}
		}
		for _, url := range urls.no {
			if p.Matches(url) {
				t.Errorf("%s matches %s", pattern, url)
			}
		}
	}
	for _, pattern := range []string{"", "a{b", "a{b{c}}", `a\`, strings.Repeat("x", MaxPattern+1), strings.Repeat("*x", 101)} {
		if _, err := ParsePattern(pattern); err == nil {
			t.Errorf("%.40q is a pattern", pattern)
		}
	}
}

// wideMatches matches a pattern as the browser does.
func wideMatches(wide, url string) bool {
	var b strings.Builder
	for i := 0; i < len(wide); i++ {
		switch c := wide[i]; {
		case c == '*':
			b.WriteString(".*")
		case c == '?':
			b.WriteByte('.')
		case c == '\\':
			i++
			b.WriteString(regexp.QuoteMeta(wide[i : i+1]))
		default:
			b.WriteString(regexp.QuoteMeta(string(rune(c))))
		}
	}
	return regexp.MustCompile("^(?s:" + b.String() + ")$").MatchString(url)
}

// FuzzThePatternOfTheBrowserIsWider checks that the browser intercepts every request that a route matches.
func FuzzThePatternOfTheBrowserIsWider(f *testing.F) {
	f.Add("https://*.a.example/{x,y*}/**?z", "https://q.a.example/y1/w?z")
	f.Add(`a\*{b,}**\\`, `a*b\`)
	f.Fuzz(func(t *testing.T, pattern, url string) {
		p, err := ParsePattern(pattern)
		if err != nil {
			return
		}
		for _, c := range []byte(url) {
			if c >= 0x80 {
				return // browsers escape URLs to ASCII
			}
		}
		if p.Matches(url) && !wideMatches(p.wide, url) {
			t.Errorf("%q matches %q, and %q does not", pattern, url, p.wide)
		}
	})
}

func TestTheNewestRouteThatMatchesDecides(t *testing.T) {
	all := []Route{
		{ID: "r1", Pattern: "**", Matched: new(Counter)},
		{ID: "r2", Pattern: "**/api", Methods: []string{"PUT"}, Types: []string{"fetch"}, Matched: new(Counter)},
		{ID: "r3", Pattern: "**/other", Types: []string{"image", "xhr"}, Matched: new(Counter)},
	}
	table := NewTable(all, nil)
	for _, c := range []struct {
		request Request
		want    string
	}{
		{Request{URL: "https://a.example/api", Type: "xhr", Method: "PUT"}, "r2"},
		{Request{URL: "https://a.example/api", Type: "xhr", Method: "OPTIONS", Asked: "PUT"}, "r2"},
		{Request{URL: "https://a.example/api", Type: "xhr", Method: "OPTIONS", Asked: "GET"}, "r1"},
		{Request{URL: "https://a.example/api", Type: "image", Method: "PUT"}, "r1"},
		{Request{URL: "https://a.example/other", Type: "fetch", Method: "GET"}, "r3"},
	} {
		if got := table.Match(c.request); got == nil || got.ID != c.want {
			t.Errorf("%v: %v, want %s", c.request, got, c.want)
		}
	}
	if all[0].Matched.Count() != 1 || all[1].Matched.Count() != 1 || all[2].Matched.Count() != 1 {
		t.Errorf("the counts are %d, %d and %d", all[0].Matched.Count(), all[1].Matched.Count(), all[2].Matched.Count())
	}
	want := []Held{{URL: "*"}, {URL: "*/api", Type: "xhr"}, {URL: "*/other", Type: "image"}, {URL: "*/other", Type: "xhr"}}
	if got := table.Held(); !slices.Equal(got, want) {
		t.Errorf("held is %v", got)
	}
}

func TestWithoutRoutesNothingIsHeld(t *testing.T) {
	if table := NewTable(nil, nil); table != nil || table.Held() != nil || table.Match(Request{}) != nil || table.Blocked() != 0 {
		t.Error("no routes make a table")
	}
}

func TestPresetsBlock(t *testing.T) {
	for _, name := range Presets {
		l := preset(name)
		if len(l.hosts)+len(l.types) == 0 {
			t.Errorf("%s is empty", name)
		}
		for _, kind := range l.types {
			if !IsType(kind) {
				t.Errorf("%s: unknown type %s", name, kind)
			}
		}
		for i, host := range l.hosts {
			if slices.Contains(l.hosts[:i], host) || strings.ToLower(host) != host || !strings.Contains(host, ".") {
				t.Errorf("%s: %s is no host, or twice in the list", name, host)
			}
		}
	}
	table := NewTable(nil, []string{"ads", "media", "fonts"})
	for _, c := range []struct {
		request Request
		blocked bool
	}{
		{Request{URL: "https://securepubads.g.doubleclick.net/x.js", Type: "script"}, true},
		{Request{URL: "https://doubleclick.net:8443/", Type: "document"}, true},
		{Request{URL: "https://doubleclick.net/", Type: "document", Main: true}, false},
		{Request{URL: "https://notdoubleclick.net/", Type: "image"}, false},
		{Request{URL: "https://a.example/?from=https://doubleclick.net/", Type: "image"}, false},
		{Request{URL: "https://a.example/a.mp4", Type: "media"}, true},
		{Request{URL: "https://a.example/a.woff2", Type: "font"}, true},
		{Request{URL: "https://a.example/a.png", Type: "image"}, false},
	} {
		if got := table.Match(c.request); (got != nil) != c.blocked || got != nil && got.Abort.Reason != "blockedbyclient" {
			t.Errorf("%v: %v", c.request, got)
		}
		if held := slices.ContainsFunc(table.Held(), func(h Held) bool {
			return (h.Type == "" || h.Type == c.request.Type) && wideMatches(h.URL, c.request.URL)
		}); c.blocked && !held {
			t.Errorf("%v is not held", c.request)
		}
	}
	if table.Blocked() != 4 {
		t.Errorf("%d were blocked", table.Blocked())
	}
	if err := CheckPresets([]string{"ads", "adz"}); err == nil || !strings.Contains(err.Error(), "use ads, fonts, media") {
		t.Errorf("got %v", err)
	}
	exempt := NewTable([]Route{{Pattern: "https://doubleclick.net/**", Modify: new(Modify)}}, []string{"ads"})
	if got := exempt.Match(Request{URL: "https://doubleclick.net/", Type: "image"}); got == nil || got.Modify == nil {
		t.Errorf("a route takes no precedence over a preset: %v", got)
	}
}

func TestManyKindsAreHeldByURLAlone(t *testing.T) {
	var all []Route
	for i := range MaxRoutes {
		all = append(all, Route{Pattern: fmt.Sprintf("https://a.example/%d", i), Types: Types})
	}
	held := NewTable(all, nil).Held()
	if len(held) != MaxRoutes || held[0].Type != "" {
		t.Errorf("%d are held, such as %v", len(held), held[0])
	}
}
