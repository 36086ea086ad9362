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

// logger receives the server's log messages. NATS' own logger exits the process on a fatal error; this one reports the error to the caller
// of Start.
type logger struct {
	log *slog.Logger
	// secret is removed from the log, because the server prints addresses that contain it.
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

// Fatalf implements server.Logger. Only the first error is reported.
func (l *logger) Fatalf(format string, args ...any) {
	text := l.text(format, args)
	l.log.Error(text)
	select {
	case l.fatal <- errors.New(text):
	default:
	}
}

// Errorf implements server.Logger. The server continues after such errors, for example a refused route.
func (l *logger) Errorf(format string, args ...any) { l.warn(l.text(format, args)) }

// Warnf implements server.Logger.
func (l *logger) Warnf(format string, args ...any) { l.warn(l.text(format, args)) }

// warn logs a warning, unless it was already logged less than repeatAfter ago: the server retries an unreachable server four times a
// second.
func (l *logger) warn(text string) {
	left, ok := l.again(text, time.Now())
	switch {
	case ok && left > 0:
		l.log.Warn(text, "left_out", left)
	case ok:
		l.log.Warn(text)
	}
}

// Noticef implements server.Logger. Each start logs dozens of notices, so they are debug messages here.
func (l *logger) Noticef(format string, args ...any) { l.log.Debug(l.text(format, args)) }

// Debugf implements server.Logger.
func (l *logger) Debugf(format string, args ...any) { l.log.Debug(l.text(format, args)) }

// Tracef implements server.Logger. It drops traces, because they contain messages.
func (l *logger) Tracef(string, ...any) {}

const (
	// repeatAfter is how long repetitions of a text are suppressed.
	repeatAfter = time.Minute
	// maxRepeats limits how many texts are remembered.
	maxRepeats = 256
)

// counted matches the parts in which equivalent texts differ: the number of the attempt and the local port.
var counted = lazyregexp.New(`attempt \d+|:\d+->`)

// repeats remembers logged texts. The zero value is ready for use. Its method is safe for concurrent use.
type repeats struct {
	mu   sync.Mutex
	last map[string]*repeated
}

// repeated is a text that was logged.
type repeated struct {
	at time.Time
	// left counts the repetitions that were suppressed after that.
	left int
}

// again reports whether to log a text, and how many repetitions of it were suppressed.
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
