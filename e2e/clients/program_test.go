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

// answerLimit limits the wait for a line of a program, on a slow machine.
const answerLimit = time.Minute

// program is one run of a client.
type program struct {
	t      *testing.T
	name   string
	cmd    *exec.Cmd
	errors complaints
	lines  chan string
	// log holds the lines that were read.
	log []string
	// revisions lists the revisions that the program reported, in order. The first one may come from the saved state.
	revisions []uint64
}

// complaints is the output of a program on standard error.
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

// start runs a client. The end of the test kills it if it still runs.
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

// next reads one line and compares it with the earlier lines. It returns false at the end of the output.
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

// await reads until the given number of lines started with word, and returns the last of them.
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

// judge checks that each diff follows the previous revision.
func (p *program) judge(text string) {
	p.t.Helper()
	word, rest, _ := strings.Cut(text, ": ")
	var from, now uint64
	var err error
	switch word {
	case "following":
		if _, err = fmt.Sscanf(rest, p.tab()+" from revision %d", &now); err != nil {
			return // a complete snapshot
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

// at returns the last reported revision.
func (p *program) at() uint64 { return p.revisions[len(p.revisions)-1] }

// tab returns the tab that the program follows.
func (p *program) tab() string {
	for _, text := range p.log {
		if rest, found := strings.CutPrefix(text, "following: "); found {
			id, _, _ := strings.Cut(rest, " ")
			return id
		}
	}
	return ""
}

// kill ends the program with SIGKILL, like a power failure, and reads its remaining output.
func (p *program) kill() {
	if p.cmd.ProcessState == nil {
		_ = p.cmd.Process.Kill()
		p.wait()
	}
}

// wait reads the remaining output and returns the exit code, or -1 if the program was killed.
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

// revisionOf parses the revision at the end of a line: following: t1 from revision 12
func revisionOf(text string) uint64 {
	n, _ := strconv.ParseUint(text[strings.LastIndexByte(text, ' ')+1:], 10, 64)
	return n
}
