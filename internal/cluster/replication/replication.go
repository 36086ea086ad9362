// Package replication lets any node serve those who watch a tab: the owner of the tab publishes it to the log of the cluster for as long
// as somebody at another node follows it, and each such node keeps one copy, which follows the log.
//
// An Owner is the side of the node that has the page. It publishes a tab from the first interest on until the last one ends or is not
// renewed; nothing runs for tabs in which nobody is interested. A Replicas is the side of the others: its tabs have the heads of the
// tab, so that views, budgets and resumption work on them as on any, and cost the owner nothing.
//
// What the package guarantees:
//
//   - A copy has the states of its tab in order, and never one of an owner that has lost its session: records carry the token of their
//     owner, and the log refuses what does not follow its newest record.
//   - A Watch returns when the copy has what the page was when Watch was called, or later.
//   - A copy whose owner cannot be reached for Silence, or cannot publish for Stall, ends, and says so; it never stays behind unnoticed
//     for longer.
//
// The package asks NATS nothing itself: see Log and Transport, which are interfaces so that faults can be tested. Callers owe Close.
package replication

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/domtap/domtap/actor"
)

const (
	// Renewal is how often interest in a tab is renewed, and Expiry how long it lasts without that.
	Renewal = time.Second
	Expiry  = 10 * time.Second
	// Silence is how long an owner may be silent before a copy of its tab ends, and Stall how long its log may be behind its page: the
	// election of a leader takes up to 8 seconds.
	Silence = 8 * time.Second
	Stall   = 20 * time.Second
	// maxDeltas is how many deltas follow a keyframe, and maxInterval how old a keyframe gets before another one is due: well below what
	// the log keeps.
	maxDeltas   = 200
	maxInterval = 5 * time.Minute
	// retryWait is how long a publisher waits before it asks a log again that did not answer.
	retryWait = 250 * time.Millisecond
)

// Tab is a tab of this node, as an *actor.Tab is one.
type Tab interface {
	ID() string
	Head() *actor.Head
	Watch(ctx context.Context, o actor.WatchOptions) (release func(), err error)
}

// written counts what was written to a Log.
type written struct{ records, bytes atomic.Int64 }

// countingLog is a Log whose records are counted.
type countingLog struct {
	Log
	written *written
}

func (l countingLog) Append(ctx context.Context, tab string, record []byte, keyframe bool, after uint64) (sequence uint64, err error) {
	sequence, err = l.Log.Append(ctx, tab, record, keyframe, after)
	if err == nil {
		l.written.records.Add(1)
		l.written.bytes.Add(int64(len(record)))
	}
	return sequence, err
}

// Log is the log of the cluster; see package logs, whose errors it returns.
type Log interface {
	Append(ctx context.Context, tab string, record []byte, keyframe bool, after uint64) (sequence uint64, err error)
	Last(ctx context.Context, tab string) (sequence uint64, record []byte, err error)
}
