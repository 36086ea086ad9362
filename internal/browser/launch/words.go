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

// ErrNoSandbox says that the browser ended because the machine gives it nothing to make its sandbox of.
var ErrNoSandbox = errors.New("this machine refuses the browser its sandbox")

const (
	// maxOutput is how much is kept of what a browser prints, in bytes.
	maxOutput = 16 << 10
	// maxWords is how much of that an error quotes.
	maxWords = 160
)

// sandboxWords are in what Chromium says when it cannot make its sandbox.
var sandboxWords = []string{"No usable sandbox", "Failed to move to new namespace", "SUID sandbox helper", "setuid sandbox"}

var (
	// prefix is what Chromium's logger puts before a message: [pid:tid:date/time:LEVEL:file(line)].
	prefix = lazyregexp.New(`^\[[0-9:./]*:(?:VERBOSE[0-9]*|INFO|WARNING|ERROR|FATAL):[^\]]*\]\s*`)
	// noise are lines that say nothing of why a browser ended: the bus that a server has not, the frames of a stack.
	noise = lazyregexp.New(`:dbus/|^#[0-9]+ |^\s*(?:r[0-9a-z]+|e?fl|c?gf|trp|msk|cr2|erf): |^\[end of stack trace\]`)
)

// output keeps the end of what a browser printed, for the error when it does not start.
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

// explain says why a browser did not start, with its own last words.
func (o *output) explain(path string, err error) error {
	o.mu.Lock()
	words := lastWords(o.text)
	o.mu.Unlock()
	if ended, _, _ := strings.Cut(err.Error(), ":"); ended == "chrome failed to start" { // chromedp adds all that was printed
		err = errors.New("it ended without a word")
		if words != "" {
			err = fmt.Errorf("it ended, and said %q", words)
		}
	} else if words != "" {
		err = fmt.Errorf("%w; it said %q", err, words)
	}
	for _, sign := range sandboxWords {
		if strings.Contains(words, sign) {
			return fmt.Errorf("start %s: %w: %w: allow user namespaces, or install the package chromium-sandbox", path, ErrNoSandbox, err)
		}
	}
	return fmt.Errorf("start %s: %w", path, err)
}

// lastWords is the line of a browser's output that says most likely why it ended: the last fatal one, or else the last one.
func lastWords(text []byte) string {
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

// afterStart is a standard input for a process: os/exec reads it when the process has started, and at once finds its end.
type afterStart func()

// Read is called by os/exec.
func (started afterStart) Read([]byte) (int, error) {
	started()
	return 0, io.EOF
}
