package compact

import (
	"strings"

	"github.com/domtap/domtap/compact/internal/part"
	"github.com/domtap/domtap/dom"
	"github.com/domtap/domtap/internal/elementcontext"
)

// Contexts holds the context that distinguishes an element from others with its role and name.
type Contexts = map[dom.Ref]elementcontext.Context

// AppendContext appends ` ‹words›`, or nothing if the context has no words.
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

// bare replaces characters that would end a context early, or look like a ref after it.
var bare = strings.NewReplacer("‹", "<", "›", ">", "[", "(", "]", ")")
