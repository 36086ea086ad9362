package daemon

import (
	"fmt"
	"net/http"
	"net/textproto"
	"strings"

	"github.com/domtap/domtap/internal/lazyregexp"
	"github.com/domtap/domtap/internal/server/rpc/listen"
)

// RemoteHeadersVariable is the environment variable with the headers for remote browsers.
const RemoteHeadersVariable = "DOMTAP_REMOTE_HEADERS"

// headerLine matches a line of the header file.
var headerLine = lazyregexp.New("^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \\t]*([\\x20-\\x7e]+)$")

// Header returns the headers for remote browsers, or nil if there are none. Errors begin with the invalid setting and contain no values.
func (b Browsers) Header() (http.Header, error) {
	text, from := b.RemoteHeaders.Reveal(), RemoteHeadersVariable
	if b.RemoteHeaderFile != "" {
		raw, err := listen.ReadPrivate(b.RemoteHeaderFile)
		if err != nil {
			return nil, fmt.Errorf("--remote-header-file: %w", err)
		}
		text, from = string(raw), "--remote-header-file"
	}
	var header http.Header
	for i, line := range strings.Split(text, "\n") {
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		parts := headerLine().FindStringSubmatch(line)
		if parts == nil {
			return nil, fmt.Errorf("%s: line %d is not a header, such as Authorization: Bearer KEY", from, i+1)
		}
		if header == nil {
			header = http.Header{}
		}
		header.Add(textproto.CanonicalMIMEHeaderKey(parts[1]), strings.TrimSpace(parts[2]))
	}
	if len(header) > 0 && len(b.Remotes) == 0 {
		return nil, fmt.Errorf("%s has headers for remote browsers, but there is no --remote", from)
	}
	return header, nil
}
