package dense

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/domtap/domtap/internal/lazyregexp"
)

// Diff is a parsed text of changes.
type Diff struct {
	// Page reports that the text is the whole page instead, because that is shorter. All its elements are in Added.
	Page           bool
	Added, Removed []Element
	Changed        []Change
	Redrawn        []Redrawn
	Moved          []uint32
	// More counts the elements without a line of their own, by the mark of the summarizing line: '+', '-', '~' or '>'.
	More map[byte]int
}

// Change is an element before and after.
type Change struct{ Was, Now Element }

// Redrawn reports that the elements with refs Old, Old+1 and so on, Count in all, now have refs New, New+1 and so on.
type Redrawn struct{ Old, New, Count uint32 }

var (
	more   = lazyregexp.New(`^(?:moved:.* and )?(\d+) more(?:$|:)`)
	rows   = lazyregexp.New(`^\d+ (?:more )?rows?(?::.*)? \((\d+) elements?\)$`)
	folded = lazyregexp.New(`^(?:\(covered\) )?\[\d+(?:…|, )[^\]]*\] (\d+)?×(\d+)`)
	ranges = lazyregexp.New(`(\d+)(?:-(\d+))? → (\d+)`)
)

// ParseDiff parses a text of changes.
func ParseDiff(text string) (d Diff, err error) {
	if strings.HasPrefix(text, "URL: ") {
		d.Page = true
		d.Added, err = Parse(text)
		return d, err
	}
	d.More = map[byte]int{}
	for line := range strings.Lines(text) {
		mark, rest := line[0], strings.TrimSuffix(line[1:], "\n")
		if len(rest) < 2 || rest[0] != ' ' || !strings.ContainsRune("+-~=>", rune(mark)) {
			continue
		}
		switch rest = rest[1:]; {
		case mark == '=':
			d.redrawn(rest)
		case folded().MatchString(rest):
			m := folded().FindStringSubmatch(rest)
			d.More[mark] += int(max(number(m[1]), 1) * number(m[2]))
		case rest[0] == '|' && mark == '+':
			if err := d.element(mark, rest); err != nil {
				return d, err
			}
		case rest[0] != '[' && rest[0] != '(' || mark == '>': // no elements
			for _, m := range refs().FindAllStringSubmatch(rest, -1) {
				if mark == '>' {
					d.Moved = append(d.Moved, number(m[1]))
				}
			}
			for _, m := range [][]string{more().FindStringSubmatch(rest), rows().FindStringSubmatch(rest)} {
				if m != nil {
					d.More[mark] += int(number(m[1]))
				}
			}
		default:
			if err := d.element(mark, rest); err != nil {
				return d, err
			}
		}
	}
	return d, nil
}

func (d *Diff) redrawn(line string) {
	for _, m := range ranges().FindAllStringSubmatch(line, -1) {
		r := Redrawn{Old: number(m[1]), New: number(m[3]), Count: 1}
		if m[2] != "" {
			r.Count += number(m[2]) - r.Old
		}
		d.Redrawn = append(d.Redrawn, r)
	}
}

// element parses an element and its old values.
func (d *Diff) element(mark byte, line string) error {
	now, was, _ := strings.Cut(line, " ←")
	items, err := parseLine(now, map[uint32]uint32{}, new(string))
	part := tail().FindStringSubmatch(was)
	switch {
	case err != nil:
		return err
	case mark != '~':
		slices.Reverse(items)
		fillTargets(items, new(string))
	}
	switch {
	case mark == '+':
		d.Added = append(d.Added, items...)
	case mark == '-':
		d.Removed = append(d.Removed, items...)
	case len(items) != 1 || part == nil:
		return fmt.Errorf("read %q: not a change of format DENSE_DIFF", line)
	default:
		c := Change{items[0], items[0]}
		if name, left := cutWords(part[1]); name == `""` {
			c.Was.Name, c.Was.Left = "", 0
		} else if name != "" {
			c.Was.Name, c.Was.Left = unescape(name), left
		}
		c.Was.Target = cmp.Or(targetOf(part[2]), c.Now.Target)
		if part[7] != "" {
			c.Was.Context = unescape(part[7])
		}
		if part[3] != "" {
			value, left := cutWords(part[4])
			c.Was.Role, c.Was.Value, c.Was.ValueLeft = part[3], unescape(value), left
			c.Was.States, c.Was.Hints = statesAndHints(part[5])
		}
		d.Changed = append(d.Changed, c)
	}
	return nil
}
