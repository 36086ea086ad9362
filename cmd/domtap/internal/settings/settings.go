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
	"slices"
	"strconv"
	"strings"
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

// unknown says what was probably meant.
func unknown(name string, known map[string]bool) string {
	message := fmt.Sprintf("there is no setting %q", name)
	if near := Nearest(name, known); near != "" {
		return message + ": did you mean " + near + "?"
	}
	return message + ": domtap config lists them all"
}

// Nearest is the known name that takes the fewest letters to change; empty when none is close.
func Nearest(name string, known map[string]bool) string {
	name = strings.ToLower(strings.ReplaceAll(name, "_", "-"))
	best, least := "", max(2, len(name)/3)+1
	for _, other := range sorted(known) {
		if d := distance(name, other); d < least {
			best, least = other, d
		}
	}
	return best
}

func sorted(known map[string]bool) []string {
	var names []string
	for name := range known {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// distance is that of Levenshtein.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}
