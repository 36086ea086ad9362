package archtest

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"strings"
	"testing"
)

// maxLines is how many lines the non-test code of a package may have.
const maxLines = 2000

// larger lists the packages that have more lines, and how many they may have: as many as they had when they were listed, or fewer. A
// package that has shrunk gets its new size here, and leaves the list when it is below maxLines. None is added.
var larger = map[string]int{
	"actor":           3198,
	"actor/actortest": 2175,
}

// TestPackagesHaveAtMost2000Lines holds packages to a size that a newcomer can read in an afternoon. What a package does besides its
// first purpose is a package of its own; files with build tags count, generated code does not.
func TestPackagesHaveAtMost2000Lines(t *testing.T) {
	lines := map[string]int{}
	eachGoFile(t, func(rel string, src []byte) error {
		if !strings.HasSuffix(rel, "_test.go") && !strings.HasPrefix(rel, "gen/") {
			lines[path.Dir(rel)] += bytes.Count(src, []byte("\n"))
		}
		return nil
	})
	for name, n := range lines {
		limit, listed := larger[name]
		switch {
		case !listed && n > maxLines:
			t.Errorf("%s has %d lines, and may have %d: make what it does besides its first purpose a package of its own", name, n, maxLines)
		case listed && n > limit:
			t.Errorf("%s has %d lines, and may not grow beyond %d: put what is new into a package of its own", name, n, limit)
		case listed && n <= maxLines:
			t.Errorf("%s has %d lines: take it out of the list of larger packages in internal/archtest/sizes_test.go", name, n)
		}
	}
	for name := range larger {
		if lines[name] == 0 {
			t.Errorf("%s is in the list of larger packages, and has no Go file", name)
		}
	}
}

// maxFunction is how many lines a function may have. About 40 fit a screen; a list of cases may be a little longer.
const maxFunction = 50

// TestFunctionsFitAScreen holds functions outside of tests to what can be read without scrolling.
func TestFunctionsFitAScreen(t *testing.T) {
	count := 0
	eachFunction(t, func(rel string, f *ast.FuncDecl, lines int) {
		count++
		if lines > maxFunction {
			t.Errorf("%s: %s has %d lines, and may have %d: make a function of a step in it that has a name", rel, f.Name.Name, lines, maxFunction)
		}
	})
	if count < 1000 {
		t.Errorf("only %d functions were found: the walk is wrong", count)
	}
}

// eachFunction calls do with every function and method that is neither generated nor of a test, the path of its file, and how many lines it has.
func eachFunction(t *testing.T, do func(rel string, f *ast.FuncDecl, lines int)) {
	t.Helper()
	eachGoFile(t, func(rel string, src []byte) error {
		if strings.HasSuffix(rel, "_test.go") || strings.HasPrefix(rel, "gen/") {
			return nil
		}
		files := token.NewFileSet()
		tree, err := parser.ParseFile(files, rel, src, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, d := range tree.Decls {
			if f, ok := d.(*ast.FuncDecl); ok {
				do(rel, f, files.Position(f.End()).Line-files.Position(f.Pos()).Line+1)
			}
		}
		return nil
	})
}
