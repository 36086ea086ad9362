package emulate

import (
	"sync"

	"github.com/chromedp/cdproto/fetch"

	"github.com/domtap/domtap/internal/browser/devtools"
)

// maxChallenged limits how many challenged requests are remembered.
const maxChallenged = 1000

// Challenges answers authentication challenges of servers and proxies. It answers each request only once, so that rejected credentials are
// not sent again.
type Challenges struct {
	seenMu sync.Mutex
	seen   map[fetch.RequestID]bool
}

// Authenticate returns the command that answers a challenge with the credentials of o.
func (c *Challenges) Authenticate(o Overrides, e fetch.EventAuthRequired) devtools.Step {
	answer := fetch.AuthChallengeResponse{Response: fetch.AuthChallengeResponseResponseCancelAuth}
	first := c.first(e.RequestID)
	if by := e.AuthChallenge; by != nil && first {
		username, password, ok := o.Credentials(by.Origin, by.Source == fetch.AuthChallengeSourceProxy)
		if ok {
			answer = fetch.AuthChallengeResponse{Response: fetch.AuthChallengeResponseResponseProvideCredentials, Username: username, Password: password}
		}
	}
	return devtools.Step{Method: fetch.CommandContinueWithAuth, Params: fetch.ContinueWithAuthParams{RequestID: e.RequestID, AuthChallengeResponse: &answer}}
}

// first records that a request was challenged, and reports whether this is the first time.
func (c *Challenges) first(id fetch.RequestID) bool {
	c.seenMu.Lock()
	defer c.seenMu.Unlock()
	first := !c.seen[id]
	if len(c.seen) >= maxChallenged || c.seen == nil {
		c.seen = map[fetch.RequestID]bool{}
	}
	c.seen[id] = true
	return first
}
