//go:build unix

package soak

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	domtap "github.com/domtap/domtap/client"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/streamcheck"
)

// pace describes how a client reads.
type pace struct {
	// rest is the time between two messages.
	rest time.Duration
	// After each stallEvery the client stops reading for stall. After each cutEvery it is disconnected and resumes. Zero means never.
	stallEvery, stall, cutEvery time.Duration
}

// clientKind is a way to follow the page.
type clientKind struct {
	name string
	view *domtapv1.WatchDomRequest
	pace pace
}

// clientKinds returns the ways in which the ten clients follow the page. Two of them follow only list and frame.
func clientKinds(list uint32, frame string) []clientKind {
	none := proto.Int32(0)
	return []clientKind{
		{"everything", &domtapv1.WatchDomRequest{FullSnapshot: true}, pace{}},
		{"the usual", &domtapv1.WatchDomRequest{}, pace{}},
		{"the viewport", &domtapv1.WatchDomRequest{ViewportOnly: true}, pace{}},
		{"a budget", &domtapv1.WatchDomRequest{MaxElements: none, MaxTokens: proto.Int32(2000)}, pace{}},
		{"50 elements with text", &domtapv1.WatchDomRequest{MaxElements: proto.Int32(50), Format: domtapv1.Format_FORMAT_DIFF}, pace{}},
		{"one list", &domtapv1.WatchDomRequest{RootRef: &list, MaxElements: none, MaxTokens: none}, pace{}},
		{"one frame", &domtapv1.WatchDomRequest{FrameId: frame}, pace{}},
		{"everything, slow", &domtapv1.WatchDomRequest{FullSnapshot: true}, pace{rest: time.Second}},
		{"the usual, cut off and resuming", &domtapv1.WatchDomRequest{}, pace{cutEvery: 7 * time.Second}},
		{"structure, at intervals and stalling", &domtapv1.WatchDomRequest{
			InteractiveOnly: proto.Bool(false), MaxElements: none, MaxTokens: none, IncludeAttributes: []string{"aria-label"},
			MinInterval: durationpb.New(250 * time.Millisecond),
		}, pace{stallEvery: 25 * time.Second, stall: 10 * time.Second}},
	}
}

// hold makes slow clients read without pauses while the page is held, so that they catch up with the page.
type hold struct {
	mu   sync.Mutex
	held chan struct{} // closed while the page is held
}

func newHold() *hold { return &hold{held: make(chan struct{})} }

func (h *hold) begin() { close(h.now()) }

func (h *hold) end() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.held = make(chan struct{})
}

func (h *hold) now() chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.held
}

// pause waits for d, or until the page is held.
func (h *hold) pause(ctx context.Context, d time.Duration) error {
	if d == 0 {
		return nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-h.now():
	case <-ctx.Done():
	}
	return ctx.Err()
}

// clients follow the page until leave is called.
type clients struct {
	list    []*client
	hold    *hold
	cancel  context.CancelFunc
	running sync.WaitGroup
	// broken receives the first error of a client.
	broken chan error
}

// join starts all clients.
func (d *daemon) join(ctx context.Context, tab string) (*clients, error) {
	elements, err := d.all(ctx, tab)
	if err != nil {
		return nil, err
	}
	var list uint32
	var frame string
	for _, e := range elements {
		if e.GetText() == "List 3" && e.GetTag() == "section" {
			list = e.GetRef()
		}
		if e.GetFrameId() != "" {
			frame = e.GetFrameId()
		}
	}
	if list == 0 || frame == "" {
		return nil, fmt.Errorf("among %d elements of the page there is no third list or no frame", len(elements))
	}
	ctx, cancel := context.WithCancel(ctx)
	c := &clients{hold: newHold(), cancel: cancel, broken: make(chan error, 1)}
	for _, w := range clientKinds(list, frame) {
		w.view.TabId = tab
		one := &client{daemon: d, clientKind: w, hold: c.hold, news: make(chan struct{})}
		c.add(ctx, one)
	}
	return c, nil
}

// add starts another client.
func (c *clients) add(ctx context.Context, one *client) {
	c.list = append(c.list, one)
	c.running.Go(func() {
		if err := one.run(ctx); err != nil && ctx.Err() == nil {
			select {
			case c.broken <- fmt.Errorf("client %q: %w", one.name, err):
			default:
			}
		}
	})
}

// begun waits until each client has received the whole page.
func (c *clients) begun(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	for _, one := range c.list {
		select {
		case <-one.first:
		case err := <-c.broken:
			return err
		case <-ctx.Done():
			return fmt.Errorf("client %q does not begin: %w", one.name, context.Cause(ctx))
		}
	}
	return nil
}

// leave ends the streams and returns the error of a stream that failed earlier.
func (c *clients) leave() error {
	c.cancel()
	c.running.Wait()
	select {
	case err := <-c.broken:
		return err
	default:
		return nil
	}
}

// total returns the sums of the clients' counters.
func (c *clients) total() (messages, resumed float64) {
	for _, one := range c.list {
		messages += float64(one.messages.Load())
		resumed += float64(one.resumed.Load())
	}
	return messages, resumed
}

// client is one reader of the stream, and its copy of the page.
type client struct {
	clientKind
	daemon *daemon
	// conn is a connection shared with other clients. If nil, each stream creates its own connection.
	conn              *grpc.ClientConn
	hold              *hold
	messages, resumed atomic.Int64
	// onMessage, if not nil, is called with each message.
	onMessage func(*domtapv1.WatchDomResponse)

	mu       sync.Mutex
	elements []*domtapv1.Element
	epoch    string
	revision uint64
	known    bool
	news     chan struct{} // closed and replaced when the elements change
	first    chan struct{} // if not nil, closed when the elements are known
}

// run reads streams and resumes after a cut.
func (c *client) run(ctx context.Context) error {
	for ctx.Err() == nil {
		err := c.stream(ctx)
		switch {
		case errors.Is(err, errCut):
			c.resumed.Add(1)
		case status.Code(err) == codes.DeadlineExceeded: // the reader was too slow; it may resume
			c.resumed.Add(1)
		case errors.Is(err, io.EOF):
			return errors.New("the stream ended though the tab is open")
		case err != nil:
			return err
		}
	}
	return nil
}

// errCut reports that the client cut its connection.
var errCut = errors.New("cut")

// stream reads one stream until it ends or is cut.
func (c *client) stream(ctx context.Context) error {
	conn := c.conn
	if conn == nil {
		own, err := c.daemon.dial()
		if err != nil {
			return err
		}
		defer func() { _ = own.Close() }()
		conn = own
	}
	request := proto.CloneOf(c.view)
	if c.known {
		request.FromRevision, request.Epoch = &c.revision, c.epoch
	}
	stream, err := domtapv1.NewDomServiceClient(conn).WatchDom(ctx, request)
	if err != nil {
		return err
	}
	return c.read(ctx, stream)
}

// read reads the messages of a stream.
func (c *client) read(ctx context.Context, stream grpc.ServerStreamingClient[domtapv1.WatchDomResponse]) error {
	began := time.Now()
	stalled := began
	for sequence := uint64(1); ; sequence++ {
		m, err := stream.Recv()
		if err != nil {
			return err
		}
		c.messages.Add(1)
		if c.onMessage != nil {
			c.onMessage(m)
		}
		if m.GetSequence() != sequence {
			return fmt.Errorf("message %d came as number %d", m.GetSequence(), sequence)
		}
		if err := c.take(m); err != nil {
			return fmt.Errorf("message %d: %w", sequence, err)
		}
		h := c.pace
		if h.cutEvery > 0 && time.Since(began) > h.cutEvery {
			return errCut
		}
		rest := h.rest
		if h.stallEvery > 0 && time.Since(stalled) > h.stallEvery {
			rest, stalled = h.stall, time.Now()
		}
		if err := c.hold.pause(ctx, rest); err != nil {
			return err
		}
	}
}

// take applies a message.
func (c *client) take(m *domtapv1.WatchDomResponse) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if d := m.GetDiff(); d != nil {
		if d.GetFromRevision() != c.revision || m.GetEpoch() != c.epoch {
			return fmt.Errorf("a diff from revision %d of %s does not fit to revision %d of %s", d.GetFromRevision(), m.GetEpoch(), c.revision, c.epoch)
		}
		now, err := domtap.Apply(c.elements, d)
		if err != nil {
			return err
		}
		c.elements = now
	}
	snapshot := m.GetSnapshot()
	if r := m.GetResync(); r != nil {
		snapshot = r.GetSnapshot()
	}
	if snapshot != nil {
		if !c.known && c.first != nil {
			close(c.first)
		}
		c.elements, c.known = snapshot.GetElements(), true
	}
	c.epoch, c.revision = m.GetEpoch(), m.GetRevision()
	close(c.news)
	c.news = make(chan struct{})
	return nil
}

// agrees waits until the client's elements equal the answer of GetDom. A pass over the page may still find changes after the page was held;
// in that case agrees calls GetDom again.
func (c *client) agrees(ctx context.Context) error {
	request := new(domtapv1.GetDomRequest)
	copyView(request, c.view)
	for {
		now, err := c.daemon.dom.GetDom(ctx, request)
		if err != nil {
			return fmt.Errorf("compare client %q: %w", c.name, err)
		}
		bounded, cancel := context.WithTimeout(ctx, 15*time.Second)
		err = c.reaches(bounded, now.GetElements())
		cancel()
		if err == nil || ctx.Err() != nil {
			return err
		}
	}
}

// reaches waits until the client has exactly these elements.
func (c *client) reaches(ctx context.Context, want []*domtapv1.Element) error {
	for {
		c.mu.Lock()
		now, news := c.elements, c.news
		c.mu.Unlock()
		if streamcheck.Same(now, want) {
			return nil
		}
		select {
		case <-news:
		case <-ctx.Done():
			return fmt.Errorf("client %q has %d elements, GetDom %d: %s", c.name, len(now), len(want), difference(now, want))
		}
	}
}

// difference describes the first difference between two lists.
func difference(got, want []*domtapv1.Element) string {
	got, want = streamcheck.Bare(got), streamcheck.Bare(want)
	for i := range min(len(got), len(want)) {
		if !proto.Equal(got[i], want[i]) {
			return fmt.Sprintf("number %d is\n%v, and should be\n%v", i, got[i], want[i])
		}
	}
	return "one is the beginning of the other"
}
