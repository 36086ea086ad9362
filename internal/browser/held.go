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

// held decides on the requests that the browser holds; see package intercept. Pages call it on their loops. The requests of workers that
// serve no single page have a queue and a goroutine of their own, so that they delay nothing else.
type held struct {
	life    context.Context
	conn    *devtools.Conn
	logger  *slog.Logger
	workers *emulate.Workers
	// allowed fails for a URL that the URL policy lets nobody answer; nil: there is none.
	allowed func(url string) error
	inbox   *devtools.Queue[*cdproto.Message]
}

// decide decides on a request, and returns the URL that a route sends it to instead; empty: its own. It does not wait. If the browser refuses
// the command, for example because nobody may set one of its headers, the request fails: nothing else would answer it.
func (h *held) decide(ctx context.Context, s devtools.Session, e *fetch.EventRequestPaused, main bool, table *routes.Table) (rewritten string) {
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
		h.logger.Debug("the browser refuses what a route does to a request", "error", err)
		failed := intercept.Fail(e.RequestID, "failed")
		s.Post(ctx, failed.Method, failed.Params)
	})
	return intercept.Rewritten(step)
}

// listen takes in the requests of a worker that serves no single page.
func (h *held) listen(id target.SessionID) {
	h.conn.Listen(id, func(msg *cdproto.Message) {
		switch string(msg.Method) {
		case fetch.RequestPaused.Method, fetch.AuthRequired.Method:
			h.inbox.Push(msg)
		}
	})
}

// run decides on the requests of workers until the browser ends.
func (h *held) run() {
	for {
		items, overflow, err := h.inbox.Take(h.life)
		if err != nil {
			return
		}
		if overflow {
			h.logger.Warn("workers send more requests than can be decided on: some never end", "most", devtools.QueueLimit)
		}
		for _, msg := range items {
			if err := h.handle(msg); err != nil {
				h.logger.Warn("an event of a worker was not understood", "method", string(msg.Method), "error", err)
			}
		}
	}
}

// handle decides on one request of a worker, by the settings of its session.
func (h *held) handle(msg *cdproto.Message) error {
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
