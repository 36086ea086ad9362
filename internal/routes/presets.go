package routes

import (
	"embed"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// files has a list for each preset: lines "host NAME", which block a host and the hosts below it, and "type NAME", which block a type of
// requests. A # begins a comment.
//
//go:embed presets/*.txt
var files embed.FS

// Presets are the names of the lists of requests that can be blocked.
var Presets = []string{"ads", "fonts", "media"}

// CheckPresets returns an error for a name that is not in Presets.
func CheckPresets(names []string) error {
	for _, name := range names {
		if !slices.Contains(Presets, name) {
			return fmt.Errorf("unknown preset %.40q: use %s", name, strings.Join(Presets, ", "))
		}
	}
	return nil
}

// list is what a preset blocks.
type list struct{ hosts, types []string }

// read are the presets that were read.
var read sync.Map

// preset returns a list; nothing for an unknown name.
func preset(name string) list {
	if known, ok := read.Load(name); ok {
		return known.(list)
	}
	text, err := files.ReadFile("presets/" + name + ".txt")
	if err != nil {
		return list{}
	}
	l := parseList(string(text))
	read.Store(name, l)
	return l
}

// parseList reads the lines of a list.
func parseList(text string) (l list) {
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "#")
		switch words := strings.Fields(line); {
		case len(words) == 2 && words[0] == "host":
			l.hosts = append(l.hosts, words[1])
		case len(words) == 2 && words[0] == "type":
			l.types = append(l.types, words[1])
		}
	}
	return l
}
