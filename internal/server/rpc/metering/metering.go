// Package metering records the usage of every API call: the request, the answer's cost for a model, and the result. A Recorder receives
// requests and answers as part of gRPC's stats handler, or as an interceptor for calls of fronts. Handlers add further details through the
// Call in their context (see FromContext).
//
// Metering never fails or delays a call. All methods of a nil *Call do nothing.
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
	"github.com/domtap/domtap/internal/server/rpc/identity"
	"github.com/domtap/domtap/internal/server/tabview"
	"github.com/domtap/domtap/internal/telemetry/usage"
)

// Recorder records the calls of one server.
type Recorder struct {
	usage *usage.Recorder
	// session returns the session of an open tab. It returns "" if the principal cannot see such a tab.
	session func(who identity.Principal, tab string) string
	// reason returns the reason of an error.
	reason func(error) string

	mu sync.Mutex
	// methods maps the full names of counted methods to their names.
	methods map[string]string
}

// New returns a Recorder.
func New(figures *usage.Recorder, session func(who identity.Principal, tab string) string, reason func(error) string) *Recorder {
	return &Recorder{usage: figures, session: session, reason: reason, methods: map[string]string{}}
}

// Count sets the services whose calls are counted. Calls of other services, and method names that clients invent, are not counted.
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

// Tag starts the record of a call.
func (r *Recorder) Tag(ctx context.Context, fullMethod string) context.Context {
	r.mu.Lock()
	name := r.methods[fullMethod]
	r.mu.Unlock()
	if name == "" {
		return ctx
	}
	return context.WithValue(ctx, callKey{}, &Call{recorder: r, method: name})
}

// FromContext returns the record of a call. It returns nil if the call is not counted.
func FromContext(ctx context.Context) *Call {
	n, _ := ctx.Value(callKey{}).(*Call)
	return n
}

// WithoutRecord returns a context without a record. It is used by handlers that call other handlers, and for calls that are part of another
// call.
func WithoutRecord(ctx context.Context) context.Context {
	return context.WithValue(ctx, callKey{}, (*Call)(nil))
}

// Call collects the usage of one call. Its methods do nothing on nil. They are safe for concurrent use.
type Call struct {
	recorder *Recorder
	method   string

	mu     sync.Mutex
	stream bool
	// begun reports that the stream was counted. elsewhere reports that another node serves and counts the call.
	begun, elsewhere bool
	// who identifies the caller. session and tab are copied from the request. place is where the usage is recorded; it is set when the
	// caller is known.
	who          identity.Principal
	session, tab string
	place        usage.Place
	// line is looked up when the first answer is sent, or at the end of the call.
	line    usage.Series
	lined   bool
	entry   usage.Entry
	compare bool
}

// SetCaller records the caller.
func (c *Call) SetCaller(who identity.Principal) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.who = who
	c.locate()
}

// ServedElsewhere records that another node serves and counts the call.
func (c *Call) ServedElsewhere() {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.elsewhere = true
}

// SetPageCost records the approximate cost of the whole page, in tokens, with which the answer is compared. 0 means unknown. A later part
// of an answer is compared too, but does not count the page again.
func (c *Call) SetPageCost(tokens int, part bool) {
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

// Changed records that an answer contains a diff, or the reason why it contains the whole view instead of a requested diff.
func (c *Call) Changed(incremental bool, resync string) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case incremental:
		c.entry.Reads.Incremental++
	case resync != "" && resync != tabview.FirstCall:
		c.entry.Reads.Resyncs++
	}
}

// Steps records the results of the steps of a turn.
func (c *Call) Steps(steps []usage.Step) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.entry.Steps = steps
}

// Sent records the delay between a change and the stream message about it.
func (c *Call) Sent(after time.Duration) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.find().Add(usage.Entry{Timed: true, Took: after})
}

// Handle records an event of a call. It has the form of stats.Handler's HandleRPC.
func (r *Recorder) Handle(ctx context.Context, event stats.RPCStats) {
	n := FromContext(ctx)
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

// request records the session and the tab of a request.
func (c *Call) request(m any) {
	if r, ok := m.(interface{ GetSessionId() string }); ok {
		c.session = r.GetSessionId()
	}
	if r, ok := m.(interface{ GetTabId() string }); ok {
		c.tab = r.GetTabId()
	}
	c.locate()
}

// begin counts a stream. It is called when the answer starts, because before that another node may turn out to serve the stream.
func (c *Call) begin() {
	if c.stream && !c.begun {
		c.begun = true
		c.find().Add(usage.Entry{Calls: 1})
	}
}

// locate sets the place of the usage. A session or tab counts only if it belongs to the caller. If the tab has closed since, the place
// keeps it.
func (c *Call) locate() {
	if c.place.Owner = c.who.Name(); c.place.Owner == "" {
		return
	}
	if c.session != "" && c.place.Tab == "" {
		c.place.Session = c.who.SessionName(c.session)
	}
	if session := c.recorder.session(c.who, c.tab); session != "" {
		c.place.Session, c.place.Tab = session, c.tab
	}
}

// answer records the cost of an answer.
func (c *Call) answer(m any, size int64) {
	if c.stream {
		c.begin()
		c.find().Add(usage.Entry{Messages: 1, Bytes: size, Estimated: tokensOfBytes(size)})
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

// created records the tab or the session that a call created.
func (c *Call) created(m any) {
	if r, ok := m.(interface{ GetTab() *domtapv1.Tab }); ok {
		c.tab = r.GetTab().GetId()
	}
	if r, ok := m.(interface{ GetSession() *domtapv1.Session }); ok {
		c.session = r.GetSession().GetId()
	}
	c.locate()
}

// end adds the call to the usage figures.
func (c *Call) end(e *stats.End) {
	c.begin()
	c.entry.Failure = c.failure(e.Error)
	if c.entry.Failure != "" && c.entry.Compared == 0 {
		c.entry.Full = 0 // no answer was sent
	}
	if !c.stream {
		c.entry.Calls, c.entry.Timed, c.entry.Took = 1, true, e.EndTime.Sub(e.BeginTime)
	}
	c.find().Add(c.entry)
}

// failure returns the reason or the code of an error. It returns "" if the error does not count as a failure.
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

// CodeName formats a status code in the style of reasons, such as DEADLINE_EXCEEDED.
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

// find returns the usage series of the call. The caller holds mu.
func (c *Call) find() usage.Series {
	if !c.lined {
		c.line, c.lined = c.recorder.usage.Series(c.place, c.method), true
	}
	return c.line
}
