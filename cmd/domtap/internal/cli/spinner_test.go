package cli

import (
	"bytes"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// screen returns what a terminal with one line shows after receiving a text.
func screen(sent string) string {
	var line []rune
	at := 0
	for _, r := range sent {
		if r == '\r' {
			at = 0
			continue
		}
		for len(line) <= at {
			line = append(line, ' ')
		}
		line[at] = r
		at++
	}
	return strings.TrimRight(string(line), " ")
}

// locked is a buffer that a test can read while the spinner writes.
type locked struct {
	mu  sync.Mutex
	all bytes.Buffer
}

func (l *locked) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all.Write(p)
}

func (l *locked) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all.String()
}

func TestASpinnerSaysWhatACommandWaitsFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var sent locked
		e := &Env{Err: &sent, Columns: func() int { return 80 }}
		done := e.Waiting("loading\x1b[31m\nhttps://a.test/")
		time.Sleep(spinAfter - 1)
		synctest.Wait()
		if sent.String() != "" {
			t.Errorf("after less than half a second: %q", sent.String())
		}
		time.Sleep(2 * time.Nanosecond)
		synctest.Wait()
		if got := screen(sent.String()); !strings.HasPrefix(got, "| loading") || !strings.HasSuffix(got, "https://a.test/ (0s)") || strings.ContainsAny(got, "\x1b\n") {
			t.Errorf("the terminal shows %q", got)
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if got := screen(sent.String()); !strings.HasSuffix(got, "(2s)") {
			t.Errorf("after two seconds: %q", got)
		}
		done()
		if got := screen(sent.String()); got != "" {
			t.Errorf("left on the terminal: %q", got)
		}
	})
}

func TestASpinnerWhereNobodyLooksOrNothingTakesLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, columns := range map[string]func() int{"none": nil, "no terminal": func() int { return 0 }, "narrow": func() int { return leastColumns - 1 }} {
			var sent bytes.Buffer
			done := (&Env{Err: &sent, Columns: columns}).Waiting("loading")
			time.Sleep(time.Minute)
			done()
			if sent.Len() > 0 {
				t.Errorf("%s: %q", name, sent.String())
			}
		}
		var sent bytes.Buffer
		(&Env{Err: &sent, Columns: func() int { return 80 }}).Waiting("loading")()
		if sent.Len() > 0 {
			t.Errorf("at once: %q", sent.String())
		}
	})
}

// A line that wraps could not be erased.
func TestASpinnerFitsItsTerminal(t *testing.T) {
	for _, what := range []string{strings.Repeat("x", 300), strings.Repeat("漢", 300), "short", ""} {
		for limit := leastColumns - 1; limit < 100; limit++ {
			line, width := spinLine(3, what, 123*time.Second, limit)
			if width > limit || !strings.HasSuffix(line, " (123s)") {
				t.Fatalf("%d columns: %q takes %d", limit, line, width)
			}
		}
	}
}

func TestColumnsOfWhatIsNoTerminal(t *testing.T) {
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = null.Close() }()
	if got := ColumnsOf(null, "xterm"); got != 0 {
		t.Errorf("the null device has %d columns", got)
	}
	if got := ColumnsOf(new(bytes.Buffer), "xterm"); got != 0 {
		t.Errorf("a buffer has %d columns", got)
	}
}
