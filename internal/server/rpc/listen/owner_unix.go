//go:build unix

package listen

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// ownedByUs reports whether the file belongs to this user. With orRoot, files of root count too.
func ownedByUs(info fs.FileInfo, orRoot bool) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return false
	}
	return int(stat.Uid) == os.Getuid() || orRoot && stat.Uid == 0
}

// openTo reports whether the file's mode has any of the bits.
func openTo(info fs.FileInfo, bits fs.FileMode) bool {
	return info.Mode().Perm()&bits != 0
}

// private runs make with a umask that restricts new files to their owner. The umask applies to the whole process, so files that other
// goroutines create at the same time are restricted as well.
func private(make func() error) error {
	old := syscall.Umask(0o177)
	defer syscall.Umask(old)
	return make()
}

// lockFile locks the file without waiting. It returns false if another process holds the lock.
func lockFile(file *os.File) (bool, error) {
	err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("lock %s: %w", file.Name(), err)
	}
	return true, nil
}
