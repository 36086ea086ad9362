package routes

import (
	"embed"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// files contains a list for each preset. Lines are "host NAME", which blocks a host and the hosts below it, and "type NAME", which blocks a
// type of requests. A # starts a comment.
//
//go:embed presets/*.txt
var files embed.FS

// Presets lists the names of the presets. Each preset blocks a list of requests.
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

// list is the parsed list of a preset.
type list struct{ hosts, types []string }

// read caches the parsed presets.
var read sync.Map

// preset returns the list of a preset. It returns an empty list for an unknown name.
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

// parseList parses the lines of a list.
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
