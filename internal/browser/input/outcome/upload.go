package outcome

import (
	"fmt"
	"mime"
	"path/filepath"
	"slices"
	"strings"
)

// Uploaded returns a note that names the first file of a type outside the input's accept attribute. It returns an empty string if all files
// match.
func Uploaded(accept string, paths []string) string {
	kinds := strings.FieldsFunc(strings.ToLower(accept), func(r rune) bool { return r == ',' || r == ' ' })
	if len(kinds) == 0 {
		return ""
	}
	for _, path := range paths {
		name := filepath.Base(path)
		if !slices.ContainsFunc(kinds, func(kind string) bool { return isKind(strings.ToLower(name), kind) }) {
			return fmt.Sprintf("ok, although it asks for %.60s and %s is another type", strings.Join(kinds, ", "), quoted(name))
		}
	}
	return ""
}

// isKind reports whether a file matches an accept entry: .pdf, image/png, image/* or */*. A file whose name reveals no type matches any
// MIME type.
func isKind(name, kind string) bool {
	if strings.HasPrefix(kind, ".") {
		return strings.HasSuffix(name, kind)
	}
	ext := filepath.Ext(name)
	what, _, err := mime.ParseMediaType(mime.TypeByExtension(ext))
	family, isFamily := strings.CutSuffix(kind, "*")
	return err != nil || what == kind || kind == "*/*" || isFamily && strings.HasPrefix(what, family) || strings.HasSuffix(kind, "/"+strings.TrimPrefix(ext, "."))
}
