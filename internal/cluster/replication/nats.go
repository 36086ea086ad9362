package replication

import "github.com/domtap/domtap/internal/cluster/logs"

// LogTransport returns a Transport that uses a NATS log.
func LogTransport(l *logs.Log) Transport { return logTransport{l} }

type logTransport struct{ *logs.Log }

// Follow calls Log.Follow and returns its result as a Follower.
func (o logTransport) Follow(tab string, take func(sequence uint64, record []byte) error) Follower {
	return o.Log.Follow(tab, take)
}
