package replication

import "github.com/domtap/domtap/internal/cluster/logs"

// Over returns the way over a log of NATS.
func Over(l *logs.Log) Transport { return over{l} }

type over struct{ *logs.Log }

// Follow has the interface as its result.
func (o over) Follow(tab string, take func(sequence uint64, record []byte) error) Follower {
	return o.Log.Follow(tab, take)
}
