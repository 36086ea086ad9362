package embedded

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/domtap/domtap/internal/lazyregexp"
)

// logger takes what the server logs. NATS' own logger ends the process where the server cannot go on; this one reports the reason
// to whoever waits for the server.
type logger struct {
	log *slog.Logger
	// secret is kept out of the log: the server prints addresses with it.
	secret string
	fatal  chan error
	repeats
}

func newLogger(log *slog.Logger, secret string) *logger {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &logger{log: log.With("component", "nats"), secret: secret, fatal: make(chan error, 1)}
}

func (l *logger) text(format string, args []any) string {
	return strings.ReplaceAll(fmt.Sprintf(format, args...), l.secret, "***")
}

// Fatalf implements server.Logger. The first reason is the one that counts.
func (l *logger) Fatalf(format string, args ...any) {
	text := l.text(format, args)
	l.log.Error(text)
	select {
	case l.fatal <- errors.New(text):
	default:
	}
}

// Errorf implements server.Logger. The server goes on after all of them, such as a route that is refused.
func (l *logger) Errorf(format string, args ...any) { l.warn(l.text(format, args)) }

// Warnf implements server.Logger.
func (l *logger) Warnf(format string, args ...any) { l.warn(l.text(format, args)) }

// warn logs a warning, unless it was logged less than repeatAfter ago: the server tries to reach one that is gone four times a second.
func (l *logger) warn(text string) {
	left, ok := l.again(text, time.Now())
	switch {
	case ok && left > 0:
		l.log.Warn(text, "left_out", left)
	case ok:
		l.log.Warn(text)
	}
}

// Noticef implements server.Logger. There are dozens of them for each start.
func (l *logger) Noticef(format string, args ...any) { l.log.Debug(l.text(format, args)) }

// Debugf implements server.Logger.
func (l *logger) Debugf(format string, args ...any) { l.log.Debug(l.text(format, args)) }

// Tracef implements server.Logger. Traces hold messages.
func (l *logger) Tracef(string, ...any) {}

const (
	// repeatAfter is how long a text that was logged is left out.
	repeatAfter = time.Minute
	// maxRepeats is how many texts are remembered.
	maxRepeats = 256
)

// counted is what makes texts differ that say the same: how often the server has tried, and the port from which it did.
var counted = lazyregexp.New(`attempt \d+|:\d+->`)

// repeats remembers what was logged. The zero value has nothing. Its method is safe for concurrent use.
type repeats struct {
	mu   sync.Mutex
	last map[string]*repeated
}

// repeated is a text that was logged.
type repeated struct {
	at time.Time
	// left is how often it was left out since then.
	left int
}

// again reports whether a text is to be logged, and how often it was left out before.
func (r *repeats) again(text string, now time.Time) (left int, ok bool) {
	text = counted().ReplaceAllString(text, "")
	r.mu.Lock()
	defer r.mu.Unlock()
	one := r.last[text]
	if one != nil && now.Sub(one.at) < repeatAfter {
		one.left++
		return 0, false
	}
	if one != nil {
		left = one.left
	}
	if r.last == nil || len(r.last) >= maxRepeats {
		r.last = map[string]*repeated{}
	}
	r.last[text] = &repeated{at: now}
	return left, true
}
