package launch

import (
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/windows"
)

// startTime returns when a process started. It returns an empty string if that is unknown, for example because the process has ended.
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

// running reports whether a process is running. The caller has compared its start time.
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

// killGroup kills a browser. Its other processes end with it. The processes of a daemon that died have ended through its job.
func killGroup(pid int) {
	if p, err := os.FindProcess(pid); err == nil {
		_ = p.Kill() // the process may have ended
	}
}

// ended reports whether a process is gone.
func ended(pid int) bool { return !running(pid) }

// groupOf returns 0, because Windows has no process groups.
func groupOf(int) int { return 0 }

// killAll does nothing. processesOf finds no processes on Windows, and a browser's processes end with the job.
func killAll([]int) {}

// bind puts this process, and thus every process that it starts later, into a job that ends with this process: the system then closes the
// job's only handle. So a killed daemon leaves no processes behind.
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

// kill kills a browser that we started.
func kill(p *os.Process) { _ = p.Kill() } // the process may have ended
