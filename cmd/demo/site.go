package main

import (
	"context"
	"embed"
	"errors"
	"io/fs"
	"net"
	"net/http"
	"time"
)

//go:embed page
var page embed.FS

// site is a server with the page.
type site struct {
	url    string
	server *http.Server
	served chan error
}

// serve serves the page until close.
func serve(ctx context.Context, address string) (*site, error) {
	files, err := fs.Sub(page, "page")
	if err != nil {
		return nil, err
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	s := &site{
		url:    "http://" + listener.Addr().String() + "/",
		server: &http.Server{Handler: http.FileServerFS(files), ReadHeaderTimeout: 5 * time.Second},
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
