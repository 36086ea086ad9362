package compact

import "github.com/domtap/domtap/compact/internal/part"

// Base is the page URL that hrefs are printed relative to. The zero value prints them absolute.
type Base = part.Base

// NewBase returns the base for a page URL.
func NewBase(pageURL string) Base { return part.NewBase(pageURL) }

// IsInvisible reports whether r is invisible and could hide or reorder text: directional marks, zero-width spaces, tags. It returns false
// for the joiners of scripts and emoji.
func IsInvisible(r rune) bool { return part.IsInvisible(r) }
