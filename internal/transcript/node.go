package transcript

import (
	"encoding/json"
	"strings"
)

// node is a JSON value with its position in the message. A missing node is nil. Methods of a nil node return zero values, so callers need
// no check at each step.
type node struct {
	// raw is the text of the value, and start its offset in the message.
	raw   []byte
	start int
	// keys and values hold the members of an object. For an array, only values is set.
	keys   []string
	values []*node
}

// maxDepth limits the depth to which a message is parsed. Deeper values are never results.
const maxDepth = 64

// parse returns the tree of a valid JSON value.
func parse(raw []byte) *node {
	p := parser{text: raw}
	p.space()
	return p.value(0)
}

type parser struct {
	text []byte
	at   int
}

func (p *parser) space() {
	for p.at < len(p.text) {
		switch p.text[p.at] {
		case ' ', '\t', '\n', '\r':
			p.at++
		default:
			return
		}
	}
}

// value parses the value at the current position. The text must be valid JSON.
func (p *parser) value(depth int) *node {
	n := &node{start: p.at}
	switch c := p.text[p.at]; {
	case depth > maxDepth && (c == '{' || c == '['):
		p.skip()
	case c == '{' || c == '[':
		p.children(n, depth, c == '{')
	case c == '"':
		p.str()
	default:
		for p.at < len(p.text) && !delimits(p.text[p.at]) {
			p.at++
		}
	}
	n.raw = p.text[n.start:p.at]
	return n
}

func delimits(c byte) bool {
	switch c {
	case ',', ']', '}', ':', ' ', '\t', '\n', '\r':
		return true
	}
	return false
}

// children parses the values of an object or an array.
func (p *parser) children(n *node, depth int, object bool) {
	p.at++
	for {
		p.space()
		switch p.text[p.at] {
		case ']', '}':
			p.at++
			return
		case ',':
			p.at++
			continue
		}
		if object {
			start := p.at
			p.str()
			var key string
			_ = json.Unmarshal(p.text[start:p.at], &key)
			n.keys = append(n.keys, key)
			p.space()
			p.at++ // skips the colon
			p.space()
		}
		n.values = append(n.values, p.value(depth+1))
	}
}

// str skips a string.
func (p *parser) str() {
	for p.at++; p.text[p.at] != '"'; p.at++ {
		if p.text[p.at] == '\\' {
			p.at++
		}
	}
	p.at++
}

// skip skips an object or an array of any depth.
func (p *parser) skip() {
	for depth := 0; ; {
		switch p.text[p.at] {
		case '"':
			p.str()
			continue
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		p.at++
		if depth == 0 {
			return
		}
	}
}

// get returns the value of a key. For duplicate keys it returns the last value, as JSON parsers do.
func (n *node) get(key string) *node {
	if n == nil {
		return nil
	}
	for i := len(n.keys) - 1; i >= 0; i-- {
		if n.keys[i] == key {
			return n.values[i]
		}
	}
	return nil
}

// list returns the values of an array.
func (n *node) list() []*node {
	if n == nil || !n.isArray() {
		return nil
	}
	return n.values
}

// words returns the strings in a value, each on separate lines, up to a limit.
func (n *node) words() string {
	var b strings.Builder
	n.appendWords(&b)
	return b.String()
}

func (n *node) appendWords(b *strings.Builder) {
	if n.isString() && b.Len() < lookedAt {
		b.WriteString(n.text())
		b.WriteByte('\n')
	}
	for _, value := range n.values {
		value.appendWords(b)
	}
}

func (n *node) isArray() bool  { return n != nil && n.raw[0] == '[' }
func (n *node) isObject() bool { return n != nil && n.raw[0] == '{' }
func (n *node) isString() bool { return n != nil && n.raw[0] == '"' }

// text returns the value of a string, or the text of a number.
func (n *node) text() string {
	if n == nil {
		return ""
	}
	if !n.isString() {
		if n.isArray() || n.isObject() {
			return ""
		}
		return string(n.raw)
	}
	var s string
	_ = json.Unmarshal(n.raw, &s)
	return s
}
