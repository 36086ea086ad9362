package launch

import (
	"bufio"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// TestProcessesOfABrowserEnd starts a process whose child outlives it and names no directory on its command line, like the renderer of a
// killed browser.
func TestProcessesOfABrowserEnd(t *testing.T) {
	cmd := exec.Command("sh", "-c", "sleep 1000 >/dev/null & echo $!; wait")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	child, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	leader := identify(cmd.Process.Pid)
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	if left := processesOf(leader.PID, nil); len(left) != 1 || left[0] != child {
		t.Errorf("the processes are %v, want %d", left, child)
	}
	endProcesses(leader)
	if left := processesOf(leader.PID, nil); len(left) != 0 {
		t.Errorf("processes are left: %v", left)
	}
}
