package requests

import (
	"context"
	"errors"
	"time"

	"github.com/chromedp/cdproto"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/target"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/internal/browser/devtools"
)

// MaxBody is how many bytes a body has at most that a renderer keeps, and BodiesBuffer how many all of them have together (ADR 60). A renderer also gives
// what is in its memory cache.
const (
	MaxBody      = 1 << 20
	BodiesBuffer = 2 << 20
)

// bodyLimit is how long a renderer may take to answer.
const bodyLimit = 5 * time.Second

// Body returns the body of the answer to a request; see driver.Bodies. The renderer that made the request has it, which may have been that of a frame.
func (r *Requests) Body(ctx context.Context, id string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, bodyLimit)
	defer cancel()
	for _, session := range r.sessions() {
		got, err := cdp.Call(ctx, session, network.GetResponseBody, network.GetResponseBodyParams{RequestID: network.RequestID(id)})
		if _, refused := errors.AsType[*cdproto.Error](err); refused {
			continue
		}
		if err != nil {
			return nil, r.m.Failed(err)
		}
		return got.Body, nil
	}
	return nil, apierr.Unknown("request", "the browser does not have the body of this request any more: it keeps the newest ones, each of at most 1 MiB, until the page navigates")
}

// sessions are those of the page and of its frames in other processes, the page's own first.
func (r *Requests) sessions() []devtools.Session {
	all, seen := []devtools.Session{r.m.Main}, map[target.SessionID]bool{r.m.Main.ID: true}
	for _, one := range r.m.Readable() {
		if s := one.Agent.Session; !seen[s.ID] {
			seen[s.ID] = true
			all = append(all, s)
		}
	}
	return all
}
