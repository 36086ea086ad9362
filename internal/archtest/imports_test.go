package archtest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestImportsKeepToTheLayers checks the repository against the rules. It parses every Go file, regardless of build tags.
func TestImportsKeepToTheLayers(t *testing.T) {
	checked := map[string]bool{}
	eachGoFile(t, func(rel string, src []byte) error {
		violations, err := check(rel, src)
		for _, violation := range violations {
			t.Error(violation)
		}
		checked[layerOf(path.Dir(rel))] = true
		return err
	})
	for _, want := range []string{"dom", "actor", "gen", "internal/testenv"} {
		if !checked[want] {
			t.Errorf("no Go file of %s was checked: the walk is wrong, or rules_test.go names a layer that is gone", want)
		}
	}
}

// eachGoFile calls f with every Go file of this module and its slash-separated path from the root of the repository.
func eachGoFile(t *testing.T, f func(rel string, src []byte) error) {
	t.Helper()
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if entry.IsDir() {
			return skip(name, rel)
		}
		if path.Ext(rel) != ".go" {
			return nil
		}
		src, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		return f(rel, src)
	})
	if err != nil {
		t.Fatalf("walk the repository: %v", err)
	}
}

// skip omits directories without code of this module: hidden directories, test data, and nested modules.
func skip(name, rel string) error {
	if rel == "." {
		return nil
	}
	if base := path.Base(rel); strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") || base == "testdata" {
		return fs.SkipDir
	}
	if _, err := os.Stat(filepath.Join(name, "go.mod")); err == nil {
		return fs.SkipDir
	}
	return nil
}

// check returns the violations in one Go file, one message each. file is its slash-separated path from the root of the repository.
func check(file string, src []byte) ([]string, error) {
	fset := token.NewFileSet()
	tree, err := parser.ParseFile(fset, file, src, parser.SkipObjectResolution)
	if err != nil {
		return nil, fmt.Errorf("parse %s: %w", file, err)
	}
	violations := checkNames(file, tree)
	if strings.HasSuffix(file, "_test.go") {
		return violations, nil
	}
	name := layerOf(path.Dir(file))
	rules, ok := layers[name]
	if !ok {
		return append(violations, fmt.Sprintf("%s: %s is not a layer that rules_test.go knows; "+
			"put the file into a layer, or add a row to layers in internal/archtest/rules_test.go", file, path.Dir(file))), nil
	}
	at := func(pos token.Pos) string {
		return fmt.Sprintf("%s:%d", file, fset.Position(pos).Line)
	}
	for _, spec := range tree.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return nil, fmt.Errorf("%s: read import: %w", at(spec.Pos()), err)
		}
		if violation := checkImport(name, rules, imported); violation != "" {
			violations = append(violations, at(spec.Pos())+": "+violation)
		}
	}
	for _, found := range checkBody(name, rules, tree) {
		violations = append(violations, at(found.pos)+": "+found.text)
	}
	return violations, nil
}

// checkNames reports directories, files and packages that are named util.
func checkNames(file string, tree *ast.File) []string {
	names := strings.Split(strings.TrimSuffix(strings.TrimSuffix(file, ".go"), "_test"), "/")
	for _, name := range append(names, tree.Name.Name) {
		name = strings.ToLower(name)
		if strings.HasSuffix(name, "util") || strings.HasSuffix(name, "utils") {
			return []string{fmt.Sprintf("%s: %q says nothing about what is in it; "+
				"name it after what it does, or move the code to where it is used", file, name)}
		}
	}
	return nil
}

// checkImport returns a message if a layer must not import a package, or an empty string.
func checkImport(name string, rules layer, imported string) string {
	for _, k := range owners {
		if slices.ContainsFunc(k.packages, prefixes(imported)) && !slices.Contains(k.layers, name) {
			return fmt.Sprintf("%s may not import %s, only %s may; %s",
				name, imported, strings.Join(k.layers, ", "), k.advice)
		}
	}
	if rules.pure && slices.Contains(impure, imported) {
		return fmt.Sprintf("%s is pure and may not import %s; let the caller read clocks, files and contexts and pass the values",
			name, imported)
	}
	if inner, ok := strings.CutPrefix(imported, module+"/"); ok {
		other := layerOf(inner)
		if other == name || slices.Contains(rules.layers, other) || slices.Equal(rules.layers, everyLayer) {
			return ""
		}
		return fmt.Sprintf("%s may not import %s, only the layers [%s]; "+
			"move the code down to a layer that both may import, or declare here the interface that it needs",
			name, other, strings.Join(rules.layers, " "))
	}
	if first, _, _ := strings.Cut(imported, "/"); strings.Contains(first, ".") && !rules.modules {
		return fmt.Sprintf("%s imports no other modules, but %s is one; use the standard library, or do this in a layer further out",
			name, imported)
	}
	return ""
}

// finding is a violation inside a file.
type finding struct {
	pos  token.Pos
	text string
}

// checkBody reports forbidden calls, also as values (f := os.Exit), and goroutines in pure layers.
func checkBody(name string, rules layer, tree *ast.File) []finding {
	var found []finding
	packages := localNames(tree)
	ast.Inspect(tree, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.GoStmt:
			if rules.pure {
				found = append(found, finding{node.Pos(), name + " is pure and starts no goroutine; let the caller do so"})
			}
		case *ast.SelectorExpr:
			left, ok := node.X.(*ast.Ident)
			if !ok {
				break
			}
			for _, c := range calls {
				if packages[left.Name] == c.pkg && slices.Contains(c.names, node.Sel.Name) && !slices.Contains(c.layers, name) {
					found = append(found, finding{node.Pos(), fmt.Sprintf("only %s/ and tests may use %s.%s; %s",
						strings.Join(c.layers, "/, "), c.pkg, node.Sel.Name, c.advice)})
				}
			}
		}
		return true
	})
	return found
}

// localNames maps the local names of the file's imports to their paths. For an import without an explicit name it uses the last element of
// the path, which is correct for the packages in calls.
func localNames(tree *ast.File) map[string]string {
	names := map[string]string{}
	for _, spec := range tree.Imports {
		imported := strings.Trim(spec.Path.Value, "\"`")
		if spec.Name != nil {
			names[spec.Name.Name] = imported
		} else {
			names[path.Base(imported)] = imported
		}
	}
	return names
}

// layerOf returns the layer of a directory: the longest known layer on its path, or else the directory itself.
func layerOf(dir string) string {
	for name := dir; name != "." && name != "/"; name = path.Dir(name) {
		if _, ok := layers[name]; ok {
			return name
		}
	}
	return dir
}

// prefixes returns a function that reports whether an import path equals imported or is a parent of it.
func prefixes(imported string) func(string) bool {
	return func(prefix string) bool {
		return imported == prefix || strings.HasPrefix(imported, prefix+"/")
	}
}
