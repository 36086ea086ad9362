package ui

import (
	"fmt"
	"io/fs"
	"maps"
	"math"
	"net/http"
	"net/http/httptest"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// get requests a path.
func get(t *testing.T, path string, change ...func(*http.Request)) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, path, nil)
	for _, c := range change {
		c(r)
	}
	w := httptest.NewRecorder()
	Handler("v1").ServeHTTP(w, r)
	return w
}

func TestEveryFileIsServedWithItsTypeAndPolicy(t *testing.T) {
	served := 0
	for _, name := range names(t) {
		w := get(t, "/"+strings.TrimPrefix(name, "page/"))
		served++
		if w.Code != http.StatusOK || w.Header().Get("Content-Type") == "" || w.Body.Len() == 0 {
			t.Errorf("%s: %d, %q", name, w.Code, w.Header().Get("Content-Type"))
		}
		for header := range headers {
			if w.Header().Get(header) == "" {
				t.Errorf("%s comes without %s", name, header)
			}
		}
	}
	if served < 6 {
		t.Errorf("only %d files are embedded", served)
	}
	if a, b := get(t, "/").Body.String(), get(t, "/index.html").Body.String(); a != b {
		t.Error("/ is not the page")
	}
}

func TestThePolicyAllowsOwnFilesOnly(t *testing.T) {
	policy := headers["Content-Security-Policy"]
	for _, want := range []string{"default-src 'none'", "frame-ancestors 'none'", "require-trusted-types-for 'script'", "trusted-types 'none'"} {
		if !strings.Contains(policy, want) {
			t.Errorf("the policy lacks %s", want)
		}
	}
	for _, bad := range []string{"unsafe", "*", "http:", "data:"} {
		if strings.Contains(policy, bad) {
			t.Errorf("the policy has %s", bad)
		}
	}
}

func TestUnknownFilesAreRefused(t *testing.T) {
	for _, path := range []string{"/page/index.html", "/../ui.go", "/nothing", "//"} {
		if w := get(t, "/", func(r *http.Request) { r.URL.Path = path }); w.Code != http.StatusNotFound {
			t.Errorf("%s: %d", path, w.Code)
		}
	}
	if w := get(t, "/", func(r *http.Request) { r.Method = http.MethodPost }); w.Code != http.StatusMethodNotAllowed || w.Header().Get("Allow") == "" {
		t.Errorf("POST: %d", w.Code)
	}
}

func TestAFileThatIsTheSameIsNotSentAgain(t *testing.T) {
	tag := get(t, "/main.js").Header().Get("ETag")
	w := get(t, "/main.js", func(r *http.Request) { r.Header.Set("If-None-Match", tag) })
	if w.Code != http.StatusNotModified || w.Body.Len() != 0 {
		t.Errorf("%d, %d bytes", w.Code, w.Body.Len())
	}
	if other := get(t, "/style.css").Header().Get("ETag"); other == tag || tag == "" {
		t.Errorf("two files have the tag %q", tag)
	}
}

// forbidden lists code that would violate the guarantees of the package.
var forbidden = map[string]*regexp.Regexp{
	".js": regexp.MustCompile(`innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|setHTML|createContextualFragment|` +
		`eval\(|new Function|localStorage|https?://`),
	".html": regexp.MustCompile(`(?i)<style|\sstyle=|\son[a-z]+=|<script[^>]*>[^<]|https?://|<iframe|javascript:`),
	".css":  regexp.MustCompile(`@import|url\(|https?://`),
	".svg":  regexp.MustCompile(`<script|href=`),
}

func TestFilesHaveNothingForbidden(t *testing.T) {
	for _, name := range names(t) {
		content, err := files.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		rule := forbidden[path.Ext(name)]
		if rule == nil {
			t.Errorf("%s: there is no rule for such files", name)
			continue
		}
		if found := rule.FindString(string(content)); found != "" {
			t.Errorf("%s has %q", name, found)
		}
	}
}

// called matches the names of the methods that the scripts call.
var called = regexp.MustCompile(`'([A-Z][a-z]+Service/[A-Za-z]+)'`)

// controlling lists the methods called by the page that change something: they hold calls of clients and release them.
var controlling = []string{"TimelineService/PauseClient", "TimelineService/ResumeClient", "TimelineService/TakeOver", "TimelineService/HandBack"}

func TestMethodsAreThoseThatThePageCalls(t *testing.T) {
	found := map[string]bool{}
	for _, name := range names(t) {
		content, err := files.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range called.FindAllStringSubmatch(string(content), -1) {
			found[match[1]] = true
		}
		if strings.Count(string(content), "Service/") != len(called.FindAllString(string(content), -1)) {
			t.Errorf("%s makes up names of methods, so that nobody can say what it calls", name)
		}
	}
	if got, want := slices.Sorted(maps.Keys(found)), slices.Sorted(slices.Values(Methods())); !slices.Equal(got, want) {
		t.Errorf("the scripts call %q, and Methods are %q", got, want)
	}
	reads := regexp.MustCompile(`/(Get|List|Watch|Read|Screenshot)`)
	for _, method := range Methods() {
		if !reads.MatchString(method) && !slices.Contains(controlling, method) {
			t.Errorf("the page calls %s, which neither reads nor is a control of a person", method)
		}
	}
}

func names(t *testing.T) []string {
	t.Helper()
	var all []string
	err := fs.WalkDir(files, "page", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			all = append(all, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// pairs lists foreground and background colors. Text needs a contrast of 4.5 to 1, edges and marks of 3 to 1 (WCAG 2.2, 1.4.3 and 1.4.11).
var pairs = []struct {
	on, grounds string
	least       float64
}{
	{"ink", "ground panel sunken tint fresh bad-tint", 4.5},
	{"muted", "ground panel sunken tint fresh bad-tint", 4.5},
	{"accent", "ground panel sunken tint fresh", 4.5},
	{"on-accent", "accent", 4.5},
	{"added", "panel sunken tint ground", 4.5},
	{"removed", "panel sunken tint ground bad-tint", 4.5},
	{"changed", "panel sunken tint ground", 4.5},
	{"edge", "panel ground", 3},
	{"changed", "fresh", 3},
}

func TestColoursHaveContrast(t *testing.T) {
	for name, palette := range palettes(t) {
		for _, pair := range pairs {
			for ground := range strings.FieldsSeq(pair.grounds) {
				got := contrast(palette[pair.on], palette[ground])
				if got < pair.least {
					t.Errorf("%s: %s on %s has a contrast of %.2f, less than %.1f", name, pair.on, ground, got, pair.least)
				}
			}
		}
	}
}

var colour = regexp.MustCompile(`--([a-z-]+): (#[0-9a-f]{6});`)

// palettes parses the color blocks of the style sheet.
func palettes(t *testing.T) map[string]map[string]string {
	t.Helper()
	css, err := files.ReadFile("page/style.css")
	if err != nil {
		t.Fatal(err)
	}
	light, rest, _ := strings.Cut(string(css), `:root[data-theme="dark"]`)
	dark, auto, found := strings.Cut(rest, `:root[data-theme="auto"]`)
	if !found {
		t.Fatal("the style has no dark palette, or none for dark systems")
	}
	all := map[string]map[string]string{"light": {}, "dark": {}, "auto": {}}
	for name, text := range map[string]string{"light": light, "dark": dark, "auto": auto} {
		for _, match := range colour.FindAllStringSubmatch(text, -1) {
			all[name][match[1]] = match[2]
		}
	}
	if len(all["light"]) != len(all["dark"]) || len(all["light"]) < 10 || !maps.Equal(all["dark"], all["auto"]) {
		t.Fatalf("the palettes have %d, %d and %d colours; dark must be the same by choice and by the system", len(all["light"]), len(all["dark"]), len(all["auto"]))
	}
	return all
}

// contrast returns the contrast ratio as defined by WCAG, from 1 to 21.
func contrast(a, b string) float64 {
	la, lb := luminance(a), luminance(b)
	return (max(la, lb) + 0.05) / (min(la, lb) + 0.05)
}

func luminance(hex string) float64 {
	sum := 0.0
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		if len(hex) != 7 {
			panic(fmt.Sprintf("%q is not a colour of the palette", hex))
		}
		n, err := strconv.ParseUint(hex[1+2*i:3+2*i], 16, 8)
		if err != nil {
			panic(err)
		}
		c := float64(n) / 255
		if c <= 0.04045 {
			c /= 12.92
		} else {
			c = math.Pow((c+0.055)/1.055, 2.4)
		}
		sum += weight * c
	}
	return sum
}
