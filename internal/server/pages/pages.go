// Package pages has the handlers of PageService: what is read of a page besides its elements. These are its text, screenshots, prints
// and videos, data by a schema, its log and requests, audits, and many URLs at once.
//
// A handler finds the tab through package authz, reads it and converts the answer. An answer is complete, or says in a field of its own what
// it does not have. No handler acts on a page, except Evaluate, which runs the caller's script and is off unless Config allows it; and none
// logs page content.
//
// Callers owe a valid request (package check). The errors that they get are those of package actor; package rpcstatus makes
// statuses of them.
package pages

import (
	"log/slog"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/server/authz"
	"github.com/domtap/domtap/internal/server/reading"
	"github.com/domtap/domtap/internal/server/replay"
	"github.com/domtap/domtap/internal/server/streaming"
	"github.com/domtap/domtap/internal/server/textcache"
	"github.com/domtap/domtap/internal/server/views"
)

// Config has what the handlers work on. All its fields but Version and Replay are set.
type Config struct {
	// Version is that of the program, which archives name as their creator; empty: it is not known.
	Version string
	// Access is the only way to tabs and sessions.
	Access *authz.Access
	// Views has what the callers have seen of the tabs.
	Views *views.Cache
	// Streams serve RecordVideo.
	Streams *streaming.Streams
	// AllowEval lets clients run scripts in pages.
	AllowEval bool
	// Replay has the recordings that this daemon replays; nil: its tabs are live.
	Replay *replay.Player
	// Reader makes the lists of ReadPage.
	Reader *reading.Reader
	// Logger gets what operators must know, such as scripts that were run.
	Logger *slog.Logger
}

// Service is the PageService.
type Service struct {
	domtapv1.UnimplementedPageServiceServer
	Config
	texts *textcache.Cache
}

// New makes the service. The texts that it keeps for the cursors of ReadPage are its own.
func New(cfg Config) *Service { return &Service{Config: cfg, texts: textcache.New()} }
