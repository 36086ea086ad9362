// Package golden compares results of tests with archives in testdata. It is only for tests.
//
// An archive is a txtar file. Its sections are the inputs and outputs of one test. With the flag -update, tests write their outputs to the
// archive instead of comparing them.
package golden

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

var update = flag.Bool("update", false, "write the outputs into testdata")

// Archive is the archive of one test.
type Archive struct {
	*txtar.Archive
	changed bool
}

// Each runs test for each archive that matches pattern, in a subtest named after the file. The test fails if there are fewer than least
// files.
func Each(t *testing.T, pattern string, least int, test func(t *testing.T, a *Archive)) {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) < least {
		t.Fatalf("%s has the files %v, want at least %d: %v", pattern, files, least, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			parsed, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			a := &Archive{Archive: parsed}
			test(t, a)
			if a.changed {
				if err := os.WriteFile(file, txtar.Format(parsed), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// Run calls output with the input of each archive and compares the result with the output in the archive. Archives have two sections, an
// input and an output.
func Run(t *testing.T, pattern string, least int, output func(t *testing.T, input string) string) {
	t.Helper()
	Each(t, pattern, least, func(t *testing.T, a *Archive) {
		if len(a.Files) != 2 {
			t.Fatal("want an input and an output")
		}
		a.Compare(t, a.Files[1].Name, output(t, string(a.Files[0].Data)))
	})
}

// Section returns the text of a section. It returns false if there is no section of that name.
func (a *Archive) Section(name string) (string, bool) {
	if i := a.index(name); i >= 0 {
		return string(a.Files[i].Data), true
	}
	return "", false
}

// Compare fails the test if an output differs from the section of that name. With the flag -update, it stores the output in the archive.
func (a *Archive) Compare(t *testing.T, name, got string) {
	t.Helper()
	if want, _ := a.Section(name); !*update && got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	a.Update(name, got)
}

// Update stores an output in the archive if the flag -update is set. It is for outputs that differ between runs.
func (a *Archive) Update(name, got string) {
	want, ok := a.Section(name)
	switch {
	case !*update:
	case !ok:
		a.Files, a.changed = append(a.Files, txtar.File{Name: name, Data: []byte(got)}), true
	case got != want:
		a.Files[a.index(name)].Data, a.changed = []byte(got), true
	}
}

// index returns the index of a section, or -1 if there is none.
func (a *Archive) index(name string) int {
	return slices.IndexFunc(a.Files, func(f txtar.File) bool { return f.Name == name })
}
