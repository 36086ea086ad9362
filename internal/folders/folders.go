// Package folders decides whether a path leads to a file below folders that an operator has allowed. The rules apply to the file that a
// path resolves to, following every symbolic link.
//
// A file is checked at the time of the call and could be replaced before it is opened. Therefore allow only folders in which only trusted
// users can write.
package folders

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Errors of File.
var (
	// ErrOutside reports that the path is not below an allowed folder. It reveals nothing about files outside the folders, not even whether
	// they exist.
	ErrOutside = errors.New("not below an allowed folder")
	// ErrMissing reports that the path is below a folder but does not exist.
	ErrMissing = errors.New("no such file")
	// ErrIrregular reports that the path is a directory, a device, or another file without regular content.
	ErrIrregular = errors.New("not a regular file")
)

// Folders is a set of allowed folders. The zero value allows none. It is immutable.
type Folders struct{ dirs []string }

// New returns Folders that allow dirs. The directories must exist.
func New(dirs []string) (Folders, error) {
	var f Folders
	for _, dir := range dirs {
		real, err := resolve(dir)
		if err != nil {
			return Folders{}, err
		}
		info, err := os.Stat(real)
		if err != nil {
			return Folders{}, err
		}
		if !info.IsDir() {
			return Folders{}, &fs.PathError{Op: "allow", Path: dir, Err: errors.New("not a directory")}
		}
		f.dirs = append(f.dirs, real)
	}
	return f, nil
}

// Empty reports whether no folder is allowed.
func (f Folders) Empty() bool { return len(f.dirs) == 0 }

// File resolves a path and returns the result. It fails with ErrOutside, ErrMissing or ErrIrregular.
func (f Folders) File(path string) (string, error) {
	real, err := resolve(path)
	switch {
	case err != nil && f.within(filepath.Clean(path)):
		return "", ErrMissing
	case err != nil || !f.within(real):
		return "", ErrOutside
	}
	if info, err := os.Stat(real); err != nil || !info.Mode().IsRegular() {
		return "", ErrIrregular
	}
	return real, nil
}

// within reports whether a clean path is below one of the folders.
func (f Folders) within(path string) bool {
	return slices.ContainsFunc(f.dirs, func(dir string) bool {
		rel, err := filepath.Rel(dir, path)
		return err == nil && rel != "." && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
	})
}

func resolve(path string) (string, error) {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(absolute)
}
