package doctor

import (
	"errors"
	"path/filepath"

	"golang.org/x/sys/windows"
)

// fileLimits always fails: Windows does not limit the number of open files.
func fileLimits() (soft, hard uint64, err error) { return 0, 0, errors.ErrUnsupported }

// space returns the size of the volume that contains a path, and its free space, in bytes.
func space(path string) (total, free uint64, err error) {
	if !filepath.IsAbs(path) { // such as /dev/shm
		return 0, 0, errors.ErrUnsupported
	}
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return 0, 0, err
	}
	err = windows.GetDiskFreeSpaceEx(name, &free, &total, nil)
	return total, free, err
}
