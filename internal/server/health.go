package server

import (
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// browserless names the services that need no browser.
var browserless = map[string]bool{
	domtapv1.ContextService_ServiceDesc.ServiceName: true,
	domtapv1.StatsService_ServiceDesc.ServiceName:   true,
}

// SetReady says whether a browser runs. While none does, health says NOT_SERVING of the services that need one, which
// is what a readiness probe asks for; the daemon as a whole, the empty name, stays SERVING, for a liveness probe: a
// daemon that is waiting for its browser would gain nothing from being restarted. It does not wait, and does nothing
// once the server stops.
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
