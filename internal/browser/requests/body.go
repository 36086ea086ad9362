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

// MaxBody is the maximum size in bytes of a body that a renderer keeps. BodiesBuffer limits the size of all kept bodies together (ADR 60).
// A renderer also returns bodies from its memory cache.
const (
	MaxBody      = 1 << 20
	BodiesBuffer = 2 << 20
)

// bodyLimit bounds how long a renderer may take to respond.
const bodyLimit = 5 * time.Second

// Body returns the response body of a request; see driver.Bodies. The renderer that made the request has the body, so Body tries the
// process of the page and the processes of its frames.
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
	return nil, apierr.Unknown("request", "the browser no longer has the body of this request: it keeps the newest bodies of at most 1 MiB each until the page navigates; read bodies soon after the request")
}

// sessions returns the sessions of the page and of its frames in other processes, the page's own first.
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
