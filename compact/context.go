package compact

import (
	"strings"

	"github.com/domtap/domtap/compact/internal/part"
	"github.com/domtap/domtap/dom"
	"github.com/domtap/domtap/internal/elementcontext"
)

// Contexts says which one an element is, of several with its role and name.
type Contexts = map[dom.Ref]elementcontext.Context

// AppendContext appends ` ‹words›`, or nothing when there are none.
func AppendContext(dst []byte, c elementcontext.Context) []byte {
	if c.Words == "" {
		return dst
	}
	filled := part.AppendAfter(dst, " ‹", bare.Replace(c.Words), elementcontext.MaxLen)
	if len(filled) == len(dst) {
		return dst
	}
	return append(part.AppendLeft(filled, c.Left), "›"...)
}

// bare replaces what would end a context early, or look like a ref behind it.
var bare = strings.NewReplacer("‹", "<", "›", ">", "[", "(", "]", ")")
