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

// URL returns the path of a file: URL. The file must be below one of the folders. It returns the errors of File, or other errors for URLs
// that do not name a file on this machine.
func (f Folders) URL(raw string) (string, error) {
	path, err := pathOf(raw)
	if err != nil {
		return "", err
	}
	return f.File(path)
}

// pathOf returns the path that a browser opens for a file: URL. It rejects URLs that browsers and operating systems may interpret
// differently: other hosts, escaped separators, backslashes and zero bytes.
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

// escapesSeparator reports whether an escaped path contains an escaped separator.
func escapesSeparator(path string) bool {
	path = strings.ToLower(path)
	return strings.Contains(path, "%2f") || strings.Contains(path, "%5c")
}
