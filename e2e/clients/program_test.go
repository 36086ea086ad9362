package clients

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// answerLimit is how long a program may take to say what is waited for, on a slow machine.
const answerLimit = time.Minute

// program is one run of a client.
type program struct {
	t      *testing.T
	name   string
	cmd    *exec.Cmd
	errors complaints
	lines  chan string
	// log is what was read of lines.
	log []string
	// revisions are those that it said it is at, in order. The first is that of the state it began with, if any.
	revisions []uint64
}

// complaints are what a program says on its standard error.
type complaints struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (c *complaints) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.text.Write(b)
}

func (c *complaints) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.text.String()
}

// start runs a client. It is killed at the end of the test at the latest.
func start(t *testing.T, name string, args ...string) *program {
	t.Helper()
	p := &program{t: t, name: name, cmd: exec.Command(args[0], args[1:]...), lines: make(chan string, 1000)}
	p.cmd.Stderr = &p.errors
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(p.lines)
		for text := bufio.NewScanner(out); text.Scan(); {
			p.lines <- text.Text()
		}
	}()
	t.Cleanup(p.kill)
	return p
}

// next reads one line, and holds it against those before it; false: the program said its last.
func (p *program) next() (string, bool) {
	p.t.Helper()
	select {
	case text, ok := <-p.lines:
		if ok {
			p.log = append(p.log, text)
			p.judge(text)
		}
		return text, ok
	case <-time.After(answerLimit):
		p.fail("it says nothing")
		return "", false
	}
}

// await reads until so many lines began with a word, and returns the last of them.
func (p *program) await(word string, count int) string {
	p.t.Helper()
	for count > 0 {
		text, ok := p.next()
		if !ok {
			p.fail("it ended while %q was waited for", word)
		}
		if strings.HasPrefix(text, word) {
			if count--; count == 0 {
				return text
			}
		}
	}
	return ""
}

// judge sees to it that each diff leads from the revision before it.
func (p *program) judge(text string) {
	p.t.Helper()
	word, rest, _ := strings.Cut(text, ": ")
	var from, now uint64
	var err error
	switch word {
	case "following":
		if _, err = fmt.Sscanf(rest, p.tab()+" from revision %d", &now); err != nil {
			return // from the beginning
		}
	case "snapshot", "resync", "heartbeat":
		_, err = fmt.Sscanf(rest, "revision %d,", &now)
	case "diff":
		if _, err = fmt.Sscanf(rest, "%d -> revision %d,", &from, &now); err == nil && (len(p.revisions) == 0 || p.at() != from || now <= from) {
			p.fail("%q does not follow %v", text, p.revisions)
		}
	default:
		return
	}
	if err != nil {
		p.fail("%q cannot be read: %v", text, err)
	}
	p.revisions = append(p.revisions, now)
}

// at is the revision that it is at.
func (p *program) at() uint64 { return p.revisions[len(p.revisions)-1] }

// tab is the tab that it follows.
func (p *program) tab() string {
	for _, text := range p.log {
		if rest, found := strings.CutPrefix(text, "following: "); found {
			id, _, _ := strings.Cut(rest, " ")
			return id
		}
	}
	return ""
}

// kill ends it as a power failure would, and reads what it had said by then.
func (p *program) kill() {
	if p.cmd.ProcessState == nil {
		_ = p.cmd.Process.Kill()
		p.wait()
	}
}

// wait reads to its end and returns the exit code; -1: it was killed.
func (p *program) wait() int {
	for {
		if _, more := p.next(); !more {
			break
		}
	}
	var exit *exec.ExitError
	if err := p.cmd.Wait(); err != nil && !errors.As(err, &exit) {
		p.t.Error(err)
	}
	return p.cmd.ProcessState.ExitCode()
}

func (p *program) fail(format string, args ...any) {
	p.t.Helper()
	p.t.Fatalf("%s: %s\nit said:\n%s\n%s", p.name, fmt.Sprintf(format, args...), strings.Join(p.log, "\n"), p.errors.String())
}

// revisionOf reads the end of a line: following: t1 from revision 12
func revisionOf(text string) uint64 {
	n, _ := strconv.ParseUint(text[strings.LastIndexByte(text, ' ')+1:], 10, 64)
	return n
}
