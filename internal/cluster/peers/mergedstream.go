package peers

import (
	"context"
	"errors"
	"io"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"github.com/domtap/domtap/internal/server/rpc/metering"
	"github.com/domtap/domtap/internal/server/rpc/rpcstatus"
	"github.com/domtap/domtap/internal/server/tabview/wire"
)

// mergedStream adds the messages of all other nodes to a stream about all nodes. If one of these nodes fails, the stream ends, because it
// would otherwise have a gap. Nodes that join are added.
type mergedStream struct {
	proxy   *Proxy
	method  *method
	request proto.Message
	to      grpc.ServerStream
	// ctx ends with the stream or with its first failure, which is then the cause.
	ctx  context.Context
	fail context.CancelCauseFunc
	// begun is closed when this node's own part also covers every event. Until then, nothing is sent.
	begun chan struct{}
	once  sync.Once
	// sending is held while a message is sent. When the stream ends, a send may block until the stream's handler has returned.
	sending sync.Mutex
}

// errStreamEnded ends the other nodes' parts of a stream that has ended.
var errStreamEnded = errors.New("the stream is over")

// follow starts the streams of all other nodes and returns when all have started. No later event is missed.
func (p *Proxy) follow(to grpc.ServerStream, m *method, request proto.Message) (*mergedStream, error) {
	o := &mergedStream{proxy: p, method: m, request: request, to: to, begun: make(chan struct{})}
	o.ctx, o.fail = context.WithCancelCause(metering.WithoutRecord(to.Context()))
	changed := p.cfg.Directory.Changed()
	known := map[Node]bool{}
	if err := o.add(known); err != nil {
		o.fail(err)
		return nil, err
	}
	p.running.Go(func() { o.join(known, changed) })
	return o, nil
}

// join adds nodes that join the cluster, until the stream ends.
func (o *mergedStream) join(known map[Node]bool, changed <-chan struct{}) {
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

// add starts the streams of nodes that are not in started, and adds these nodes to it.
func (o *mergedStream) add(started map[Node]bool) error {
	var fresh []Node
	for _, node := range o.proxy.cfg.Directory.Nodes() {
		if !node.Self && !started[node] {
			started[node] = true
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

// begin starts the stream of a node and returns when the stream covers every event.
func (o *mergedStream) begin(node Node) error {
	from, done, err := o.proxy.open(o.ctx, o.method, node, o.request, forwarded{part: true, final: true})
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
		if err == nil { // the stream accepts no more messages
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

// start lets the messages of the other nodes through.
func (o *mergedStream) start() { o.once.Do(func() { close(o.begun) }) }

// pump forwards the messages of a node. It returns the error of the node, or nil when the stream accepts no more messages.
func (o *mergedStream) pump(from grpc.ClientStream) error {
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
			o.fail(errStreamEnded)
			return nil
		}
	}
}

// send sends a message. Concurrent calls send one message at a time.
func (o *mergedStream) send(m any) error {
	o.sending.Lock()
	defer o.sending.Unlock()
	if o.ctx.Err() != nil {
		return io.EOF
	}
	return o.to.SendMsg(m)
}

// end ends the streams of the other nodes. It returns the error of the first node that failed, or nil if none has.
func (o *mergedStream) end() error {
	o.fail(errStreamEnded)
	err := context.Cause(o.ctx)
	if errors.Is(err, errStreamEnded) || o.to.Context().Err() != nil {
		return nil
	}
	return err
}
