//go:build unix

package soak

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/server"
)

const (
	// startLimit limits the start of the daemon and its browser. endLimit limits their end.
	startLimit = time.Minute
	endLimit   = 30 * time.Second
	// callLimit limits one call.
	callLimit = 20 * time.Second
)

// browserFlags let the page collect its garbage and read its exact heap size. They also block all hosts except this one.
var browserFlags = []string{
	"js-flags=--expose-gc", "enable-precise-memory-info",
	"host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
}

// daemon is a `domtap serve` process and a client for it.
type daemon struct {
	dir, socket, metrics string
	log                  *os.File
	cmd                  *exec.Cmd
	ended                chan error
	conn                 *grpc.ClientConn
	tabs                 domtapv1.TabServiceClient
	dom                  domtapv1.DomServiceClient
	actions              domtapv1.ActionServiceClient
}

// startDaemon starts the daemon with additional flags in its own directory, and waits until it answers.
func startDaemon(ctx context.Context, program string, flags ...string) (*daemon, error) {
	dir, err := os.MkdirTemp("", "soak")
	if err != nil {
		return nil, err
	}
	d := &daemon{dir: dir, socket: filepath.Join(dir, "s"), ended: make(chan error, 1)}
	if err := d.start(ctx, program, flags); err != nil {
		return nil, errors.Join(err, d.stop(context.WithoutCancel(ctx)))
	}
	return d, nil
}

func (d *daemon) start(ctx context.Context, program string, flags []string) (err error) {
	if d.metrics, err = freeAddress(ctx); err != nil {
		return err
	}
	if d.log, err = os.Create(filepath.Join(d.dir, "log")); err != nil {
		return err
	}
	args := []string{"serve", "--listen", "", "--socket", d.socket, "--state-dir", filepath.Join(d.dir, "state"), "--metrics", d.metrics, "--log-level", "warn"}
	for _, flag := range browserFlags {
		args = append(args, "--chrome-flag", flag)
	}
	d.cmd = exec.Command(program, append(args, flags...)...) // stop ends it in order
	d.cmd.Stderr = d.log
	d.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C must not reach the daemon, because soak stops it
	if err := d.cmd.Start(); err != nil {
		d.cmd = nil
		return fmt.Errorf("start the daemon: %w (make build builds it)", err)
	}
	go func() { d.ended <- d.cmd.Wait() }()
	if d.conn, err = d.dial(); err != nil {
		return err
	}
	d.tabs, d.dom, d.actions = domtapv1.NewTabServiceClient(d.conn), domtapv1.NewDomServiceClient(d.conn), domtapv1.NewActionServiceClient(d.conn)
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	if _, err := d.tabs.ListTabs(ctx, &domtapv1.ListTabsRequest{}, grpc.WaitForReady(true)); err != nil {
		return fmt.Errorf("the daemon does not answer: %w", err)
	}
	return nil
}

// freeAddress returns an address with a free port on the loopback interface.
func freeAddress(ctx context.Context) (string, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// dial creates a separate connection.
func (d *daemon) dial() (*grpc.ClientConn, error) {
	return grpc.NewClient("unix:"+d.socket, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(server.MaxMessage)))
}

// dialShared creates the connections that many clients share.
func (d *daemon) dialShared() (lines []*grpc.ClientConn, err error) {
	for range sharedConns {
		conn, err := d.dial()
		if err != nil {
			hangUp(lines)
			return nil, err
		}
		lines = append(lines, conn)
	}
	return lines, nil
}

func hangUp(lines []*grpc.ClientConn) {
	for _, conn := range lines {
		_ = conn.Close()
	}
}

// stop stops the daemon and everything it started, and removes its files.
func (d *daemon) stop(ctx context.Context) error {
	var errs []error
	if d.conn != nil {
		errs = append(errs, d.conn.Close())
	}
	if d.cmd != nil {
		family := descendants(d.cmd.Process.Pid)
		errs = append(errs, d.end(ctx))
		for _, pid := range family {
			if syscall.Kill(pid, 0) == nil && !ended(pid) {
				errs = append(errs, fmt.Errorf("process %d of the browser outlived the daemon", pid))
			}
		}
	}
	if d.log != nil {
		errs = append(errs, d.log.Close())
	}
	err := errors.Join(errs...)
	if text, _ := os.ReadFile(filepath.Join(d.dir, "log")); err != nil && len(text) > 0 {
		err = fmt.Errorf("%w\nthe daemon's log:\n%s", err, text)
	}
	return errors.Join(err, os.RemoveAll(d.dir))
}

// end requests the daemon to end, and kills it if it does not.
func (d *daemon) end(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, endLimit)
	defer cancel()
	_ = d.cmd.Process.Signal(syscall.SIGTERM) // if the process has already ended, Wait returns its error
	select {
	case err := <-d.ended:
		if err != nil {
			return fmt.Errorf("the daemon ended with: %w", err)
		}
		return nil
	case <-ctx.Done():
		_ = d.cmd.Process.Kill()
		return fmt.Errorf("the daemon did not end within %v: %w", endLimit, <-d.ended)
	}
}

// open opens the page.
func (d *daemon) open(ctx context.Context, url string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	r, err := d.tabs.OpenTab(ctx, &domtapv1.OpenTabRequest{Url: url, Timeout: durationpb.New(startLimit)})
	if err != nil {
		return "", fmt.Errorf("open the page: %w", err)
	}
	return r.GetTab().GetId(), nil
}

// all reads every element of the page.
func (d *daemon) all(ctx context.Context, tab string) ([]*domtapv1.Element, error) {
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	r, err := d.dom.GetDom(ctx, &domtapv1.GetDomRequest{TabId: tab, FullSnapshot: true})
	if err != nil {
		return nil, fmt.Errorf("read the page: %w", err)
	}
	return r.GetElements(), nil
}

// pressAttempts limits the clicks on a button when the page changes faster than it can be read.
const pressAttempts = 10

// press clicks the button with a name. It retries while the page changes faster than it can be read.
func (d *daemon) press(ctx context.Context, tab, name string) error {
	var err error
	for range pressAttempts {
		if err = d.pressOnce(ctx, tab, name); status.Code(err) != codes.Aborted {
			break
		}
	}
	return err
}

func (d *daemon) pressOnce(ctx context.Context, tab, name string) error {
	elements, err := d.all(ctx, tab)
	if err != nil {
		return err
	}
	for _, e := range elements {
		if e.GetRole() != "button" || e.GetText() != name {
			continue
		}
		ctx, cancel := context.WithTimeout(ctx, callLimit)
		defer cancel()
		click := &domtapv1.ClickStep{Target: &domtapv1.Target{Ref: &e.Ref}}
		_, err := d.actions.Interact(ctx, &domtapv1.InteractRequest{TabId: tab, Steps: []*domtapv1.Step{{Action: &domtapv1.Step_Click{Click: click}}}})
		if err != nil {
			return fmt.Errorf("click on %q: %w", name, err)
		}
		return nil
	}
	return fmt.Errorf("the page has no button %q", name)
}

// scrape reads the daemon's metrics by name, each summed over all labels.
func (d *daemon) scrape(ctx context.Context) (map[string]float64, error) {
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+d.metrics+"/metrics", nil)
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, fmt.Errorf("read the daemon's metrics: %w", err)
	}
	defer func() { _ = response.Body.Close() }()
	sums := map[string]float64{}
	lines := bufio.NewScanner(response.Body)
	for lines.Scan() {
		line := lines.Text()
		at := strings.LastIndexByte(line, ' ')
		if strings.HasPrefix(line, "#") || at < 0 {
			continue
		}
		name, _, _ := strings.Cut(line[:at], "{")
		value, err := strconv.ParseFloat(line[at+1:], 64)
		if err != nil {
			return nil, fmt.Errorf("read the daemon's metrics: %q: %w", line, err)
		}
		sums[name] += value
	}
	return sums, lines.Err()
}
