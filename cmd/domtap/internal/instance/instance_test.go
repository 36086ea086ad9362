package instance

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// playDaemon is the variable that turns the test binary into a daemon on the socket that it names.
const playDaemon = "INSTANCE_TEST_SOCKET"

func TestMain(m *testing.M) {
	if socket := os.Getenv(playDaemon); socket != "" {
		os.Exit(daemon(socket))
	}
	os.Exit(m.Run())
}

// daemon holds a claim until SIGTERM.
func daemon(socket string) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	claim, err := Acquire(socket, "v1.2.3")
	if err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println("claimed")
	<-ctx.Done()
	if err := claim.Release(); err != nil {
		return 1
	}
	return 0
}

// startDaemon starts a process that holds the claim of a socket.
func startDaemon(t *testing.T, socket string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), playDaemon+"="+socket)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "claimed\n" {
		t.Fatalf("the daemon said %q, %v", line, err)
	}
	return cmd
}

func TestUnclaimedSocketHasNoHolder(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "s")
	if d, err := Holder(socket); d != (Daemon{}) || err != nil {
		t.Errorf("Holder without a lock file = %+v, %v", d, err)
	}
	if pid, err := Stop(t.Context(), socket); pid != 0 || err != nil {
		t.Errorf("Stop without a lock file = %d, %v", pid, err)
	}
}

func TestAcquireNeedsTheDirectory(t *testing.T) {
	if _, err := Acquire(filepath.Join(t.TempDir(), "none", "s"), ""); err == nil {
		t.Error("a claim in a directory that does not exist")
	}
}

func TestASecondProcessIsTurnedAway(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "s")
	cmd := startDaemon(t, socket)
	_, err := Acquire(socket, "")
	var taken *TakenError
	if !errors.As(err, &taken) || taken.PID != cmd.Process.Pid {
		t.Errorf("Acquire = %v, want a TakenError with process id %d", err, cmd.Process.Pid)
	}
	want := Daemon{PID: cmd.Process.Pid, Version: "v1.2.3"}
	if d, err := Holder(socket); d != want || err != nil {
		t.Errorf("Holder = %+v, %v; want %+v", d, err, want)
	}
	end(t, cmd)
}

func TestStopWaitsForTheEnd(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "s")
	cmd := startDaemon(t, socket)
	if pid, err := Stop(t.Context(), socket); pid != cmd.Process.Pid || err != nil {
		t.Errorf("Stop = %d, %v; want %d", pid, err, cmd.Process.Pid)
	}
	if claim, err := Acquire(socket, ""); err != nil {
		t.Errorf("the claim is not free after Stop: %v", err)
	} else if err := claim.Release(); err != nil {
		t.Error(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("the daemon did not end in good order: %v", err)
	}
}

func TestAKilledDaemonLeavesNoClaim(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "s")
	end(t, startDaemon(t, socket))
	if d, err := Holder(socket); d != (Daemon{}) || err != nil {
		t.Errorf("Holder after SIGKILL = %+v, %v", d, err)
	}
}

func TestALongVersionIsCut(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "s")
	claim, err := Acquire(socket, strings.Repeat("v", 1000))
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(lockPath(socket)); err != nil || info.Size() != maxVersion {
		t.Errorf("the file has %d bytes, want %d (%v)", info.Size(), maxVersion, err)
	}
	if err := claim.Release(); err != nil {
		t.Error(err)
	}
}

// end kills a process and waits for it.
func end(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // Wait reports that the process was killed
}
