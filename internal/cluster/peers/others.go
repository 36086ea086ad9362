package peers

import (
	"context"
	"errors"
	"io"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"github.com/domtap/domtap/internal/server/metering"
	"github.com/domtap/domtap/internal/server/rpcstatus"
	"github.com/domtap/domtap/internal/server/wire"
)

// others adds the messages of all other nodes to a stream that lists what all nodes have. When one of these nodes
// fails, the stream ends, because it would have a gap otherwise; nodes that join are added.
type others struct {
	proxy   *Proxy
	method  *method
	request proto.Message
	to      grpc.ServerStream
	// ctx ends with the stream, and with its first failure, which is its cause.
	ctx  context.Context
	fail context.CancelCauseFunc
	// begun is closed when this node's own part covers every event, too; until then, nothing is sent.
	begun chan struct{}
	once  sync.Once
	// sending is held while a message is sent. When the stream ends, that may take until its handler has returned.
	sending sync.Mutex
}

// errOver ends what other nodes send to a stream that is over.
var errOver = errors.New("the stream is over")

// follow begins the streams of all other nodes, and returns when all have begun: from then on, no event is missed.
func (p *Proxy) follow(to grpc.ServerStream, m *method, request proto.Message) (*others, error) {
	o := &others{proxy: p, method: m, request: request, to: to, begun: make(chan struct{})}
	o.ctx, o.fail = context.WithCancelCause(metering.Apart(to.Context()))
	changed := p.cfg.Directory.Changed()
	known := map[Node]bool{}
	if err := o.add(known); err != nil {
		o.fail(err)
		return nil, err
	}
	p.running.Go(func() { o.join(known, changed) })
	return o, nil
}

// join adds the nodes that join, until the stream ends.
func (o *others) join(known map[Node]bool, changed <-chan struct{}) {
	for {
		select {
		case <-changed:
		case <-o.ctx.Done():
			return
		}
		changed = o.proxy.cfg.Directory.Changed()
		if err := o.add(known); err != nil {
			o.fail(err)
			return
		}
	}
}

// add begins the streams of the nodes that are not known yet.
func (o *others) add(known map[Node]bool) error {
	var fresh []Node
	for _, node := range o.proxy.cfg.Directory.Nodes() {
		if !node.Self && !known[node] {
			known[node] = true
			fresh = append(fresh, node)
		}
	}
	failed := make([]error, len(fresh))
	var begun sync.WaitGroup
	for i, node := range fresh {
		begun.Go(func() { failed[i] = o.begin(node) })
	}
	begun.Wait()
	for _, err := range failed {
		if err != nil {
			return err
		}
	}
	return nil
}

// begin begins the stream of a node, and returns when it covers every event.
func (o *others) begin(node Node) error {
	from, done, err := o.proxy.open(o.ctx, o.method, node, o.request, passed{part: true, final: true})
	if err != nil {
		return forClient(o.method, err)
	}
	if header, err := from.Header(); err != nil || header == nil {
		defer done()
		return forClient(o.method, o.proxy.ended(o.ctx, node, from, from.RecvMsg(&wire.Frame{Kind: o.method.output}), false))
	}
	o.proxy.running.Go(func() {
		defer done()
		err := o.pump(from)
		if err == nil { // it cannot send more
			return
		}
		err = o.proxy.ended(o.ctx, node, from, err, true)
		if err == nil {
			err = rpcstatus.New(codes.Unavailable, "node "+node.ID+" has ended its part of the stream: watch again",
				rpcstatus.Info("NODE_UNAVAILABLE", map[string]string{"node": node.ID}))
		}
		o.fail(forClient(o.method, err))
	})
	return nil
}

// start lets the other nodes send.
func (o *others) start() { o.once.Do(func() { close(o.begun) }) }

// pump sends the messages of a node on. It returns the error of the node, or nil when the stream takes no more.
func (o *others) pump(from grpc.ClientStream) error {
	select {
	case <-o.begun:
	case <-o.ctx.Done():
		return nil
	}
	for {
		message := &wire.Frame{Kind: o.method.output}
		if err := from.RecvMsg(message); err != nil {
			return err
		}
		if o.send(message) != nil {
			o.fail(errOver)
			return nil
		}
	}
}

// send sends one message at a time.
func (o *others) send(m any) error {
	o.sending.Lock()
	defer o.sending.Unlock()
	if o.ctx.Err() != nil {
		return io.EOF
	}
	return o.to.SendMsg(m)
}

// end ends the streams of the other nodes, and returns the error of the first that failed; nil: none has.
func (o *others) end() error {
	o.fail(errOver)
	err := context.Cause(o.ctx)
	if errors.Is(err, errOver) || o.to.Context().Err() != nil {
		return nil
	}
	return err
}
