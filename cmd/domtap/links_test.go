package main

import (
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

// TestLinksOfTheDocumentsResolve checks every relative link: the file must exist, and have the heading that the link names.
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

// anchors are the fragments that GitHub gives the headings of a document.
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

// TestPathsInDocumentsForContributorsExist checks what CONTRIBUTING.md and docs/architecture.md name in backticks and with a
// slash: a file or directory of the repository. Commands, patterns and import paths of other modules have a space, a * or a
// domain, and are left out.
func TestPathsInDocumentsForContributorsExist(t *testing.T) {
	for _, name := range []string{"CONTRIBUTING.md", "docs/architecture.md"} {
		text := fencePattern.ReplaceAllString(readDocument(t, filepath.Join(root, filepath.FromSlash(name))), "")
		checked := 0
		for _, match := range codePattern.FindAllStringSubmatch(text, -1) {
			path := match[1]
			if !strings.Contains(path, "/") || strings.ContainsAny(path, " *{:$=<") || strings.Contains(strings.Split(path, "/")[0], ".com") {
				continue
			}
			checked++
			if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(path))); err != nil {
				t.Errorf("%s: there is no %s", name, path)
			}
		}
		if checked < 10 {
			t.Errorf("%s names only %d paths", name, checked)
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
