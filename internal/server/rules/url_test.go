package rules

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/internal/folders"
)

func TestAllowURL(t *testing.T) {
	kinds := map[string]apierr.ErrorKind{"invalid": apierr.Invalid, "refused": apierr.Refused}
	for url, want := range map[string]string{
		"https://example.com/":                "",
		"http://localhost:8080/x?y#z":         "",
		"HTTP://EXAMPLE.COM":                  "",
		"http://[::1]:80/":                    "",
		"https://münchen.example/":            "",
		"data:text/html,<p>hi":                "",
		"about:blank":                         "",
		"about:blank#x":                       "",
		"":                                    "invalid",
		"example.com":                         "invalid",
		"/path":                               "invalid",
		"://":                                 "invalid",
		"http://":                             "invalid",
		"http:example.com":                    "invalid",
		"https://a b/":                        "invalid",
		"http://a\\b/":                        "invalid",
		"java\nscript:alert(1)":               "invalid",
		" javascript:alert(1)":                "invalid",
		"http://x/%zz":                        "invalid",
		"file:///etc/passwd":                  "refused",
		"FILE:///etc/passwd":                  "refused",
		"chrome://settings":                   "refused",
		"chrome-extension://x/y":              "refused",
		"javascript:alert(1)":                 "refused",
		"view-source:https://example.com/":    "refused",
		"about:version":                       "refused",
		"about:srcdoc":                        "refused",
		"blob:https://example.com/1":          "refused",
		"filesystem:https://example.com/x":    "refused",
		"ftp://example.com/":                  "refused",
		"devtools://devtools/bundled/x.html":  "refused",
		"ws://example.com/":                   "refused",
		"data:" + strings.Repeat("x", maxURL): "invalid",
	} {
		err := AllowURL(url)
		if want == "" {
			if err != nil {
				t.Errorf("%q: %v", url, err)
			}
			continue
		}
		var e *apierr.Error
		if !errors.As(err, &e) || e.Kind != kinds[want] {
			t.Errorf("%.40q: got %v, want it %s", url, err, want)
		}
	}
}

func TestFilesOfAllowedFoldersMayBeOpened(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "trace.html")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	files, err := folders.New([]string{dir})
	if err != nil {
		t.Fatal(err)
	}
	address := "file://" + filepath.ToSlash(path)
	for url, allowed := range map[string]bool{address: true, "file:///etc/passwd": false, "https://example.com/": true, "chrome://settings": false} {
		if err := AllowURLIn(files)(url); (err == nil) != allowed || err != nil && !apierr.Is(err, apierr.Refused) {
			t.Errorf("%s: %v", url, err)
		}
	}
	if err := AllowURLIn(folders.Folders{})(address); !apierr.Is(err, apierr.Refused) {
		t.Errorf("without folders: %v", err)
	}
}
