// Package downloaddir stores downloaded files in one folder per session, which only this user can access.
//
// A file gets its final name only when it is complete. A name never leads out of its folder, never denotes a device or a hidden file, and
// contains no misleading characters. Files are never overwritten. Callers must use IDs from the browser, and must not make concurrent calls
// for the same ID.
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

// Open creates the folder below root if necessary. It rejects a name that leads elsewhere.
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

// Dir returns the directory of complete files.
func (f *Folder) Dir() string { return f.dir }

// Incoming returns the directory where the browser writes files under their IDs.
func (f *Folder) Incoming() string { return filepath.Join(f.dir, ".incoming") }

// safeID matches the browser's IDs.
var safeID = lazyregexp.New(`^[0-9A-Za-z-]{1,64}$`)

// Keep renames the complete file of an ID to a safe form of the suggested name, and returns its path and size.
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

// maxAlike limits how many files of the same name are distinguished by a number.
const maxAlike = 1000

// reserve creates an empty file with the given name. If the name is taken, it appends a number. The rename that follows replaces the empty
// file.
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

// Drop removes the partial file of a download that will not complete.
func (f *Folder) Drop(id string) {
	if !safeID().MatchString(id) {
		return
	}
	for _, suffix := range []string{"", ".crdownload"} {
		_ = os.Remove(filepath.Join(f.Incoming(), id+suffix)) // the browser removes most of them itself
	}
}

// Close removes incomplete files, or everything if keep is false.
func (f *Folder) Close(keep bool) error {
	if !keep {
		return os.RemoveAll(f.dir)
	}
	if err := os.RemoveAll(f.Incoming()); err != nil {
		return err
	}
	_ = os.Remove(f.dir) // succeeds only if it is empty
	return nil
}

const (
	// maxName limits the length of a name in bytes, and maxExt the length of its extension. File systems allow 255 bytes; a number needs
	// some of them.
	maxName = 150
	maxExt  = 20
)

// reserved matches names that denote devices on some systems, with any extension.
var reserved = lazyregexp.New(`(?i)^(con|prn|aux|nul|com[0-9]|lpt[0-9]|conin\$|conout\$|desktop)$`)

// Name returns a safe file name for the name that a page suggests: one path element of at most 150 bytes of printable characters that is
// neither hidden nor a device.
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

// plain replaces characters that mislead or that some file system rejects.
func plain(r rune) rune {
	switch {
	case strings.ContainsRune(`<>:"|?*`, r), unicode.IsControl(r):
		return '_'
	case unicode.IsSpace(r):
		return ' '
	case !unicode.IsPrint(r): // including characters that change the text direction
		return -1
	}
	return r
}
