package routes

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// MaxPattern limits the bytes of a pattern, and maxWild its wildcards and alternatives.
const (
	MaxPattern = 2000
	maxWild    = 100
)

// Pattern is a parsed URL pattern.
type Pattern struct {
	exact *regexp.Regexp
	// wide matches at least everything that exact matches, using only the wildcard *. It has the syntax of CDP.
	wide string
}

// ParsePattern parses a pattern, which must match a whole URL. In a pattern, * matches any text without a slash, ** matches any text, and
// {a,b} matches one of the alternatives, which may contain * and **. A backslash makes the next character literal. All other characters are
// literal, including ?. A pattern without a path, such as https://example.com, matches the URL with the path that browsers add. Scheme and
// host are case-insensitive. Spaces and letters of other scripts match their escaped form in browsers.
func ParsePattern(text string) (Pattern, error) {
	if text == "" || len(text) > MaxPattern {
		return Pattern{}, fmt.Errorf("must have 1 to %d bytes, such as https://api.example.com/**", MaxPattern)
	}
	p := parser{rest: complete(text)}
	if err := p.parse(); err != nil {
		return Pattern{}, err
	}
	exact, err := regexp.Compile("^(?s:" + p.exact.String() + ")$")
	if err != nil {
		return Pattern{}, fmt.Errorf("must be a pattern of URLs: %w", err)
	}
	return Pattern{exact, p.wide.String()}, nil
}

// Matches reports whether a URL without a fragment matches.
func (p Pattern) Matches(url string) bool { return p.exact.MatchString(url) }

// complete converts scheme and host to lower case and adds the path that browsers add if there is none.
func complete(text string) string {
	scheme := strings.Index(text, "://")
	if scheme < 0 {
		return text
	}
	host := text[scheme+3:]
	end := strings.IndexAny(host, "/?")
	if end < 0 {
		end = len(host)
	}
	path := host[end:]
	if path == "" && !strings.ContainsAny(host, "*{}") {
		path = "/"
	}
	return strings.ToLower(text[:scheme+3]+host[:end]) + path
}

// parser translates a pattern to its exact and wide forms.
type parser struct {
	rest  string
	exact strings.Builder
	wide  strings.Builder
	// wild counts wildcards and alternatives. inside reports that a brace is open.
	wild   int
	inside bool
}

func (p *parser) parse() error {
	for p.rest != "" {
		c := p.rest[0]
		p.rest = p.rest[1:]
		switch {
		case c == '\\' && p.rest == "":
			return errors.New(`must not end with \: write \\ for the character itself`)
		case c == '\\':
			c, p.rest = p.rest[0], p.rest[1:]
			p.literal(c)
		case c == '*':
			p.star()
		case c == '{' && p.inside:
			return errors.New("must not have braces within braces")
		case c == '{':
			p.inside = true
			p.exact.WriteString("(?:")
			p.widen()
		case c == '}' && p.inside:
			p.inside = false
			p.exact.WriteByte(')')
		case c == ',' && p.inside:
			p.wild++
			p.exact.WriteByte('|')
		default:
			p.literal(c)
		}
	}
	switch {
	case p.inside:
		return errors.New(`must close its brace: write \{ for the character itself`)
	case p.wild > maxWild:
		return fmt.Errorf("must have at most %d wildcards and alternatives", maxWild)
	}
	return nil
}

// star translates * and **.
func (p *parser) star() {
	p.wild++
	all := strings.HasPrefix(p.rest, "*")
	p.rest = strings.TrimLeft(p.rest, "*")
	if all {
		p.exact.WriteString(".*")
	} else {
		p.exact.WriteString("[^/]*")
	}
	p.widen()
}

// widen makes the wide pattern match any text at this position.
func (p *parser) widen() {
	if !strings.HasSuffix(p.wide.String(), "*") || strings.HasSuffix(p.wide.String(), `\*`) {
		p.wide.WriteByte('*')
	}
}

// literal translates a literal byte.
func (p *parser) literal(c byte) {
	text := string(rune(c))
	if c >= 0x80 || c == ' ' {
		text = fmt.Sprintf("%%%02X", c)
	}
	p.exact.WriteString(regexp.QuoteMeta(text))
	if p.inside { // the wide pattern matches any text in place of the braces
		return
	}
	if strings.ContainsAny(text, `*?\`) {
		p.wide.WriteByte('\\')
	}
	p.wide.WriteString(text)
}
