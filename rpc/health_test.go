package rpc

import (
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	"github.com/domtap/domtap/actor"
)

// While no browser runs, a readiness probe is told so by the name of a service, and a liveness probe, which names none,
// sees a daemon that lives.
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

func TestErrorsTellWhenToTryAgain(t *testing.T) {
	var found *errdetails.RetryInfo
	for _, detail := range status.Convert(toStatus(&actor.Error{Kind: actor.Lost, RetryAfter: 1500 * time.Millisecond})).Details() {
		if info, ok := detail.(*errdetails.RetryInfo); ok {
			found = info
		}
	}
	if d := found.GetRetryDelay().AsDuration(); d != 1500*time.Millisecond {
		t.Errorf("try again after %v", d)
	}
	if n := len(status.Convert(toStatus(&actor.Error{Kind: actor.Lost})).Details()); n != 1 {
		t.Errorf("%d details of an error that nobody knows the end of", n)
	}
}
