// Package replication lets any node serve watchers of a tab. The owner of the tab publishes it to the log of the cluster while other nodes
// follow it. Each of these nodes keeps one copy, which follows the log.
//
// An Owner runs on the node that has the page. It publishes a tab from the first interest until the last interest ends or expires. A tab
// without interests costs nothing. A Replicas runs on the other nodes. Its copies have the heads of the tab, so views, budgets and
// resumption work as on any tab, at no cost to the owner.
//
// What the package guarantees:
//
//   - A copy has the states of its tab in order. It never has a state of an owner that had lost its session: each record carries the
//     fencing token of its owner, and the log refuses a record that does not follow its newest one.
//   - Watch returns when the copy has the page's state at the time of the call, or a later one.
//   - A copy ends with an error if its owner cannot be reached for Silence or cannot publish for Stall. So it is never out of date for
//     longer without notice.
//
// The package does not use NATS directly. Log and Transport are interfaces so that faults can be tested. Callers must call Close.
package replication

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/domtap/domtap/actor"
)

const (
	// Renewal is the interval at which interest in a tab is renewed. Expiry is how long interest lasts without a renewal.
	Renewal = time.Second
	Expiry  = 10 * time.Second
	// Silence is how long an owner may fail to answer before a copy of its tab ends. Stall is how long the log may be behind the page
	// before the copy ends. The election of a leader takes up to 8 seconds.
	Silence = 8 * time.Second
	Stall   = 20 * time.Second
	// maxDeltas limits the number of deltas after a keyframe. maxInterval is the age of a keyframe at which the next one is due. Both are
	// well below what the log keeps.
	maxDeltas   = 200
	maxInterval = 5 * time.Minute
	// retryWait is how long a publisher waits before it repeats a request that the log did not answer.
	retryWait = 250 * time.Millisecond
)

// Tab is a tab of this node. *actor.Tab implements it.
type Tab interface {
	ID() string
	Head() *actor.Head
	Watch(ctx context.Context, o actor.WatchOptions) (release func(), err error)
}

// written counts the records and bytes written to a Log.
type written struct{ records, bytes atomic.Int64 }

// countingLog is a Log that counts its records.
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

// Log is the log of the cluster. It returns the errors of package logs.
type Log interface {
	Append(ctx context.Context, tab string, record []byte, keyframe bool, after uint64) (sequence uint64, err error)
	Last(ctx context.Context, tab string) (sequence uint64, record []byte, err error)
}
