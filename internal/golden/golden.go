// Package golden compares what a test computes with transcripts in testdata. It is for tests alone.
//
// A transcript is a txtar file of two sections, the input and the output. With the flag -update, the tests write
// the outputs that they compute instead of comparing them.
package golden

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

var update = flag.Bool("update", false, "write the outputs into testdata")

// Run runs output on the input of each file that pattern matches, in a subtest named after the file, and compares the result
// with the output in the file. The test fails when there are fewer than least files.
func Run(t *testing.T, pattern string, least int, output func(t *testing.T, input string) string) {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) < least {
		t.Fatalf("%s has the files %v, want at least %d: %v", pattern, files, least, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil || len(archive.Files) != 2 {
				t.Fatalf("%s: want an input and an output: %v", file, err)
			}
			got := output(t, string(archive.Files[0].Data))
			if *update {
				archive.Files[1].Data = []byte(got)
				if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if want := string(archive.Files[1].Data); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}
