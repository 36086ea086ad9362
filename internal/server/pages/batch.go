package pages

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc/status"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/actor/tabpool"
	"github.com/domtap/domtap/dom"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/content/extract"
	"github.com/domtap/domtap/internal/server/rpc/deadline"
	"github.com/domtap/domtap/internal/server/rpc/identity"
	"github.com/domtap/domtap/internal/server/rpc/metering"
	"github.com/domtap/domtap/internal/server/rpc/rpcstatus"
	"github.com/domtap/domtap/internal/sessions"
)

// batch is a running call of Batch.
type batch struct {
	pages   *Service
	request *domtapv1.BatchRequest
	schema  *extract.Schema
	each    time.Duration
	session string
}

// Batch reads many URLs concurrently. Each result is complete or an error. Shortly before the deadline of the call, the URLs that were not
// read yet fail, and Batch returns the other results.
func (s *Service) Batch(ctx context.Context, r *domtapv1.BatchRequest) (*domtapv1.BatchResponse, error) {
	b := &batch{pages: s, request: r}
	ctx = metering.WithoutRecord(ctx) // its pages have no earlier reads to compare with
	if r.GetSchemaJson() != "" {
		schema, err := extract.Compile([]byte(r.GetSchemaJson()))
		if err != nil {
			return nil, schemaFault("schema_json", err)
		}
		b.schema = schema
	}
	if _, err := s.Access.Session(ctx, r.GetSessionId()); err != nil {
		return nil, err
	}
	if b.session = r.GetSessionId(); b.session == "" {
		made, err := s.Access.Create(ctx, "", sessions.Settings{Dialogs: driver.DismissDialogs, DenyDownloads: true}, sessions.State{})
		if err != nil {
			return nil, err
		}
		b.session = strings.TrimPrefix(made.ID, identity.From(ctx).Prefix())
		defer s.closeSession(ctx, b.session)
	}
	var parallel int
	b.each, parallel = deadline.Batch(r)
	working, cancel := deadline.Reserve(ctx)
	defer cancel()
	results := make([]*domtapv1.BatchResult, len(r.GetUrls()))
	next := make(chan int)
	var workers sync.WaitGroup
	for range min(parallel, len(results)) {
		workers.Go(func() {
			for i := range next {
				results[i] = b.read(working, r.GetUrls()[i])
			}
		})
	}
	for i := range results {
		next <- i
	}
	close(next)
	workers.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err // the caller is gone
	}
	return &domtapv1.BatchResponse{Results: results}, nil
}

// closeSession closes the session that Batch has created.
func (s *Service) closeSession(ctx context.Context, session string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), deadline.CloseGrace)
	defer cancel()
	if err := s.Access.Close(ctx, session, false); err != nil {
		s.Logger.Warn("the session of a batch was not closed in time", "err", err)
	}
}

// read reads one URL in its own tab.
func (b *batch) read(ctx context.Context, url string) (out *domtapv1.BatchResult) {
	out = &domtapv1.BatchResult{Url: url}
	defer func() { // the recovery interceptor does not cover this goroutine
		if fault := recover(); fault != nil {
			err := rpcstatus.Recovered(ctx, b.pages.Logger)
			out = failed(&domtapv1.BatchResult{Url: url}, err, rpcstatus.Reason(err))
		}
	}()
	if ctx.Err() != nil {
		return failed(out, errors.New("the call timed out before this URL was read: request it again"), "DEADLINE")
	}
	bounded, cancel := context.WithTimeout(ctx, b.each)
	defer cancel()
	tab, err := b.pages.Access.Open(bounded, tabpool.OpenOptions{URL: url, Session: b.session, Alone: true})
	if err == nil {
		err = b.fill(bounded, tab, out)
		b.discard(ctx, tab)
	}
	if err == nil {
		return out
	}
	reason := rpcstatus.Reason(err)
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		reason = "DEADLINE"
	}
	return failed(out, err, reason)
}

// failed turns a result into an error. It removes the text, because an incomplete text could be mistaken for a complete one.
func failed(out *domtapv1.BatchResult, err error, reason string) *domtapv1.BatchResult {
	out.Text, out.ResultJson, out.Tokens = "", "", 0
	out.Error, out.Reason = status.Convert(rpcstatus.From(err)).Message(), reason
	if reason == "" || reason == "DEADLINE" {
		out.Error = err.Error()
	}
	return out
}

// fill fills the result from the tab.
func (b *batch) fill(ctx context.Context, tab *actor.Tab, out *domtapv1.BatchResult) error {
	var err error
	if b.schema != nil {
		err = b.extract(ctx, tab, out)
	} else {
		err = b.text(ctx, tab, out)
	}
	about := tab.Info()
	out.Title, out.FinalUrl, out.HttpStatus = about.Title, about.URL, int32(about.HTTPStatus)
	if d := about.Dialog; err != nil && d != nil {
		return apierr.Errorf(apierr.DialogOpen, "a dialog (%s) blocks the page: open the page in a tab, answer the dialog, and read the page there", d.Type)
	}
	return err
}

func (b *batch) extract(ctx context.Context, tab *actor.Tab, out *domtapv1.BatchResult) error {
	answer, err := extractFrom(ctx, tab, b.schema, dom.NoRef, extract.DefaultRows)
	if err != nil {
		return err
	}
	out.ResultJson, out.Truncated = answer.GetResultJson(), answer.GetTruncated()
	return nil
}

func (b *batch) text(ctx context.Context, tab *actor.Tab, out *domtapv1.BatchResult) error {
	request := &domtapv1.ReadPageRequest{TabId: tab.ID(), Mode: b.request.GetWhat(), MaxTokens: b.request.MaxTokens}
	answer, err := b.pages.ReadPage(ctx, request)
	if err == nil && answer.GetMode() == domtapv1.ReadMode_READ_MODE_VISUAL { // Batch returns no screenshots
		request.Mode = domtapv1.ReadMode_READ_MODE_CONTENT
		answer, err = b.pages.ReadPage(ctx, request)
	}
	if err != nil {
		return err
	}
	out.Text, out.Tokens, out.Mode = answer.GetText(), answer.GetTokens(), answer.GetMode()
	out.Truncated = answer.GetNextCursor() != "" || answer.GetPageTruncated()
	return nil
}

// discard closes a tab, even if the call was canceled.
func (b *batch) discard(ctx context.Context, tab *actor.Tab) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), deadline.CloseGrace)
	defer cancel()
	_ = b.pages.Access.CloseTab(ctx, tab.ID()) // the tab closes in any case, and closing a closed tab is not an error
}
