package launch

import (
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/windows"
)

// startTime is when a process started; empty when that is not told, for example because it has ended.
func startTime(pid int) string {
	process, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(pid))
	if err != nil {
		return ""
	}
	defer func() { _ = windows.CloseHandle(process) }()
	var created, exited, kernel, user windows.Filetime
	if windows.GetProcessTimes(process, &created, &exited, &kernel, &user) != nil {
		return ""
	}
	return strconv.FormatInt(created.Nanoseconds(), 10)
}

// running reports whether a process exists, whose start time was right.
func running(pid int) bool {
	const stillActive = 259
	process, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(pid))
	if err != nil {
		return false
	}
	defer func() { _ = windows.CloseHandle(process) }()
	var code uint32
	return windows.GetExitCodeProcess(process, &code) == nil && code == stillActive
}

// killGroup ends a browser. Its other processes end with it, and those of a daemon that died have ended by its job.
func killGroup(pid int) {
	if p, err := os.FindProcess(pid); err == nil {
		_ = p.Kill() // it may have ended
	}
}

// ended reports whether a process is gone.
func ended(pid int) bool { return !running(pid) }

// groupOf is 0: there are no process groups.
func groupOf(int) int { return 0 }

// killAll does nothing: the processes of a browser are not found here, and end with the job.
func killAll([]int) {}

// bind puts this process, and with it every process that it starts from now on, into a job that ends when this process does: the
// system closes the job's only handle then. So nothing is left of a daemon that is killed.
func bind() error {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return fmt.Errorf("make a job for the browser: %w", err)
	}
	var limits windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	limits.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	if err := setLimits(job, &limits); err != nil {
		_ = windows.CloseHandle(job)
		return err
	}
	if err := windows.AssignProcessToJobObject(job, windows.CurrentProcess()); err != nil {
		_ = windows.CloseHandle(job)
		return fmt.Errorf("enter the job: %w", err)
	}
	return nil // the handle stays open until the process ends
}

// kill ends a browser of ours.
func kill(p *os.Process) { _ = p.Kill() } // it may have ended
