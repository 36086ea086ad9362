package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/actor/actortest"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/client"
	"github.com/domtap/domtap/dom"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/server/messages"
	"github.com/domtap/domtap/internal/server/rpc/identity"
	"github.com/domtap/domtap/internal/server/rpc/rpcstatus"
	"github.com/domtap/domtap/internal/server/tabview"
	"github.com/domtap/domtap/internal/server/tabview/wire"
	"github.com/domtap/domtap/internal/streamcheck"
)

// stage is one tab with readers of its stream. It records all states of the tab and all messages to the readers.
type stage struct {
	*bench
	t    *testing.T
	tab  *actor.Tab
	page *actortest.Page
	// truth computes views independently of those that the server shares among its readers.
	truth *tabview.Tab
	// requests maps the names of views to their requests.
	requests map[string]*domtapv1.WatchDomRequest
	running  sync.WaitGroup
	hurry    atomic.Bool

	mu      sync.Mutex
	step    int
	shown   []published
	readers []*reader
	answers []streamcheck.Answer
	last    streamcheck.Point
}

// published is a state of the tab, and the step in which it was published.
type published struct {
	head     *actor.Head
	snapshot *dom.Snapshot
	step     int
}

// newStage starts recording an open tab.
func newStage(t *testing.T, b *bench, id string, page *actortest.Page) *stage {
	t.Helper()
	tab, err := b.pool.Tab(id)
	if err != nil {
		t.Fatal(err)
	}
	s := &stage{bench: b, t: t, tab: tab, page: page, truth: tabview.New().Of(tab), requests: map[string]*domtapv1.WatchDomRequest{}}
	s.running.Go(s.record)
	synctest.Wait()
	return s
}

// record records every state of the tab.
func (s *stage) record() {
	for {
		head := s.tab.Head()
		s.note(head)
		select {
		case <-head.Next():
		case <-s.tab.Done():
			s.note(s.tab.Head())
			return
		}
	}
}

// note adds a state, and earlier states that were replaced too quickly to be seen.
func (s *stage) note(head *actor.Head) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := head.Snapshot
	if n := len(s.shown); n > 0 {
		if s.shown[n-1].snapshot == now {
			return
		}
		for revision := s.shown[n-1].snapshot.Revision + 1; revision < now.Revision; revision++ {
			if missed := head.At(revision); missed != nil {
				s.shown = append(s.shown, published{head, missed, s.step})
			}
		}
	}
	s.shown = append(s.shown, published{head, now, s.step})
}

// settle ends a step. It waits until no goroutine can continue.
func (s *stage) settle() {
	synctest.Wait()
	s.mu.Lock()
	s.step++
	s.mu.Unlock()
}

// history converts the record for the validators.
func (s *stage) history(log int) *streamcheck.History {
	h := &streamcheck.History{Answers: s.answers, Last: s.last, Heartbeat: 15 * time.Second, Log: log}
	at := map[streamcheck.Point]published{}
	for _, p := range s.shown {
		point := streamcheck.Point{Epoch: p.snapshot.Epoch, Revision: p.snapshot.Revision}
		at[point] = p
		h.States = append(h.States, streamcheck.State{Point: point, Document: p.snapshot.Document, URL: p.snapshot.URL, Step: p.step})
	}
	for _, r := range s.readers {
		h.Readers = append(h.Readers, &r.Reader)
	}
	h.Elements = s.oracle(at)
	return h
}

// oracle returns a function that computes the contents of a view at a point, from the state and only once.
func (s *stage) oracle(at map[streamcheck.Point]published) func(string, streamcheck.Point) ([]*domtapv1.Element, bool) {
	type key struct {
		view  string
		point streamcheck.Point
	}
	type answer struct {
		elements []*domtapv1.Element
		there    bool
	}
	known := map[key]answer{}
	return func(view string, point streamcheck.Point) ([]*domtapv1.Element, bool) {
		k := key{view, point}
		if a, ok := known[k]; ok {
			return a.elements, a.there
		}
		var a answer
		if p, ok := at[point]; ok {
			v, err := s.truth.At(p.head, p.snapshot, tabview.SelectionOf(s.requests[view]))
			if a.there = err == nil; a.there {
				a.elements = streamcheck.Bare(messages.Elements(v.Elements(), nil))
			}
		}
		known[k] = a
		return a.elements, a.there
	}
}

// view gives the options of a view a name.
func (s *stage) view(name string, options *domtapv1.WatchDomRequest) {
	s.requests[name] = options
}

// have is a state that a reader had received and can resume from.
type have struct {
	view     string
	point    streamcheck.Point
	elements []*domtapv1.Element
}

// reader is one stream and the goroutine that reads it.
type reader struct {
	streamcheck.Reader
	stage *stage
	recv  func() (*domtapv1.WatchDomResponse, error)
	leave func()

	mu    sync.Mutex
	open  chan struct{} // closed while the reader may read
	haves []have
}

// joining describes how a reader joins.
type joining struct {
	name, view  string
	pace        streamcheck.Pace
	wire        bool
	omitInitial bool
	minInterval time.Duration
	from        *have
}

// openGate returns an open gate.
func openGate() chan struct{} {
	gate := make(chan struct{})
	close(gate)
	return gate
}

// join starts a stream and reads it.
func (s *stage) join(j joining) *reader {
	request := proto.CloneOf(s.requests[j.view])
	request.TabId, request.OmitInitial = s.tab.ID(), j.omitInitial
	if j.minInterval > 0 {
		request.MinInterval = seconds(int(j.minInterval / time.Second))
	}
	r := &reader{stage: s, open: openGate(), Reader: streamcheck.Reader{
		Name: j.name, View: j.view, Pace: j.pace, OmitInitial: j.omitInitial, MinInterval: j.minInterval, Start: time.Now(),
	}}
	if j.from != nil {
		request.FromRevision, request.Epoch = &j.from.point.Revision, j.from.point.Epoch
		r.From, r.Base = &j.from.point, j.from.elements
	}
	if j.wire {
		r.dial(request)
	} else {
		r.call(request)
	}
	s.mu.Lock()
	s.readers = append(s.readers, r)
	s.mu.Unlock()
	s.running.Go(r.read)
	return r
}

// dial streams over a separate connection, as a client does.
func (r *reader) dial(request *domtapv1.WatchDomRequest) {
	conn := r.stage.redial()
	client, err := domtapv1.NewDomServiceClient(conn).WatchDom(r.stage.t.Context(), request)
	if err != nil {
		r.stage.t.Error(err)
	}
	r.recv, r.leave = client.Recv, func() { _ = conn.Close() }
}

// direct is a stream without a connection and without buffers. A send returns when the reader has read the message, so a stalled reader
// blocks immediately.
type direct struct {
	grpc.ServerStream
	ctx context.Context
	out chan *domtapv1.WatchDomResponse
}

func (d *direct) Context() context.Context { return d.ctx }

func (d *direct) Send(m *domtapv1.WatchDomResponse) error { return d.SendMsg(m) }

// SendHeader returns immediately.
func (d *direct) SendHeader(metadata.MD) error { return nil }

// SendMsg decodes the message as a client would.
func (d *direct) SendMsg(v any) error {
	m := new(domtapv1.WatchDomResponse)
	data, err := wire.Codec().Marshal(v)
	if err == nil {
		err = wire.Codec().Unmarshal(data, m)
	}
	if err != nil {
		return err
	}
	select {
	case d.out <- m:
		return nil
	case <-d.ctx.Done():
		return d.ctx.Err()
	}
}

// call streams directly from the handler.
func (r *reader) call(request *domtapv1.WatchDomRequest) {
	ctx, cancel := context.WithCancel(r.stage.t.Context())
	d := &direct{ctx: identity.With(ctx, identity.Operator()), out: make(chan *domtapv1.WatchDomResponse)}
	ended := make(chan error, 1)
	r.stage.running.Go(func() {
		err := checkRequest(request)
		if err == nil {
			err = rpcstatus.From(domServiceOf(r.stage.server).WatchDom(request, d))
		}
		cancel()
		ended <- err
	})
	r.leave = cancel
	r.recv = func() (*domtapv1.WatchDomResponse, error) {
		select {
		case m := <-d.out:
			return m, nil
		case err := <-ended:
			if err == nil {
				err = io.EOF
			}
			return nil, err
		}
	}
}

// read reads until the stream ends.
func (r *reader) read() {
	defer r.leave()
	for {
		r.mu.Lock()
		gate := r.open
		r.mu.Unlock()
		<-gate
		m, err := r.recv()
		if err != nil {
			r.ended(err)
			return
		}
		r.take(m)
		if r.Pace == streamcheck.Slow && !r.stage.hurry.Load() {
			time.Sleep(time.Second)
		}
	}
}

func (r *reader) ended(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.End.Code, r.End.At = "OK", time.Now()
	if !errors.Is(err, io.EOF) {
		r.End.Code, r.End.Reason, r.End.Text = status.Code(err).String(), detailReason(err), status.Convert(err).Message()
	}
}

// take records a message and applies it.
func (r *reader) take(m *domtapv1.WatchDomResponse) {
	r.mu.Lock()
	defer r.mu.Unlock()
	message := streamcheck.Message{WatchDomResponse: m, At: time.Now()}
	r.Messages = append(r.Messages, message)
	now := have{view: r.View, point: message.Point(), elements: r.Base}
	if n := len(r.haves); n > 0 {
		now.elements = r.haves[n-1].elements
	}
	if whole, ok := message.Whole(); ok {
		now.elements = whole
	} else if len(r.haves) == 0 && r.From == nil {
		return // the reader requested no snapshot and does not know the elements
	} else if d := m.GetDiff(); d != nil {
		elements, err := client.Apply(now.elements, d)
		if err != nil {
			r.stage.t.Errorf("%s: %v", r.Name, err)
		}
		now.elements = elements
	}
	r.haves = append(r.haves, now)
}

// stall stops reading.
func (r *reader) stall() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.open = make(chan struct{})
}

// wake reads again.
func (r *reader) wake() {
	r.mu.Lock()
	defer r.mu.Unlock()
	select {
	case <-r.open:
	default:
		close(r.open)
	}
}

// vanish ends the reader without closing the stream.
func (r *reader) vanish() {
	r.mu.Lock()
	if r.End.Code == "" {
		r.End.Cut = true
	}
	r.mu.Unlock()
	r.leave()
	r.wake()
}

// alive reports whether the stream is open.
func (r *reader) alive() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.End.Code == "" && !r.End.Cut
}

// known lists the states of the reader after each of its messages.
func (r *reader) known() []have {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.haves)
}

// ask calls GetDom with the options of a view.
func (s *stage) ask(view string) {
	o := s.requests[view]
	ctx, cancel := context.WithTimeout(s.t.Context(), time.Second)
	defer cancel()
	resp, err := s.dom.GetDom(ctx, &domtapv1.GetDomRequest{
		TabId: s.tab.ID(), ViewportOnly: o.GetViewportOnly(), MaxElements: o.MaxElements, MaxTokens: o.MaxTokens,
		InteractiveOnly: o.InteractiveOnly, FullSnapshot: o.GetFullSnapshot(), RootRef: o.RootRef, FrameId: o.GetFrameId(),
	})
	if err != nil {
		return // a dialog is open, the page hangs or is gone, or the root or the frame does not exist
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answers = append(s.answers, streamcheck.Answer{
		View: view, At: streamcheck.Point{Epoch: resp.GetEpoch(), Revision: resp.GetRevision()}, Elements: streamcheck.Bare(resp.GetElements()),
	})
}

// rest waits until the tab is settled, with all readers reading.
func (s *stage) rest() {
	s.hurry.Store(true)
	s.page.Resume()
	s.settle()
	if s.tab.Info().Dialog != nil {
		if _, err := s.tab.AnswerDialog(s.t.Context(), driver.DialogAnswer{Accept: true}); err != nil {
			s.t.Error(err)
		}
	}
	if s.tab.Info().Status == actor.StatusCrashed {
		if _, err := s.tab.Reload(s.t.Context(), actor.WaitLoad); err != nil {
			s.t.Error(err)
		}
	}
	for _, r := range s.readers {
		r.wake()
	}
	s.settle()
	time.Sleep(61 * time.Second) // longer than the longest min_interval and four heartbeats
	s.settle()
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.tab.Head().Snapshot
	s.last = streamcheck.Point{Epoch: now.Epoch, Revision: now.Revision}
	for _, r := range s.readers {
		r.Alive = r.alive()
	}
}

// finish waits for the end of all streams, which the caller must have caused.
func (s *stage) finish() {
	synctest.Wait()
	open := 0
	for _, r := range s.readers {
		if r.alive() {
			open++
			r.vanish()
			r.End.Cut = false // the validators report it
		}
	}
	s.running.Wait()
	if open > 0 {
		s.t.Errorf("%d streams did not end", open)
	}
}

// pair checks an invariant of the pages of stages: the elements "L n" and "R n" always have the same number.
func pair(elements []*domtapv1.Element) error {
	numbers := map[string]string{}
	for _, e := range elements {
		if side, n, ok := strings.Cut(e.GetText(), " "); ok && (side == "L" || side == "R") {
			if _, err := strconv.Atoi(n); err == nil {
				numbers[side] = n
			}
		}
	}
	if l, r := numbers["L"], numbers["R"]; l != "" && r != "" && l != r {
		return fmt.Errorf("half of a burst shows: L %s, R %s", l, r)
	}
	return nil
}

// wantNone fails with the first few errors.
func wantNone(t *testing.T, faults []error) {
	t.Helper()
	for i, fault := range faults {
		if i == 5 {
			t.Errorf("and %d more", len(faults)-i)
			return
		}
		t.Error(fault)
	}
}
