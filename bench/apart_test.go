package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/rpc"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/domtap/domtap/internal/testenv"
)

// apartDir names the directory of a daemon that runs in a process of its own.
const apartDir = "DOMTAP_BENCH_APART"

// TestDaemonApart is such a daemon: what it costs is not mixed with what its clients and the benchmark cost. It is
// started by newSiteApart, and runs until its standard input ends.
func TestDaemonApart(t *testing.T) {
	dir := os.Getenv(apartDir)
	if dir == "" {
		t.Skip("it serves benchmarks")
	}
	d := testenv.StartDaemon(t)
	c := &control{site: &site{Daemon: d, b: t, cdp: newest(d)}}
	server := rpc.NewServer()
	if err := server.RegisterName("Control", c); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(d.Socket, filepath.Join(dir, "domtap")); err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("unix", filepath.Join(dir, "control"))
	if err != nil {
		t.Fatal(err)
	}
	conn, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan struct{})
	go func() {
		defer close(served)
		server.ServeConn(conn)
	}()
	_, _ = io.Copy(io.Discard, os.Stdin)
	_ = conn.Close()
	_ = listener.Close()
	<-served
}

// control is what a benchmark asks of a daemon apart, beside what clients can.
type control struct{ site *site }

// Command is a command to the page that was opened last.
type Command struct {
	Method string
	Params []byte
}

// Call gives the page a command.
func (c *control) Call(command Command, reply *[]byte) error {
	var raw json.RawMessage
	err := c.site.Browser.Newest().Call(c.site.b.Context(), command.Method, json.RawMessage(command.Params), &raw)
	*reply = raw
	return err
}

// Costs is what a daemon has used up.
type Costs struct {
	// Processor is the time of its process, without those of the browser.
	Processor time.Duration
	// Received is how many bytes came from the browser.
	Received int64
	// Waits is how often a thread has waited. Reads and Writes are system calls; 0 where the machine does not count them.
	Waits, Reads, Writes int64
}

// Costs returns the resources that the daemon has used so far.
func (c *control) Costs(_ struct{}, reply *Costs) error {
	processor, err := processorTime()
	*reply = Costs{Processor: processor, Received: int64(c.site.Browser.Received()), Waits: waits()}
	reply.Reads, reply.Writes = systemCalls()
	return err
}

// systemCalls returns how often this process has read and written; 0 where the machine does not count.
func systemCalls() (reads, writes int64) {
	counts, err := os.ReadFile("/proc/self/io")
	if err != nil {
		return 0, 0
	}
	for line := range strings.Lines(string(counts)) {
		_, _ = fmt.Sscanf(line, "syscr: %d", &reads)
		_, _ = fmt.Sscanf(line, "syscw: %d", &writes)
	}
	return reads, writes
}

// Floor is R, and what the page's clock shows more than ours.
type Floor struct{ RoundTrip, Offset time.Duration }

// Floor measures them as the daemon sees them.
func (c *control) Floor(_ struct{}, reply *Floor) error {
	*reply = Floor{c.site.roundTrip(), clockOffset(c.site)}
	return nil
}

// apart is a site whose daemon runs in a process of its own.
type apart struct {
	*site
	socket  string
	control *rpc.Client
}

// newSiteApart starts a daemon in a process of its own, and a server of pages in this one.
func newSiteApart(b *testing.B) *apart {
	b.Helper()
	dir := b.TempDir()
	command := exec.Command(os.Args[0], "-test.run=^TestDaemonApart$", "-test.timeout=30m")
	command.Env = append(os.Environ(), apartDir+"="+dir)
	command.Stderr = os.Stderr
	input, err := command.StdinPipe()
	if err == nil {
		err = command.Start()
	}
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = input.Close()
		if err := command.Wait(); err != nil {
			b.Errorf("the daemon apart: %v", err)
		}
	})
	a := &apart{socket: filepath.Join(dir, "domtap")}
	var conn net.Conn
	for begun := time.Now(); conn == nil; time.Sleep(20 * time.Millisecond) {
		if conn, err = net.Dial("unix", filepath.Join(dir, "control")); err != nil && time.Since(begun) > time.Minute {
			b.Fatal("the daemon apart does not answer: ", err)
		}
	}
	a.control = rpc.NewClient(conn)
	b.Cleanup(func() { _ = a.control.Close() })
	a.site = &site{Daemon: testenv.Dial(b, a.socket), b: b, url: servePages(b)}
	a.cdp = func(_ context.Context, method string, params, result any) error {
		raw, err := json.Marshal(params)
		if err != nil {
			return err
		}
		var reply []byte
		if err := a.control.Call("Control.Call", Command{method, raw}, &reply); err != nil || result == nil {
			return err
		}
		return json.Unmarshal(reply, result)
	}
	return a
}

func (a *apart) floor() Floor {
	a.b.Helper()
	var f Floor
	if err := a.control.Call("Control.Floor", struct{}{}, &f); err != nil {
		a.b.Fatal(err)
	}
	return f
}

func (a *apart) costs() Costs {
	a.b.Helper()
	var c Costs
	if err := a.control.Call("Control.Costs", struct{}{}, &c); err != nil {
		a.b.Fatal(err)
	}
	return c
}
