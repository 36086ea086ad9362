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

// apartDir names the environment variable with the directory of a daemon in a separate process.
const apartDir = "DOMTAP_BENCH_APART"

// TestDaemonApart runs such a daemon. Its costs are not mixed with the costs of its clients and the benchmark. newSiteApart starts it, and
// it runs until its standard input ends.
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

// control serves requests of a benchmark to a separate daemon, in addition to the API of clients.
type control struct{ site *site }

// Command is a CDP command to the page that was opened last.
type Command struct {
	Method string
	Params []byte
}

// Call sends a command to the page.
func (c *control) Call(command Command, reply *[]byte) error {
	var raw json.RawMessage
	err := c.site.Browser.Newest().Call(c.site.b.Context(), command.Method, json.RawMessage(command.Params), &raw)
	*reply = raw
	return err
}

// Costs are the resources that a daemon has used.
type Costs struct {
	// Processor is the processor time of the daemon's process, without the browser's processes.
	Processor time.Duration
	// Received is the number of bytes received from the browser.
	Received int64
	// Waits counts how often a thread has waited. Reads and Writes count system calls. They are 0 on machines that do not count them.
	Waits, Reads, Writes int64
}

// Costs returns the resources that the daemon has used so far.
func (c *control) Costs(_ struct{}, reply *Costs) error {
	processor, err := processorTime()
	*reply = Costs{Processor: processor, Received: int64(c.site.Browser.Received()), Waits: waits()}
	reply.Reads, reply.Writes = systemCalls()
	return err
}

// systemCalls returns how many read and write system calls this process has made, or 0 on machines that do not count them.
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

// Floor is the round-trip time R, and how far the page's clock is ahead of ours.
type Floor struct{ RoundTrip, Offset time.Duration }

// Floor measures these values in the daemon's process.
func (c *control) Floor(_ struct{}, reply *Floor) error {
	*reply = Floor{c.site.roundTrip(), clockOffset(c.site)}
	return nil
}

// apart is a site whose daemon runs in a separate process.
type apart struct {
	*site
	socket  string
	control *rpc.Client
}

// newSiteApart starts a daemon in a separate process, and a server of pages in this process.
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
