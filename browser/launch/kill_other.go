//go:build !unix

package launch

import "os"

func running(pid int) bool {
	p, err := os.FindProcess(pid)
	return err == nil && p != nil
}

func killGroup(pid int) {
	if p, err := os.FindProcess(pid); err == nil {
		_ = p.Kill()
	}
}

func kill(p *os.Process) { _ = p.Kill() }

func killUsing(string) {}
