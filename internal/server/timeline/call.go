package timeline

import (
	"context"
	"strconv"
	"time"
	"unicode"
	"unicode/utf8"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/domtap/domtap/dom"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/server/rpc/connections"
	"github.com/domtap/domtap/internal/server/rpc/identity"
	"github.com/domtap/domtap/internal/server/rpc/listen"
	"github.com/domtap/domtap/internal/server/rpc/metering"
	"github.com/domtap/domtap/internal/server/rpc/rpcstatus"
	"github.com/domtap/domtap/internal/sessions"
	"github.com/domtap/domtap/internal/timeline"
	"github.com/domtap/domtap/internal/truncate"
)

// LivePage is the client name of the live page. Its reads are not recorded, because they would push the work of clients out of a timeline.
const LivePage = "live-page"

// maxError limits the error of a call or a step, in characters.
const maxError = 500

// maxName limits the name of a client in bytes, as package rules does for client_id.
const maxName = 100

// kind classifies the effect of a method on a tab.
type kind uint8

const (
	// reads are recorded when they have ended. waits are recorded while in progress.
	reads kind = iota
	waits
	// acts calls are held while their client is paused. others change something but are never held.
	acts
	others
	// opens calls create a tab.
	opens
)

// methods holds the methods that timelines show.
var methods = map[string]struct {
	name string
	kind kind
}{
	domtapv1.ActionService_Interact_FullMethodName:            {"Interact", acts},
	domtapv1.ActionService_FillForm_FullMethodName:            {"FillForm", acts},
	domtapv1.ToolService_CallTool_FullMethodName:              {"CallTool", acts},
	domtapv1.TabService_Navigate_FullMethodName:               {"Navigate", acts},
	domtapv1.TabService_GoBack_FullMethodName:                 {"GoBack", acts},
	domtapv1.TabService_GoForward_FullMethodName:              {"GoForward", acts},
	domtapv1.TabService_Reload_FullMethodName:                 {"Reload", acts},
	domtapv1.PageService_Evaluate_FullMethodName:              {"Evaluate", acts},
	domtapv1.TabService_OpenTab_FullMethodName:                {"OpenTab", opens},
	domtapv1.TabService_CloseTab_FullMethodName:               {"CloseTab", others},
	domtapv1.TabService_AnswerDialog_FullMethodName:           {"AnswerDialog", others},
	domtapv1.TabService_SetRestore_FullMethodName:             {"SetRestore", others},
	domtapv1.StorageService_EditSessionStorage_FullMethodName: {"EditSessionStorage", others},
	domtapv1.DomService_WaitFor_FullMethodName:                {"WaitFor", waits},
	domtapv1.DomService_GetDom_FullMethodName:                 {"GetDom", reads},
	domtapv1.DomService_GetCompact_FullMethodName:             {"GetCompact", reads},
	domtapv1.DomService_Find_FullMethodName:                   {"Find", reads},
	domtapv1.PageService_ReadPage_FullMethodName:              {"ReadPage", reads},
	domtapv1.PageService_Screenshot_FullMethodName:            {"Screenshot", reads},
	domtapv1.PageService_Pdf_FullMethodName:                   {"Pdf", reads},
	domtapv1.PageService_Extract_FullMethodName:               {"Extract", reads},
	domtapv1.PageService_ReadLog_FullMethodName:               {"ReadLog", reads},
	domtapv1.ContextService_GetHistory_FullMethodName:         {"GetHistory", reads},
	domtapv1.StorageService_GetSessionStorage_FullMethodName:  {"GetSessionStorage", reads},
}

// Client returns the name of the caller: the client ID of the request, or else the client ID of the metadata, or else the connection.
func Client(ctx context.Context, request any) string {
	if r, ok := request.(interface{ GetClientId() string }); ok && r.GetClientId() != "" {
		return r.GetClientId()
	}
	if md, ok := metadata.FromIncomingContext(ctx); ok {
		if said := md.Get(listen.ClientKey); len(said) == 1 && isName(said[0]) {
			return said[0]
		}
	}
	return "connection " + strconv.FormatUint(connections.OriginOf(ctx).Number, 10)
}

func isName(s string) bool {
	if s == "" || len(s) > maxName || !utf8.ValidString(s) {
		return false
	}
	for _, r := range s {
		if !unicode.IsPrint(r) {
			return false
		}
	}
	return true
}

// Call is a running call. Its methods do nothing on nil.
type Call struct {
	tab   *Tab
	kind  kind
	began time.Time
	entry *timeline.Entry
	// id is the ID of the entry in the timeline, or 0 if the entry was not added yet.
	id uint64
}

type callKey struct{}

// Of returns the call of a context. It returns nil if the call is not recorded in a timeline.
func Of(ctx context.Context) *Call {
	c, _ := ctx.Value(callKey{}).(*Call)
	return c
}

// Acted lets the handler of a call record the results of a turn in the call's entry.
func (c *Call) Acted(write func(*domtapv1.TimelineTurn)) {
	if c != nil && c.entry.GetTurn() != nil {
		write(c.entry.GetTurn())
	}
}

// Answered lets the handler of a call record a client's answer in the entry of a dialog.
func (c *Call) Answered(d *domtapv1.Dialog) {
	if c != nil {
		c.tab.answered(d)
	}
}

// Unary records calls in the timelines of their tabs, and holds the calls of paused clients. The caller must be authenticated, and the call
// must have a deadline.
func (t *Timelines) Unary(ctx context.Context, req any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	method, known := methods[info.FullMethod]
	if !known {
		return handler(ctx, req)
	}
	who, client := identity.From(ctx), Client(ctx, req)
	if method.kind == opens {
		return t.open(ctx, req.(*domtapv1.OpenTabRequest), client, handler)
	}
	named, _ := req.(interface{ GetTabId() string })
	looks, _ := req.(interface{ GetObserveOnly() bool })
	watches := client == LivePage && method.kind == reads
	if named == nil || watches || looks != nil && looks.GetObserveOnly() { // calls that only observe are not recorded
		return handler(ctx, req)
	}
	tab, err := t.Of(who, named.GetTabId())
	if err != nil {
		return handler(ctx, req) // the handler returns the same error
	}
	c := tab.begin(req, method.name, method.kind, client, who.Name())
	if method.kind == acts {
		if err := t.hold(ctx, scope{tab.tab.ID(), tab.session}, client, c.waits); err != nil {
			c.end(nil, err)
			return nil, err
		}
	}
	resp, err := handler(context.WithValue(ctx, callKey{}, c), req)
	c.end(resp, err)
	return resp, err
}

// open opens a tab, and records the caller in the first entry of the tab's timeline.
func (t *Timelines) open(ctx context.Context, req *domtapv1.OpenTabRequest, client string, handler grpc.UnaryHandler) (any, error) {
	who, began := identity.From(ctx), time.Now()
	session := who.SessionName(req.GetSessionId())
	if req.GetSessionId() == "" {
		session = who.SessionName(sessions.Default)
	}
	if err := t.hold(ctx, scope{session: session}, client, func(bool) {}); err != nil {
		return nil, err
	}
	resp, err := handler(ctx, req)
	opened, ok := resp.(*domtapv1.OpenTabResponse)
	if err != nil || !ok {
		return resp, err
	}
	if tab, err := t.Of(who, opened.GetTab().GetId()); err == nil {
		tab.Sync()
		tab.Change(1, func(e *timeline.Entry) {
			e.Client, e.Owner, e.Method, e.State = client, who.Name(), "OpenTab", domtapv1.TimelineState_TIMELINE_STATE_DONE
			e.Time, e.Duration = timestamppb.New(began), durationpb.New(time.Since(began))
			e.RevisionTo, e.Epoch = opened.GetTab().GetRevision(), opened.GetTab().GetEpoch()
			e.Tokens, e.TokensEstimated = metering.Cost(resp)
		})
	}
	return resp, err
}

// begin starts the record of a call. Unless the call is a read, it adds the entry to the timeline.
func (t *Tab) begin(req any, method string, kind kind, client, owner string) *Call {
	t.Sync()
	head := t.tab.Head()
	c := &Call{tab: t, kind: kind, began: time.Now(), entry: &timeline.Entry{
		Client: client, Owner: owner, Method: method, State: domtapv1.TimelineState_TIMELINE_STATE_RUNNING, RevisionFrom: head.Info.Revision,
	}}
	c.entry.Time = timestamppb.New(c.began)
	if kind == reads || kind == waits {
		c.entry.Event = &domtapv1.TimelineEntry_Read{Read: new(domtapv1.TimelineRead)}
		if r, ok := req.(interface{ GetFormat() domtapv1.Format }); ok {
			c.entry.GetRead().Format = r.GetFormat()
		}
	} else {
		c.entry.Event = &domtapv1.TimelineEntry_Turn{Turn: requestedTurn(req)}
	}
	if kind != reads {
		c.id = t.Add(c.copy())
	}
	return c
}

// requestedTurn returns the part of a turn that is known before it starts.
func requestedTurn(req any) *domtapv1.TimelineTurn {
	turn := new(domtapv1.TimelineTurn)
	if r, ok := req.(interface{ GetUrl() string }); ok {
		turn.Url = dom.MaskCredentials(r.GetUrl())
	}
	switch r := req.(type) {
	case *domtapv1.InteractRequest:
		turn.Steps = stepsOf(r.GetSteps())
	case *domtapv1.FillFormRequest:
		turn.Steps = formStepsOf(r)
	case *domtapv1.CallToolRequest:
		turn.Steps = []*domtapv1.TimelineStep{{Kind: "tool"}}
	}
	return turn
}

// copy returns a copy of the entry for the timeline. Entries in a timeline are never modified.
func (c *Call) copy() *timeline.Entry { return timeline.Copy(c.entry) }

// waits records that the call waits because its client is paused, or that it continues.
func (c *Call) waits(on bool) {
	c.tab.Change(c.id, func(e *timeline.Entry) {
		e.State = domtapv1.TimelineState_TIMELINE_STATE_RUNNING
		if on {
			e.State = domtapv1.TimelineState_TIMELINE_STATE_WAITING
		}
	})
}

// end records the end of a call.
func (c *Call) end(resp any, err error) {
	e := c.entry
	e.Duration = durationpb.New(time.Since(c.began))
	info := c.tab.tab.Info()
	e.RevisionTo, e.Epoch = info.Revision, info.Epoch
	if err != nil {
		e.State = domtapv1.TimelineState_TIMELINE_STATE_FAILED
		s := status.Convert(rpcstatus.From(err))
		e.Error, e.Reason = truncate.Runes(s.Message(), maxError), rpcstatus.Reason(err)
		if e.Reason == "" {
			e.Reason = metering.CodeName(s.Code())
		}
	} else {
		e.State = domtapv1.TimelineState_TIMELINE_STATE_DONE
		e.Tokens, e.TokensEstimated = metering.Cost(resp)
		c.answered(resp)
	}
	c.tab.Sync()
	if c.id == 0 {
		c.tab.Add(c.copy())
	} else {
		c.tab.Change(c.id, func(old *timeline.Entry) { timeline.Assign(old, e) })
	}
	c.tab.hung()
}

// answered records the parts of an answer that many methods have in common.
func (c *Call) answered(resp any) {
	if r, ok := resp.(interface{ GetOutcome() []*domtapv1.Outcome }); ok && c.entry.GetTurn() != nil {
		c.entry.GetTurn().Outcome = r.GetOutcome()
	}
	if r, ok := resp.(*domtapv1.AnswerDialogResponse); ok && r.GetDialog() != nil {
		c.Answered(r.GetDialog())
	}
	read := c.entry.GetRead()
	if read == nil {
		return
	}
	if r, ok := resp.(interface {
		GetMetadata() *domtapv1.ViewMetadata
	}); ok {
		read.Elements = uint32(max(0, r.GetMetadata().GetIncludedElements()))
	}
	switch r := resp.(type) {
	case *domtapv1.GetDomResponse:
		read.Incremental = r.GetDiff() != nil
	case *domtapv1.FindResponse:
		read.Elements = uint32(len(r.GetMatches()))
	}
}
