package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	linkPattern    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	headingPattern = regexp.MustCompile(`(?m)^#+ (.*)$`)
	codePattern    = regexp.MustCompile("`([^`\n]+)`")
	fencePattern   = regexp.MustCompile("(?ms)^```.*?^```")
)

// TestLinksOfTheDocumentsResolve checks every relative link. The file must exist and contain the heading that the link names.
func TestLinksOfTheDocumentsResolve(t *testing.T) {
	for _, file := range documents(t) {
		text := fencePattern.ReplaceAllString(readDocument(t, file), "")
		for _, match := range linkPattern.FindAllStringSubmatch(text, -1) {
			target, anchor, _ := strings.Cut(match[1], "#")
			if strings.Contains(match[1], ":") {
				continue
			}
			page := file
			if target != "" {
				page = filepath.Join(filepath.Dir(file), filepath.FromSlash(target))
			}
			if _, err := os.Stat(page); err != nil {
				t.Errorf("%s: the link %s leads nowhere", file, match[1])
			} else if anchor != "" && !slices.Contains(anchors(readDocument(t, page)), anchor) {
				t.Errorf("%s: %s has no heading for the link %s", file, page, match[1])
			}
		}
	}
}

// anchors returns the fragments that GitHub generates for the headings of a document.
func anchors(text string) []string {
	var all []string
	for _, match := range headingPattern.FindAllStringSubmatch(fencePattern.ReplaceAllString(text, ""), -1) {
		heading := linkPattern.ReplaceAllString(strings.ToLower(match[1]), "")
		heading = regexp.MustCompile(`[^\p{L}\p{N}_ -]`).ReplaceAllString(heading, "")
		all = append(all, strings.ReplaceAll(heading, " ", "-"))
	}
	return all
}

// TestEachDecisionHasANumberOfItsOwnAndALineInTheIndex checks the architecture decision records.
func TestEachDecisionHasANumberOfItsOwnAndALineInTheIndex(t *testing.T) {
	dir := filepath.Join(root, "docs", "adr")
	index := readDocument(t, filepath.Join(dir, "README.md"))
	files, err := filepath.Glob(filepath.Join(dir, "0*.md"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	numbers := map[string]string{}
	for _, file := range files {
		name := filepath.Base(file)
		number := strings.TrimLeft(name[:4], "0")
		if other := numbers[number]; other != "" {
			t.Errorf("%s and %s have the same number", name, other)
		}
		numbers[number] = name
		if !strings.HasPrefix(readDocument(t, file), "# "+number+". ") {
			t.Errorf("the title of %s does not begin with %s", name, number)
		}
		if !strings.Contains(index, "["+number+"]("+name+")") {
			t.Errorf("docs/adr/README.md does not list %s", name)
		}
	}
}

// TestPathsInTheDocumentsExist checks each path in backticks that begins with a directory of the repository. It skips decisions and the
// changelog, because they describe the past.
func TestPathsInTheDocumentsExist(t *testing.T) {
	checked := 0
	for _, file := range documents(t) {
		if strings.Contains(filepath.ToSlash(file), "/adr/") || filepath.Base(file) == "CHANGELOG.md" {
			continue
		}
		text := fencePattern.ReplaceAllString(readDocument(t, file), "")
		for _, match := range codePattern.FindAllStringSubmatch(text, -1) {
			path := filepath.FromSlash(match[1])
			first, _, below := strings.Cut(match[1], "/")
			if first == "" || first == ".cache" || match[1] == "tools/call" || match[1] == "tools/list" {
				continue // a path of the machine, a build output, or a method of MCP
			}
			if dir, err := os.Stat(filepath.Join(root, first)); !below || err != nil || !dir.IsDir() || strings.ContainsAny(path, " *{:$=<") {
				continue
			}
			checked++
			if _, err := os.Stat(filepath.Join(root, path)); err != nil {
				t.Errorf("%s: there is no %s", file, path)
			}
		}
	}
	if checked < 50 {
		t.Errorf("only %d paths were found: the documents or this test must have changed", checked)
	}
}

var (
	namedTest    = regexp.MustCompile(`\bTest[A-Z]\w+`)
	declaredTest = regexp.MustCompile(`(?m)^func (Test\w+)\(`)
)

// TestTestsThatTheDocumentsNameExist checks the names of tests in documents.
func TestTestsThatTheDocumentsNameExist(t *testing.T) {
	declared := map[string]bool{}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && path != root && strings.HasPrefix(entry.Name(), ".") && entry.Name() != ".." {
			return fs.SkipDir
		}
		if strings.HasSuffix(path, "_test.go") {
			for _, match := range declaredTest.FindAllStringSubmatch(readDocument(t, path), -1) {
				declared[match[1]] = true
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range documents(t) {
		for _, name := range namedTest.FindAllString(readDocument(t, file), -1) {
			if !declared[name] && !strings.Contains(filepath.ToSlash(file), "/adr/") && filepath.Base(file) != "CHANGELOG.md" {
				t.Errorf("%s: there is no test %s", file, name)
			}
		}
	}
}

func readDocument(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
