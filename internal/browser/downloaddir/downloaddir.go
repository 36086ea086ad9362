// Package downloaddir keeps the files that pages give: a folder for each session, which only this user can open.
//
// What it guarantees: a file stands under its name only when it is complete; no name leads out of its folder, is a
// device or a hidden file, or has characters that mislead who reads it; no file is ever overwritten. Callers owe ids
// from the browser, and one call for each id at a time.
package downloaddir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unicode"

	"github.com/domtap/domtap/internal/lazyregexp"
	"github.com/domtap/domtap/internal/truncate"
)

// Folder is the folder of one session.
type Folder struct{ dir string }

// Open makes the folder below root, unless it is there. The name must not lead anywhere else.
func Open(root, name string) (*Folder, error) {
	if name == "" || name != filepath.Base(name) || strings.HasPrefix(name, ".") {
		return nil, fmt.Errorf("%q is not a name for a folder of downloads", name)
	}
	f := &Folder{dir: filepath.Join(root, name)}
	if err := os.MkdirAll(f.Incoming(), 0o700); err != nil {
		return nil, fmt.Errorf("making the folder of downloads: %w", err)
	}
	return f, nil
}

// Dir is where complete files are.
func (f *Folder) Dir() string { return f.dir }

// Incoming is where the browser writes files, each under its id.
func (f *Folder) Incoming() string { return filepath.Join(f.dir, ".incoming") }

// safeID is what the ids of the browser look like.
var safeID = lazyregexp.New(`^[0-9A-Za-z-]{1,64}$`)

// Keep gives the complete file of an id a name that is like the suggested one, and returns its path and size.
func (f *Folder) Keep(id, suggested string) (path string, size int64, err error) {
	if !safeID().MatchString(id) {
		return "", 0, fmt.Errorf("%q is not an id of a download", id)
	}
	from := filepath.Join(f.Incoming(), id)
	info, err := os.Lstat(from)
	if err != nil {
		return "", 0, fmt.Errorf("keeping a download: %w", err)
	}
	if !info.Mode().IsRegular() {
		return "", 0, fmt.Errorf("keeping a download: %s is not a file", from)
	}
	if path, err = f.reserve(Name(suggested), id); err != nil {
		return "", 0, fmt.Errorf("keeping a download: %w", err)
	}
	if err = os.Rename(from, path); err == nil {
		err = os.Chmod(path, 0o600)
	}
	return path, info.Size(), err
}

// maxAlike is how many files of one name are told apart by a number.
const maxAlike = 1000

// reserve makes an empty file of the name, with a number behind it when there is one of the name. The rename that
// follows puts the file in its place.
func (f *Folder) reserve(name, id string) (string, error) {
	ext := filepath.Ext(name)
	stem := strings.TrimSuffix(name, ext)
	for n := range maxAlike + 1 {
		one := name
		switch {
		case n == maxAlike:
			one = id
		case n > 0:
			one = stem + " (" + strconv.Itoa(n) + ")" + ext
		}
		path := filepath.Join(f.dir, one)
		file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return "", err
		}
		return path, file.Close()
	}
	return "", fs.ErrExist
}

// Drop removes what there is of a file that will not be complete.
func (f *Folder) Drop(id string) {
	if !safeID().MatchString(id) {
		return
	}
	for _, suffix := range []string{"", ".crdownload"} {
		_ = os.Remove(filepath.Join(f.Incoming(), id+suffix)) // the browser removes most of them itself
	}
}

// Close removes what is not complete, or everything.
func (f *Folder) Close(keep bool) error {
	if !keep {
		return os.RemoveAll(f.dir)
	}
	if err := os.RemoveAll(f.Incoming()); err != nil {
		return err
	}
	_ = os.Remove(f.dir) // when it is empty
	return nil
}

const (
	// maxName is how many bytes a name has at most, maxExt its extension: file systems take 255, of which a number
	// needs some.
	maxName = 150
	maxExt  = 20
)

// reserved are the names that mean devices on some system, whatever extension they have.
var reserved = lazyregexp.New(`(?i)^(con|prn|aux|nul|com[0-9]|lpt[0-9]|conin\$|conout\$|desktop)$`)

// Name makes a safe file name of one that a page suggests: one element of a path, at most 150 bytes of printable
// characters, not hidden, not a device.
func Name(suggested string) string {
	name := strings.ToValidUTF8(suggested, "_")
	if i := strings.LastIndexAny(name, `/\`); i >= 0 {
		name = name[i+1:]
	}
	name = strings.Map(plain, name)
	name = strings.Trim(name, " ")
	name = strings.TrimRight(name, ". ")
	if strings.HasPrefix(name, ".") || strings.HasPrefix(name, "-") || strings.HasPrefix(name, "~") {
		name = "_" + name[1:]
	}
	if strings.Trim(name, "_.") == "" {
		return "download"
	}
	ext := filepath.Ext(name)
	stem := strings.TrimSuffix(name, ext)
	if len(ext) > maxExt {
		stem, ext = name, ""
	}
	stem = strings.TrimRight(truncate.Bytes(stem, maxName-len(ext)), " .")
	if first, _, _ := strings.Cut(stem, "."); reserved().MatchString(strings.TrimSpace(first)) {
		stem = "_" + stem
	}
	return stem + ext
}

// plain replaces what misleads, or what some file system does not take.
func plain(r rune) rune {
	switch {
	case strings.ContainsRune(`<>:"|?*`, r), unicode.IsControl(r):
		return '_'
	case unicode.IsSpace(r):
		return ' '
	case !unicode.IsPrint(r): // among them those that change the direction of writing
		return -1
	}
	return r
}
