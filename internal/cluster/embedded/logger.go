package embedded

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
)

// logger takes what the server logs. NATS' own logger ends the process where the server cannot go on; this one reports the reason
// to whoever waits for the server.
type logger struct {
	log *slog.Logger
	// secret is kept out of the log: the server prints addresses with it.
	secret string
	fatal  chan error
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
func (l *logger) Errorf(format string, args ...any) { l.log.Warn(l.text(format, args)) }

// Warnf implements server.Logger.
func (l *logger) Warnf(format string, args ...any) { l.log.Warn(l.text(format, args)) }

// Noticef implements server.Logger. There are dozens of them for each start.
func (l *logger) Noticef(format string, args ...any) { l.log.Debug(l.text(format, args)) }

// Debugf implements server.Logger.
func (l *logger) Debugf(format string, args ...any) { l.log.Debug(l.text(format, args)) }

// Tracef implements server.Logger. Traces hold messages.
func (l *logger) Tracef(string, ...any) {}
