// Package limit restricts clients' use of the daemon: calls per second, streams, connections, and message sizes.
//
// Guarantees:
//
//   - Calls over a limit are refused immediately and never queued. The error is an *Exceeded that names the limit and suggests what to do
//     next.
//   - Refusing one client's calls does not affect other clients.
//   - Memory is bounded by the number of active clients. Idle clients are dropped when their allowance is full again.
//
// Limits starts no goroutine. Clients are identified by name: an identity, or a connection of the operator.
package limit

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// The names of the limits, used as the label of the metric and as "limit" in ErrorInfo.
const (
	Calls            = "calls"
	Streams          = "streams"
	StreamsPerClient = "streams_per_client"
	Connections      = "connections"
	Request          = "request_bytes"
	Response         = "response_bytes"
)

// Config configures the limits. Zero means no limit, except for message sizes.
type Config struct {
	// CallsPerSecond limits the average rate of one client's calls. Burst limits how many it may start at the same time; zero means twice
	// CallsPerSecond.
	CallsPerSecond float64
	Burst          int
	// Streams limits the open streams of all clients together. StreamsPerClient limits the concurrent streams of each client.
	Streams, StreamsPerClient int
	// Connections limits the open connections with an authorized call. Unix sockets and other networks are counted separately, so that
	// other clients cannot take the slots of the operator's socket.
	Connections int
	// RequestBytes and ResponseBytes limit the size of one message. Zero means 12 MiB and 64 MiB.
	RequestBytes, ResponseBytes int
}

func (c Config) withDefaults() Config {
	if c.RequestBytes == 0 {
		c.RequestBytes = 12 << 20
	}
	if c.ResponseBytes == 0 {
		c.ResponseBytes = 64 << 20
	}
	if c.Burst == 0 {
		c.Burst = int(min(2*c.CallsPerSecond, 1<<30))
	}
	c.Burst = max(c.Burst, 1)
	return c
}

// Check returns an error for a negative limit.
func (c Config) Check() error {
	for name, value := range map[string]float64{
		Calls: c.CallsPerSecond, "burst": float64(c.Burst), Streams: float64(c.Streams), StreamsPerClient: float64(c.StreamsPerClient),
		Connections: float64(c.Connections), Request: float64(c.RequestBytes), Response: float64(c.ResponseBytes),
	} {
		if !(value >= 0) { // also refuses NaN
			return fmt.Errorf("the limit %s is %v: it must not be negative", name, value)
		}
	}
	return nil
}

// Exceeded reports that a limit was reached.
type Exceeded struct {
	// Limit is the name of the limit. Max is its value.
	Limit, Max string
	// Client is the client whose limit was reached. It is empty for limits of the whole daemon.
	Client string
	// Message describes the error and suggests what to do next.
	Message string
	// Retry is the time to wait before a retry. It is zero if unknown, because it depends on other clients.
	Retry time.Duration
}

// Error returns the message.
func (e *Exceeded) Error() string { return e.Message }

// Limits tracks the usage of clients. Its methods are safe for concurrent use.
type Limits struct {
	cfg Config

	mu      sync.Mutex
	clients map[string]*client
	// sweepAt is the number of clients at which inactive ones are dropped.
	sweepAt int
	streams int
	// sockets and others count the connections that hold a slot, over unix sockets and over other networks.
	sockets, others int
}

// client is the usage of one client.
type client struct {
	calls   *rate.Limiter
	streams int
}

// minClients is the number of clients below which inactive ones are kept.
const minClients = 64

// New returns Limits without any usage.
func New(cfg Config) *Limits {
	return &Limits{cfg: cfg.withDefaults(), clients: map[string]*client{}, sweepAt: minClients}
}

// Config returns the limits in force, with defaults filled in.
func (l *Limits) Config() Config { return l.cfg }

// of returns the entry of a client, creating it if needed. The caller holds the lock.
func (l *Limits) of(name string) *client {
	if c := l.clients[name]; c != nil {
		return c
	}
	if len(l.clients) >= l.sweepAt {
		now := time.Now()
		for other, c := range l.clients {
			if c.streams == 0 && c.calls.TokensAt(now) >= float64(l.cfg.Burst) { // equals a new entry
				delete(l.clients, other)
			}
		}
		l.sweepAt = max(minClients, 2*len(l.clients))
	}
	c := &client{calls: rate.NewLimiter(rate.Limit(l.cfg.CallsPerSecond), l.cfg.Burst)}
	l.clients[name] = c
	return c
}

// Call takes one call from the allowance of a client.
func (l *Limits) Call(name string) error {
	if l.cfg.CallsPerSecond == 0 {
		return nil
	}
	now := time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.of(name).calls.ReserveN(now, 1)
	wait := r.DelayFrom(now)
	if wait == 0 {
		return nil
	}
	r.CancelAt(now)
	most := strconv.FormatFloat(l.cfg.CallsPerSecond, 'g', -1, 64)
	return &Exceeded{Limit: Calls, Max: most, Client: name, Retry: wait, Message: fmt.Sprintf(
		"more than %s calls a second: try again in %v, watch a stream instead of polling, or raise --max-calls-per-second of domtap serve", most, wait.Round(time.Millisecond)+time.Millisecond)}
}

// Stream counts a stream until the returned function is called. That function must be called once.
func (l *Limits) Stream(name string) (release func(), err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if most := l.cfg.Streams; most > 0 && l.streams >= most {
		return nil, &Exceeded{Limit: Streams, Max: strconv.Itoa(most), Message: fmt.Sprintf(
			"there are %d streams, which is the daemon's limit: end an unused stream, or raise --max-streams of domtap serve", l.streams)}
	}
	c := l.of(name)
	if most := l.cfg.StreamsPerClient; most > 0 && c.streams >= most {
		return nil, &Exceeded{Limit: StreamsPerClient, Max: strconv.Itoa(most), Client: name, Message: fmt.Sprintf(
			"this client has %d streams, which is the limit: end one first, share one stream among readers, or raise --max-streams-per-client of domtap serve", c.streams)}
	}
	l.streams++
	c.streams++
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.streams--
		c.streams--
	}, nil
}

// CheckAnswer returns an error if an answer of that size is too large.
func (l *Limits) CheckAnswer(bytes int) error {
	if bytes <= l.cfg.ResponseBytes {
		return nil
	}
	return &Exceeded{Limit: Response, Max: strconv.Itoa(l.cfg.ResponseBytes), Message: fmt.Sprintf(
		"the answer has %d bytes, and %d is the limit: ask for less (max_elements, root_ref, a smaller picture), or raise --max-response-bytes of domtap serve", bytes, l.cfg.ResponseBytes)}
}

// CheckRequest returns an error if a request of that size is too large.
func (l *Limits) CheckRequest(bytes int) error {
	if bytes <= l.cfg.RequestBytes {
		return nil
	}
	return &Exceeded{Limit: Request, Max: strconv.Itoa(l.cfg.RequestBytes), Message: fmt.Sprintf(
		"the request has %d bytes, and %d is the limit: send less per request, or raise --max-request-bytes of domtap serve", bytes, l.cfg.RequestBytes)}
}

// slot tracks whether a connection counts toward the limit.
type slot struct {
	// used points to the counter that applies to the connection.
	used        *int
	taken, gone bool
}

type slotKey struct{}

// WithSlot returns the context of a new connection. The connection's first authorized call takes a slot. socket reports whether the
// connection uses a unix socket.
func (l *Limits) WithSlot(ctx context.Context, socket bool) context.Context {
	s := &slot{used: &l.others}
	if socket {
		s.used = &l.sockets
	}
	return context.WithValue(ctx, slotKey{}, s)
}

// Disconnected frees the slot when the connection of the context is closed.
func (l *Limits) Disconnected(ctx context.Context) {
	s, _ := ctx.Value(slotKey{}).(*slot)
	if s == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	s.gone = true
	if s.taken {
		s.taken = false
		*s.used--
	}
}

// Connected takes a slot for the connection of an authorized call, unless the connection has one. It returns an error if no slot is free.
func (l *Limits) Connected(ctx context.Context) error {
	s, _ := ctx.Value(slotKey{}).(*slot)
	if s == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if s.taken || s.gone {
		return nil
	}
	if most := l.cfg.Connections; most > 0 && *s.used >= most {
		return &Exceeded{Limit: Connections, Max: strconv.Itoa(most), Message: fmt.Sprintf(
			"there are %d connections, which is the limit: use one connection for all calls of a program, close unused connections, or raise --max-connections of domtap serve", *s.used)}
	}
	s.taken = true
	*s.used++
	return nil
}
