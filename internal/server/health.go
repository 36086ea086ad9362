package server

import (
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// browserless lists the services that need no browser.
var browserless = map[string]bool{
	domtapv1.ContextService_ServiceDesc.ServiceName: true,
	domtapv1.StatsService_ServiceDesc.ServiceName:   true,
	domtapv1.SearchService_ServiceDesc.ServiceName:  true,
	domtapv1.ClusterService_ServiceDesc.ServiceName: true,
}

// SetReady sets whether a browser is running. Without one, the health service reports NOT_SERVING for the services that need a browser;
// readiness probes use that. The empty name, which stands for the daemon as a whole, stays SERVING for liveness probes, because a restart
// would not help a daemon that waits for its browser. SetReady does not block, and has no effect after the server has stopped.
func (s *Server) SetReady(ready bool) {
	status := healthv1.HealthCheckResponse_NOT_SERVING
	if ready {
		status = healthv1.HealthCheckResponse_SERVING
	}
	for _, name := range s.names {
		if !browserless[name] {
			s.health.SetServingStatus(name, status)
		}
	}
}
