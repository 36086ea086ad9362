// Package pages implements the handlers of PageService. They return the data of a page other than its elements: text, screenshots, prints,
// videos, data extracted by a schema, the log and requests, audits, and batches of URLs.
//
// A handler finds the tab through package authz, reads it and converts the answer. An answer is complete, or a field describes what is
// missing. Handlers do not act on pages. The exception is Evaluate, which runs the caller's script and is off unless Config allows it. No
// handler logs page content.
//
// Callers must pass valid requests (package rules). Handlers return errors of package actor, which package rpcstatus converts to statuses.
package pages

import (
	"log/slog"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/server/replay"
	"github.com/domtap/domtap/internal/server/rpc/authz"
	"github.com/domtap/domtap/internal/server/rpc/streaming"
	"github.com/domtap/domtap/internal/server/tabview"
	"github.com/domtap/domtap/internal/server/tabview/reading"
	"github.com/domtap/domtap/internal/server/tabview/textcache"
)

// Config holds the dependencies of the handlers. All fields except Version and Replay must be set.
type Config struct {
	// Version is the version of the program, which archives name as their creator. It is empty if unknown.
	Version string
	// Access provides the only access to tabs and sessions.
	Access *authz.Access
	// Views records the views that callers have received.
	Views *tabview.Cache
	// Streams serves RecordVideo.
	Streams *streaming.Streams
	// AllowEval lets clients run scripts in pages.
	AllowEval bool
	// Replay serves recordings instead of live tabs. If nil, the tabs are live.
	Replay *replay.Player
	// Reader reads the lists of ReadPage.
	Reader *reading.Reader
	// Logger receives events that operators must know, such as executed scripts.
	Logger *slog.Logger
}

// Service implements PageService.
type Service struct {
	domtapv1.UnimplementedPageServiceServer
	Config
	texts *textcache.Cache
}

// New returns the service. It has its own cache of texts for the cursors of ReadPage.
func New(cfg Config) *Service { return &Service{Config: cfg, texts: textcache.New()} }
