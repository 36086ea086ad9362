package pages

import (
	"context"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/actor/query"
	"github.com/domtap/domtap/dom"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/content/markdown"
	"github.com/domtap/domtap/internal/server/messages"
	"github.com/domtap/domtap/internal/server/rpc/metering"
	"github.com/domtap/domtap/internal/server/tabview/capture"
	"github.com/domtap/domtap/internal/server/tabview/reading"
	"github.com/domtap/domtap/internal/server/tabview/textcache"
	"github.com/domtap/domtap/internal/telemetry/usage"
	"github.com/domtap/domtap/internal/tokens"
)

const (
	// defaultReading is the default of max_tokens in ReadPage, about 6,000 characters.
	defaultReading = 1500
	// plainText is the reason for CONTENT of a page without main content.
	plainText = "no main content was found: this is everything except the navigation"
)

// ReadPage returns the page as text, as a list of actionable elements, or as a screenshot with refs.
func (s *Service) ReadPage(ctx context.Context, r *domtapv1.ReadPageRequest) (*domtapv1.ReadPageResponse, error) {
	tab, err := s.Access.Tab(ctx, r.GetTabId())
	if err != nil {
		return nil, err
	}
	mode := r.GetMode()
	if r.GetDownload() != "" && r.GetCursor() == "" {
		return s.readDownload(ctx, tab, r)
	}
	if cursor := r.GetCursor(); textcache.IsCursor(cursor) {
		return s.readOn(ctx, tab, r)
	} else if cursor != "" && mode <= domtapv1.ReadMode_READ_MODE_AUTO {
		mode = s.modeOf(tab, cursor)
	}
	switch mode {
	case domtapv1.ReadMode_READ_MODE_INTERACTIVE:
		return s.readTree(ctx, r)
	case domtapv1.ReadMode_READ_MODE_VISUAL:
		return s.readPicture(ctx, tab, r)
	}
	return s.readText(ctx, tab, r)
}

// readText reads the page as CONTENT, or in the mode that AUTO selects for it.
func (s *Service) readText(ctx context.Context, tab *actor.Tab, r *domtapv1.ReadPageRequest) (*domtapv1.ReadPageResponse, error) {
	markup, err := query.Markup(ctx, tab, rootOf(r))
	if err != nil {
		return nil, err
	}
	if r.RootRef == nil {
		if resp, err := s.readDocument(ctx, tab, r, markup); resp != nil || err != nil {
			return resp, err
		}
	}
	text, known := s.texts.Keep(tab, markup)
	var reason string
	if r.GetMode() != domtapv1.ReadMode_READ_MODE_CONTENT && r.RootRef == nil {
		var mode markdown.Mode
		mode, reason = markdown.Choose(text.Document.Signals)
		switch mode {
		case markdown.Interactive:
			return because(reason)(s.readTree(ctx, r))
		case markdown.Visual:
			return because(reason)(s.readPicture(ctx, tab, r))
		}
	}
	s.accountText(ctx, tab, known, false)
	resp := textMessage(text, markdown.Position{}, budgetOf(r))
	resp.Reason, resp.Outline = reason, outlineMessages(text)
	if !text.Document.Article && r.RootRef == nil {
		resp.Reason = joined(reason, plainText)
	}
	return resp, nil
}

// readOn continues a text whose first part was read earlier.
func (s *Service) readOn(ctx context.Context, tab *actor.Tab, r *domtapv1.ReadPageRequest) (*domtapv1.ReadPageResponse, error) {
	text, at, err := s.texts.At(tab, r.GetCursor())
	if err != nil {
		return nil, err
	}
	s.accountText(ctx, tab, true, true)
	resp := textMessage(text, at, budgetOf(r))
	if text.Fixed {
		return resp, nil
	}
	markup, err := query.Markup(ctx, tab, rootOf(r))
	if ctx.Err() != nil {
		return nil, err
	}
	resp.ChangedSince = err != nil || text.Changed(markup)
	return resp, nil
}

// rootOf returns the element to read, or dom.NoRef for the whole page.
func rootOf(r *domtapv1.ReadPageRequest) dom.Ref {
	if r.RootRef == nil {
		return dom.NoRef
	}
	return dom.Ref(r.GetRootRef())
}

// accountText records a read of the page as text in the usage figures.
func (s *Service) accountText(ctx context.Context, tab *actor.Tab, known, part bool) {
	note := metering.FromContext(ctx)
	if note == nil {
		return
	}
	reads := usage.Reads{Texts: 1}
	if known {
		reads.TextHits = 1
	}
	note.Reads(reads)
	note.SetPageCost(s.Views.Of(tab).Whole(tab.Head().Snapshot), part)
}

// readTree reads the page as INTERACTIVE.
func (s *Service) readTree(ctx context.Context, r *domtapv1.ReadPageRequest) (*domtapv1.ReadPageResponse, error) {
	request := listRequest(r)
	request.Format = domtapv1.Format_FORMAT_TREE
	got, err := s.Reader.Snapshot(ctx, request, nil, false)
	if err != nil {
		return nil, err
	}
	resp := listMessage(got)
	resp.Mode = domtapv1.ReadMode_READ_MODE_INTERACTIVE
	return resp, nil
}

// readPicture reads the page as VISUAL.
func (s *Service) readPicture(ctx context.Context, tab *actor.Tab, r *domtapv1.ReadPageRequest) (*domtapv1.ReadPageResponse, error) {
	request := listRequest(r)
	request.ViewportOnly = true
	shared := s.Views.Of(tab)
	taken, err := capture.Take(ctx, tab, shared, request, driver.ScreenshotOptions{Format: "png"})
	if err != nil {
		return nil, err
	}
	annotated, err := taken.Annotate("png", 0)
	if err != nil {
		return nil, err
	}
	resp := listMessage(&reading.Snapshot{View: taken.View, Next: shared.Next(taken.View)})
	resp.Mode = domtapv1.ReadMode_READ_MODE_VISUAL
	resp.Image, resp.ImageScale, resp.Marks = annotated.Image, annotated.Scale, annotated.Marks
	return resp, nil
}

// modeOf returns the mode of the list that a cursor continues. For an unknown cursor, which has expired, the returned mode does not matter.
func (s *Service) modeOf(tab *actor.Tab, cursor string) domtapv1.ReadMode {
	if s.Views.Of(tab).IsTree(cursor) {
		return domtapv1.ReadMode_READ_MODE_INTERACTIVE
	}
	return domtapv1.ReadMode_READ_MODE_VISUAL
}

// listRequest returns the request for the list of elements in a mode.
func listRequest(r *domtapv1.ReadPageRequest) *domtapv1.GetCompactRequest {
	budget, history := int32(budgetOf(r)), false
	return &domtapv1.GetCompactRequest{
		TabId: r.GetTabId(), MaxTokens: &budget, Cursor: r.GetCursor(), IncludeHistory: &history, ClientId: reading.ForReadPage,
	}
}

func budgetOf(r *domtapv1.ReadPageRequest) int {
	if r.MaxTokens == nil {
		return defaultReading
	}
	return int(r.GetMaxTokens())
}

// listMessage prints a view and returns it as a response.
func listMessage(s *reading.Snapshot) *domtapv1.ReadPageResponse {
	settled := s.View.Settled(false)
	header := s.View.Header(false)
	header.Next = s.Next
	text := s.View.Print(header, settled)
	if settled.Tokens == 0 {
		settled.Tokens = tokens.Count(text)
	}
	return &domtapv1.ReadPageResponse{
		Text: text, Tokens: int32(settled.Tokens), Tokenizer: tokens.Name, NextCursor: s.Next,
		Url: s.View.Snapshot.URL, Title: s.View.Snapshot.Title, Metadata: s.Metadata(settled),
	}
}

// textMessage returns the part of a text that starts at a position.
func textMessage(t *textcache.Text, at markdown.Position, budget int) *domtapv1.ReadPageResponse {
	d := t.Document
	page := d.Cut(at, budget, tokens.Count)
	resp := &domtapv1.ReadPageResponse{
		Mode: domtapv1.ReadMode_READ_MODE_CONTENT, Text: page.Text, Tokens: int32(page.Tokens), Tokenizer: tokens.Name,
		Url: d.URL, Title: d.Title, TotalTokens: int32(t.Tokens), PageTruncated: d.Truncated, TotalBlocks: int32(len(d.Blocks)),
		Signals: messages.Signals(t.Signals), Document: t.About,
	}
	if page.More {
		resp.NextCursor = t.Cursor(page.Next)
	}
	return resp
}

func outlineMessages(t *textcache.Text) []*domtapv1.ReadHeading {
	return outlineOf(t.Document.Outline, func(block int) string { return t.Cursor(markdown.Position{Block: block}) })
}

// because returns a function that adds the reason for the mode to an answer.
func because(reason string) func(*domtapv1.ReadPageResponse, error) (*domtapv1.ReadPageResponse, error) {
	return func(r *domtapv1.ReadPageResponse, err error) (*domtapv1.ReadPageResponse, error) {
		if err == nil {
			r.Reason = reason
		}
		return r, err
	}
}

func joined(a, b string) string {
	if a == "" {
		return b
	}
	return a + "; " + b
}
