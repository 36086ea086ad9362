//go:build unix

package doctor

import "golang.org/x/sys/unix"

// fileLimits returns the limit of open files of a process, and the maximum to which it may raise that limit.
func fileLimits() (soft, hard uint64, err error) {
	var l unix.Rlimit
	err = unix.Getrlimit(unix.RLIMIT_NOFILE, &l)
	return uint64(l.Cur), uint64(l.Max), err
}

// space returns the size of the file system that contains a path, and its free space, in bytes.
func space(path string) (total, free uint64, err error) {
	var s unix.Statfs_t
	if err := unix.Statfs(path, &s); err != nil {
		return 0, 0, err
	}
	return s.Blocks * uint64(s.Bsize), s.Bavail * uint64(s.Bsize), nil
}
