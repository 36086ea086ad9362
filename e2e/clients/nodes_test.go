package clients

import (
	"os/exec"
	"path/filepath"
	"testing"
)

// Clients with the addresses of several nodes continue at the next one when their node is permanently unavailable. They lose no change.
func TestClientsGoOnAtAnotherNode(t *testing.T) {
	examples := built(t)
	follow := filepath.Join(t.TempDir(), "follow")
	if text, err := exec.CommandContext(t.Context(), "go", "build", "-o", follow, "../../examples/go").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	s := newStage(t)
	for name, program := range map[string]string{
		"go": follow, "python": filepath.Join(examples, "python", "follow"), "typescript": filepath.Join(examples, "typescript", "follow"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			first, second := newLine(t, "tcp", s.next), newLine(t, "tcp", s.next)
			file := filepath.Join(t.TempDir(), "state.json")
			p := start(t, name, program, "--addr", first.addr()+","+second.addr(), "--token", s.token, "--state", file, "--click", "Start", s.page)
			p.await("diff: ", 5)
			first.cut(true) // permanently
			p.await("lost: ", 1)
			p.await("diff: ", 5)
			want := s.hold(t, p.tab())
			p.await("status: TAB_STATUS_CLOSED", 1)
			if code := p.wait(); code != 0 {
				p.fail("exit code %d", code)
			}
			same(t, name, read(t, file), want)
		})
	}
}
