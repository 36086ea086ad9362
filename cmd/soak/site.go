//go:build unix

package main

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net"
	"net/http"
	"sync"
	"time"
)

//go:embed page
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

// site is a server with the page.
type site struct {
	url    string
	server *http.Server
	served chan error
}

// serve serves the page on loopback until close.
func serve(ctx context.Context, f *figures) (*site, error) {
	files, err := fs.Sub(page, "page")
	if err != nil {
		return nil, err
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("/", http.FileServerFS(files))
	mux.Handle("POST /figures", f)
	s := &site{
		url:    "http://" + listener.Addr().String() + "/",
		server: &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second},
		served: make(chan error, 1),
	}
	go func() { s.served <- s.server.Serve(listener) }()
	return s, nil
}

func (s *site) close() error {
	err := s.server.Close()
	if served := <-s.served; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	return err
}
