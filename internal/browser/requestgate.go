package browser

import (
	"context"
	"errors"
	"log/slog"

	"github.com/chromedp/cdproto"
	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/target"

	"github.com/domtap/domtap/internal/browser/devtools"
	"github.com/domtap/domtap/internal/browser/emulate"
	"github.com/domtap/domtap/internal/browser/intercept"
	"github.com/domtap/domtap/internal/routes"
)

// requestGate decides on the requests that the browser holds; see package intercept. Pages call it on their loops. Requests of workers that
// belong to no single page have their own queue and goroutine, so that they delay nothing else.
type requestGate struct {
	life    context.Context
	conn    *devtools.Conn
	logger  *slog.Logger
	workers *emulate.Workers
	// allowed returns an error for a URL that the URL policy does not allow to be answered. If nil, there is no policy.
	allowed func(url string) error
	inbox   *devtools.Queue[*cdproto.Message]
}

// decide continues, answers or fails a request. It returns the URL that a route redirects the request to, or an empty string. It does not
// wait. If the browser rejects the command, for example because of a forbidden header, decide fails the request, which would otherwise
// hang.
func (h *requestGate) decide(ctx context.Context, s devtools.Session, e *fetch.EventRequestPaused, main bool, table *routes.Table) (rewritten string) {
	step := intercept.Answer(e, main, table, h.allowed)
	if intercept.IsPlain(step) {
		s.Post(ctx, step.Method, step.Params)
		return ""
	}
	call, err := s.Send(ctx, step.Method, step.Params)
	if err != nil {
		return "" // the browser is gone, and its requests with it
	}
	h.conn.Go(func() {
		err := call.Wait(ctx, nil)
		if _, refused := errors.AsType[*cdproto.Error](err); !refused {
			return
		}
		h.logger.Debug("the browser refused a route's change of a request", "error", err)
		failed := intercept.Fail(e.RequestID, "failed")
		s.Post(ctx, failed.Method, failed.Params)
	})
	return intercept.Rewritten(step)
}

// listen queues the requests of a worker that belongs to no single page.
func (h *requestGate) listen(id target.SessionID) {
	h.conn.Listen(id, func(msg *cdproto.Message) {
		switch string(msg.Method) {
		case fetch.RequestPaused.Method, fetch.AuthRequired.Method:
			h.inbox.Push(msg)
		}
	})
}

// run handles the requests of workers until the browser ends.
func (h *requestGate) run() {
	for {
		items, overflow, err := h.inbox.Take(h.life)
		if err != nil {
			return
		}
		if overflow {
			h.logger.Warn("workers send more requests than domtap can handle: some never complete", "most", devtools.QueueLimit)
		}
		for _, msg := range items {
			if err := h.handle(msg); err != nil {
				h.logger.Warn("an event from a worker could not be decoded", "method", string(msg.Method), "error", err)
			}
		}
	}
}

// handle decides on one request of a worker, according to the settings of its session.
func (h *requestGate) handle(msg *cdproto.Message) error {
	s := devtools.Session{Conn: h.conn, ID: msg.SessionID}
	overrides, _ := h.workers.Overrides(msg.SessionID)
	if string(msg.Method) == fetch.AuthRequired.Method {
		return devtools.On(msg, fetch.AuthRequired, func(e fetch.EventAuthRequired) {
			answer := h.workers.Authenticate(overrides, e)
			s.Post(h.life, answer.Method, answer.Params)
		})
	}
	return devtools.On(msg, fetch.RequestPaused, func(e fetch.EventRequestPaused) {
		h.decide(h.life, s, &e, false, overrides.Table())
	})
}
