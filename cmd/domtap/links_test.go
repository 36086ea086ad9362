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

func readDocument(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
