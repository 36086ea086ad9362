package server

import (
	"testing"

	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
)

// Without a running browser, a readiness probe, which names a service, gets NOT_SERVING. A liveness probe, which names no service, gets
// SERVING.
func TestHealthTellsADaemonFromItsBrowser(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		health := healthv1.NewHealthClient(b.conn)
		expect := func(service string, want healthv1.HealthCheckResponse_ServingStatus) {
			t.Helper()
			m, err := health.Check(t.Context(), &healthv1.HealthCheckRequest{Service: service})
			if err != nil || m.GetStatus() != want {
				t.Errorf("%q is %v, %v", service, m.GetStatus(), err)
			}
		}
		for _, ready := range []bool{true, false, true} {
			b.server.SetReady(ready)
			want := healthv1.HealthCheckResponse_NOT_SERVING
			if ready {
				want = healthv1.HealthCheckResponse_SERVING
			}
			for _, name := range []string{"TabService", "DomService", "ActionService", "PageService", "SessionService"} {
				expect("domtap.v1."+name, want)
			}
			expect("", healthv1.HealthCheckResponse_SERVING)
			expect("domtap.v1.ContextService", healthv1.HealthCheckResponse_SERVING)
		}
	})
}
