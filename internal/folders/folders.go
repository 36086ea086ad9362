// Package folders decides whether a path leads to a file below folders that an operator has named. The rules apply to the file that a
// path resolves to, through every symbolic link.
//
// A file is examined when it is asked about, and may be replaced before it is opened: name folders in which only trusted users can write.
package folders

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// The errors of File.
var (
	// ErrOutside says that the file is in none of the folders, or that there is none. It reveals nothing about files outside of them.
	ErrOutside = errors.New("not below an allowed folder")
	// ErrMissing says that the path is below a folder, and nothing is there.
	ErrMissing = errors.New("no such file")
	// ErrIrregular says that it is a directory, a device, or otherwise no file with contents.
	ErrIrregular = errors.New("not a regular file")
)

// Folders are allowed folders. The zero value allows none. It is immutable.
type Folders struct{ dirs []string }

// New allows folders, which must exist.
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

// With allows more folders; those that do not exist are left out.
func (f Folders) With(more ...string) Folders {
	f.dirs = slices.Clone(f.dirs)
	for _, dir := range more {
		if real, err := resolve(dir); err == nil {
			f.dirs = append(f.dirs, real)
		}
	}
	return f
}

// Empty reports whether no folder is allowed.
func (f Folders) Empty() bool { return len(f.dirs) == 0 }

// File returns the path that a path resolves to. It fails with ErrOutside, ErrMissing or ErrIrregular.
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
