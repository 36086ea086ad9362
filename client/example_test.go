package client_test

import (
	"context"
	"fmt"
	"log"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/domtap/domtap/client"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// address is the address of the daemon of the examples. Real programs leave Options.Address empty.
var address string

func ExampleConnect() {
	ctx := context.Background()
	// With Start: true, Connect starts a daemon if none is running.
	c, err := client.Connect(ctx, client.Options{Address: address})
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = c.Close() }()

	tab, err := c.Open(ctx, "https://shop.example/cart")
	if err != nil {
		log.Fatal(err)
	}
	text, err := tab.Read(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(text)
	// Output:
	// URL: https://shop.example/cart | Title: Your cart
	// [0] Coupon (input)
	// [1] Pay now (button)
}

func ExampleTab_Act() {
	ctx := context.Background()
	c, err := client.Connect(ctx, client.Options{Address: address})
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = c.Close() }()

	answer, err := c.Tab("t1").Act(ctx, client.Fill(client.Label("Coupon"), "SPRING"), client.Click(client.Ref(1)))
	if err != nil {
		log.Fatal(err)
	}
	for _, result := range answer.GetResults() {
		fmt.Println(result.GetSummary())
	}
	fmt.Println(answer.GetVerdict())

	// A failed call returns its reason as a code and as a sentence.
	_, err = c.Tab("t1").Act(ctx, client.Click(client.Ref(99)))
	fmt.Println(status.Code(err), status.Convert(err).Message())
	// Output:
	// fill "Coupon": ok
	// click "Pay now": ok
	// VERDICT_CHANGED
	// InvalidArgument unknown ref 99: take a new snapshot and use one of its refs
}

func ExampleTab_Follow() {
	ctx := context.Background()
	c, err := client.Connect(ctx, client.Options{Address: address})
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = c.Close() }()

	// In between, the daemon of this example closes the connection. The loop does not notice.
	for update, err := range c.Tab("t1").Follow(ctx, client.FollowOptions{}) {
		if err != nil {
			log.Fatal(err)
		}
		d := update.Message.GetDiff()
		fmt.Printf("%d elements at revision %d: +%d -%d\n",
			len(update.State.GetElements()), update.State.GetRevision(), d.GetAddedCount(), d.GetRemovedCount())
	}
	fmt.Println("closed")
	// Output:
	// 2 elements at revision 3: +0 -0
	// 3 elements at revision 4: +1 -0
	// 2 elements at revision 7: +0 -1
	// 2 elements at revision 7: +0 -0
	// closed
}

// A program that stores the state resumes where it stopped, even after it was killed.
func ExampleFollowOptions() {
	ctx := context.Background()
	c, err := client.Connect(ctx, client.Options{Address: address})
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	file := filepath.Join(os.TempDir(), "domtap-example-state")
	defer func() { _ = os.Remove(file) }()

	run := func(updates int) {
		var from *domtapv1.GetDomResponse // nil starts from the beginning
		if kept, err := os.ReadFile(file); err == nil {
			from = new(domtapv1.GetDomResponse)
			if err := proto.Unmarshal(kept, from); err != nil {
				log.Fatal(err)
			}
		}
		for update, err := range c.Tab("t1").Follow(ctx, client.FollowOptions{From: from}) {
			if err != nil {
				log.Fatal(err)
			}
			fmt.Println("revision", update.State.GetRevision())
			kept, err := proto.Marshal(update.State)
			if err != nil {
				log.Fatal(err)
			}
			if err := os.WriteFile(file, kept, 0o600); err != nil { // a program that may be killed writes another file and renames it
				log.Fatal(err)
			}
			if updates--; updates == 0 {
				return
			}
		}
	}
	run(2)
	fmt.Println("and again")
	run(1)
	// Output:
	// revision 3
	// revision 4
	// and again
	// revision 7
}

// shop is the daemon of the examples. It has one tab with one page, and scripted changes.
type shop struct {
	domtapv1.UnimplementedTabServiceServer
	domtapv1.UnimplementedDomServiceServer
	domtapv1.UnimplementedActionServiceServer
}

func (shop) OpenTab(_ context.Context, r *domtapv1.OpenTabRequest) (*domtapv1.OpenTabResponse, error) {
	return &domtapv1.OpenTabResponse{Tab: &domtapv1.Tab{Id: "t1", Url: r.GetUrl()}}, nil
}

func (shop) GetCompact(context.Context, *domtapv1.GetCompactRequest) (*domtapv1.GetCompactResponse, error) {
	return &domtapv1.GetCompactResponse{Text: "URL: https://shop.example/cart | Title: Your cart\n[0] Coupon (input)\n[1] Pay now (button)\n"}, nil
}

func (shop) Interact(_ context.Context, r *domtapv1.InteractRequest) (*domtapv1.InteractResponse, error) {
	if r.GetSteps()[0].GetClick().GetTarget().GetRef() == 99 {
		return nil, status.Error(codes.InvalidArgument, "unknown ref 99: take a new snapshot and use one of its refs")
	}
	return &domtapv1.InteractResponse{
		Results: []*domtapv1.StepResult{{Ok: true, Summary: `fill "Coupon": ok`}, {Ok: true, Summary: `click "Pay now": ok`}},
		Verdict: domtapv1.Verdict_VERDICT_CHANGED,
	}, nil
}

func (shop) WatchDom(r *domtapv1.WatchDomRequest, stream domtapv1.DomService_WatchDomServer) error {
	coupon, pay, hint := &domtapv1.Element{Ref: 0, Text: "Coupon"}, &domtapv1.Element{Ref: 1, Text: "Pay now"}, &domtapv1.Element{Ref: 2, Index: 2, Text: "Help"}
	send := func(sequence, revision uint64, event *domtapv1.WatchDomResponse) {
		event.Sequence, event.Revision, event.Epoch = sequence, revision, "e"
		_ = stream.Send(event)
	}
	if r.GetTabId() == "quiet" {
		send(1, 1, &domtapv1.WatchDomResponse{Event: &domtapv1.WatchDomResponse_Snapshot{Snapshot: &domtapv1.Snapshot{}}})
		<-stream.Context().Done()
		return stream.Context().Err()
	}
	if r.FromRevision == nil {
		send(1, 3, &domtapv1.WatchDomResponse{Event: &domtapv1.WatchDomResponse_Snapshot{Snapshot: &domtapv1.Snapshot{Elements: []*domtapv1.Element{coupon, pay}}}})
		send(2, 4, &domtapv1.WatchDomResponse{Event: &domtapv1.WatchDomResponse_Diff{Diff: &domtapv1.Diff{FromRevision: 3, ToRevision: 4, Added: []*domtapv1.Element{hint}, AddedCount: 1}}})
		return status.Error(codes.Unavailable, "the connection is cut here")
	}
	if r.GetFromRevision() != 4 {
		return status.Errorf(codes.InvalidArgument, "from revision %d", r.GetFromRevision())
	}
	send(1, 7, &domtapv1.WatchDomResponse{Event: &domtapv1.WatchDomResponse_Diff{Diff: &domtapv1.Diff{FromRevision: 4, ToRevision: 7, Removed: []*domtapv1.RemovedElement{{Ref: 2}}, RemovedCount: 1}}})
	send(2, 7, &domtapv1.WatchDomResponse{Event: &domtapv1.WatchDomResponse_TabStatus{TabStatus: &domtapv1.TabStatusChange{Status: domtapv1.TabStatus_TAB_STATUS_CLOSED}}})
	return nil
}

// Follow does not retry after the client is closed.
func TestCloseEndsFollow(t *testing.T) {
	c, err := client.Connect(t.Context(), client.Options{Address: address})
	if err != nil {
		t.Fatal(err)
	}
	updates := 0
	for _, err = range c.Tab("quiet").Follow(t.Context(), client.FollowOptions{}) {
		if err == nil {
			updates++
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	if updates != 1 || err == nil || !strings.Contains(err.Error(), "closed") {
		t.Errorf("%d updates, then %v", updates, err)
	}
}

func TestMain(m *testing.M) {
	os.Exit(withShop(m.Run))
}

// withShop runs the tests with the daemon of the examples.
func withShop(run func() int) int {
	dir, err := os.MkdirTemp("", "dt")
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	listener, err := net.Listen("unix", filepath.Join(dir, "s"))
	if err != nil {
		log.Fatal(err)
	}
	server := grpc.NewServer()
	domtapv1.RegisterTabServiceServer(server, shop{})
	domtapv1.RegisterDomServiceServer(server, shop{})
	domtapv1.RegisterActionServiceServer(server, shop{})
	done := make(chan error, 1)
	go func() { done <- server.Serve(listener) }()
	address = "unix://" + listener.Addr().String()
	code := run()
	server.Stop()
	<-done
	return code
}
