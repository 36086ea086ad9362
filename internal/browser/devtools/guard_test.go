package devtools

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto"
	cdpinput "github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/runtime"
)

var errOver = errors.New("the lease is over")

// lease is a lease that the test ends.
type lease struct{ over atomic.Bool }

func (l *lease) check() error {
	if l.over.Load() {
		return errOver
	}
	return nil
}

// key is a command that acts on the page.
var key = Step{Method: cdpinput.CommandInsertText, Params: cdpinput.InsertTextParams{Text: "x"}}

func TestAGuardIsAskedBeforeEachCommandThatActs(t *testing.T) {
	onWire(t, func(t *testing.T, browser *wire, page Session) {
		var l lease
		page.Guard = new(Guard)
		run := func(s Step) error {
			done := make(chan error, 1)
			go func() { done <- page.Run(t.Context(), s) }()
			select {
			case command := <-browser.commands:
				browser.answer(command, "{}", nil)
				return <-done
			case err := <-done:
				return err
			}
		}
		if err := run(key); err != nil {
			t.Errorf("before the guard is set: %v", err)
		}
		page.Guard.Set(l.check)
		if err := run(key); err != nil {
			t.Errorf("while the lease is held: %v", err)
		}
		l.over.Store(true)
		if err := run(key); !errors.Is(err, errOver) {
			t.Errorf("after its end: %v", err)
		}
		if err := run(Step{Method: runtime.CommandEvaluate}); err != nil {
			t.Errorf("what does not act: %v", err)
		}
		if n := len(browser.commands); n > 0 {
			t.Errorf("%d commands were sent that were refused", n)
		}
	})
}

// pipes returns a Conn over a Pipe, and the browser's ends of the pipe.
func pipes(t *testing.T) (conn *Conn, commands, answers *os.File) {
	t.Helper()
	var ends [4]*os.File
	for i := 0; i < len(ends); i += 2 {
		var err error
		if ends[i], ends[i+1], err = os.Pipe(); err != nil {
			t.Fatal(err)
		}
	}
	conn = New(t.Context(), NewPipe(ends[2], ends[1]), newWire(), func(*cdproto.Message) {})
	t.Cleanup(func() {
		for _, end := range ends {
			_ = end.Close()
		}
		conn.Close()
	})
	return conn, ends[0], ends[3]
}

// TestWhatIsHeldBackIsAskedAboutAgain checks that a held command is dropped when the lease ends, while commands of others are written.
func TestWhatIsHeldBackIsAskedAboutAgain(t *testing.T) {
	conn, commands, answers := pipes(t)
	var l lease
	page := Session{Conn: conn, ID: "page", Guard: new(Guard)}
	page.Guard.Set(l.check)
	other := Session{Conn: conn, ID: "other"}
	var first, second, seen, late *Call
	err := conn.batch(func() (err error) {
		for _, c := range []struct {
			to   **Call
			by   Session
			step Step
		}{{&first, page, key}, {&seen, other, Step{Method: "Other.one"}}, {&second, page, key}, {&late, other, Step{Method: "Other.two"}}} {
			if *c.to, err = c.by.Send(t.Context(), c.step.Method, c.step.Params); err != nil {
				return err
			}
		}
		l.over.Store(true)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range []*Call{first, second} {
		if err := k.Wait(t.Context(), nil); !errors.Is(err, errOver) {
			t.Errorf("a command that was held back: %v", err)
		}
	}
	wrote := read(t, commands, 2)
	if strings.Contains(wrote, key.Method) || !strings.Contains(wrote, "Other.one") || !strings.Contains(wrote, "Other.two") {
		t.Errorf("the browser got %s", wrote)
	}
	if err := page.Run(t.Context(), key); !errors.Is(err, errOver) {
		t.Errorf("the next one: %v", err)
	}
	l.over.Store(false)
	done := make(chan error, 1)
	go func() { done <- page.Run(t.Context(), key, key) }()
	if wrote := read(t, commands, 2); strings.Count(wrote, key.Method) != 2 {
		t.Errorf("the browser got %s", wrote)
	}
	_ = answers.Close() // no response arrives
	if err := <-done; !errors.Is(err, ErrLost) {
		t.Errorf("calls that nobody answers: %v", err)
	}
}

// read reads the given number of messages. It fails if the browser receives more or fewer.
func read(t *testing.T, commands *os.File, messages int) string {
	t.Helper()
	if err := commands.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	var all []byte
	chunk := make([]byte, 4096)
	for bytes.Count(all, []byte{0}) < messages {
		n, err := commands.Read(chunk)
		if all = append(all, chunk[:n]...); err != nil && err != io.EOF {
			t.Fatalf("%v after %q", err, all)
		}
	}
	if n := bytes.Count(all, []byte{0}); n != messages {
		t.Errorf("the browser got %d messages, and not %d: %q", n, messages, all)
	}
	return string(all)
}
