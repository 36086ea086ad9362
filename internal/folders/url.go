package folders

import (
	"fmt"
	"net/url"
	"path/filepath"
	"runtime"
	"strings"
)

// IsURL reports whether a URL is a file: URL.
func IsURL(raw string) bool {
	scheme, _, found := strings.Cut(raw, ":")
	return found && strings.EqualFold(scheme, "file")
}

// URL returns the path of the file of a file: URL, which must be below one of the folders. Its errors are those of File, and others for URLs that
// name no file of this machine.
func (f Folders) URL(raw string) (string, error) {
	path, err := pathOf(raw)
	if err != nil {
		return "", err
	}
	return f.File(path)
}

// pathOf is the path that a browser opens for a file: URL. What browsers and operating systems read differently is refused: other hosts,
// escaped separators, backslashes and zero bytes.
func pathOf(raw string) (string, error) {
	u, err := url.Parse(raw)
	switch {
	case err != nil || !strings.EqualFold(u.Scheme, "file") || u.Opaque != "":
		return "", fmt.Errorf("%w: it must be such as file:///srv/trace.html", ErrOutside)
	case u.Host != "" && !strings.EqualFold(u.Host, "localhost"), u.User != nil:
		return "", fmt.Errorf("%w: it names another machine", ErrOutside)
	case strings.ContainsAny(u.Path, "\\\x00"), escapesSeparator(u.EscapedPath()):
		return "", fmt.Errorf("%w: its path has a backslash, a zero byte or an escaped separator", ErrOutside)
	}
	path := u.Path
	if runtime.GOOS == "windows" {
		path = strings.TrimPrefix(path, "/") // /C:/x
	}
	if path = filepath.FromSlash(path); !filepath.IsAbs(path) {
		return "", fmt.Errorf("%w: its path must be absolute", ErrOutside)
	}
	return filepath.Clean(path), nil
}

// escapesSeparator reports whether an escaped path has a separator as an escape.
func escapesSeparator(path string) bool {
	path = strings.ToLower(path)
	return strings.Contains(path, "%2f") || strings.Contains(path, "%5c")
}
