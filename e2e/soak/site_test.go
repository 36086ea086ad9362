//go:build unix

package soak

import (
	"embed"
	"encoding/json"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"sync"
)

//go:embed testdata
var page embed.FS

// figures holds the reports of the page.
type figures struct {
	mu   sync.Mutex
	last pageFigures
}

// pageFigures is one report of the page: its JavaScript heap in bytes after a collection, the number of its elements, and how often it
// changed.
type pageFigures struct {
	Heap, Elements, Ticks float64
}

func (f *figures) get() pageFigures {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.last
}

// ServeHTTP receives a report.
func (f *figures) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var got pageFigures
	if err := json.NewDecoder(io.LimitReader(r.Body, 1<<12)).Decode(&got); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.last = got
}

// serve serves the page on loopback until close.
func serve(f *figures) *httptest.Server {
	files, err := fs.Sub(page, "testdata")
	if err != nil {
		panic(err) // testdata is a valid path
	}
	mux := http.NewServeMux()
	mux.Handle("/", http.FileServerFS(files))
	mux.Handle("POST /figures", f)
	return httptest.NewServer(mux)
}
