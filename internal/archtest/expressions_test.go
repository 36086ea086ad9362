package archtest

import (
	"bytes"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"strconv"
	"testing"
)

// TestExpressionsCompile compiles the regular expressions that the program compiles on first use.
func TestExpressionsCompile(t *testing.T) {
	found := 0
	eachGoFile(t, func(rel string, src []byte) error {
		if !bytes.Contains(src, []byte(module+"/internal/lazyregexp")) {
			return nil
		}
		fset := token.NewFileSet()
		tree, err := parser.ParseFile(fset, rel, src, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		packages := localNames(tree)
		ast.Inspect(tree, func(node ast.Node) bool {
			call, ok := node.(*ast.CallExpr)
			if !ok {
				return true
			}
			f, ok := call.Fun.(*ast.SelectorExpr)
			if !ok || f.Sel.Name != "New" {
				return true
			}
			if from, ok := f.X.(*ast.Ident); !ok || packages[from.Name] != module+"/internal/lazyregexp" {
				return true
			}
			found++
			expression, err := literal(call.Args[0])
			if err == nil {
				_, err = regexp.Compile(expression)
			}
			if err != nil {
				t.Errorf("%s: %v", fset.Position(call.Pos()), err)
			}
			return true
		})
		return nil
	})
	if found == 0 {
		t.Error("no expression was found: the test looks for the wrong calls")
	}
}

// literal returns the value of a string literal, or of several that are joined by plus signs.
func literal(e ast.Expr) (string, error) {
	switch e := e.(type) {
	case *ast.BasicLit:
		return strconv.Unquote(e.Value)
	case *ast.BinaryExpr:
		left, errLeft := literal(e.X)
		right, errRight := literal(e.Y)
		return left + right, errors.Join(errLeft, errRight)
	}
	return "", errors.New("the expression must be a string literal, so that this test can compile it")
}
