package peers

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/domtap/domtap/internal/server/rpc/identity"
	"github.com/domtap/domtap/internal/server/rpc/metering"
	"github.com/domtap/domtap/internal/server/rpc/rpcstatus"
	"github.com/domtap/domtap/internal/server/rpc/streaming"
	"github.com/domtap/domtap/internal/server/tabview"
	"github.com/domtap/domtap/internal/sessions"
)

// Config sets up a Proxy.
type Config struct {
	// Directory finds the nodes of tabs and sessions.
	Directory Directory
	// Credentials are this node's credentials.
	Credentials Credentials
	// MaxRequest and MaxAnswer limit the size of messages in bytes. Zero selects 24 MiB and 64 MiB.
	MaxRequest, MaxAnswer int
	// SendTimeout limits how long a reader may leave a message of a stream unread. Zero selects 30 s.
	SendTimeout time.Duration
	// PartTimeout limits how long other nodes may take to answer a list call without a deadline. Zero selects 5 s.
	PartTimeout time.Duration
	// Copies serves watchers of other nodes' tabs without one stream between the nodes for each watcher. If nil, all watches are passed on.
	Copies Copies
	// Begin is called before each call and stream about a tab or session that this node serves. It receives the daemon's names of the tab
	// and the session, which are empty if the call names none. An error of Begin ends the call. For an error with NOT_FOUND, the Proxy
	// first looks for another node in the Directory. done is called with the call's context when the call has ended. If Begin is nil,
	// nothing is called.
	Begin func(tab, session string, stream bool) (done func(context.Context), err error)
	// Logger logs nodes that do not answer. If nil, nothing is logged.
	Logger *slog.Logger
}

// Copies keeps copies of tabs of other nodes.
type Copies interface {
	// Open returns the copy of a node's tab. The copy is valid until release is called. After an error, the stream is passed on to the
	// node.
	Open(ctx context.Context, tab string, owner Node) (copied tabview.Source, release func(), err error)
	// Recent returns the copy of a node's tab, if one exists that is no older than age and contains what the selection shows.
	Recent(tab string, owner Node, age time.Duration, of tabview.Selection) (copied tabview.Source, ok bool)
}

// Proxy passes calls on to the nodes that serve them. It implements intercept.Peers.
type Proxy struct {
	cfg     Config
	methods map[string]*method
	nodes   *clientConns
	streams *streaming.Streams
	// passedOn counts the calls and streams that were passed on. lost counts those that got no answer from the node.
	passedOn, lost atomic.Int64
	// process identifies this process uniquely.
	process string
	// stop ends the goroutine that closes the connections to nodes that have left. running counts that goroutine and the goroutines of
	// streams.
	stop    chan struct{}
	running sync.WaitGroup
	streamEnder
}

// streamEnder ends the streams that were passed on when this node is about to stop.
type streamEnder struct {
	leaving chan struct{}
	once    sync.Once
}

// EndStreams ends current and future streams that are passed on, with UNAVAILABLE. It is called when this node is about to stop, so that
// clients continue at another node. Unary calls continue.
func (d *streamEnder) EndStreams() { d.once.Do(func() { close(d.leaving) }) }

// end cancels a stream when the node is about to stop. It returns then, or when the stream has ended.
func (d *streamEnder) end(ctx context.Context, stream context.CancelCauseFunc) {
	select {
	case <-d.leaving:
		stream(errLeaving)
	case <-ctx.Done():
	}
}

// New creates a Proxy. The caller must call Close.
func New(cfg Config) (*Proxy, error) {
	if cfg.Directory == nil {
		return nil, errors.New("a proxy needs a directory of the cluster")
	}
	if err := cfg.Credentials.check(); err != nil {
		return nil, err
	}
	methods, err := methodsOf(classes)
	if err != nil {
		return nil, fmt.Errorf("the methods of the API: %w", err)
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.SendTimeout == 0 {
		cfg.SendTimeout = 30 * time.Second
	}
	if cfg.PartTimeout == 0 {
		cfg.PartTimeout = 5 * time.Second
	}
	cfg.MaxRequest, cfg.MaxAnswer = withDefaults(cfg.MaxRequest, cfg.MaxAnswer)
	p := &Proxy{
		cfg: cfg, methods: methods, process: rand.Text(), stop: make(chan struct{}), streamEnder: streamEnder{leaving: make(chan struct{})},
		nodes:   &clientConns{credentials: cfg.Credentials, maxRequest: cfg.MaxRequest, maxAnswer: cfg.MaxAnswer, open: map[Node]*nodeConn{}},
		streams: streaming.New(streaming.Config{SendTimeout: cfg.SendTimeout}),
	}
	p.running.Go(p.forget)
	return p, nil
}

// forget closes the connections to nodes that have left the cluster.
func (p *Proxy) forget() {
	for {
		changed := p.cfg.Directory.Changed()
		p.nodes.keep(p.cfg.Directory.Nodes())
		select {
		case <-changed:
		case <-p.stop:
			return
		}
	}
}

// Close closes the connections to other nodes and waits for the streams that were passed on, whose contexts must end. It may be called
// once.
func (p *Proxy) Close() {
	p.EndStreams()
	close(p.stop)
	p.nodes.close()
	p.streams.Wait()
	p.running.Wait()
}

// Counts returns how many calls and streams were passed on to other nodes, and how many of them were lost because the node did not answer.
// A call that is repeated at another node counts twice.
func (p *Proxy) Counts() (passed, lost int64) { return p.passedOn.Load(), p.lost.Load() }

// Unary passes a call on, or lets the handler serve it.
func (p *Proxy) Unary(ctx context.Context, req any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	m, request := p.methods[info.FullMethod], req.(proto.Message)
	if m == nil {
		return handler(ctx, req)
	}
	about := p.subjectOf(ctx, m, request)
	handler = p.wrapHandler(m, about, handler)
	if from, ok := forwardedCall(ctx); ok {
		switch err := p.serves(ctx, about, from); {
		case errors.Is(err, errMoved):
			return nil, errors.Join(grpc.SetTrailer(ctx, movedTrailer), errMoved)
		case err != nil:
			return nil, err
		}
		return handler(ctx, req)
	}
	if m.class == everywhere && about == (subject{}) {
		return p.gather(ctx, m, request, handler)
	}
	if copied, ok := recentCopy(ctx, p, m, request, about); ok {
		return handler(tabview.WithSource(ctx, copied), req)
	}
	var resp any
	err := p.route(ctx, m, about, func() (err error) {
		resp, err = handler(ctx, req)
		return err
	}, func(node Node, final bool) (err error) {
		resp, err = p.invoke(ctx, m, node, request, final)
		return err
	})
	return resp, err
}

// readOnlyRequest is a read-only request that may be served from a copy.
type readOnlyRequest interface {
	tabview.Request
	GetObserveOnly() bool
	GetMaxAge() *durationpb.Duration
}

// recentCopy returns the copy of another node's tab from which to serve a read, if the copy is recent enough.
func recentCopy(ctx context.Context, p *Proxy, m *method, request proto.Message, about subject) (tabview.Source, bool) {
	r, ok := request.(readOnlyRequest)
	if !ok || !r.GetObserveOnly() || r.GetMaxAge().AsDuration() <= 0 || p.cfg.Copies == nil {
		return nil, false
	}
	node, err := p.owner(ctx, m, about, Cached)
	if err != nil || node.Self {
		return nil, false // routing the call returns the reason
	}
	return p.cfg.Copies.Recent(about.tab, node, r.GetMaxAge().AsDuration(), tabview.SelectionOf(r))
}

// wrapHandler wraps the handler of a call that this node serves with Config.Begin and its done.
func (p *Proxy) wrapHandler(m *method, about subject, handler grpc.UnaryHandler) grpc.UnaryHandler {
	if p.cfg.Begin == nil || about == (subject{}) || m.class == managed || m.class == byNode {
		return handler
	}
	return func(ctx context.Context, req any) (any, error) {
		done, err := p.cfg.Begin(about.tab, about.session, false)
		if err != nil {
			return nil, err
		}
		defer done(ctx)
		return handler(ctx, req)
	}
}

// subjectOf returns what a call is about, with the daemon's name of the session. It also names a session that the call creates without a
// name, so that no two nodes choose the same name.
func (p *Proxy) subjectOf(ctx context.Context, m *method, request proto.Message) subject {
	s, who := m.subject(request), identity.From(ctx)
	switch {
	case s.session != "":
	case m.class == newSession:
		s.session = "s-" + strings.ToLower(rand.Text()[:12])
		request.ProtoReflect().Set(m.session, protoreflect.ValueOfString(s.session))
	case m.class == bySession:
		s.session = sessions.Default
	default:
		return s
	}
	s.session = who.SessionName(s.session)
	return s
}

// route calls local if this node serves a call, and remote for another node, according to the Directory. If the call arrives too late
// because its tab or session has moved or the node has died, route looks up the Directory's latest state and tries once more.
func (p *Proxy) route(ctx context.Context, m *method, about subject, local func() error, remote func(node Node, final bool) error) error {
	node, err := p.owner(ctx, m, about, Cached)
	if err != nil {
		return err
	}
	if node.Self {
		err = local()
	} else {
		err = remote(node, false)
	}
	if !mayRetry(m, about, err) {
		return clientError(ctx, m, node, err)
	}
	next, lookup := p.owner(ctx, m, about, Latest)
	switch moved := errors.Is(err, errMoved); {
	case lookup != nil && moved:
		return lookup
	case lookup != nil, !moved && (next == node || next.Self && node.Self):
		return clientError(ctx, m, node, err)
	case next.Self:
		return local()
	}
	return clientError(ctx, m, next, remote(next, true))
}

// mayRetry reports whether another node may serve a failed call.
func mayRetry(m *method, about subject, err error) bool {
	if gone, ok := errors.AsType[*unreachableError](err); ok {
		return gone.repeatable(m)
	}
	if err == nil || about == (subject{}) {
		return false
	}
	switch status.Code(rpcstatus.From(err)) {
	case codes.NotFound:
		return true
	case codes.AlreadyExists: // another node has concurrently created the default session
		return m.class != newSession
	}
	return errors.Is(err, errMoved)
}

// clientError returns the client's error for a call that a node served. A call that another node served is counted there, unless that node
// is lost.
func clientError(ctx context.Context, m *method, by Node, err error) error {
	_, isLost := errors.AsType[*unreachableError](err)
	if !by.Self && !isLost && !errors.Is(err, errHere) {
		metering.FromContext(ctx).ServedElsewhere()
	}
	return forClient(m, err)
}

// forClient converts an error for clients.
func forClient(m *method, err error) error {
	if gone, ok := errors.AsType[*unreachableError](err); ok {
		return gone.status(m)
	}
	return err
}

// owner returns the node that serves a call. If no node is known to have the call's tab or session, this node serves the call and returns
// the error. If the call creates a session, the Directory places it.
func (p *Proxy) owner(ctx context.Context, m *method, about subject, read Freshness) (Node, error) {
	node, err := p.find(ctx, about, read)
	if isUnknown(err) && read == Cached {
		node, err = p.find(ctx, about, Latest)
	}
	if isUnknown(err) {
		makes := m.class == newSession || m.class != managed && about.session == identity.From(ctx).SessionName(sessions.Default)
		switch {
		case makes && about.tab == "":
			node, err = p.cfg.Directory.Place(ctx, about.session)
		case errors.Is(err, ErrUnknown):
			return Node{Self: true}, nil
		default:
			return Node{}, rpcstatus.New(codes.Unavailable, "the node that had it is gone: open the page in a new tab; the old tab returns only with its node",
				rpcstatus.Info("NODE_UNAVAILABLE", nil))
		}
	}
	switch {
	case err == nil:
		return node, nil
	case ctx.Err() != nil:
		return Node{}, ctx.Err()
	case isStatus(err):
		return Node{}, err
	}
	p.cfg.Logger.WarnContext(ctx, "the registry of the cluster does not answer", "error", err)
	return Node{}, rpcstatus.New(codes.Unavailable, "the registry of the cluster does not answer: try again in a few seconds",
		rpcstatus.Info("REGISTRY_UNAVAILABLE", nil))
}

// isUnknown reports whether an error means that no node has the tab or session.
func isUnknown(err error) bool { return errors.Is(err, ErrUnknown) || errors.Is(err, ErrGone) }

// isStatus reports whether an error has a gRPC status.
func isStatus(err error) bool {
	_, ok := status.FromError(err)
	return ok
}

// find looks up the node of a subject in the Directory.
func (p *Proxy) find(ctx context.Context, about subject, read Freshness) (Node, error) {
	switch {
	case about.tab != "":
		return p.cfg.Directory.TabOwner(ctx, about.tab, read)
	case about.session != "":
		return p.cfg.Directory.SessionOwner(ctx, about.session, read)
	case about.node != "":
		return p.member(about.node)
	}
	return p.cfg.Directory.Place(ctx, "")
}

// member finds a node by its name.
func (p *Proxy) member(id string) (Node, error) {
	for _, n := range p.cfg.Directory.Nodes() {
		if n.ID == id {
			return n, nil
		}
	}
	return Node{}, rpcstatus.UnknownNode(id)
}

// serves returns nil if this node serves a call that another node passed on. It returns errMoved if a third node has the tab or session.
// Otherwise it returns the reason why no node can serve the call now, for example that this node had the session and was cut off.
func (p *Proxy) serves(ctx context.Context, about subject, from forwarded) error {
	if from.final || from.part || about == (subject{}) {
		return nil
	}
	// If no node is known to have the tab or session, or the lookup fails, this node serves the call. The sender tries at most one more
	// node.
	node, err := p.find(ctx, about, Cached)
	switch {
	case err != nil && isStatus(err):
		return err
	case err != nil || node.Self:
		return nil
	}
	metering.FromContext(ctx).ServedElsewhere()
	return errMoved
}
