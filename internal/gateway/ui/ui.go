// Package ui contains the live page of a daemon: one embedded HTML page, with its style and scripts, that shows a person what agents do on
// the tabs and what they see. The page reads, and lets the person pause clients, take over from them and hand back. It does not act on
// pages, navigate or open tabs. For a daemon that replays recordings, it can show any moment.
//
// Guarantees:
//
//   - The page loads only its own files, which its Content-Security-Policy enforces: no inline script or style, no other host, no frame,
//     no form. Trusted Types forbid creating markup from text.
//   - Content of other pages is untrusted. It enters the document only as text, never as markup or as a link.
//   - The files contain no secret. The page receives the token in the fragment of its address, which browsers do not send. It keeps the
//     token while its window is open, and sends it as a header with its calls.
//   - The page's memory is bounded, however long it is open.
//
// Handler serves GET and HEAD. Package gateway checks the Host header first.
package ui

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"net/http"
	"path"
	"slices"
)

//go:embed page
var files embed.FS

// headers are sent with every file.
var headers = map[string]string{
	"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; " +
		"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
	"Cross-Origin-Opener-Policy":   "same-origin",
	"Cross-Origin-Resource-Policy": "same-origin",
	"Permissions-Policy":           "camera=(), geolocation=(), microphone=(), clipboard-read=()",
	"Referrer-Policy":              "no-referrer",
	"X-Content-Type-Options":       "nosniff",
	"X-Frame-Options":              "DENY",
	"Cache-Control":                "no-cache",
}

// types maps file extensions to content types, independent of the machine's tables.
var types = map[string]string{
	".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8",
	".svg": "image/svg+xml",
}

// file is a served file with its content type and ETag.
type file struct {
	content []byte
	kind    string
	tag     string
}

// Handler serves the page at / and its files below. The version is part of the ETags.
func Handler(version string) http.Handler {
	served := map[string]file{}
	err := fs.WalkDir(files, "page", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := files.ReadFile(name)
		if err != nil {
			return err
		}
		sum := sha256.Sum256(append([]byte(version), content...))
		served["/"+name[len("page/"):]] = file{content, types[path.Ext(name)], `"` + hex.EncodeToString(sum[:8]) + `"`}
		return nil
	})
	if err != nil {
		panic("the embedded files cannot be read: " + err.Error())
	}
	served["/"] = served["/index.html"]
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { serve(w, r, served) })
}

func serve(w http.ResponseWriter, r *http.Request, served map[string]file) {
	for name, value := range headers {
		w.Header().Set(name, value)
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "the files of the live page are read-only: send calls to /domtap.v1.SERVICE/METHOD", http.StatusMethodNotAllowed)
		return
	}
	f, ok := served[r.URL.Path]
	if !ok {
		http.Error(w, "no such file: the live page is at /", http.StatusNotFound)
		return
	}
	w.Header().Set("ETag", f.tag)
	if r.Header.Get("If-None-Match") == f.tag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	w.Header().Set("Content-Type", f.kind)
	_, _ = w.Write(f.content) // an error means that the client has disconnected
}

// methods lists the methods that the page calls. A test compares them with the page's scripts.
var methods = []string{
	"TabService/ListTabs", "DomService/GetDom", "DomService/GetCompact", "DomService/WatchDom", "PageService/Screenshot",
	"ClusterService/GetCluster", "TimelineService/GetTimeline", "TimelineService/WatchTimeline", "TimelineService/PauseClient",
	"TimelineService/ResumeClient", "TimelineService/TakeOver", "TimelineService/HandBack", "ReplayService/GetReplay", "PageService/ReadLog",
}

// Methods returns the methods that the page calls, as SERVICE/METHOD.
func Methods() []string { return slices.Clone(methods) }
