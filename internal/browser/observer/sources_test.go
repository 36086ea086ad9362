package observer

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/evanw/esbuild/pkg/api"
)

// source joins the scripts in js/ and appends extra, all in one scope.
func source(tb testing.TB, extra string) string {
	tb.Helper()
	names, err := filepath.Glob("js/*.js")
	if err != nil || len(names) == 0 {
		tb.Fatalf("no scripts: %v", err)
	}
	var b strings.Builder
	b.WriteString("(() => {\n\"use strict\";\nif (globalThis.__domtap) return;\n")
	b.WriteString("const LIMITS = " + limitsPlaceholder + ", MASKS = " + masksPlaceholder + ";\n")
	for _, name := range names { // sorted by Glob
		src, err := os.ReadFile(name)
		if err != nil {
			tb.Fatal(err)
		}
		b.Write(src)
	}
	b.WriteString(extra + "})();\n")
	return b.String()
}

// TestScriptIsThatOfTheSources compares the script that runs in documents with the result of minifying the sources by esbuild. With -update
// it writes the script.
func TestScriptIsThatOfTheSources(t *testing.T) {
	made := api.Transform(source(t, ""), api.TransformOptions{
		MinifyWhitespace: true, MinifyIdentifiers: true, MinifySyntax: true, Target: api.ESNext, LogLevel: api.LogLevelSilent,
	})
	for _, message := range made.Errors {
		t.Errorf("%d: %s", message.Location.Line, message.Text)
	}
	want := string(made.Code) + "//# sourceURL=domtap.js\n"
	if *update && !t.Failed() {
		if err := os.WriteFile("domtap.min.js", []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if minified != want {
		t.Error("domtap.min.js is not what js/ gives: run go generate ./internal/browser/observer")
	}
}

// TestFunctionsHaveDistinctNames looks for functions of the scripts with equal names. The scripts share one scope, in which the last one would
// replace the others silently.
func TestFunctionsHaveDistinctNames(t *testing.T) {
	seen := map[string]bool{}
	for _, found := range regexp.MustCompile(`(?m)^(?:async )?function \*?(\w+)`).FindAllStringSubmatch(source(t, ""), -1) {
		if seen[found[1]] {
			t.Errorf("two functions are named %s", found[1])
		}
		seen[found[1]] = true
	}
}
