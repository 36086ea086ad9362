// Package metering enters what every call of the API gives to its client into a book of package accounts: it sees requests
// and answers go by as a part of gRPC's stats handler, or as an interceptor where calls come another way, and takes from
// handlers what these alone know (Of).
//
// It never fails a call and holds none up. A handler that was called by another has no note to write to, which does nothing.
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

// Clerk enters the calls of one server.
type Clerk struct {
	book *usage.Book
	// session is that of an open tab that somebody sees; empty: there is no such tab.
	session func(who identity.Principal, tab string) string
	// reason names an error.
	reason func(error) string

	mu sync.Mutex
	// methods are the names of those that are counted, by their full names.
	methods map[string]string
}

// New makes a clerk.
func New(book *usage.Book, session func(who identity.Principal, tab string) string, reason func(error) string) *Clerk {
	return &Clerk{book: book, session: session, reason: reason, methods: map[string]string{}}
}

// Count lets the calls of these services be counted, and no others, nor what clients make up.
func (c *Clerk) Count(services map[string]grpc.ServiceInfo) {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.methods)
	for service, info := range services {
		for _, m := range info.Methods {
			c.methods["/"+service+"/"+m.Name] = m.Name
		}
	}
}

type noteKey struct{}

// Tag begins the note of a call.
func (c *Clerk) Tag(ctx context.Context, fullMethod string) context.Context {
	c.mu.Lock()
	name := c.methods[fullMethod]
	c.mu.Unlock()
	if name == "" {
		return ctx
	}
	return context.WithValue(ctx, noteKey{}, &Note{clerk: c, method: name})
}

// Of returns the note of a call; nil when it is not counted.
func Of(ctx context.Context) *Note {
	n, _ := ctx.Value(noteKey{}).(*Note)
	return n
}

// Apart returns a context without the note, for calls that a handler makes of others.
func Apart(ctx context.Context) context.Context {
	return context.WithValue(ctx, noteKey{}, (*Note)(nil))
}

// Note gathers what is known of one call. A nil one takes nothing. Its methods may be called from any goroutine.
type Note struct {
	clerk  *Clerk
	method string

	mu     sync.Mutex
	stream bool
	// who calls, and session and tab are what it names, which is found at place once it is known who calls.
	who          identity.Principal
	session, tab string
	place        usage.Place
	// line is found when the first answer goes out, at the latest at the end.
	line    usage.Line
	lined   bool
	entry   usage.Entry
	compare bool
}

// By notes who calls.
func (n *Note) By(who identity.Principal) {
	if n == nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.who = who
	n.locate()
}

// Whole notes about what the whole page that the answer is about costs; 0: nobody knows. It also says that the answer is to be
// compared with that. A part of an answer that was begun before is compared, but the page does not count again.
func (n *Note) Whole(tokens int, part bool) {
	if n == nil || tokens <= 0 {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.compare = true
	if !part {
		n.entry.Full += int64(tokens)
	}
}

// Reads notes how a page was read.
func (n *Note) Reads(r usage.Reads) {
	if n == nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.entry.Reads = r
}

// Changed notes that an answer tells what changed, or why it tells everything though it was to do that.
func (n *Note) Changed(incremental bool, resync string) {
	if n == nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	switch {
	case incremental:
		n.entry.Reads.Incremental++
	case resync != "" && resync != views.FirstCall:
		n.entry.Reads.Resyncs++
	}
}

// Steps notes how the steps of a turn went.
func (n *Note) Steps(steps []usage.Step) {
	if n == nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.entry.Steps = steps
}

// Sent notes how long after a change a message of a stream was sent that tells of it.
func (n *Note) Sent(after time.Duration) {
	if n == nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.find().Add(usage.Entry{Timed: true, Took: after})
}

// Handle notes an event of a call. It implements a part of stats.Handler.
func (c *Clerk) Handle(ctx context.Context, event stats.RPCStats) {
	n := Of(ctx)
	if n == nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	switch e := event.(type) {
	case *stats.Begin:
		n.stream = e.IsServerStream
	case *stats.InPayload:
		n.asked(e.Payload)
	case *stats.OutPayload:
		n.answered(e.Payload, int64(e.Length))
	case *stats.End:
		n.over(e)
	}
}

// asked takes from a request where it belongs.
func (n *Note) asked(request any) {
	if r, ok := request.(interface{ GetSessionId() string }); ok {
		n.session = r.GetSessionId()
	}
	if r, ok := request.(interface{ GetTabId() string }); ok {
		n.tab = r.GetTabId()
	}
	n.locate()
	if n.stream {
		n.find().Add(usage.Entry{Calls: 1})
	}
}

// locate finds whose account it is: what the caller names counts only if it is the caller's. A tab that is closed since
// is still that of the call.
func (n *Note) locate() {
	if n.place.Owner = n.who.Name(); n.place.Owner == "" {
		return
	}
	if n.session != "" && n.place.Tab == "" {
		n.place.Session = n.who.Inward(n.session)
	}
	if session := n.clerk.session(n.who, n.tab); session != "" {
		n.place.Session, n.place.Tab = session, n.tab
	}
}

// answered takes from an answer what it costs.
func (n *Note) answered(answer any, size int64) {
	if n.stream {
		n.find().Add(usage.Entry{Messages: 1, Bytes: size, Estimated: perBytes(size)})
		return
	}
	if n.tab == "" {
		n.made(answer)
	}
	n.entry.Messages++
	n.entry.Bytes += size
	exact, estimated := cost(answer, size)
	n.entry.Tokens += exact
	n.entry.Estimated += estimated
	if n.compare {
		n.entry.Compared += exact + estimated
	}
}

// made takes the tab or the session that a call has opened.
func (n *Note) made(answer any) {
	if r, ok := answer.(interface{ GetTab() *domtapv1.Tab }); ok {
		n.tab = r.GetTab().GetId()
	}
	if r, ok := answer.(interface{ GetSession() *domtapv1.Session }); ok {
		n.session = r.GetSession().GetId()
	}
	n.locate()
}

// over enters the call.
func (n *Note) over(end *stats.End) {
	n.entry.Failure = n.failure(end.Error)
	if n.entry.Failure != "" && n.entry.Compared == 0 {
		n.entry.Full = 0 // no answer went out
	}
	if !n.stream {
		n.entry.Calls, n.entry.Timed, n.entry.Took = 1, true, end.EndTime.Sub(end.BeginTime)
	}
	n.find().Add(n.entry)
}

// failure names an error; empty: it is none.
func (n *Note) failure(err error) string {
	code := status.Code(err)
	if err == nil || n.stream && code == codes.Canceled {
		return ""
	}
	if reason := n.clerk.reason(err); reason != "" {
		return reason
	}
	return codeName(code)
}

// codeName is the name of a status code as the errors' reasons are written: DEADLINE_EXCEEDED.
func codeName(code codes.Code) string {
	var b strings.Builder
	for i, r := range code.String() {
		if i > 0 && unicode.IsUpper(r) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToUpper(r))
	}
	return b.String()
}

// find finds the line of the call; mu is held.
func (n *Note) find() usage.Line {
	if !n.lined {
		n.line, n.lined = n.clerk.book.Line(n.place, n.method), true
	}
	return n.line
}
