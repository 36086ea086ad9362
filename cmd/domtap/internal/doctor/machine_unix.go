//go:build unix

package doctor

import "golang.org/x/sys/unix"

// fileLimits are how many files a process may open, and how far it may raise that.
func fileLimits() (soft, hard uint64, err error) {
	var l unix.Rlimit
	err = unix.Getrlimit(unix.RLIMIT_NOFILE, &l)
	return uint64(l.Cur), uint64(l.Max), err
}

// space is how many bytes the file system of a path has, and how many are free.
func space(path string) (total, free uint64, err error) {
	var s unix.Statfs_t
	if err := unix.Statfs(path, &s); err != nil {
		return 0, 0, err
	}
	return s.Blocks * uint64(s.Bsize), s.Bavail * uint64(s.Bsize), nil
}
