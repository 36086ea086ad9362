package pages

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"

	"google.golang.org/grpc/codes"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/actor/capture"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/actor/query"
	"github.com/domtap/domtap/dom"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/content/extract"
	"github.com/domtap/domtap/internal/server/messages"
	"github.com/domtap/domtap/internal/server/replay"
	"github.com/domtap/domtap/internal/server/rpc/connections"
	"github.com/domtap/domtap/internal/server/rpc/rpcstatus"
	"github.com/domtap/domtap/internal/telemetry/pagelog"
)

const (
	// maxPdf and maxEvaluated limit the size of answers, in bytes.
	maxPdf       = 64_000_000
	maxEvaluated = 4 << 20
	// defaultEntries is the default of max_entries in ReadLog.
	defaultEntries = 100
)

// Pdf prints the page as a PDF.
func (s *Service) Pdf(ctx context.Context, r *domtapv1.PdfRequest) (*domtapv1.PdfResponse, error) {
	tab, err := s.Access.Tab(ctx, r.GetTabId())
	if err != nil {
		return nil, err
	}
	paper := driver.PrintOptions{
		Landscape: r.GetLandscape(), Graphics: r.GetPrintBackground(), Scale: 1, Ranges: r.GetPageRanges(), Limit: maxPdf,
	}
	paper.Width, paper.Height = paperOf(r.GetFormat())
	if r.Scale != nil {
		paper.Scale = r.GetScale()
	}
	pdf, err := capture.PDF(ctx, tab, paper)
	if err != nil {
		return nil, err
	}
	return &domtapv1.PdfResponse{Pdf: pdf}, nil
}

// Extract extracts data by a schema.
func (s *Service) Extract(ctx context.Context, r *domtapv1.ExtractRequest) (*domtapv1.ExtractResponse, error) {
	tab, err := s.Access.Tab(ctx, r.GetTabId())
	if err != nil {
		return nil, err
	}
	schema, err := compileSchema(r)
	if err != nil {
		return nil, err
	}
	root, rows := dom.NoRef, extract.DefaultRows
	if r.RootRef != nil {
		root = dom.Ref(r.GetRootRef())
	}
	if r.MaxRows != nil {
		rows = int(r.GetMaxRows())
	}
	return extractFrom(ctx, tab, schema, root, rows)
}

// extractFrom runs a schema on a tab.
func extractFrom(ctx context.Context, tab *actor.Tab, schema *extract.Schema, root dom.Ref, rows int) (*domtapv1.ExtractResponse, error) {
	raw, err := query.Extract(ctx, tab, driver.Extraction{Plan: schema.Plan(rows), Root: driver.Element{Ref: root}})
	if err != nil {
		return nil, err
	}
	answers := make([]extract.Answer, len(raw))
	for i, one := range raw {
		if err := json.Unmarshal(one.Data, &answers[i]); err != nil {
			return nil, fmt.Errorf("decode the page's answer: %w", err)
		}
	}
	result, err := schema.Assemble(answers, rows)
	if err != nil {
		return nil, schemaFault("schema_json", err)
	}
	resp := &domtapv1.ExtractResponse{
		ResultJson: string(result.JSON), Missing: result.Missing, Truncated: result.Truncated, Rows: int32(result.Rows),
	}
	if len(answers) > 0 {
		resp.Url = answers[0].URL
	}
	return resp, nil
}

// Evaluate runs a script in the page, if the daemon allows it.
func (s *Service) Evaluate(ctx context.Context, r *domtapv1.EvaluateRequest) (*domtapv1.EvaluateResponse, error) {
	if !s.AllowEval {
		return nil, rpcstatus.New(codes.PermissionDenied,
			"Evaluate is off: start the daemon with domtap serve --allow-eval to switch it on, or read with GetDom and Extract and act with Interact",
			rpcstatus.Info("EVALUATE_OFF", nil))
	}
	tab, err := s.Access.Tab(ctx, r.GetTabId())
	if err != nil {
		return nil, err
	}
	script := driver.Script{Expression: r.GetExpression(), Element: driver.Element{Frame: dom.FrameID(r.GetFrameId()), Ref: dom.NoRef}, Limit: maxEvaluated}
	if r.Ref != nil {
		script.Ref = dom.Ref(r.GetRef())
	}
	out, err := query.Evaluate(ctx, tab, script)
	// The log tells operators which peer ran a script in which tab. The script and its result are not logged.
	s.Logger.LogAttrs(ctx, slog.LevelInfo, "a script was evaluated",
		slog.String("tab", tab.ID()), slog.Int("length", len(script.Expression)), slog.String("peer", connections.PeerName(ctx)),
		slog.Bool("failed", err != nil), slog.Bool("threw", out.Exception != ""))
	if err != nil {
		if errors.Is(err, context.DeadlineExceeded) {
			err = fmt.Errorf("timed out waiting for the script: it was terminated, or its promise is still pending: %w", err)
		}
		return nil, err
	}
	return &domtapv1.EvaluateResponse{ResultJson: out.JSON, Exception: out.Exception}, nil
}

// ReadLog reads the tab's log. It does not call the page.
func (s *Service) ReadLog(ctx context.Context, r *domtapv1.ReadLogRequest) (*domtapv1.ReadLogResponse, error) {
	tab, err := s.Access.Tab(ctx, r.GetTabId())
	if err != nil {
		return nil, err
	}
	query := pagelog.Query{After: r.GetAfter(), Max: defaultEntries, Problems: r.GetProblemsOnly(), Kinds: logKindsOf(r.GetKinds())}
	if r.MaxEntries != nil {
		query.Max = int(r.GetMaxEntries())
	}
	if s.Replay != nil {
		return s.Replay.Log(r, query.Max)
	}
	if r.GetAt() != nil {
		return nil, replay.Refusal()
	}
	return messages.Log(tab.Log().Read(query)), nil
}
