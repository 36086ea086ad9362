// Package uploads decides which files of the daemon's machine pages may get. A client names a path; the
// rules apply to the file that it resolves to, through every symbolic link.
package uploads

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/domtap/domtap/actor/apierr"
)

// Policy has the folders that files may be uploaded from. The zero value allows none.
type Policy struct {
	dirs []string
}

// New allows folders, which must exist.
func New(dirs []string) (Policy, error) {
	var p Policy
	for _, dir := range dirs {
		real, err := resolve(dir)
		if err != nil {
			return Policy{}, err
		}
		info, err := os.Stat(real)
		if err != nil {
			return Policy{}, err
		}
		if !info.IsDir() {
			return Policy{}, &fs.PathError{Op: "upload from", Path: dir, Err: errors.New("not a directory")}
		}
		p.dirs = append(p.dirs, real)
	}
	return p, nil
}

func resolve(path string) (string, error) {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(absolute)
}

// Files returns the files that paths resolve to. Each must be a regular file below an allowed folder,
// or below one of more; otherwise the error is an *apierr.Error of kind Forbidden, which reveals nothing
// about files outside of these folders.
func (p Policy) Files(paths []string, more ...string) ([]string, error) {
	dirs := slices.Clone(p.dirs)
	for _, dir := range more {
		if real, err := resolve(dir); err == nil {
			dirs = append(dirs, real)
		}
	}
	files := make([]string, 0, len(paths))
	for _, path := range paths {
		real, err := resolve(path)
		if err != nil {
			// Whether a file exists is revealed only below the allowed folders.
			if within(dirs, filepath.Clean(path)) {
				return nil, apierr.Errorf(apierr.Invalid, "upload %.200q: no such file", path)
			}
			return nil, forbidden(path, dirs)
		}
		if !within(dirs, real) {
			return nil, forbidden(path, dirs)
		}
		info, err := os.Stat(real)
		if err != nil || !info.Mode().IsRegular() {
			return nil, apierr.Errorf(apierr.Invalid, "upload %.200q: not a regular file", path)
		}
		files = append(files, real)
	}
	return files, nil
}

// within reports whether a clean path is below one of some folders.
func within(dirs []string, path string) bool {
	return slices.ContainsFunc(dirs, func(dir string) bool {
		rel, err := filepath.Rel(dir, path)
		return err == nil && rel != "." && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
	})
}

func forbidden(path string, dirs []string) error {
	advice := "start the daemon with --upload-dir to allow a folder, or send the content in files"
	if len(dirs) > 0 {
		advice = "use a file below one of the folders that the daemon was allowed with --upload-dir, or send the content in files"
	}
	return apierr.Errorf(apierr.Forbidden, "upload %.200q: the daemon may not upload this file: %s", path, advice)
}
