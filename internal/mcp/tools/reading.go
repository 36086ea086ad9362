package tools

import (
	"context"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/mcp/args"
	"github.com/domtap/domtap/internal/mcp/session"
	"github.com/domtap/domtap/internal/mcp/steps"
	"github.com/domtap/domtap/internal/mcp/text"
	"github.com/domtap/domtap/internal/plural"
)

// The ranges of limits that the daemon accepts.
var (
	elements = args.Range{Low: 1, High: 1000, Zero: true}
	budget   = steps.MaxTokens
)

// pick calls args.Pick and wraps the error for the model.
func pick[V any](name, word string, table map[string]V) (V, error) {
	value, err := args.Pick(name, word, table)
	if err != nil {
		return value, &Input{err}
	}
	return value, nil
}

var formats = map[string]domtapv1.Format{
	"dense": domtapv1.Format_FORMAT_DENSE,
	"lines": domtapv1.Format_FORMAT_LINES,
	"tree":  domtapv1.Format_FORMAT_TREE,
}

// compactArgs holds the arguments of browser_get_elements_compact.
type compactArgs struct {
	Tab             string      `json:"tab"`
	Incremental     args.Bool   `json:"incremental"`
	ViewportOnly    args.Bool   `json:"viewport_only"`
	InteractiveOnly args.Bool   `json:"interactive_only"`
	MaxElements     args.Number `json:"max_elements"`
	MaxTokens       args.Number `json:"max_tokens"`
	Format          string      `json:"format"`
	Hrefs           args.Bool   `json:"hrefs"`
	History         args.Bool   `json:"history"`
	RootRef         args.Ref    `json:"root_ref"`
	Cursor          string      `json:"cursor"`
}

func getElementsCompact(ctx context.Context, c *Call) error {
	a, err := read[compactArgs](c)
	if err != nil {
		return err
	}
	id, err := c.tab(a.Tab)
	if err != nil {
		return err
	}
	format, err := pick("format", a.Format, formats)
	if err != nil {
		return err
	}
	request := &domtapv1.GetCompactRequest{
		TabId: id, ViewportOnly: a.ViewportOnly.Value, InteractiveOnly: a.InteractiveOnly.Pointer(),
		MaxElements: c.Int32("max_elements", a.MaxElements, elements), MaxTokens: c.Int32("max_tokens", a.MaxTokens, budget),
		RootRef: a.RootRef.Pointer(), Cursor: a.Cursor, ClientId: c.Session.ClientID, Format: format, Hrefs: a.Hrefs.Value, Brief: true,
	}
	if format == domtapv1.Format_FORMAT_UNSPECIFIED {
		request.Format = domtapv1.Format_FORMAT_DENSE
	}
	if request.GetFormat() == domtapv1.Format_FORMAT_DENSE {
		request.IncludeHistory = proto.Bool(a.History.Value)
	}
	if a.Incremental.Value {
		if a.Cursor != "" || format == domtapv1.Format_FORMAT_TREE {
			return inputf("incremental returns a list of changes; omit cursor and format")
		}
		c.onlyChanges(request)
	}
	answer, err := c.Daemon.Dom.GetCompact(ctx, request)
	if err != nil {
		return err
	}
	if a.whole() {
		c.Session.SetSeen(id, session.Point{Epoch: answer.GetEpoch(), Revision: answer.GetRevision()})
	}
	a.print(c, answer)
	return nil
}

// onlyChanges makes a request return only the changes since the last answer.
func (c *Call) onlyChanges(request *domtapv1.GetCompactRequest) {
	if at, known := c.Session.LastSeen(request.GetTabId()); request.GetFormat() == domtapv1.Format_FORMAT_DENSE {
		request.Incremental, request.Format = true, domtapv1.Format_FORMAT_DENSE_DIFF
	} else if known {
		request.SinceRevision, request.Epoch, request.Format = &at.Revision, at.Epoch, domtapv1.Format_FORMAT_DIFF
	} else {
		c.addLine("whole page: first look")
	}
}

// print prints an answer. If changes were requested but it contains the whole page, print adds the reason.
func (a *compactArgs) print(c *Call, answer *domtapv1.GetCompactResponse) {
	if a.Incremental.Value && answer.GetResync() == nil && strings.TrimSpace(answer.GetText()) == "Changes: none" {
		c.addLine("no change")
		return
	}
	if why := answer.GetResync().GetReason(); why != "" {
		c.addLine("whole page: %s", text.Resync(why))
	}
	if !a.MaxElements.Set && !a.MaxTokens.Set && text.IsSmallPart(answer.GetMetadata()) {
		c.addLine("pass max_elements 0 and max_tokens 0 to get the rest in one call")
	}
	c.addMetadata(answer.GetMetadata())
	c.addPageText(answer.GetText())
}

// whole reports whether the answer covers the whole page, so that later diffs can start from it.
func (a *compactArgs) whole() bool { return !a.RootRef.Set && a.Cursor == "" && !a.ViewportOnly.Value }

// domArgs holds the arguments of browser_get_dom.
type domArgs struct {
	Tab             string            `json:"tab"`
	ViewportOnly    args.Bool         `json:"viewport_only"`
	InteractiveOnly args.Bool         `json:"interactive_only"`
	FullSnapshot    args.Bool         `json:"full_snapshot"`
	Incremental     args.Bool         `json:"incremental"`
	MaxElements     args.Number       `json:"max_elements"`
	MaxTokens       args.Number       `json:"max_tokens"`
	RootRef         args.Ref          `json:"root_ref"`
	Attributes      args.List[string] `json:"include_attributes"`
	Cursor          string            `json:"cursor"`
}

func getDom(ctx context.Context, c *Call) error {
	a, err := read[domArgs](c)
	if err != nil {
		return err
	}
	id, err := c.tab(a.Tab)
	if err != nil {
		return err
	}
	request := &domtapv1.GetDomRequest{
		TabId: id, ViewportOnly: a.ViewportOnly.Value, InteractiveOnly: a.InteractiveOnly.Pointer(), FullSnapshot: a.FullSnapshot.Value,
		MaxElements: c.Int32("max_elements", a.MaxElements, elements), MaxTokens: c.Int32("max_tokens", a.MaxTokens, budget),
		RootRef: a.RootRef.Pointer(), Cursor: a.Cursor, ClientId: c.Session.ClientID, IncludeAttributes: a.Attributes,
		IncludeHistory: proto.Bool(false),
	}
	if at, known := c.Session.LastSeen(id); known && a.Incremental.Value {
		request.SinceRevision, request.Epoch = &at.Revision, at.Epoch
	}
	answer, err := c.Daemon.Dom.GetDom(ctx, request)
	if err != nil {
		return err
	}
	if !a.RootRef.Set && a.Cursor == "" && !a.ViewportOnly.Value {
		c.Session.SetSeen(id, session.Point{Epoch: answer.GetEpoch(), Revision: answer.GetRevision()})
	}
	if request.SinceRevision != nil && answer.GetResync() == nil {
		if changes := text.Diff(answer.GetDiff()); changes != "" {
			c.addPageText(changes)
			return nil
		}
		c.addLine("no change")
		return nil
	}
	meta := answer.GetMetadata()
	c.addLine("%d of %s, revision %d", meta.GetIncludedElements(), plural.Of(meta.GetTotalElements(), "element"), answer.GetRevision())
	if next := meta.GetNextCursor(); next != "" {
		c.addLine("truncated; cursor: %s", next)
	}
	c.addMetadata(meta)
	c.addPageText(text.Page(&domtapv1.Tab{Url: answer.GetUrl(), Title: answer.GetTitle()}) + text.Elements(answer.GetElements()))
	return nil
}

var modes = map[string]domtapv1.ReadMode{
	"auto":        domtapv1.ReadMode_READ_MODE_AUTO,
	"content":     domtapv1.ReadMode_READ_MODE_CONTENT,
	"interactive": domtapv1.ReadMode_READ_MODE_INTERACTIVE,
	"visual":      domtapv1.ReadMode_READ_MODE_VISUAL,
}

// modeWord returns the name of a mode.
func modeWord(mode domtapv1.ReadMode) string {
	return strings.ToLower(strings.TrimPrefix(mode.String(), "READ_MODE_"))
}

// pageArgs holds the arguments of browser_read_page.
type pageArgs struct {
	Tab       string      `json:"tab"`
	Mode      string      `json:"mode"`
	MaxTokens args.Number `json:"max_tokens"`
	Outline   args.Bool   `json:"outline"`
	Cursor    string      `json:"cursor"`
	Download  string      `json:"download"`
	Path      string      `json:"path"`
}

func readPage(ctx context.Context, c *Call) error {
	a, err := read[pageArgs](c)
	if err != nil {
		return err
	}
	id, err := c.tab(a.Tab)
	if err != nil {
		return err
	}
	mode, err := pick("mode", a.Mode, modes)
	if err != nil {
		return err
	}
	return c.readPage(ctx, &domtapv1.ReadPageRequest{
		TabId: id, Mode: mode, MaxTokens: c.Int32("max_tokens", a.MaxTokens, budget), Cursor: a.Cursor, Download: a.Download, Path: a.Path,
	}, a.Outline.Value)
}

// readPage calls ReadPage and prints the answer.
func (c *Call) readPage(ctx context.Context, request *domtapv1.ReadPageRequest, outline bool) error {
	answer, err := c.Daemon.Pages.ReadPage(ctx, request)
	if err != nil {
		return err
	}
	if request.GetCursor() == "" {
		c.addLine("%s", modeWord(answer.GetMode()))
		c.addPageText(text.Page(&domtapv1.Tab{Url: answer.GetUrl(), Title: answer.GetTitle()}))
	}
	if d := answer.GetDocument(); d != nil && request.GetCursor() == "" {
		c.addPageText(text.Document(d))
	}
	if request.GetCursor() == "" {
		c.addSignals(answer.GetSignals())
		c.addMetadata(answer.GetMetadata())
	}
	if answer.GetChangedSince() {
		c.addLine("the page has changed since; this continues the previous text")
	}
	if next := answer.GetNextCursor(); next != "" {
		total := ""
		if n := answer.GetTotalTokens(); n > 0 {
			total = " of " + count(n)
		}
		c.addLine("%s%s tokens; cursor: %s", count(answer.GetTokens()), total, next)
	}
	if outline {
		c.addPageText(text.Outline(answer.GetOutline()))
	}
	c.addPageText(answer.GetText())
	if image := answer.GetImage(); len(image) > 0 {
		c.Images = append(c.Images, Image{Data: image, MIMEType: "image/png"})
	}
	return nil
}

// batchArgs holds the arguments of browser_batch.
type batchArgs struct {
	URLs      args.List[string] `json:"urls"`
	Mode      string            `json:"mode"`
	MaxTokens args.Number       `json:"max_tokens"`
	Schema    args.JSON         `json:"schema"`
	Parallel  args.Number       `json:"parallel"`
	Timeout   args.Seconds      `json:"timeout"`
}

func batch(ctx context.Context, c *Call) error {
	a, err := read[batchArgs](c)
	if err != nil {
		return err
	}
	mode, err := pick("mode", a.Mode, modes)
	if err != nil {
		return err
	}
	request := &domtapv1.BatchRequest{
		Urls: a.URLs, What: mode, SchemaJson: string(a.Schema), MaxTokens: c.Int32("max_tokens", a.MaxTokens, budget),
		Parallel: int32(c.Float("parallel", a.Parallel, args.Range{Low: 1, High: 8})), Timeout: c.Timeout(a.Timeout, maxURLTimeout),
		SessionId: c.Session.Browser,
	}
	ctx, cancel := withTimeout(ctx, maxBatchDuration(request))
	defer cancel()
	answer, err := c.Daemon.Pages.Batch(ctx, request)
	if err != nil {
		return err
	}
	failed := 0
	for _, one := range answer.GetResults() {
		if one.GetError() != "" {
			failed++
		}
	}
	if failed > 0 {
		c.addLine("%d of %d failed", failed, len(answer.GetResults()))
	}
	c.Failed = failed > 0 && failed == len(answer.GetResults())
	c.addPageText(text.Batch(answer.GetResults()))
	return nil
}

// maxBatchDuration returns the duration of a batch if every URL takes its whole timeout.
func maxBatchDuration(r *domtapv1.BatchRequest) time.Duration {
	each, parallel := 15*time.Second, int32(4) // the defaults of the daemon
	if limit := r.GetTimeout(); limit != nil {
		each = limit.AsDuration()
	}
	if n := r.GetParallel(); n > 0 {
		parallel = n
	}
	rounds := (len(r.GetUrls()) + int(parallel) - 1) / int(parallel)
	return time.Duration(max(1, rounds)) * each
}

// extractArgs holds the arguments of browser_extract.
type extractArgs struct {
	Tab       string                  `json:"tab"`
	Schema    args.JSON               `json:"schema"`
	Selectors args.List[string]       `json:"selectors"`
	Table     *args.Object[tableArgs] `json:"table"`
	RootRef   args.Ref                `json:"root_ref"`
	MaxRows   args.Number             `json:"max_rows"`
}

type tableArgs struct {
	Headers args.List[string] `json:"headers"`
	Caption string            `json:"caption"`
}

func extract(ctx context.Context, c *Call) error {
	a, err := read[extractArgs](c)
	if err != nil {
		return err
	}
	id, err := c.tab(a.Tab)
	if err != nil {
		return err
	}
	request := &domtapv1.ExtractRequest{
		TabId: id, SchemaJson: string(a.Schema), Selectors: a.Selectors, RootRef: a.RootRef.Pointer(),
		MaxRows: c.Int32("max_rows", a.MaxRows, args.Range{Low: 1, High: 10000}),
	}
	if a.Table != nil {
		request.Table = &domtapv1.ExtractTable{Headers: a.Table.V.Headers, Caption: a.Table.V.Caption}
	}
	answer, err := c.Daemon.Pages.Extract(ctx, request)
	if err != nil {
		return err
	}
	if len(answer.GetMissing()) > 0 {
		c.addLine("not found: %s", oneLine(strings.Join(answer.GetMissing(), ", ")))
	}
	if answer.GetTruncated() {
		c.addLine("truncated: found %s", plural.Of(answer.GetRows(), "row"))
	}
	c.addPageText(answer.GetResultJson())
	return nil
}

var pictures = map[string]struct {
	format domtapv1.ImageFormat
	mime   string
}{
	"jpeg": {domtapv1.ImageFormat_IMAGE_FORMAT_JPEG, "image/jpeg"},
	"png":  {domtapv1.ImageFormat_IMAGE_FORMAT_PNG, "image/png"},
	"webp": {domtapv1.ImageFormat_IMAGE_FORMAT_WEBP, "image/webp"},
}

// shotArgs holds the arguments of browser_screenshot.
type shotArgs struct {
	Tab      string      `json:"tab"`
	Marks    args.Bool   `json:"marks"`
	FullPage args.Bool   `json:"full_page"`
	Ref      args.Ref    `json:"ref"`
	Format   string      `json:"format"`
	Quality  args.Number `json:"quality"`
}

func screenshot(ctx context.Context, c *Call) error {
	a, err := read[shotArgs](c)
	if err != nil {
		return err
	}
	id, err := c.tab(a.Tab)
	if err != nil {
		return err
	}
	if a.Format == "" {
		a.Format = "jpeg" // a fifth of the size of a PNG, because hosts limit messages
	}
	picture, err := pick("format", a.Format, pictures)
	if err != nil {
		return err
	}
	request := &domtapv1.ScreenshotRequest{
		TabId: id, Format: picture.format, FullPage: a.FullPage.Value, Ref: a.Ref.Pointer(), Marks: a.Marks.Value,
	}
	if picture.mime != "image/png" {
		request.Quality = c.Int32("quality", a.Quality, args.Range{Low: 1, High: 100})
	}
	answer, err := c.Daemon.Pages.Screenshot(ctx, request)
	if err != nil {
		return err
	}
	c.Images = append(c.Images, Image{Data: answer.GetImage(), MIMEType: picture.mime})
	c.addPageText(text.Marks(answer.GetMarks()))
	return nil
}
