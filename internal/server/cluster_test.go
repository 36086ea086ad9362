package server

import (
	"context"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/server/rpc/identity"
	"github.com/domtap/domtap/internal/server/rpc/intercept"
)

// Only the operator may see and change the state of all clients, regardless of a client's rights.
func TestOnlyTheOperatorOperates(t *testing.T) {
	withClients(t, func(t *testing.T, b *bench, _ *identity.Clients) {
		seen := 0
		everyMethod(t, func(name string, method protoreflect.MethodDescriptor, sample proto.Message) {
			if !intercept.Operators[pathOf(method)] {
				return
			}
			seen++
			_, err := b.ask(as(t.Context(), aliceToken), method, sample)
			wantCode(t, err, codes.PermissionDenied, "OPERATOR")
			_, err = b.ask(as(t.Context(), testToken), method, sample)
			if strings.HasPrefix(name, "DaemonService.") { // the bench has no unix socket
				wantCode(t, err, codes.PermissionDenied, "SOCKET")
				return
			}
			wantCode(t, err, codes.FailedPrecondition, "NO_CLUSTER")
		})
		if seen != 5 {
			t.Errorf("%d methods are the operator's", seen)
		}
	})
}

// clusterOf answers like a node of a cluster.
type clusterOf struct {
	domtapv1.UnimplementedClusterServiceServer
}

func (clusterOf) GetCluster(context.Context, *domtapv1.GetClusterRequest) (*domtapv1.GetClusterResponse, error) {
	return &domtapv1.GetClusterResponse{Cluster: "shop"}, nil
}

func TestTheServerHasTheClusterThatItIsGiven(t *testing.T) {
	inBubble(t, Config{Node: "n1", Cluster: clusterOf{}}, func(t *testing.T, b *bench) {
		if list, err := b.tabs.ListTabs(t.Context(), new(domtapv1.ListTabsRequest)); err != nil || list.GetNodeId() != "n1" {
			t.Errorf("the list is %v, %v", list, err)
		}
		got, err := domtapv1.NewClusterServiceClient(b.conn).GetCluster(t.Context(), &domtapv1.GetClusterRequest{})
		if err != nil || got.GetCluster() != "shop" {
			t.Errorf("got %v, %v", got, err)
		}
	})
}
