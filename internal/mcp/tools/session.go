package tools

import (
	"google.golang.org/grpc"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// Daemon holds clients for the services that tools call.
type Daemon struct {
	Tabs     domtapv1.TabServiceClient
	Dom      domtapv1.DomServiceClient
	Actions  domtapv1.ActionServiceClient
	Pages    domtapv1.PageServiceClient
	Storage  domtapv1.StorageServiceClient
	Search   domtapv1.SearchServiceClient
	Network  domtapv1.NetworkServiceClient
	Timeline domtapv1.TimelineServiceClient
	Tools    domtapv1.ToolServiceClient
}

// NewDaemon returns clients that use a connection.
func NewDaemon(conn grpc.ClientConnInterface) *Daemon {
	return &Daemon{
		Tabs:     domtapv1.NewTabServiceClient(conn),
		Dom:      domtapv1.NewDomServiceClient(conn),
		Actions:  domtapv1.NewActionServiceClient(conn),
		Pages:    domtapv1.NewPageServiceClient(conn),
		Storage:  domtapv1.NewStorageServiceClient(conn),
		Search:   domtapv1.NewSearchServiceClient(conn),
		Network:  domtapv1.NewNetworkServiceClient(conn),
		Timeline: domtapv1.NewTimelineServiceClient(conn),
		Tools:    domtapv1.NewToolServiceClient(conn),
	}
}
