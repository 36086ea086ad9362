package replication

import "github.com/domtap/domtap/internal/cluster/logs"

// Over returns a Transport that uses a NATS log.
func Over(l *logs.Log) Transport { return over{l} }

type over struct{ *logs.Log }

// Follow calls Log.Follow and returns its result as a Follower.
func (o over) Follow(tab string, take func(sequence uint64, record []byte) error) Follower {
	return o.Log.Follow(tab, take)
}
