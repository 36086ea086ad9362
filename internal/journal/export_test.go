package journal

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// Encode exports encode.
var Encode = encode

// Sign prepends the first line to a body.
func Sign(body []byte) []byte {
	sum := sha256.Sum256(body)
	return fmt.Appendf(nil, "%s%s\n%s\n", title, hex.EncodeToString(sum[:]), body)
}
