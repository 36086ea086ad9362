package launch

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/domtap/domtap/internal/lazyregexp"
)

// ErrNoSandbox reports that the browser exited because the machine does not support its sandbox.
var ErrNoSandbox = errors.New("this machine does not allow the browser's sandbox")

const (
	// maxOutput is how many bytes of a browser's output are kept.
	maxOutput = 16 << 10
	// maxWords is how many of these bytes an error quotes.
	maxWords = 160
)

// sandboxWords occur in Chromium's messages when it cannot create its sandbox.
var sandboxWords = []string{"No usable sandbox", "Failed to move to new namespace", "SUID sandbox helper", "setuid sandbox"}

var (
	// prefix matches the start of a Chromium log line: [pid:tid:date/time:LEVEL:file(line)].
	prefix = lazyregexp.New(`^\[[0-9:./]*:(?:VERBOSE[0-9]*|INFO|WARNING|ERROR|FATAL):[^\]]*\]\s*`)
	// noise matches lines that do not explain why a browser exited: a missing D-Bus, and stack frames.
	noise = lazyregexp.New(`:dbus/|^#[0-9]+ |^\s*(?:r[0-9a-z]+|e?fl|c?gf|trp|msk|cr2|erf): |^\[end of stack trace\]`)
)

// output keeps the end of a browser's output, for the error if the browser does not start.
type output struct {
	mu   sync.Mutex
	text []byte
}

// Write is called by chromedp.
func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.text = append(o.text, p...)
	if extra := len(o.text) - maxOutput; extra > 0 {
		o.text = append(o.text[:0], o.text[extra:]...)
	}
	return len(p), nil
}

// explain returns the error for a browser that did not start. It quotes the browser's last message.
func (o *output) explain(path string, err error) error {
	o.mu.Lock()
	words := exitReason(o.text)
	o.mu.Unlock()
	if ended, _, _ := strings.Cut(err.Error(), ":"); ended == "chrome failed to start" { // chromedp appends the whole output
		err = errors.New("it exited without output")
		if words != "" {
			err = fmt.Errorf("it exited and printed %q", words)
		}
	} else if words != "" {
		err = fmt.Errorf("%w; it printed %q", err, words)
	}
	for _, sign := range sandboxWords {
		if strings.Contains(words, sign) {
			return fmt.Errorf("start %s: %w: %w: allow user namespaces, or install the package chromium-sandbox", path, ErrNoSandbox, err)
		}
	}
	return fmt.Errorf("start %s: %w", path, err)
}

// exitReason returns the line of a browser's output that most likely explains its exit: the last fatal line, or else the last line.
func exitReason(text []byte) string {
	last, fatal := "", false
	for line := range bytes.Lines(text) {
		said := strings.TrimSpace(string(line))
		if said == "" || noise().MatchString(said) {
			continue
		}
		isFatal := strings.Contains(said, ":FATAL:")
		if isFatal || !fatal {
			last, fatal = prefix().ReplaceAllString(said, ""), isFatal
		}
	}
	if len(last) > maxWords {
		last = strings.ToValidUTF8(last[:maxWords], "") + "…"
	}
	return strings.ToValidUTF8(last, "\uFFFD")
}

// startHook is a standard input for a process. os/exec reads it after the process has started, and it returns EOF immediately.
type startHook func()

// Read is called by os/exec.
func (started startHook) Read([]byte) (int, error) {
	started()
	return 0, io.EOF
}
