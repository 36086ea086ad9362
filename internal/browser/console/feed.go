package console

import (
	"sync/atomic"

	"github.com/domtap/domtap/internal/telemetry/pagelog"
)

// Feed is the log of one page. It handles the page's log events.
type Feed struct {
	log      *pagelog.Log
	recorder *Recorder
	missed   [3]atomic.Uint64 // by pagelog.Kind
}

// NewFeed returns the log of a page. main and why are as in New.
func NewFeed(main string, why func(url string) string) *Feed {
	log := new(pagelog.Log)
	return &Feed{log: log, recorder: New(log, main, why)}
}

// Log returns the log.
func (f *Feed) Log() *pagelog.Log { return f.log }

// CountDropped records that an event was dropped because the page sends more than can be handled.
func (f *Feed) CountDropped(kind pagelog.Kind) { f.missed[kind].Add(1) }

// Handled describes a handled event.
type Handled struct {
	// Network is set for a network event. Request is its content.
	Network bool
	Request Request
	// MissedNetwork is set if network events were dropped before this one. Any request may have ended in them.
	MissedNetwork bool
}

// Handle handles an event. It ignores events that no log records.
func (f *Feed) Handle(method string, params []byte) (h Handled, err error) {
	kind, logged := Kind(method)
	if !logged {
		return h, nil
	}
	if n := f.missed[kind].Swap(0); n > 0 {
		f.log.CountDropped(kind, n)
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
