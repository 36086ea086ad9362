// Package streaming sends the messages of streams to readers that may be slow. A stream is ended if a send blocks for SendTimeout.
package streaming

import (
	"sync"
	"time"
)

// Config sets up Streams.
type Config struct {
	// SendTimeout limits how long a send may block.
	SendTimeout time.Duration
	// Heartbeat is the time without a message after which a stream sends a heartbeat.
	Heartbeat time.Duration
	// StartTimeout limits how long the page may take to answer when a stream starts.
	StartTimeout time.Duration
	// Metrics counts what streams send. If nil, nothing is counted.
	Metrics Metrics
}

// Metrics counts what streams send. Its methods are called concurrently and must not block.
type Metrics interface {
	// Watching adds to the number of running streams of changes. by is negative when a stream ends.
	Watching(by int)
	// Sent records the delay between the page's newest change and the time at which gRPC accepted the message. folded is the number of
	// revisions that the message covers.
	Sent(after time.Duration, folded int)
	// Resynced counts a whole view that was sent instead of a diff. The number of different reasons is small.
	Resynced(reason string)
}

// Streams serves the streams of a server.
type Streams struct {
	cfg Config
	// running counts the work of streams. Work may outlive the handler of a slow reader.
	running sync.WaitGroup
}

// Config returns the settings of the streams.
func (s *Streams) Config() Config { return s.cfg }

// New returns Streams.
func New(cfg Config) *Streams { return &Streams{cfg: cfg} }

// Wait waits until all work of streams has ended. The contexts of all streams must have ended.
func (s *Streams) Wait() { s.running.Wait() }
