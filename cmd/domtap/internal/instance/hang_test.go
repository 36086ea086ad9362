//go:build unix

package instance

import (
	"context"
	"errors"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

func TestStopGivesUpWhenItsTimeIsOver(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "s")
	cmd := startDaemon(t, socket)
	if err := cmd.Process.Signal(syscall.SIGSTOP); err != nil { // so that the daemon cannot react
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := Stop(ctx, socket); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Stop of a process that hangs = %v", err)
	}
	end(t, cmd)
}
