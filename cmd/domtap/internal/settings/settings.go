// Package settings reads the daemon's configuration file: YAML with the name and the value of each
// setting.
//
//	# limits of the daemon
//	max-tabs: 50
//	upload-dir: [/srv/files, "/srv/more files"]
//
// The text of a value is the value of the flag with that name, whatever its YAML type. A list sets a flag that may be repeated. Errors
// contain the line number.
//
// The previous format, with lines NAME = VALUE, is also supported.
package settings

import (
	"bufio"
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/domtap/domtap/internal/lazyregexp"
	"github.com/domtap/domtap/internal/nearest"
)

// MaxBytes limits the size of a file.
const MaxBytes = 1 << 20

// Setting is one value of a setting.
type Setting struct {
	Line        int
	Name, Value string
}

// Problem is an error in a line.
type Problem struct {
	Line    int
	Message string
}

// Error returns "line 3: …".
func (p *Problem) Error() string { return fmt.Sprintf("line %d: %s", p.Line, p.Message) }

// Parse parses a file. The keys of known are the names of all settings. The value is true if the setting may be repeated.
func Parse(text []byte, known map[string]bool) ([]Setting, error) {
	if len(text) > MaxBytes {
		return nil, &Problem{1, fmt.Sprintf("the file has more than %d bytes", MaxBytes)}
	}
	parse := parseYAML
	if isLines().Match(text) {
		parse = parseLines
	}
	all, err := parse(text)
	if err != nil {
		return nil, err
	}
	first := map[string]int{}
	for _, s := range all {
		repeats, exists := known[s.Name]
		if !exists {
			return nil, &Problem{s.Line, unknown(s.Name, known)}
		}
		if before := first[s.Name]; before > 0 && !repeats {
			return nil, &Problem{s.Line, fmt.Sprintf("%s is set in line %d already", s.Name, before)}
		}
		if !utf8.ValidString(s.Value) {
			return nil, &Problem{s.Line, "the value of " + s.Name + " is not valid UTF-8"}
		}
		first[s.Name] = s.Line
	}
	return all, nil
}

// parseYAML parses a mapping of names to values or lists of values.
func parseYAML(text []byte) ([]Setting, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return nil, err // the error contains the line number
	}
	if doc.IsZero() { // the file contains only comments
		return nil, nil
	}
	root := doc.Content[0]
	if root.Kind != yaml.MappingNode {
		return nil, &Problem{root.Line, "not NAME: VALUE, such as max-tabs: 50"}
	}
	var all []Setting
	for pair := range slices.Chunk(root.Content, 2) {
		name, values := pair[0], pair[1:]
		if values[0].Kind == yaml.SequenceNode {
			values = values[0].Content
		}
		for _, value := range values {
			if name.Kind != yaml.ScalarNode || value.Kind != yaml.ScalarNode {
				return nil, &Problem{value.Line, "a setting has a value or a list of values, and nothing else"}
			}
			all = append(all, Setting{value.Line, name.Value, value.Value})
		}
	}
	return all, nil
}

// isLines matches a file whose first line that is neither empty nor a comment has the form NAME = VALUE.
var isLines = lazyregexp.New(`\A\x{feff}?(?:[ \t]*(?:#.*)?\r?\n)*[ \t]*[\w-]*[ \t]*=`)

// parseLines parses lines NAME = VALUE. A value in double quotes is a Go string.
func parseLines(text []byte) ([]Setting, error) {
	var all []Setting
	lines := bufio.NewScanner(bytes.NewReader(bytes.TrimPrefix(text, []byte("\ufeff"))))
	lines.Buffer(nil, MaxBytes+1)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, value, found := strings.Cut(line, "=")
		name, value = strings.TrimLeft(strings.TrimSpace(name), "-"), strings.TrimSpace(value)
		if !found || name == "" {
			return nil, &Problem{n, "not NAME = VALUE, such as max-tabs = 50"}
		}
		if strings.HasPrefix(value, `"`) {
			unquoted, err := strconv.Unquote(value)
			if err != nil {
				return nil, &Problem{n, "the value of " + name + " starts with a double quote but is not a string: close it, and write \\\\ for a backslash"}
			}
			value = unquoted
		}
		all = append(all, Setting{n, name, value})
	}
	if err := lines.Err(); err != nil {
		return nil, &Problem{1, err.Error()}
	}
	return all, nil
}

// unknown returns the message for an unknown setting.
func unknown(name string, known map[string]bool) string {
	message := fmt.Sprintf("unknown setting %q", name)
	if near := nearest.Name(name, slices.Sorted(maps.Keys(known))); near != "" {
		return message + ": did you mean " + near + "?"
	}
	return message + ": domtap config --all lists all settings"
}

// Format formats a setting as lines of a file. A setting that may be repeated is a list.
func Format(name string, repeats bool, values ...string) (string, error) {
	list := &yaml.Node{Kind: yaml.SequenceNode}
	for _, value := range values {
		list.Content = append(list.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: value})
	}
	value := list
	if !repeats {
		value = list.Content[0]
	}
	text, err := yaml.Marshal(&yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{{Kind: yaml.ScalarNode, Value: name}, value}})
	if err != nil {
		return "", fmt.Errorf("format %s: %w", name, err)
	}
	return string(text), nil
}
