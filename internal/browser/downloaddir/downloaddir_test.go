package downloaddir

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestNamesAreSafe(t *testing.T) {
	for suggested, want := range map[string]string{
		"report.pdf":                         "report.pdf",
		"../../etc/passwd":                   "passwd",
		`..\..\boot.ini`:                     "boot.ini",
		"":                                   "download",
		"..":                                 "download",
		"...":                                "download",
		".bashrc":                            "_bashrc",
		"-rf":                                "_rf",
		"a\x00b\nc":                          "a_b_c",
		"con":                                "_con",
		"NUL.tar.gz":                         "_NUL.tar.gz",
		"com1 .txt":                          "_com1.txt",
		"what?.txt":                          "what_.txt",
		"evil\u202efdp.exe":                  "evilfdp.exe",
		"trailing. . ":                       "trailing",
		"Straße 日本 👍.txt":                    "Straße 日本 👍.txt",
		"\xff\xfe.bin":                       "_.bin",
		strings.Repeat("é", 200) + ".tar":    strings.Repeat("é", 73) + ".tar",
		"x." + strings.Repeat("e", 300):      "x." + strings.Repeat("e", 148),
		"C:\\Users\\a\\Desktop\\desktop.ini": "_desktop.ini",
	} {
		if got := Name(suggested); got != want {
			t.Errorf("%q became %q, want %q", suggested, got, want)
		}
	}
}

func FuzzNamesStayInTheirFolder(f *testing.F) {
	for _, s := range []string{"../x", ".", "con.txt", "a\u202eb", "\xf0\x9f", strings.Repeat("a.", 300), "é" + strings.Repeat("x", 200)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, suggested string) {
		name := Name(suggested)
		if name == "" || len(name) > maxName+1 || name != filepath.Base(name) || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "-") ||
			!utf8.ValidString(name) || strings.ContainsAny(name, `/\<>:"|?*`) || strings.TrimRight(name, ". ") != name {
			t.Errorf("%q became %q", suggested, name)
		}
		if strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) {
			t.Errorf("%q became %q, which cannot be printed", suggested, name)
		}
		first, _, _ := strings.Cut(name, ".")
		if reserved().MatchString(first) {
			t.Errorf("%q became the device %q", suggested, name)
		}
	})
}

func TestNothingIsOverwritten(t *testing.T) {
	root := t.TempDir()
	f, err := Open(root, "default")
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(f.Dir()); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the folder is %v, %v", info.Mode(), err)
	}
	var paths []string
	for _, id := range []string{"one", "two", "three"} {
		if err := os.WriteFile(filepath.Join(f.Incoming(), id), []byte(id), 0o666); err != nil {
			t.Fatal(err)
		}
		path, size, err := f.Keep(id, "../a.tar.gz")
		if err != nil || size != int64(len(id)) {
			t.Fatalf("kept %d bytes, %v", size, err)
		}
		if got, _ := os.ReadFile(path); string(got) != id {
			t.Errorf("%s holds %q", path, got)
		}
		paths = append(paths, strings.TrimPrefix(path, f.Dir()+string(filepath.Separator)))
	}
	if got := strings.Join(paths, ", "); got != "a.tar.gz, a.tar (1).gz, a.tar (2).gz" {
		t.Errorf("the files are %s", got)
	}
	if err := os.Symlink("/etc/hostname", filepath.Join(f.Incoming(), "link")); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"link", "none", "../one", ""} {
		if path, _, err := f.Keep(id, "b"); err == nil {
			t.Errorf("%q was kept as %s", id, path)
		}
	}
	if err := os.WriteFile(filepath.Join(f.Incoming(), "four.crdownload"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	f.Drop("four")
	if left, _ := os.ReadDir(f.Incoming()); len(left) != 1 {
		t.Errorf("%v is left", left)
	}
	if err := f.Close(true); err != nil {
		t.Error(err)
	}
	if left, _ := os.ReadDir(f.Dir()); len(left) != 3 {
		t.Errorf("%v is kept", left)
	}
	if err := f.Close(false); err != nil {
		t.Error(err)
	}
	for _, name := range []string{"", "..", ".", "a/b", ".hidden"} {
		if _, err := Open(root, name); err == nil {
			t.Errorf("%q is a folder", name)
		}
	}
	if left, _ := os.ReadDir(root); len(left) != 0 {
		t.Errorf("%v is left", left)
	}
}
