// Package uploads decides which files of the daemon's machine may be uploaded to pages. A client names a path. The rules apply to the file
// that the path resolves to, through all symbolic links.
package uploads

import (
	"errors"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/internal/folders"
)

// Policy holds the folders that files may be uploaded from. The zero value allows none.
type Policy struct{ allowed folders.Folders }

// New returns a policy that allows uploads from dirs, which must exist.
func New(dirs []string) (Policy, error) {
	allowed, err := folders.New(dirs)
	return Policy{allowed}, err
}

// Files returns the files that paths resolve to. Each must be a regular file below an allowed folder. Otherwise the
// error is an *apierr.Error of kind Forbidden, which reveals nothing about files outside these folders.
func (p Policy) Files(paths []string) ([]string, error) {
	files := make([]string, 0, len(paths))
	for _, path := range paths {
		real, err := p.allowed.File(path)
		switch {
		case errors.Is(err, folders.ErrOutside):
			return nil, forbidden(path, p.allowed)
		case err != nil:
			return nil, apierr.Errorf(apierr.Invalid, "upload %.200q: %v", path, err)
		}
		files = append(files, real)
	}
	return files, nil
}

func forbidden(path string, allowed folders.Folders) error {
	advice := "start the daemon with domtap serve --upload-dir DIR to allow a folder, or send the content in files"
	if !allowed.Empty() {
		advice = "use a file in a folder that domtap serve --upload-dir allows, or send the content in files"
	}
	return apierr.Errorf(apierr.Forbidden, "upload %.200q: the daemon may not upload this file: %s", path, advice)
}
