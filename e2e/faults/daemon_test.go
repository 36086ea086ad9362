package faults

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/journal"
	"github.com/domtap/domtap/internal/testenv"
)

// installed is the program with the directories of one daemon.
type installed struct {
	t              *testing.T
	program, state string
	// within is a command prefix that runs commands with a separate disk. root is the path of the disk's files for other commands. leave
	// ends the commands and removes the disk.
	within []string
	root   string
	leave  func()
}

func install(t *testing.T) *installed {
	t.Helper()
	p := &installed{t: t, program: testenv.Program(t)}
	state, err := os.MkdirTemp("", "domtap") // short, because it contains a socket
	if err != nil {
		t.Fatal(err)
	}
	p.state = state
	t.Cleanup(func() {
		if text, err := p.command("stop").CombinedOutput(); err != nil {
			t.Errorf("domtap stop: %v: %s", err, text)
		}
		if p.leave != nil {
			p.leave()
		}
		if left := testenv.Processes(state); len(left) > 0 {
			t.Errorf("processes are left: %q", left)
		}
		_ = os.RemoveAll(state)
	})
	return p
}

// command returns a command of the program.
func (p *installed) command(args ...string) *exec.Cmd {
	line := append(slices.Clone(p.within), append([]string{p.program}, args...)...)
	cmd := exec.Command(line[0], line[1:]...)
	for _, setting := range os.Environ() {
		if !strings.HasPrefix(setting, "DOMTAP_") || strings.HasPrefix(setting, "DOMTAP_CHROME") {
			cmd.Env = append(cmd.Env, setting)
		}
	}
	cmd.Env = append(cmd.Env, "DOMTAP_STATE_DIR="+p.state)
	return cmd
}

// run runs a command that must succeed.
func (p *installed) run(args ...string) string {
	p.t.Helper()
	text, err := p.command(args...).Output()
	if err != nil {
		if exit, ok := errors.AsType[*exec.ExitError](err); ok {
			text = append(text, exit.Stderr...)
		}
		p.t.Fatalf("domtap %q: %v: %s", args, err, text)
	}
	return strings.TrimSpace(string(text))
}

// served starts a daemon in the foreground, and returns when it listens. A command before that would start another daemon.
func (p *installed) served(args ...string) *exec.Cmd {
	p.t.Helper()
	cmd, log := p.start(args...)
	select {
	case <-log.heard:
	case <-time.After(limit):
		p.t.Fatalf("the daemon does not listen: %s", log.text.String())
	}
	return cmd
}

// start starts a daemon in the foreground. Its log shows when it listens.
func (p *installed) start(args ...string) (*exec.Cmd, *listening) {
	p.t.Helper()
	cmd := p.command(append([]string{"serve", "--listen="}, args...)...)
	log := &listening{heard: make(chan struct{})}
	cmd.Stderr = log
	if err := cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	return cmd, log
}

// listening receives the log of a daemon and detects when it listens.
type listening struct {
	text  bytes.Buffer
	heard chan struct{}
	done  bool
}

// Write implements io.Writer, for one goroutine.
func (l *listening) Write(data []byte) (int, error) {
	if l.done {
		return len(data), nil
	}
	l.text.Write(data)
	if bytes.Contains(l.text.Bytes(), []byte("msg=listening")) {
		l.done = true
		close(l.heard)
	}
	return len(data), nil
}

// tabs waits until all tabs are ready, and returns them by ID.
func (p *installed) tabs() map[string]tabState {
	p.t.Helper()
	for began := time.Now(); time.Since(began) < limit; {
		all, waiting := map[string]tabState{}, false
		for line := range strings.SplitSeq(p.run("tabs", "-o", "json"), "\n") {
			if line == "" {
				continue
			}
			var one tabState
			if err := json.Unmarshal([]byte(line), &one); err != nil {
				p.t.Fatalf("%q: %v", line, err)
			}
			all[one.ID] = one
			waiting = waiting || one.Status == "TAB_STATUS_RESTORING" || one.Status == "TAB_STATUS_LOADING"
		}
		if !waiting {
			return all
		}
	}
	p.t.Fatal("the tabs do not come back")
	return nil
}

type tabState struct{ ID, Status, URL, Title, Epoch string }

// TestTabsSurviveTheDaemon kills a daemon. The next daemon must have the tabs that were opened with restore. A daemon that is stopped
// instead forgets them.
func TestTabsSurviveTheDaemon(t *testing.T) {
	p := install(t)
	var fetched atomic.Int64
	url := testenv.Pages(t, site(&fetched))
	daemon := p.served("--allow-eval")
	kept := p.run("open", "-q", url+"/tall", "--restore", "--viewport", "900x700")
	other := p.run("open", "-q", url+"/tall")
	p.run("eval", "--tab", kept, `() => new Promise(done => { const go = () => { scrollTo(0, 1000); if (scrollY === 1000) done(1); else requestAnimationFrame(go) }; go() })`)
	p.run("dom", "--tab", kept)
	p.awaitJournal(t, `"scroll":[0,1000]`)
	before := p.tabs()[kept]
	kill(t, daemon)
	daemon = p.served("--allow-eval")
	now := p.tabs()
	if got := now[kept]; got.Status != "TAB_STATUS_READY" || got.URL != before.URL || got.Title != before.Title || got.Epoch == before.Epoch {
		t.Errorf("it came back as %+v, and was %+v", got, before)
	}
	if _, ok := now[other]; ok || len(now) != 1 {
		t.Errorf("there are %v", now)
	}
	if got := p.run("eval", "--tab", kept, `[scrollY, innerWidth]`); got != "[1000,900]" && got != "[1000, 900]" {
		t.Errorf("it is scrolled to, and wide: %s", got)
	}
	if fresh := p.run("open", "-q", url+"/tall"); fresh == kept {
		t.Errorf("tab %s is there again", fresh)
	}
	p.run("stop")
	_ = daemon.Wait()
	if left, _ := filepath.Glob(filepath.Join(p.state, "tabs-*")); len(left) > 0 {
		t.Errorf("a daemon that was stopped leaves %q", left)
	}
}

// awaitJournal waits until the journal contains a text.
func (p *installed) awaitJournal(t *testing.T, what string) {
	t.Helper()
	var text []byte
	for began := time.Now(); time.Since(began) < limit; {
		if paths, _ := filepath.Glob(filepath.Join(p.root, p.state, "tabs-????????")); len(paths) == 1 {
			if text, _ = os.ReadFile(paths[0]); strings.Contains(string(text), what) {
				return
			}
		}
		time.Sleep(10 * time.Millisecond) // a completed write triggers no event
	}
	t.Fatalf("the journal does not say %q: %s", what, text)
}

// kill ends a daemon with SIGKILL.
func kill(t *testing.T, daemon *exec.Cmd) {
	t.Helper()
	if err := daemon.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = daemon.Wait()
}

// TestADaemonMayBeKilledAtAnyMoment kills daemons at random moments of starting, opening, writing and stopping. Each time the next daemon
// must start, the journal must be intact, and no browser of an earlier daemon may remain.
func TestADaemonMayBeKilledAtAnyMoment(t *testing.T) {
	long := campaign(t)
	if long == 0 {
		t.Skip("set DOMTAP_FAULTS=10m to kill daemons for as long")
	}
	p := install(t)
	var fetched atomic.Int64
	url := testenv.Pages(t, site(&fetched))
	// No command is used, because it would start a daemon if none runs.
	conn, err := grpc.NewClient("unix:"+filepath.Join(p.state, "domtap.sock"), grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithConnectParams(grpc.ConnectParams{Backoff: backoff.Config{BaseDelay: 10 * time.Millisecond, Multiplier: 1, MaxDelay: 10 * time.Millisecond}, MinConnectTimeout: time.Second}))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	tabs := domtapv1.NewTabServiceClient(conn)
	killed := 0
	for began := time.Now(); time.Since(began) < long/4 || killed < 5; killed++ {
		daemon, _ := p.start("--max-tabs=20")
		after := time.Duration(rand.IntN(3000)) * time.Millisecond
		ctx, cancel := context.WithTimeout(t.Context(), after)
		for ctx.Err() == nil {
			if _, err := tabs.OpenTab(ctx, &domtapv1.OpenTabRequest{Url: url + "/counter", Restore: true}, grpc.WaitForReady(true)); status.Code(err) == codes.ResourceExhausted {
				<-ctx.Done()
			}
			if rand.IntN(8) == 0 {
				_ = daemon.Process.Signal(syscall.SIGTERM) // it is killed while it stops
				time.Sleep(time.Duration(rand.IntN(200)) * time.Millisecond)
				break
			}
		}
		cancel()
		_ = daemon.Process.Signal(syscall.SIGKILL)
		_ = daemon.Wait()
		p.wellFormed(t)
	}
	daemon := p.served()
	left := p.tabs()
	homes, err := filepath.Glob(filepath.Join(p.state, "browsers", "*", "owner.json"))
	if err != nil || len(homes) != 1 {
		t.Errorf("homes of browsers: %q, %v", homes, err)
	}
	t.Logf("killed %d daemons; the last one has %d tabs", killed, len(left))
	p.run("stop")
	_ = daemon.Wait()
}

// wellFormed checks the journal of a dead daemon.
func (p *installed) wellFormed(t *testing.T) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(p.root, p.state, "tabs-*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(path, ".new") {
			continue // the next daemon removes it
		}
		if _, err := journal.Decode(data); err != nil {
			t.Errorf("%s after a kill: %v", path, err)
		}
	}
}
