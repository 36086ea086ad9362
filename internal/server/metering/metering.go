// Package metering records the usage of every call of the API: what was asked, what the answer costs a model, and
// how it went. A Recorder sees requests and answers as a part of gRPC's stats handler, or as an interceptor for
// calls of fronts; handlers add what only they know through the Call in their context (Of).
//
// Metering never fails or delays a call. A nil *Call takes everything and does nothing.
package metering

import (
	"context"
	"strings"
	"sync"
	"time"
	"unicode"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/stats"
	"google.golang.org/grpc/status"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/server/identity"
	"github.com/domtap/domtap/internal/server/views"
	"github.com/domtap/domtap/internal/telemetry/usage"
)

// Recorder records the calls of one server.
type Recorder struct {
	usage *usage.Recorder
	// session returns the session of an open tab that a principal sees; empty: there is no such tab.
	session func(who identity.Principal, tab string) string
	// reason returns the reason of an error.
	reason func(error) string

	mu sync.Mutex
	// methods has the names of the methods that are counted, by their full names.
	methods map[string]string
}

// New makes a Recorder.
func New(figures *usage.Recorder, session func(who identity.Principal, tab string) string, reason func(error) string) *Recorder {
	return &Recorder{usage: figures, session: session, reason: reason, methods: map[string]string{}}
}

// Count sets the services whose calls are counted. Others are not, nor are names that clients invent.
func (r *Recorder) Count(services map[string]grpc.ServiceInfo) {
	r.mu.Lock()
	defer r.mu.Unlock()
	clear(r.methods)
	for service, info := range services {
		for _, m := range info.Methods {
			r.methods["/"+service+"/"+m.Name] = m.Name
		}
	}
}

type callKey struct{}

// Tag begins the record of a call.
func (r *Recorder) Tag(ctx context.Context, fullMethod string) context.Context {
	r.mu.Lock()
	name := r.methods[fullMethod]
	r.mu.Unlock()
	if name == "" {
		return ctx
	}
	return context.WithValue(ctx, callKey{}, &Call{recorder: r, method: name})
}

// Of returns the record of a call; nil: the call is not counted.
func Of(ctx context.Context) *Call {
	n, _ := ctx.Value(callKey{}).(*Call)
	return n
}

// Apart returns a context without the record, for handlers that call other handlers, and for calls that are a part of
// another one.
func Apart(ctx context.Context) context.Context {
	return context.WithValue(ctx, callKey{}, (*Call)(nil))
}

// Call gathers the usage of one call. Its methods do nothing on nil and may be called from any goroutine.
type Call struct {
	recorder *Recorder
	method   string

	mu     sync.Mutex
	stream bool
	// begun says that the stream is counted; elsewhere, that another node serves the call and counts it.
	begun, elsewhere bool
	// who is the caller; session and tab are those that the request names; place is where they belong, once
	// the caller is known.
	who          identity.Principal
	session, tab string
	place        usage.Place
	// line is looked up when the first answer goes out, at the latest at the end.
	line    usage.Series
	lined   bool
	entry   usage.Entry
	compare bool
}

// By records who calls.
func (c *Call) By(who identity.Principal) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.who = who
	c.locate()
}

// Elsewhere records that another node serves the call, and counts it.
func (c *Call) Elsewhere() {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.elsewhere = true
}

// Whole records about how many tokens the whole page costs that the answer is about; 0: unknown. The answer is
// compared with that number. A later part of an answer is compared, too, but the page does not count again.
func (c *Call) Whole(tokens int, part bool) {
	if c == nil || tokens <= 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.compare = true
	if !part {
		c.entry.Full += int64(tokens)
	}
}

// Reads records how a page was read.
func (c *Call) Reads(r usage.Reads) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.entry.Reads = r
}

// Changed records that an answer has a diff, or why it has the whole view although a diff was asked for.
func (c *Call) Changed(incremental bool, resync string) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case incremental:
		c.entry.Reads.Incremental++
	case resync != "" && resync != views.FirstCall:
		c.entry.Reads.Resyncs++
	}
}

// Steps records how the steps of a turn went.
func (c *Call) Steps(steps []usage.Step) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.entry.Steps = steps
}

// Sent records how long after a change a stream sent it.
func (c *Call) Sent(after time.Duration) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.find().Add(usage.Entry{Timed: true, Took: after})
}

// Handle records an event of a call. It implements a part of stats.Handler.
func (r *Recorder) Handle(ctx context.Context, event stats.RPCStats) {
	n := Of(ctx)
	if n == nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.elsewhere {
		return
	}
	switch e := event.(type) {
	case *stats.Begin:
		n.stream = e.IsServerStream
	case *stats.InPayload:
		n.request(e.Payload)
	case *stats.OutHeader:
		n.begin()
	case *stats.OutPayload:
		n.answer(e.Payload, int64(e.Length))
	case *stats.End:
		n.end(e)
	}
}

// request takes the session and the tab from a request.
func (c *Call) request(m any) {
	if r, ok := m.(interface{ GetSessionId() string }); ok {
		c.session = r.GetSessionId()
	}
	if r, ok := m.(interface{ GetTabId() string }); ok {
		c.tab = r.GetTabId()
	}
	c.locate()
}

// begin counts a stream: when its answer begins, because it may turn out before that another node serves it.
func (c *Call) begin() {
	if c.stream && !c.begun {
		c.begun = true
		c.find().Add(usage.Entry{Calls: 1})
	}
}

// locate finds where the usage belongs: a session or tab counts only if it is the caller's. A tab that closed
// meanwhile stays that of the call.
func (c *Call) locate() {
	if c.place.Owner = c.who.Name(); c.place.Owner == "" {
		return
	}
	if c.session != "" && c.place.Tab == "" {
		c.place.Session = c.who.Inward(c.session)
	}
	if session := c.recorder.session(c.who, c.tab); session != "" {
		c.place.Session, c.place.Tab = session, c.tab
	}
}

// answer takes the cost from an answer.
func (c *Call) answer(m any, size int64) {
	if c.stream {
		c.begin()
		c.find().Add(usage.Entry{Messages: 1, Bytes: size, Estimated: perBytes(size)})
		return
	}
	if c.tab == "" {
		c.created(m)
	}
	c.entry.Messages++
	c.entry.Bytes += size
	exact, estimated := cost(m, size)
	c.entry.Tokens += exact
	c.entry.Estimated += estimated
	if c.compare {
		c.entry.Compared += exact + estimated
	}
}

// created takes the tab or the session that a call made.
func (c *Call) created(m any) {
	if r, ok := m.(interface{ GetTab() *domtapv1.Tab }); ok {
		c.tab = r.GetTab().GetId()
	}
	if r, ok := m.(interface{ GetSession() *domtapv1.Session }); ok {
		c.session = r.GetSession().GetId()
	}
	c.locate()
}

// end adds the call to the usage.
func (c *Call) end(e *stats.End) {
	c.begin()
	c.entry.Failure = c.failure(e.Error)
	if c.entry.Failure != "" && c.entry.Compared == 0 {
		c.entry.Full = 0 // no answer went out
	}
	if !c.stream {
		c.entry.Calls, c.entry.Timed, c.entry.Took = 1, true, e.EndTime.Sub(e.BeginTime)
	}
	c.find().Add(c.entry)
}

// failure returns the reason or the code of an error; empty: it counts as none.
func (c *Call) failure(err error) string {
	code := status.Code(err)
	if err == nil || c.stream && code == codes.Canceled {
		return ""
	}
	if reason := c.recorder.reason(err); reason != "" {
		return reason
	}
	return CodeName(code)
}

// CodeName writes a status code as reasons are written: DEADLINE_EXCEEDED.
func CodeName(code codes.Code) string {
	var b strings.Builder
	for i, r := range code.String() {
		if i > 0 && unicode.IsUpper(r) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToUpper(r))
	}
	return b.String()
}

// find returns the line of the call; mu is held.
func (c *Call) find() usage.Series {
	if !c.lined {
		c.line, c.lined = c.recorder.usage.Series(c.place, c.method), true
	}
	return c.line
}
