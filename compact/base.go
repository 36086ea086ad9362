package compact

import "github.com/domtap/domtap/compact/internal/part"

// Base is what hrefs are printed relative to: the page that they stand on. The zero value prints them
// absolute.
type Base = part.Base

// NewBase returns the base of the page with that URL.
func NewBase(pageURL string) Base { return part.NewBase(pageURL) }

// IsInvisible reports whether r is invisible and could hide or reorder text: directional marks, zero-width
// spaces, tags. The joiners of scripts and emoji are not.
func IsInvisible(r rune) bool { return part.IsInvisible(r) }
