package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/domtap/domtap/internal/golden"
)

// The archives in testdata contain output of go test -json and the expected report.
func TestTranscripts(t *testing.T) {
	golden.Run(t, "testdata/*.txtar", 9, func(t *testing.T, input string) string {
		var out bytes.Buffer
		r := newReport(&out, new(bytes.Buffer), &out)
		r.module = "sample"
		if err := r.read(strings.NewReader(input)); err != nil {
			t.Fatal(err)
		}
		r.end()
		return out.String()
	})
}

// sample writes a module with a package for each file.
func sample(t *testing.T, files map[string]string) {
	t.Helper()
	dir := t.TempDir()
	files["go.mod"] = "module sample\n\ngo 1.26\n"
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	t.Setenv("GOFLAGS", "")
	t.Setenv("GOWORK", "off")
}

const (
	good    = "package good\nimport \"testing\"\nfunc TestGood(t *testing.T) { t.Log(\"all is well\") }\n"
	bad     = "package bad\nimport \"testing\"\nfunc TestBad(t *testing.T) { t.Error(\"all is lost\") }\n"
	unbuilt = "package unbuilt\nimport \"testing\"\nfunc TestUnbuilt(t *testing.T) { nothing() }\n"
)

// run runs go test, returns its exit code, and passes its flags on.
func TestRun(t *testing.T) {
	if testing.Short() {
		t.Skip("it runs go test five times")
	}
	sample(t, map[string]string{"good/good_test.go": good, "bad/bad_test.go": bad, "unbuilt/unbuilt_test.go": unbuilt})
	for _, c := range []struct {
		args     string
		code     int
		has, not []string
	}{
		{"-vet=off ./good", 0, []string{"ok  \tsample/good", "\n1 passed, 0 failed, 0 skipped\n"}, []string{"all is well", "Failed:"}},
		{"-vet=off -v ./good", 0, []string{"=== RUN   TestGood", "all is well"}, nil},
		{"-vet=off ./good ./bad ./unbuilt", 1, []string{
			"ok  \tsample/good", "\nFAIL\tsample/bad\t", "\n  bad TestBad\n      bad_test.go:3: all is lost\n", "undefined: nothing",
			"\n1 passed, 2 failed, 0 skipped\n"}, nil},
		{"-vet=off -run=Nothing ./good", 0, []string{"[no tests to run]", "\n0 passed, 0 failed, 0 skipped\n"}, nil},
		{"-p=many ./good", 2, []string{"invalid value"}, []string{"ok  "}},
	} {
		t.Run(c.args, func(t *testing.T) {
			var out, errors bytes.Buffer
			code, err := run(t.Context(), strings.Fields(c.args), &out, &errors)
			out.Write(errors.Bytes())
			if err != nil || code != c.code {
				t.Errorf("got the code %d, %v; want %d\n%s", code, err, c.code, out.String())
			}
			for _, want := range c.has {
				if !strings.Contains(out.String(), want) {
					t.Errorf("there is no %q in\n%s", want, out.String())
				}
			}
			for _, surplus := range c.not {
				if strings.Contains(out.String(), surplus) {
					t.Errorf("there is %q in\n%s", surplus, out.String())
				}
			}
		})
	}
}

// With -json the events are printed unchanged, and the report goes to standard error.
func TestJSON(t *testing.T) {
	sample(t, map[string]string{"bad/bad_test.go": bad})
	var events, said bytes.Buffer
	if code, err := run(t.Context(), []string{"-vet=off", "-json", "./bad"}, &events, &said); err != nil || code != 1 {
		t.Errorf("got the code %d, %v", code, err)
	}
	for line := range strings.Lines(events.String()) {
		if !json.Valid([]byte(line)) {
			t.Errorf("this is no event: %s", line)
		}
	}
	if want := "bad TestBad\n      bad_test.go:3: all is lost\n\n0 passed, 1 failed, 0 skipped\n"; events.Len() == 0 || !strings.HasSuffix(said.String(), want) {
		t.Errorf("the report is\n%s\nwant at its end\n%s", said.String(), want)
	}
}

func TestGiven(t *testing.T) {
	for args, want := range map[string]bool{
		"-v": true, "--v": true, "-test.v": true, "-v=true": true, "-v=false": false, "-vet=off": false, "./v": false, "-run v": false,
		"./x -args -v": false, "-v=test2json": true, "": false,
	} {
		if got := given(strings.Fields(args), "v"); got != want {
			t.Errorf("%q: got %t", args, got)
		}
	}
}
