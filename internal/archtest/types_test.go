package archtest

import (
	"go/ast"
	"path"
	"testing"
)

// maxMethods is how many methods a type may have.
const maxMethods = 25

// TestTypesHaveAtMost25Methods holds types to a size that a newcomer can read. A larger one is made of parts, each of
// which owns some of the fields; see docs/architecture.md.
func TestTypesHaveAtMost25Methods(t *testing.T) {
	methods := map[string]int{}
	eachFunction(t, func(rel string, f *ast.FuncDecl, _ int) {
		if f.Recv != nil && len(f.Recv.List) == 1 {
			methods[path.Dir(rel)+"."+receiver(f.Recv.List[0].Type)]++
		}
	})
	for name, n := range methods {
		if n > maxMethods {
			t.Errorf("%s has %d methods, and may have %d: move some of its fields and their methods to a type of their own", name, n, maxMethods)
		}
	}
	if methods["actor.Tab"] == 0 {
		t.Error("no method of actor.Tab was found: the walk is wrong, or the type has another name")
	}
}

// receiver is the name of a receiver's type.
func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.IndexListExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}
