package daemon

import (
	"context"
	"time"

	"github.com/domtap/domtap/actor/tabpool"
	"github.com/domtap/domtap/internal/server"
	"github.com/domtap/domtap/internal/telemetry/tracing"
)

// flushLimit limits how long sending the last spans takes.
const flushLimit = 3 * time.Second

// trace traces calls and turns. The caller calls stop at the end.
func (cfg Config) trace(ctx context.Context, tabs *tabpool.Config, calls *server.Config) (stop func(), err error) {
	t, err := tracing.New(ctx, cfg.Traces, cfg.Version)
	if err != nil {
		return nil, err
	}
	tabs.Tracer, calls.Traces = t, t.Calls()
	return func() {
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushLimit)
		defer cancel()
		if err := t.Close(closing); err != nil {
			cfg.Logger.Warn("the last traces were not sent", "error", err)
		}
	}, nil
}
