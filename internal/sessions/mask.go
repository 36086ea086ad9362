package sessions

import (
	"fmt"
	"slices"
	"strings"

	"github.com/domtap/domtap/actor/apierr"
)

// Limits on the number of selectors of a mask, and on the bytes of one selector.
const (
	MaxMasks     = 20
	MaxMaskBytes = 500
)

// Mask selects the data that readers of pages see redacted. Secrets are always masked; the zero value masks nothing else.
type Mask struct {
	// Selectors are CSS selectors. A matching element is masked with all its descendants.
	Selectors []string
	// Values masks the values of form fields, and the text of editable elements.
	Values bool
}

// ParseMask parses command-line arguments. Each is "values" or a selector.
func ParseMask(words []string) (Mask, error) {
	var m Mask
	for _, word := range words {
		if word == "values" {
			m.Values = true
			continue
		}
		m.Selectors = append(m.Selectors, word)
	}
	return m, m.Check()
}

// IsZero reports whether the mask masks only secrets.
func (m Mask) IsZero() bool { return len(m.Selectors) == 0 && !m.Values }

// With returns a mask that covers everything that m or other covers.
func (m Mask) With(other Mask) Mask {
	return Mask{Selectors: slices.Concat(m.Selectors, other.Selectors), Values: m.Values || other.Values}
}

// Equal reports whether two masks are the same.
func (m Mask) Equal(other Mask) bool {
	return m.Values == other.Values && slices.Equal(m.Selectors, other.Selectors)
}

// Check reports invalid selectors, as far as that is possible without a browser.
func (m Mask) Check() error {
	if len(m.Selectors) > MaxMasks {
		return fmt.Errorf("must have at most %d selectors", MaxMasks)
	}
	for _, s := range m.Selectors {
		switch {
		case len(s) > MaxMaskBytes:
			return fmt.Errorf("must have at most %d bytes in each selector", MaxMaskBytes)
		case strings.TrimSpace(s) == "" || strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f || r == '{' || r == '}' }):
			return fmt.Errorf("invalid CSS selector %.60q", s)
		case !balanced(s):
			return fmt.Errorf("invalid CSS selector %.60q: a bracket or quote is not closed", s)
		case strings.Contains(s, "::"):
			return fmt.Errorf("unsupported CSS selector %.60q: it selects a pseudo-element: select the element itself", s)
		}
	}
	return nil
}

// balanced reports whether the brackets and quotes of a selector are closed. This matters because browsers close them implicitly at its
// end.
func balanced(s string) bool {
	var open []byte
	for i := 0; i < len(s); i++ {
		c := s[i]
		inString := len(open) > 0 && (open[len(open)-1] == '"' || open[len(open)-1] == '\'')
		switch {
		case c == '\\':
			if i++; i == len(s) {
				return false
			}
		case inString:
			if c == open[len(open)-1] {
				open = open[:len(open)-1]
			}
		case c == '"' || c == '\'':
			open = append(open, c)
		case c == '(':
			open = append(open, ')')
		case c == '[':
			open = append(open, ']')
		case c == ')' || c == ']':
			if len(open) == 0 || open[len(open)-1] != c {
				return false
			}
			open = open[:len(open)-1]
		case c == '/' && i+1 < len(s) && s[i+1] == '*':
			return false // a comment could hide the rest
		}
	}
	return len(open) == 0
}

// keepsMask fails if settings have a different mask from the one that the session was created with.
func (s *Sessions) keepsMask(one *session, settings Settings) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if one.settings.Mask.Equal(settings.Mask) {
		return nil
	}
	return &apierr.Error{Kind: apierr.Invalid, Field: "settings.mask",
		Message: "a session's mask cannot change after its creation: give its current mask, or create another session"}
}
