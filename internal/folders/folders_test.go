package folders

import (
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"testing"
)

// tree creates a folder with a file, a folder next to it with a secret, and links out of the folder and into it.
func tree(t *testing.T) (dir string, allowed Folders) {
	t.Helper()
	root := t.TempDir()
	dir = filepath.Join(root, "traces")
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.MkdirAll(filepath.Join(dir, "sub"), 0o700))
	must(os.MkdirAll(filepath.Join(root, "traces-other"), 0o700))
	for _, name := range []string{"traces/a b.html", "traces/sub/c.html", "traces-other/secret", "secret"} {
		must(os.WriteFile(filepath.Join(root, name), []byte("x"), 0o600))
	}
	must(os.Symlink(filepath.Join(root, "secret"), filepath.Join(dir, "out.html")))
	must(os.Symlink(root, filepath.Join(dir, "up")))
	must(os.Symlink(filepath.Join(dir, "sub", "c.html"), filepath.Join(dir, "in.html")))
	allowed, err := New([]string{dir})
	must(err)
	return dir, allowed
}

func TestOnlyFilesBelowTheFoldersAreAllowed(t *testing.T) {
	dir, allowed := tree(t)
	at := func(path string) string { return (&url.URL{Scheme: "file", Path: dir + path}).String() }
	for address, want := range map[string]error{
		at("/a b.html"):                              nil,
		at("/a b.html") + "?x=1#top":                 nil,
		at("/sub/c.html"):                            nil,
		at("/in.html"):                               nil,
		at("/sub/../a b.html"):                       nil,
		"FILE://localhost" + dir + "/sub/c.html":     nil,
		at("/none.html"):                             ErrMissing,
		at("/sub"):                                   ErrIrregular,
		at("/out.html"):                              ErrOutside,
		at("/up/secret"):                             ErrOutside,
		at("/../secret"):                             ErrOutside,
		at("/../none"):                               ErrOutside,
		at("-other/secret"):                          ErrOutside,
		at(""):                                       ErrOutside,
		at("/"):                                      ErrOutside,
		"file://" + dir + "/%2e%2e/secret":           ErrOutside,
		"file://" + dir + "/sub%2fc.html":            ErrOutside,
		"file://" + dir + `/sub\c.html`:              ErrOutside,
		"file://" + dir + "/a%00":                    ErrOutside,
		"file://other.example" + dir + "/sub/c.html": ErrOutside,
		"file:sub/c.html":                            ErrOutside,
		"file:///etc/passwd":                         ErrOutside,
		"https://example.com" + dir + "/sub/c.html":  ErrOutside,
		"": ErrOutside,
	} {
		if _, err := allowed.URL(address); !errors.Is(err, want) || (want == nil) != (err == nil) {
			t.Errorf("%s: %v, want %v", address, err, want)
		}
	}
	if _, err := (Folders{}).URL(at("/a b.html")); !errors.Is(err, ErrOutside) {
		t.Errorf("without folders: %v", err)
	}
}

func TestFoldersMustExist(t *testing.T) {
	dir, _ := tree(t)
	for _, wrong := range []string{filepath.Join(dir, "none"), filepath.Join(dir, "a b.html")} {
		if _, err := New([]string{wrong}); err == nil {
			t.Errorf("%s is allowed", wrong)
		}
	}
}

// FuzzNothingOutsideIsAllowed checks for any URL that an allowed file is below the folder.
func FuzzNothingOutsideIsAllowed(f *testing.F) {
	for _, path := range []string{"/sub/c.html", "/../secret", "/up/secret", "/%2e%2e/secret", "/sub/..%2f..%2fsecret", "//a b.html"} {
		f.Add(path)
	}
	f.Fuzz(func(t *testing.T, path string) {
		dir, allowed := tree(t)
		real, err := allowed.URL("file://" + dir + path)
		if err != nil {
			return
		}
		want, err := filepath.EvalSymlinks(dir)
		if rel, relErr := filepath.Rel(want, real); err != nil || relErr != nil || !filepath.IsLocal(rel) {
			t.Errorf("%q leads to %s", path, real)
		}
	})
}
