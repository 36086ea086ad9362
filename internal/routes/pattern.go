package routes

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// MaxPattern is the most bytes of a pattern, and maxWild the most wildcards and alternatives in it.
const (
	MaxPattern = 2000
	maxWild    = 100
)

// Pattern is a parsed pattern of URLs.
type Pattern struct {
	exact *regexp.Regexp
	// wide matches at least what exact does, with the wildcard * alone: the pattern of CDP.
	wide string
}

// ParsePattern reads a pattern, which a URL matches as a whole. In it, * is any text without a slash, ** is any text, {a,b} is one of
// the texts between the braces, in which * and ** may be, and a backslash makes the next character stand for itself. All other
// characters stand for themselves, ? among them. A pattern without a path, such as https://example.com, matches the URL with the path
// that browsers add. Scheme and host may be in any case; letters of other scripts, and spaces, match as browsers escape them.
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

// Matches reports whether a URL matches, which has no fragment.
func (p Pattern) Matches(url string) bool { return p.exact.MatchString(url) }

// complete writes scheme and host in small letters, and the path that browsers add when there is none.
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

// parser translates a pattern.
type parser struct {
	rest  string
	exact strings.Builder
	wide  strings.Builder
	// wild counts wildcards and alternatives; inside says that a brace is open.
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

// widen makes the wide pattern match anything here.
func (p *parser) widen() {
	if !strings.HasSuffix(p.wide.String(), "*") || strings.HasSuffix(p.wide.String(), `\*`) {
		p.wide.WriteByte('*')
	}
}

// literal translates a byte that stands for itself.
func (p *parser) literal(c byte) {
	text := string(rune(c))
	if c >= 0x80 || c == ' ' {
		text = fmt.Sprintf("%%%02X", c)
	}
	p.exact.WriteString(regexp.QuoteMeta(text))
	if p.inside { // the brace matches anything in the wide pattern
		return
	}
	if strings.ContainsAny(text, `*?\`) {
		p.wide.WriteByte('\\')
	}
	p.wide.WriteString(text)
}
