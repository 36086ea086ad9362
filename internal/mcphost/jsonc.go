package mcphost

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// errSyntax reports that a text is not JSON, even if comments are allowed.
var errSyntax = errors.New("not JSON")

// scanner locates values in JSON text with comments and trailing commas, the format of editor settings.
type scanner struct {
	text string
	at   int
}

// member locates one member of an object: its key, its value, and the text after the value up to the comma.
type member struct {
	name                   string
	key, value, end, comma int
	hasComma               bool
}

func (s *scanner) fail(why string) error {
	line := 1 + strings.Count(s.text[:min(s.at, len(s.text))], "\n")
	return fmt.Errorf("%w: line %d: %s", errSyntax, line, why)
}

// space skips white space and comments.
func (s *scanner) space() error {
	for s.at < len(s.text) {
		rest := s.text[s.at:]
		switch {
		case strings.ContainsRune(" \t\r\n", rune(rest[0])):
			s.at++
		case strings.HasPrefix(rest, "//"):
			end := strings.IndexByte(rest, '\n')
			if end < 0 {
				end = len(rest)
			}
			s.at += end
		case strings.HasPrefix(rest, "/*"):
			end := strings.Index(rest, "*/")
			if end < 0 {
				return s.fail("a comment does not end")
			}
			s.at += end + 2
		default:
			return nil
		}
	}
	return nil
}

// take skips a character if it is the next one.
func (s *scanner) take(c byte) bool {
	if s.at < len(s.text) && s.text[s.at] == c {
		s.at++
		return true
	}
	return false
}

// str reads a string.
func (s *scanner) str() (string, error) {
	begin := s.at
	if !s.take('"') {
		return "", s.fail("a string was expected")
	}
	for s.at < len(s.text) {
		switch s.text[s.at] {
		case '\\':
			s.at++
		case '"':
			s.at++
			var value string
			if err := json.Unmarshal([]byte(s.text[begin:s.at]), &value); err != nil {
				return "", s.fail("a string is malformed")
			}
			return value, nil
		}
		s.at++
	}
	return "", s.fail("a string does not end")
}

// deepest limits the nesting of values.
const deepest = 200

// value skips a value.
func (s *scanner) value(depth int) error {
	if depth > deepest {
		return s.fail("too many values within each other")
	}
	if s.at >= len(s.text) {
		return s.fail("a value is missing")
	}
	switch s.text[s.at] {
	case '"':
		_, err := s.str()
		return err
	case '{':
		_, err := s.object(depth)
		return err
	case '[':
		return s.array(depth)
	}
	begin := s.at
	for s.at < len(s.text) && !strings.ContainsRune(" \t\r\n,]}/", rune(s.text[s.at])) {
		s.at++
	}
	if !json.Valid([]byte(s.text[begin:s.at])) {
		s.at = begin
		return s.fail("a value was expected")
	}
	return nil
}

func (s *scanner) array(depth int) error {
	s.at++ // skips [
	for {
		if err := s.space(); err != nil {
			return err
		}
		if s.take(']') {
			return nil
		}
		if err := s.value(depth + 1); err != nil {
			return err
		}
		if err := s.space(); err != nil {
			return err
		}
		if !s.take(',') && (s.at >= len(s.text) || s.text[s.at] != ']') {
			return s.fail("a comma or ] was expected")
		}
	}
}

// object reads the members of the object at the current position.
func (s *scanner) object(depth int) ([]member, error) {
	if !s.take('{') {
		return nil, s.fail("an object was expected")
	}
	var all []member
	for {
		if err := s.space(); err != nil {
			return nil, err
		}
		if s.take('}') {
			return all, nil
		}
		m := member{key: s.at}
		var err error
		if m.name, err = s.str(); err == nil {
			err = s.space()
		}
		if err == nil && !s.take(':') {
			err = s.fail("a colon was expected")
		}
		if err == nil {
			err = s.space()
		}
		m.value = s.at
		if err == nil {
			err = s.value(depth + 1)
		}
		m.end = s.at
		if err == nil {
			err = s.space()
		}
		if err != nil {
			return nil, err
		}
		m.comma = s.at
		m.hasComma = s.take(',')
		if !m.hasComma && (s.at >= len(s.text) || s.text[s.at] != '}') {
			return nil, s.fail("a comma or } was expected")
		}
		all = append(all, m)
	}
}

// find returns a member by its name. If the name occurs several times, it returns the last one, as parsers do.
func find(all []member, name string) *member {
	for i := len(all) - 1; i >= 0; i-- {
		if all[i].name == name {
			return &all[i]
		}
	}
	return nil
}

// document is a JSON text whose value is an object.
type document struct {
	text    string
	begin   int
	members []member
}

// parse parses a document. An empty text is an empty object.
func parse(text string) (document, error) {
	if strings.TrimSpace(strings.TrimPrefix(text, "\ufeff")) == "" {
		text = "{}\n"
	}
	s := &scanner{text: text}
	if strings.HasPrefix(text, "\ufeff") {
		s.at = len("\ufeff")
	}
	if err := s.space(); err != nil {
		return document{}, err
	}
	d := document{text: text, begin: s.at}
	var err error
	if d.members, err = s.object(0); err == nil {
		err = s.space()
	}
	if err == nil && s.at < len(text) {
		err = s.fail("there is more after the object")
	}
	return d, err
}

// setIn sets a member of the object that starts at begin and leaves the rest of the text unchanged. The value is JSON. Its first line has
// no leading white space, because it follows the name of the member.
func setIn(text string, begin int, all []member, name, value, indent string) string {
	if m := find(all, name); m != nil {
		return text[:m.value] + value + text[m.end:]
	}
	key, _ := json.Marshal(name) // a string cannot cause an error
	entry := string(key) + ": " + value
	if len(all) == 0 {
		outer := strings.TrimSuffix(indent, "  ")
		s := &scanner{text: text, at: begin + 1}
		_ = s.space() // the text was parsed before
		inner := strings.TrimRight(text[begin+1:s.at], " \t\r\n")
		return text[:begin+1] + inner + "\n" + indent + entry + "\n" + outer + text[s.at:]
	}
	last := all[len(all)-1]
	if last.hasComma {
		at := afterRemark(text, last.comma+1)
		return text[:at] + "\n" + indent + entry + text[at:]
	}
	at := afterRemark(text, last.end)
	return text[:last.end] + "," + text[last.end:at] + "\n" + indent + entry + text[at:]
}

// afterRemark returns the end of a comment that follows a position on the same line. If there is none, it returns the position.
func afterRemark(text string, at int) int {
	line, _, _ := strings.Cut(text[at:], "\n")
	if remark := strings.TrimLeft(line, " \t"); strings.HasPrefix(remark, "//") ||
		strings.HasPrefix(remark, "/*") && strings.Index(remark, "*/") == len(strings.TrimRight(remark, " \t"))-2 {
		return at + len(strings.TrimRight(line, " \t"))
	}
	return at
}

// removeFrom removes a member, the comma that becomes superfluous, and its line if nothing else is on it.
func removeFrom(text string, all []member, name string) string {
	m := find(all, name)
	if m == nil {
		return text
	}
	from, to := m.key, m.end
	if m.hasComma {
		to = m.comma + 1
	} else {
		for i := range all {
			if all[i].key < m.key && all[i].hasComma && (i+1 == len(all) || all[i+1].key == m.key) {
				text = text[:all[i].comma] + " " + text[all[i].comma+1:] // the replacement has the same length
				text = text[:all[i].comma] + text[all[i].comma+1:]
				from, to = from-1, to-1
			}
		}
	}
	begin := strings.LastIndexByte(text[:from], '\n')
	if strings.TrimSpace(text[begin+1:from]) == "" && begin >= 0 {
		rest := text[to:]
		end := strings.IndexByte(rest, '\n')
		if end >= 0 && strings.TrimSpace(rest[:end]) == "" {
			return text[:begin] + rest[end:]
		}
	}
	return text[:from] + strings.TrimLeft(text[to:], " \t")
}

// indentOf returns the white space before the key at a position. It is empty unless the key is the first text on its line.
func indentOf(text string, at int) string {
	begin := strings.LastIndexByte(text[:at], '\n') + 1
	if before := text[begin:at]; strings.TrimSpace(before) == "" {
		return before
	}
	return ""
}
