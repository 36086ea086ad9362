package document

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/domtap/domtap/internal/truncate"
)

// Limits of JSON.
const (
	// maxJSON is the size in bytes up to which JSON is parsed.
	maxJSON = 32 << 20
	// maxValues limits the values of a parsed document, and maxDepth their nesting.
	maxValues = 1_000_000
	maxDepth  = 500
	// smallJSON is the size in bytes up to which a value is shown whole instead of as an outline.
	smallJSON = 4000
	// maxLines limits the lines of an outline, and maxLine the bytes of a value on one line.
	maxLines = 250
	maxLine  = 140
	// maxPath limits the bytes of a path in an outline. Values with longer paths are left out.
	maxPath = 300
	// maxKeys and maxItems limit the members of one object or array in an outline.
	maxKeys  = 60
	maxItems = 3
)

// value is a JSON value. Objects keep the order of their keys.
type value struct {
	// scalar is the value as JSON. It is empty for an array or object.
	scalar string
	object bool
	keys   []string
	kids   []*value
	// length is the length of the value as compact JSON.
	length int
}

// IsJSON reports whether data is one JSON value that can be parsed.
func IsJSON(data []byte) bool {
	_, err := parseJSON(data)
	return err == nil
}

var errLarge = errors.New("the document has too many values")

// parseJSON parses a document without recursion.
func parseJSON(data []byte) (*value, error) {
	if len(data) > maxJSON {
		return nil, errLarge
	}
	d := json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))))
	d.UseNumber()
	top := &value{}
	stack, count := []*value{top}, 0
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) && len(stack) == 1 && len(top.kids) == 1 {
			return top.kids[0], nil
		}
		if err != nil {
			return nil, fmt.Errorf("parsing JSON: %w", err)
		}
		if count++; count > maxValues || len(stack) > maxDepth {
			return nil, errLarge
		}
		inner := stack[len(stack)-1]
		if inner == top && len(top.kids) == 1 {
			return nil, errors.New("parsing JSON: text after the value")
		}
		if delim, ok := token.(json.Delim); ok && (delim == ']' || delim == '}') {
			stack = stack[:len(stack)-1]
			stack[len(stack)-1].length += inner.length
			continue
		}
		if key, ok := token.(string); ok && inner.object && len(inner.keys) == len(inner.kids) {
			inner.keys = append(inner.keys, key)
			inner.length += len(key) + 4
			continue
		}
		next := &value{}
		inner.kids = append(inner.kids, next)
		if delim, ok := token.(json.Delim); ok {
			next.object, next.length = delim == '{', 2
			stack = append(stack, next)
			continue
		}
		next.scalar = scalarText(token)
		next.length = len(next.scalar) + 1
		inner.length += next.length
	}
}

// scalarText returns a token as JSON, without escapes for HTML.
func scalarText(token json.Token) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(token) // strings, numbers, booleans and null cannot fail
	return strings.TrimSuffix(b.String(), "\n")
}

// ErrNoValue reports that a document has no value at a path.
var ErrNoValue = errors.New("no value")

// OfJSON returns the value at a path of a JSON document: the value as it is if it is small or whole is set, and otherwise an outline with
// paths. An empty path selects the whole document. Without a path, a document that does not parse is returned as text with a note. Otherwise
// it returns an error, which wraps ErrNoValue if the document has no such value.
func OfJSON(data []byte, path string, whole bool) (Content, error) {
	root, err := parseJSON(data)
	if err != nil {
		if path != "" {
			return Content{}, err
		}
		c := Plain(data)
		c.Note = "not read as JSON (" + brief(err.Error(), 120) + "): this is its text"
		return c, nil
	}
	found, at, err := root.at(path)
	switch {
	case err != nil:
		return Content{}, err
	case whole && path == "" || found == root && len(data) <= smallJSON:
		return Plain(data), nil
	case found.scalar != "" && found.scalar[0] == '"':
		var text string
		_ = json.Unmarshal([]byte(found.scalar), &text) // we have encoded it
		return Plain([]byte(text)), nil
	case whole || found.length <= smallJSON:
		var b strings.Builder
		found.write(&b, "\n")
		return Plain([]byte(b.String())), nil
	}
	return Content{
		HTML: "<pre>" + html.EscapeString(found.outline(at)) + "</pre>",
		Note: "an outline: pass a path for a value, or mode content for the text",
	}, nil
}

// brief shortens a text to at most n bytes.
func brief(text string, n int) string {
	if len(text) <= n {
		return text
	}
	return truncate.Bytes(text, n) + truncate.Ellipsis
}

// write writes a value as JSON. With a line break, members are on lines of their own.
func (v *value) write(b *strings.Builder, indent string) {
	if v.scalar != "" {
		b.WriteString(v.scalar)
		return
	}
	opens, closes := "[", "]"
	if v.object {
		opens, closes = "{", "}"
	}
	b.WriteString(opens)
	inner := indent
	if indent != "" && len(indent) <= maxIndent {
		inner += "  "
	}
	for i, kid := range v.kids {
		if i > 0 {
			b.WriteString(",")
		}
		b.WriteString(inner)
		if v.object {
			b.WriteString(scalarText(v.keys[i]) + ":")
			if indent != "" {
				b.WriteString(" ")
			}
		}
		kid.write(b, inner)
	}
	if len(v.kids) > 0 {
		b.WriteString(indent)
	}
	b.WriteString(closes)
}

// outline returns the values with their paths, down to the depth that maxLines allows.
func (v *value) outline(path string) string {
	best := ""
	for depth := 1; depth <= 12; depth++ {
		o := outliner{}
		o.add(v, path, depth)
		if len(o.lines) > maxLines && best != "" {
			break
		}
		text := strings.Join(o.lines, "\n")
		if text == best {
			break
		}
		best = text
	}
	return best
}

type outliner struct{ lines []string }

// add adds the lines of a value. A value below depth is only summarized.
func (o *outliner) add(v *value, path string, depth int) {
	if len(o.lines) > 2*maxLines {
		return
	}
	if v.length <= maxLine || v.scalar != "" {
		var b strings.Builder
		v.write(&b, "")
		o.lines = append(o.lines, brief(path, maxPath)+": "+brief(b.String(), maxLine))
		return
	}
	o.lines = append(o.lines, brief(path, maxPath)+": "+v.summary())
	if depth == 0 || len(path) > maxPath {
		return
	}
	most := maxItems
	if v.object {
		most = maxKeys
	}
	for i, kid := range v.kids[:min(len(v.kids), most)] {
		o.add(kid, v.member(path, i), depth-1)
	}
	if more := len(v.kids) - most; more > 0 {
		o.lines = append(o.lines, fmt.Sprintf("… %d more, to %s", more, brief(v.member(path, len(v.kids)-1), maxPath)))
	}
}

// summary describes an array or object without its values.
func (v *value) summary() string {
	if !v.object {
		return fmt.Sprintf("array of %d", len(v.kids))
	}
	return fmt.Sprintf("object of %d: %s", len(v.kids), v.names())
}

// names lists the first keys of an object.
func (v *value) names() string {
	var names []string
	for _, key := range v.keys[:min(len(v.keys), 12)] {
		names = append(names, brief(key, 30))
	}
	if len(v.keys) > 12 {
		names = append(names, "…")
	}
	return strings.Join(names, ", ")
}

// member returns the path of a member.
func (v *value) member(path string, i int) string {
	switch {
	case !v.object:
		return path + "[" + strconv.Itoa(i) + "]"
	case isIdentifier(v.keys[i]):
		return path + "." + v.keys[i]
	}
	return path + "[" + scalarText(v.keys[i]) + "]"
}

// isIdentifier reports whether a key needs no quotes in a path.
func isIdentifier(key string) bool {
	for i, r := range key {
		if r != '_' && r != '-' && (r < '0' || r > '9' || i == 0) && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && r < utf8.RuneSelf {
			return false
		}
	}
	return key != "" && key[0] != '-' && len(key) <= 100
}

// at returns the value at a path, and the path as outlines print it.
func (v *value) at(path string) (*value, string, error) {
	rest, here := strings.TrimPrefix(strings.TrimSpace(path), "$"), "$"
	if rest != "" && rest[0] != '.' && rest[0] != '[' {
		rest = "." + rest
	}
	for rest != "" {
		key, index, left, err := step(rest)
		if err != nil {
			return nil, "", fmt.Errorf("%w at %s: %w", ErrNoValue, brief(here, 200), err)
		}
		next := -1
		for i := range v.kids {
			if v.object && index < 0 && v.keys[i] == key || !v.object && i == index {
				next = i
			}
		}
		if next < 0 {
			return nil, "", fmt.Errorf("%w for %q: %s is %s", ErrNoValue, brief(rest, 60), brief(here, 200), v.described())
		}
		here, v, rest = v.member(here, next), v.kids[next], left
	}
	return v, here, nil
}

// described describes a value in an error.
func (v *value) described() string {
	if v.scalar != "" {
		return "a single value"
	}
	return fmt.Sprintf("an %s", v.summary())
}

// step splits the first step from a path. The index of a key is -1.
func step(path string) (key string, index int, rest string, err error) {
	if path[0] == '.' {
		end := strings.IndexAny(path[1:], ".[")
		if end < 0 {
			return path[1:], -1, "", nil
		}
		return path[1 : 1+end], -1, path[1+end:], nil
	}
	if len(path) > 1 && path[1] == '"' {
		d := json.NewDecoder(strings.NewReader(path[1:]))
		if err := d.Decode(&key); err != nil {
			return "", 0, "", fmt.Errorf("the quoted key of %q does not end", brief(path, 60))
		}
		rest = path[1+int(d.InputOffset()):]
		if !strings.HasPrefix(rest, "]") {
			return "", 0, "", fmt.Errorf("%q has no closing bracket", brief(path, 60))
		}
		return key, -1, rest[1:], nil
	}
	inside, rest, closed := strings.Cut(path[1:], "]")
	index, err = strconv.Atoi(inside)
	if err != nil || !closed || index < 0 {
		return "", 0, "", fmt.Errorf("%q is no index", brief(path, 60))
	}
	return "", index, rest, nil
}
