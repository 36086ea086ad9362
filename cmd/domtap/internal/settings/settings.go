// Package settings reads the daemon's configuration file: one setting a line, under the name of its flag.
//
//	# what the daemon may take
//	max-tabs = 50
//	upload-dir = /srv/files
//	upload-dir = "/srv/more files"
//
// A line is empty, a comment that begins with #, or NAME = VALUE. A value is taken as it stands, without the white space around it; one in
// double quotes is read as Go reads a string. What a flag takes more than once may stand in several lines. There are no sections, no
// nesting and no inclusion, so there is nothing to know but the flags.
package settings

import (
	"bufio"
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/domtap/domtap/cmd/domtap/internal/nearest"
)

// MaxBytes is how long a file may be.
const MaxBytes = 1 << 20

// Setting is one line.
type Setting struct {
	Line        int
	Name, Value string
}

// Problem is an error that names its line.
type Problem struct {
	Line    int
	Message string
}

// Error is "line 3: …".
func (p *Problem) Error() string { return fmt.Sprintf("line %d: %s", p.Line, p.Message) }

// Parse reads a file. known are the names that there are, and those that may stand more than once are true. Errors are *Problem.
func Parse(text []byte, known map[string]bool) ([]Setting, error) {
	if len(text) > MaxBytes {
		return nil, &Problem{1, fmt.Sprintf("the file has more than %d bytes", MaxBytes)}
	}
	var all []Setting
	first := map[string]int{}
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, MaxBytes+1)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(strings.TrimPrefix(lines.Text(), "\ufeff"))
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		s, err := parseLine(n, line)
		if err != nil {
			return nil, err
		}
		more, there := known[s.Name]
		if !there {
			return nil, &Problem{n, unknown(s.Name, known)}
		}
		if before := first[s.Name]; before > 0 && !more {
			return nil, &Problem{n, fmt.Sprintf("%s is set in line %d already", s.Name, before)}
		}
		first[s.Name] = n
		all = append(all, s)
	}
	if err := lines.Err(); err != nil {
		return nil, &Problem{len(all) + 1, err.Error()}
	}
	return all, nil
}

func parseLine(n int, line string) (Setting, error) {
	name, value, found := strings.Cut(line, "=")
	name, value = strings.TrimSpace(name), strings.TrimSpace(value)
	if !found || name == "" {
		return Setting{}, &Problem{n, "it is not NAME = VALUE, such as max-tabs = 50"}
	}
	name = strings.TrimLeft(name, "-") // as on the command line
	if strings.HasPrefix(value, `"`) {
		text, err := strconv.Unquote(value)
		if err != nil {
			return Setting{}, &Problem{n, "the value of " + name + " begins with a double quote, and is no string: end it with another, and write \\\\ for a backslash"}
		}
		value = text
	}
	return Setting{n, name, value}, nil
}

// unknown is the message of an unknown setting.
func unknown(name string, known map[string]bool) string {
	message := fmt.Sprintf("unknown setting %q", name)
	if near := nearest.Name(name, slices.Sorted(maps.Keys(known))); near != "" {
		return message + ": did you mean " + near + "?"
	}
	return message + ": domtap config --all lists all settings"
}

// Format writes a setting as a line of a file.
func Format(name, value string) string {
	if value != strings.TrimSpace(value) || strings.HasPrefix(value, `"`) || strings.ContainsAny(value, "\n\r") {
		value = strconv.Quote(value)
	}
	return name + " = " + value + "\n"
}
