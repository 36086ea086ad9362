package peers

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/domtap/domtap/actor/actortest"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/server/rpc/limit"
	"github.com/domtap/domtap/internal/testenv"
)

// TestDeadlinesEndTheWork calls a page that hangs. The other node knows the deadline, and no call is left on either node.
func TestDeadlinesEndTheWork(t *testing.T) {
	c := newCluster(t, 2, options{})
	tab, page := c.open(c.nodes[0].conn, 1, "")
	page.Hang()
	defer page.Resume()
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	_, err := domtapv1.NewDomServiceClient(c.nodes[0].conn).GetDom(ctx, &domtapv1.GetDomRequest{TabId: tab.GetId()})
	if status.Code(err) != codes.DeadlineExceeded || c.nodes[1].bounded.Load() != 1 {
		t.Errorf("got %v, and %d calls had a deadline at the other node", err, c.nodes[1].bounded.Load())
	}
	for _, n := range c.nodes {
		testenv.Await(t, "calls of "+n.ID, func() bool { return n.calls.Load() == 0 })
	}
}

// TestCancellationsEndTheWork cancels a call and a stream.
func TestCancellationsEndTheWork(t *testing.T) {
	c := newCluster(t, 2, options{})
	tab, page := c.open(c.nodes[0].conn, 1, "")
	dom, far := domtapv1.NewDomServiceClient(c.nodes[0].conn), c.nodes[1]
	ctx, cancel := context.WithCancel(t.Context())
	stream, err := dom.WatchDom(ctx, &domtapv1.WatchDomRequest{TabId: tab.GetId()})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := stream.Recv(); err != nil {
		t.Fatal(err)
	}
	page.Hang()
	defer page.Resume()
	ended := make(chan error, 1)
	go func() {
		_, err := dom.GetDom(ctx, &domtapv1.GetDomRequest{TabId: tab.GetId()})
		ended <- err
	}()
	testenv.Await(t, "the call is there", func() bool { return far.calls.Load() == 1 && far.streams.Load() == 1 })
	cancel()
	if err := <-ended; status.Code(err) != codes.Canceled {
		t.Errorf("the call ended with %v", err)
	}
	for _, n := range c.nodes {
		testenv.Await(t, "calls of "+n.ID, func() bool { return n.calls.Load() == 0 && n.streams.Load() == 0 })
	}
}

// TestStreamsEndBeforeANodeStops ends the streams that a node passes on. Their clients get an error, and calls continue.
func TestStreamsEndBeforeANodeStops(t *testing.T) {
	c := newCluster(t, 2, options{})
	tab, _ := c.open(c.nodes[0].conn, 1, "")
	dom := domtapv1.NewDomServiceClient(c.nodes[0].conn)
	for range 2 { // an existing stream and a new one
		stream, err := dom.WatchDom(t.Context(), &domtapv1.WatchDomRequest{TabId: tab.GetId()})
		if err != nil {
			t.Fatal(err)
		}
		if _, err = stream.Recv(); err == nil {
			c.nodes[0].proxy.EndStreams()
		}
		for err == nil {
			_, err = stream.Recv()
		}
		wantCode(t, err, codes.Unavailable, "NODE_UNAVAILABLE")
	}
	if _, err := dom.GetDom(t.Context(), &domtapv1.GetDomRequest{TabId: tab.GetId()}); err != nil {
		t.Error(err)
	}
}

// TestANodeDies cuts the connections to a node during its calls.
func TestANodeDies(t *testing.T) {
	var between links
	c := newCluster(t, 2, options{between: between.add(t)})
	tab, page := c.open(c.nodes[0].conn, 1, "")
	dom := domtapv1.NewDomServiceClient(c.nodes[0].conn)
	stream, err := dom.WatchDom(t.Context(), &domtapv1.WatchDomRequest{TabId: tab.GetId()})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := stream.Recv(); err != nil {
		t.Fatal(err)
	}
	page.Hang()
	defer page.Resume()
	read, act := make(chan error, 1), make(chan error, 1)
	go func() {
		_, err := dom.GetDom(t.Context(), &domtapv1.GetDomRequest{TabId: tab.GetId()})
		read <- err
	}()
	go func() {
		_, err := domtapv1.NewActionServiceClient(c.nodes[0].conn).Interact(t.Context(), &domtapv1.InteractRequest{
			TabId: tab.GetId(), Steps: []*domtapv1.Step{{Action: &domtapv1.Step_Press{Press: &domtapv1.PressStep{Key: "Enter"}}}},
		})
		act <- err
	}()
	testenv.Await(t, "the calls are there", func() bool { return c.nodes[1].calls.Load() == 2 })
	between[1].cut()
	for what, ended := range map[string]func() (next string, err error){
		"read": func() (string, error) { return "try again", <-read },
		"act":  func() (string, error) { return "may have had its effect", <-act },
		"stream": func() (string, error) {
			_, err := stream.Recv()
			return "start the stream again", err
		},
		"next": func() (string, error) {
			_, err := domtapv1.NewTabServiceClient(c.nodes[0].conn).GetTab(t.Context(), &domtapv1.GetTabRequest{TabId: tab.GetId()})
			return "try again", err
		},
	} {
		next, err := ended()
		wantCode(t, err, codes.Unavailable, "NODE_UNAVAILABLE")
		if !strings.Contains(fmt.Sprint(err), "node n2 does not answer: ") || !strings.Contains(fmt.Sprint(err), next) {
			t.Errorf("%s: the error is %v", what, err)
		}
	}
}

// TestReadsAreRepeatedElsewhere makes a node die during calls, when another node has already taken over the tab. A read-only call gets its
// answer from that node. A call that acts gets an error, because it may have had its effect on the dead node.
func TestReadsAreRepeatedElsewhere(t *testing.T) {
	var between links
	c := newCluster(t, 3, options{between: between.add(t)})
	near := c.nodes[0]
	tab, _ := c.open(near.conn, 2, "")
	c.mu.Lock()
	near.stale[tab.GetId()] = 1
	c.mu.Unlock()
	// The node reports that it does not have the tab. Now there is a connection to it.
	if _, err := domtapv1.NewTabServiceClient(near.conn).GetTab(t.Context(), &domtapv1.GetTabRequest{TabId: tab.GetId()}); err != nil {
		t.Fatal(err)
	}
	between[1].halt()
	read, act := make(chan error, 1), make(chan error, 1)
	go func() {
		_, err := domtapv1.NewTabServiceClient(near.conn).CloseTab(t.Context(), &domtapv1.CloseTabRequest{TabId: tab.GetId()})
		act <- err
	}()
	const headers = 64 // bytes; headers of a call are longer, and everything else on the connection is shorter
	testenv.Await(t, "the call that acts is sent", func() bool { return between[1].lost.Load() >= headers })
	go func() {
		_, err := domtapv1.NewDomServiceClient(near.conn).GetDom(t.Context(), &domtapv1.GetDomRequest{TabId: tab.GetId()})
		read <- err
	}()
	testenv.Await(t, "the call that reads is on its way", func() bool { return near.calls.Load() == 2 })
	between[1].cut()
	if err := <-read; err != nil {
		t.Errorf("the read ended with %v", err)
	}
	wantCode(t, <-act, codes.Unavailable, "NODE_UNAVAILABLE")
	// A call that did not reach the dead node is repeated, even if it acts.
	if _, err := domtapv1.NewTabServiceClient(near.conn).CloseTab(t.Context(), &domtapv1.CloseTabRequest{TabId: tab.GetId()}); err != nil {
		t.Errorf("the next call ended with %v", err)
	}
}

// TestANodeLeaves stops a node in good order while another node passes on one of its streams. The stream ends with the node's reason, as
// for its own clients.
func TestANodeLeaves(t *testing.T) {
	c := newCluster(t, 2, options{})
	tab, _ := c.open(c.nodes[0].conn, 1, "")
	var ends []error
	var streams []domtapv1.DomService_WatchDomClient
	for _, n := range c.nodes {
		stream, err := domtapv1.NewDomServiceClient(n.conn).WatchDom(t.Context(), &domtapv1.WatchDomRequest{TabId: tab.GetId()})
		if err == nil {
			_, err = stream.Recv()
		}
		if err != nil {
			t.Fatal(err)
		}
		streams = append(streams, stream)
	}
	left := make(chan struct{})
	go func() {
		defer close(left)
		c.nodes[1].end()
	}()
	for _, stream := range streams {
		var err error
		for err == nil {
			_, err = stream.Recv()
		}
		ends = append(ends, err)
	}
	<-left
	if status.Code(ends[1]) != codes.Unavailable || !proto.Equal(status.Convert(ends[0]).Proto(), status.Convert(ends[1]).Proto()) {
		t.Errorf("through another node: %v\nat its own: %v", ends[0], ends[1])
	}
	near := c.nodes[0].proxy.nodes
	testenv.Await(t, "the connection is closed", func() bool {
		near.mu.Lock()
		defer near.mu.Unlock()
		return len(near.open) == 0
	})
}

// TestASlowReaderLosesItsStream makes a client read nothing from the stream of a changing page. The stream ends on both nodes, and another
// reader through the same node gets each change.
func TestASlowReaderLosesItsStream(t *testing.T) {
	page := func() actortest.Screen {
		s := actortest.Screen{Title: "Shop"}
		for range 100 {
			s.Body = append(s.Body, actortest.Button("B"))
		}
		return s
	}
	c := newCluster(t, 2, options{page: page, proxy: Config{SendTimeout: 200 * time.Millisecond}})
	near := c.nodes[0]
	tab, pageOf := c.open(near.conn, 1, "")
	request := &domtapv1.WatchDomRequest{TabId: tab.GetId(), MaxTokens: proto.Int32(0)}
	slow, err := domtapv1.NewDomServiceClient(near.dial(operatorToken, grpc.WithStaticStreamWindowSize(64<<10))).WatchDom(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := slow.Header(); err != nil {
		t.Fatal(err)
	}
	other, err := domtapv1.NewDomServiceClient(near.conn).WatchDom(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.Recv(); err != nil {
		t.Fatal(err)
	}
	n := 0
	testenv.Await(t, "the slow reader has lost its stream", func() bool {
		for range 5 {
			n++
			pageOf.Update(func(main *actortest.Frame) {
				for _, node := range main.Body {
					node.Text = fmt.Sprintf("%d %s", n, strings.Repeat("x", 80))
				}
			})
			if _, err := other.Recv(); err != nil {
				t.Fatalf("the other reader: %v", err)
			}
		}
		return near.streams.Load() == 1 && c.nodes[1].streams.Load() == 1
	})
	for err == nil {
		_, err = slow.Recv()
	}
	wantCode(t, err, codes.DeadlineExceeded, "SLOW_READER")
}

// TestAHungNode halts the connections to a node without closing them.
func TestAHungNode(t *testing.T) {
	var between links
	c := newCluster(t, 2, options{between: between.add(t)})
	tab, _ := c.open(c.nodes[0].conn, 1, "")
	dom := domtapv1.NewDomServiceClient(c.nodes[0].conn)
	between[1].halt()
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	_, err := dom.GetDom(ctx, &domtapv1.GetDomRequest{TabId: tab.GetId()})
	if status.Code(err) != codes.DeadlineExceeded {
		t.Errorf("with a deadline: %v", err)
	}
	if !testenv.Long() { // gRPC sends at most one ping every 10 s
		return
	}
	began := time.Now()
	_, err = dom.GetDom(t.Context(), &domtapv1.GetDomRequest{TabId: tab.GetId()})
	wantCode(t, err, codes.Unavailable, "NODE_UNAVAILABLE")
	t.Logf("the call ended after %v", time.Since(began))
}

// TestLargeMessages sends messages below and above the size limits of both nodes.
func TestLargeMessages(t *testing.T) {
	page := func() actortest.Screen {
		s := actortest.Screen{Title: "Shop"}
		for i := range 3000 {
			s.Body = append(s.Body, actortest.Button(fmt.Sprintf("Button %d %s", i, strings.Repeat("x", 60))))
		}
		return s
	}
	c := newCluster(t, 2, options{page: page, limits: limit.Config{RequestBytes: 64 << 10, ResponseBytes: 256 << 10}})
	tab, _ := c.open(c.nodes[0].conn, 1, "")
	state := func(bytes int) error {
		_, err := domtapv1.NewSessionServiceClient(c.nodes[0].conn).SetStorageState(t.Context(), &domtapv1.SetStorageStateRequest{State: &domtapv1.StorageState{
			Origins: []*domtapv1.OriginStorage{{Origin: "https://shop.example", LocalStorage: []*domtapv1.StorageEntry{{Name: "a", Value: strings.Repeat("x", bytes)}}}},
		}})
		return err
	}
	if err := state(60 << 10); err != nil {
		t.Errorf("a request below the limit: %v", err)
	}
	for _, bytes := range []int{65 << 10, 200 << 10} {
		if err := state(bytes); status.Code(err) != codes.ResourceExhausted {
			t.Errorf("a request of %d bytes: %v", bytes, err)
		}
	}
	for _, n := range c.nodes {
		dom := domtapv1.NewDomServiceClient(n.conn)
		some, err := dom.GetDom(t.Context(), &domtapv1.GetDomRequest{TabId: tab.GetId(), MaxElements: proto.Int32(1000), MaxTokens: proto.Int32(0)})
		if err != nil || len(some.GetElements()) != 1000 || proto.Size(some) < 64<<10 {
			t.Errorf("at %s, an answer of %d bytes: %v", n.ID, proto.Size(some), err)
		}
		_, err = dom.GetDom(t.Context(), &domtapv1.GetDomRequest{TabId: tab.GetId(), FullSnapshot: true})
		wantCode(t, err, codes.ResourceExhausted, "LIMIT_REACHED")
	}
}

// TestManyStreams watches two hundred times through another node, and checks that nothing is left behind.
func TestManyStreams(t *testing.T) {
	const count = 200
	c := newCluster(t, 2, options{})
	tab, page := c.open(c.nodes[0].conn, 1, "")
	ctx, cancel := context.WithCancel(t.Context())
	dom := domtapv1.NewDomServiceClient(c.nodes[0].conn)
	var watching sync.WaitGroup
	begun := make(chan struct{}, count)
	for range count {
		watching.Go(func() {
			stream, err := dom.WatchDom(ctx, &domtapv1.WatchDomRequest{TabId: tab.GetId()})
			if err != nil {
				t.Error(err)
			}
			for want := range 2 {
				m, err := stream.Recv()
				if err != nil || (m.GetSnapshot() == nil) != (want == 1) {
					t.Errorf("message %d is %v, %v", want, m, err)
				}
				begun <- struct{}{}
			}
			if _, err := stream.Recv(); status.Code(err) != codes.Canceled {
				t.Errorf("a stream ended with %v", err)
			}
		})
	}
	for range count {
		<-begun
	}
	page.Update(func(main *actortest.Frame) { main.Body = append(main.Body, actortest.Button("More")) })
	for range count {
		<-begun
	}
	cancel()
	watching.Wait()
	for _, n := range c.nodes {
		testenv.Await(t, "streams of "+n.ID, func() bool { return n.streams.Load() == 0 })
	}
	c.close()
	testenv.Await(t, "goroutines of gRPC and of this package have ended", func() bool {
		stacks := make([]byte, 4<<20)
		stacks = stacks[:runtime.Stack(stacks, true)]
		left := 0
		for _, one := range strings.Split(string(stacks), "\n\n") {
			if strings.Contains(one, "google.golang.org/grpc") || strings.Contains(one, "internal/cluster/peers.(*") {
				left++
			}
		}
		return left == 0
	})
}
