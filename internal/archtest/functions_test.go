package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"testing"
)

// maxFunction limits the lines of a function. About 40 fit on a screen; a list of cases may be a little longer.
const maxFunction = 50

// TestFunctionsFitAScreen checks that functions outside tests can be read without scrolling.
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

// eachFunction calls do with every function and method that is neither generated nor part of a test, with the path of its file and its
// number of lines.
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
