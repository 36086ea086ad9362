package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"testing"
)

// clock lists the functions of package time that depend on the current time.
var clock = []string{"Now", "Since", "Until", "After", "AfterFunc", "Sleep", "NewTimer", "NewTicker", "Tick"}

// TestComponentsArePlainValues checks that the components of a tab start no goroutines and read no clock. Time is an argument, so that the
// components can be tested with plain values.
func TestComponentsArePlainValues(t *testing.T) {
	count := 0
	eachGoFile(t, func(rel string, src []byte) error {
		component := strings.HasPrefix(rel, "actor/internal/") || strings.HasPrefix(rel, "actor/restore/")
		if !component || strings.HasSuffix(rel, "_test.go") {
			return nil
		}
		count++
		file, err := parser.ParseFile(token.NewFileSet(), rel, src, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt:
				t.Errorf("%s starts a goroutine: return what to do, and let the tab's loop do it", rel)
			case *ast.SelectorExpr:
				if pkg, ok := n.X.(*ast.Ident); ok && pkg.Name == "time" && slices.Contains(clock, n.Sel.Name) {
					t.Errorf("%s calls time.%s: take the time as an argument", rel, n.Sel.Name)
				}
			}
			return true
		})
		return nil
	})
	if count < 10 {
		t.Errorf("there are %d files of components", count)
	}
}
