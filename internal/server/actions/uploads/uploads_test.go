package uploads

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/domtap/domtap/actor/apierr"
)

func TestOnlyFilesBelowAllowedFoldersAreGiven(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(parts ...string) string { return filepath.Join(append([]string{root}, parts...)...) }
	for _, dir := range []string{"open/deep", "open-not"} {
		if err := os.MkdirAll(at(dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{"open/a", "open/deep/b", "open-not/c", "e"} {
		if err := os.WriteFile(at(file), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for link, target := range map[string]string{"open/out": at("e"), "open/up": at(), "in": at("open"), "open/dangling": at("gone")} {
		if err := os.Symlink(target, at(link)); err != nil {
			t.Fatal(err)
		}
	}
	p, err := New([]string{at("in")})
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		at("open/a"): at("open/a"), at("open/deep/b"): at("open/deep/b"), at("in/a"): at("open/a"),
		at("open/deep") + "/../a": at("open/a"),
		at("open-not/c"):          "Forbidden", at("e"): "Forbidden", at("open/out"): "Forbidden", at("open/up/e"): "Forbidden",
		at("gone"): "Forbidden", at("open") + "/../e": "Forbidden", "/etc/passwd": "Forbidden", at("open"): "Forbidden",
		at("open/gone"): "Invalid", at("open/deep"): "Invalid", at("open/dangling"): "Invalid",
	} {
		got, err := p.Files([]string{path})
		var e *apierr.Error
		switch {
		case errors.As(err, &e) && e.Kind == apierr.Forbidden:
			got = []string{"Forbidden"}
		case errors.As(err, &e) && e.Kind == apierr.Invalid:
			got = []string{"Invalid"}
		case err != nil:
			t.Errorf("%s: %v", path, err)
			continue
		}
		if strings.Join(got, ",") != want {
			t.Errorf("%s: got %v, want %s", path, got, want)
		}
	}
}

func TestNothingIsAllowedByDefault(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var p Policy
	if files, err := p.Files([]string{path}); err == nil {
		t.Errorf("got %v", files)
	} else if !strings.Contains(err.Error(), "--upload-dir") {
		t.Errorf("%v does not say what to do", err)
	}
	if files, err := p.Files(nil); err != nil || len(files) != 0 {
		t.Errorf("no files: got %v, %v", files, err)
	}
}

func TestFoldersMustBeThere(t *testing.T) {
	file := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{file, file + "-missing"} {
		if _, err := New([]string{dir}); err == nil {
			t.Errorf("%s was taken", dir)
		}
	}
}
