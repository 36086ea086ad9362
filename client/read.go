package client

import (
	"context"
	"encoding/json"
	"fmt"

	"google.golang.org/protobuf/proto"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// request returns a copy of r, or a new message if r is nil.
func request[M proto.Message](r M) M {
	if !r.ProtoReflect().IsValid() { // nil
		return r.ProtoReflect().New().Interface().(M)
	}
	return proto.CloneOf(r)
}

// Elements returns the elements of the page, in document order, within the default limits. Client.Dom has GetDom with
// all options.
func (t *Tab) Elements(ctx context.Context) ([]*domtapv1.Element, error) {
	answer, err := t.client.Dom.GetDom(ctx, &domtapv1.GetDomRequest{TabId: t.id})
	return answer.GetElements(), err
}

// ReadPage returns the page for a model as Markdown, as a tree, or as a picture with refs, whichever suits the page, within a token budget.
// Use next_cursor to continue. The tab_id of the request is ignored. If r is nil, the defaults apply.
func (t *Tab) ReadPage(ctx context.Context, r *domtapv1.ReadPageRequest) (*domtapv1.ReadPageResponse, error) {
	r = request(r)
	r.TabId = t.id
	return t.client.Pages.ReadPage(ctx, r)
}

// Screenshot takes a picture of the viewport, of the whole page, or of an element. It draws the refs on request. The tab_id of the request
// is ignored. If r is nil, the result is a PNG of the viewport.
func (t *Tab) Screenshot(ctx context.Context, r *domtapv1.ScreenshotRequest) (*domtapv1.ScreenshotResponse, error) {
	r = request(r)
	r.TabId = t.id
	return t.client.Pages.Screenshot(ctx, r)
}

// PDF prints the page. The tab_id of the request is ignored. If r is nil, the paper size is A4.
func (t *Tab) PDF(ctx context.Context, r *domtapv1.PdfRequest) ([]byte, error) {
	r = request(r)
	r.TabId = t.id
	answer, err := t.client.Pages.Pdf(ctx, r)
	return answer.GetPdf(), err
}

// Extract reads the fields of a schema, as described in docs/extract.md, and decodes them as package json does:
//
//	var order struct{ Total string }
//	_, err := tab.Extract(ctx, `{"total": "#total"}`, &order)
//
// Fields that are missing on the page are null or empty, and are listed in the answer. Client.Pages has Extract for tables.
func (t *Tab) Extract(ctx context.Context, schema string, into any) (*domtapv1.ExtractResponse, error) {
	answer, err := t.client.Pages.Extract(ctx, &domtapv1.ExtractRequest{TabId: t.id, SchemaJson: schema})
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal([]byte(answer.GetResultJson()), into); err != nil {
		return answer, fmt.Errorf("decode what was extracted: %w", err)
	}
	return answer, nil
}

// Evaluate runs an expression or a function in the page and decodes its result as package json does. into may be nil. The daemon must allow
// it (domtap serve --allow-eval); otherwise the error has the reason EVALUATE_OFF. An exception of the script is returned as an error.
func (t *Tab) Evaluate(ctx context.Context, expression string, into any) error {
	answer, err := t.client.Pages.Evaluate(ctx, &domtapv1.EvaluateRequest{TabId: t.id, Expression: expression})
	switch {
	case err != nil:
		return err
	case answer.GetException() != "":
		return fmt.Errorf("the script threw: %s", answer.GetException())
	case into == nil:
		return nil
	}
	if err := json.Unmarshal([]byte(answer.GetResultJson()), into); err != nil {
		return fmt.Errorf("decode the result of the script: %w", err)
	}
	return nil
}

// Log returns console messages, uncaught errors and requests of the tab that follow a sequence number, oldest first. Pass 0, or the
// next_sequence of an earlier answer. It works while the page hangs.
func (t *Tab) Log(ctx context.Context, after uint64) (*domtapv1.ReadLogResponse, error) {
	return t.client.Pages.ReadLog(ctx, &domtapv1.ReadLogRequest{TabId: t.id, After: after})
}
