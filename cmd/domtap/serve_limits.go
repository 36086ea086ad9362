package main

import (
	"time"

	"github.com/spf13/pflag"

	"github.com/domtap/domtap/browser/page"
	"github.com/domtap/domtap/cmd/domtap/internal/exit"
	"github.com/domtap/domtap/rpc/listen"
	"github.com/domtap/domtap/traces"
)

// registerLimits defines what clients and pages may take.
func (s *serveFlags) registerLimits(f *pflag.FlagSet) {
	l := &s.Limits
	f.Float64Var(&l.CallsPerSecond, "max-calls-per-second", 2000, "how many calls a client may begin, on average; 0: any number")
	f.IntVar(&l.Burst, "max-calls-burst", 0, "how many calls a client may begin at once (default: twice --max-calls-per-second)")
	f.IntVar(&l.Streams, "max-streams", 4000, "how many streams may be open in all; 0: any number")
	f.IntVar(&l.StreamsPerClient, "max-streams-per-client", 1000, "how many streams one client may have open; 0: any number")
	f.IntVar(&l.Connections, "max-connections", 1000, "how many connections there may be; 0: any number")
	f.IntVar(&l.RequestBytes, "max-request-bytes", 12<<20, "how large a request may be")
	f.IntVar(&l.ResponseBytes, "max-response-bytes", listen.MaxMessage, "how large an answer may be, at most 64 MiB, which is what clients take")
	f.IntVar(&l.TabsPerClient, "max-tabs-per-client", 50, "how many tabs a named client may have (--clients), windows that pages open included")
	f.IntVar(&l.SessionsPerClient, "max-sessions-per-client", 25, "how many sessions a named client may have, its default one included")
	f.IntVar(&l.Mailbox, "mailbox", 64, "how many calls may wait for one tab")
	f.IntVar(&l.PageElements, "max-page-elements", page.MaxElements, "how many elements are kept of each document, at up to 1 KB each in the page; the rest is left out, and answers say so")
	f.DurationVar(&l.Idle.Tab, "tab-idle", 0, "close tabs that no call and no stream has used for so long, such as 8h; 0: never")
	f.DurationVar(&l.Idle.Session, "session-idle", 0, "close sessions, but the default one, of which nothing was used for so long, with their tabs; 0: never")
	f.DurationVar(&l.ExitIdle, "exit-idle", 30*time.Minute, "a daemon that a command has started ends when for so long there was no tab, no session but the default one and no connection; 0: never")
	f.StringVar(&s.Debug, "debug", "", "serve profiles (pprof) on this loopback address, such as 127.0.0.1:6060, to who has the token; empty: not")
	f.StringVar(&s.Traces, "otlp", "", "send OpenTelemetry traces to this collector, such as http://127.0.0.1:4317; $OTEL_* sets the rest; empty: none")
	alsoEnv(f, "otlp", "debug", "tab-idle", "session-idle", "exit-idle")
	alsoEnv(f, "max-calls-per-second", "max-calls-burst", "max-streams", "max-streams-per-client", "max-connections", "max-request-bytes", "max-response-bytes",
		"max-tabs-per-client", "max-sessions-per-client", "mailbox", "max-page-elements")
}

func (s *serveFlags) checkLimits() error {
	if err := s.Limits.Check(); err != nil {
		return exit.Errorf(exit.Usage, "domtap serve --help tells the defaults", "%w", err)
	}
	if s.Traces != "" {
		if err := traces.Check(s.Traces); err != nil {
			return exit.Errorf(exit.Usage, "for example --otlp http://127.0.0.1:4317", "--otlp: %w", err)
		}
	}
	s.Browser.PageElements = s.Limits.PageElements
	return nil
}
