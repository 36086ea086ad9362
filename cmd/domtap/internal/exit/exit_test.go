package exit

import (
	"context"
	"errors"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

func TestTimeIsUpWhoeverSaysSoFirst(t *testing.T) {
	over, cancel := context.WithDeadline(t.Context(), time.Unix(0, 0))
	defer cancel()
	interrupted, interrupt := context.WithCancel(t.Context())
	interrupt()
	late, canceled := status.Error(codes.DeadlineExceeded, "late"), status.Error(codes.Canceled, "canceled")
	for _, c := range []struct {
		ctx  context.Context
		err  error
		want bool
	}{
		{t.Context(), late, true}, {over, canceled, true}, {over, nil, true}, {over, errors.New("any"), true},
		{t.Context(), canceled, false}, {t.Context(), nil, false}, {interrupted, canceled, false},
	} {
		if got := IsTimeUp(c.ctx, c.err); got != c.want {
			t.Errorf("with %v, of a call whose context says %v: %v", c.err, c.ctx.Err(), got)
		}
	}
}
