package deadline

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"

	"google.golang.org/protobuf/types/known/durationpb"
)

func TestDeadlineOfUnaryCalls(t *testing.T) {
	left := func(ctx context.Context, req any) time.Duration {
		var deadline time.Time
		_, err := Unary(30*time.Second)(ctx, req, nil, func(ctx context.Context, _ any) (any, error) {
			deadline, _ = ctx.Deadline()
			return nil, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return time.Until(deadline)
	}
	synctest.Test(t, func(t *testing.T) {
		short, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		tiny, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		long, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		timed := &domtapv1.NavigateRequest{Timeout: durationpb.New(time.Minute)}
		for _, c := range []struct {
			name string
			ctx  context.Context
			req  any
			want time.Duration
		}{
			{"none", t.Context(), &domtapv1.NavigateRequest{}, 30 * time.Second},
			{"the client's", short, &domtapv1.NavigateRequest{}, 900 * time.Millisecond},
			{"a very short one of the client", tiny, &domtapv1.GetDomRequest{}, 75 * time.Millisecond},
			{"a long one of the client", long, &domtapv1.NavigateRequest{}, 30 * time.Second},
			{"a long one of the client, for a read", long, &domtapv1.GetDomRequest{}, 30 * time.Second},
			{"a long one of the client, for a wait", long, &domtapv1.WaitForRequest{}, 30 * time.Second},
			{"a long one of the client, for a turn", long, &domtapv1.InteractRequest{}, 5 * time.Minute},
			{"a long one of the client, for a print", long, &domtapv1.PdfRequest{}, 5 * time.Minute},
			{"none, for a print", t.Context(), &domtapv1.PdfRequest{}, 30 * time.Second},
			{"none, for a turn", t.Context(), &domtapv1.InteractRequest{}, 30 * time.Second},
			{"the request's before the client's", long, timed, 65 * time.Second},
			{"the request's", t.Context(), timed, 65 * time.Second},
			{"the client's before the request's", short, timed, 900 * time.Millisecond},
			{"the request's at most", t.Context(), &domtapv1.NavigateRequest{Timeout: durationpb.New(5 * time.Minute)}, 5 * time.Minute},
		} {
			if got := left(c.ctx, c.req); got != c.want {
				t.Errorf("%s: %v, want %v", c.name, got, c.want)
			}
		}
	})
}
