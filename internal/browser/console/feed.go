package console

import (
	"sync/atomic"

	"github.com/domtap/domtap/internal/telemetry/pagelog"
)

// Feed is the log of one page, and what the page's events do to it.
type Feed struct {
	log      *pagelog.Log
	recorder *Recorder
	missed   [3]atomic.Uint64 // by pagelog.Kind
}

// NewFeed makes the log of a page; main and why are as in New.
func NewFeed(main string, why func(url string) string) *Feed {
	log := new(pagelog.Log)
	return &Feed{log: log, recorder: New(log, main, why)}
}

// Log is the log.
func (f *Feed) Log() *pagelog.Log { return f.log }

// Miss notes that an event was not queued because the page sends more than is handled.
func (f *Feed) Miss(kind pagelog.Kind) { f.missed[kind].Add(1) }

// Handled is what an event was about, beside the log.
type Handled struct {
	// Network says that the event is of the network, and Request what it says.
	Network bool
	Request Request
	// MissedNetwork says that events of the network were missed before: the end of any request may be among them.
	MissedNetwork bool
}

// Handle takes in an event. Events that no log is kept of are left alone.
func (f *Feed) Handle(method string, params []byte) (h Handled, err error) {
	kind, logged := Kind(method)
	if !logged {
		return h, nil
	}
	if n := f.missed[kind].Swap(0); n > 0 {
		f.log.Miss(kind, n)
		h.MissedNetwork = kind == pagelog.Network
	}
	switch kind {
	case pagelog.Console:
		f.recorder.Console(params)
	case pagelog.Failure:
		f.recorder.Failure(params)
	default:
		h.Network = true
		h.Request, err = f.recorder.Network(method, params)
	}
	return h, err
}
