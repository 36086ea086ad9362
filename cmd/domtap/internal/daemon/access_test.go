package daemon

import (
	"context"
	"testing"
)

// TestRightsOutliveTheOrderToStop checks that the signal that stops the daemon does not cancel the calls of clients. The daemon cancels
// them when it ends.
func TestRightsOutliveTheOrderToStop(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	clients, unfollow, err := Config{}.clients(ctx, "token")
	if err != nil {
		t.Fatal(err)
	}
	granted, ok := clients.ByToken("token")
	if !ok {
		t.Fatal("the operator has no rights")
	}
	stop()
	if err := granted.While.Err(); err != nil {
		t.Errorf("calls under way when the daemon is to stop: %v", err)
	}
	if _, ok := clients.ByToken("token"); !ok {
		t.Error("calls that come while it stops are not admitted")
	}
	unfollow()
	if granted.While.Err() == nil {
		t.Error("rights drainBeforeStop the daemon")
	}
}
