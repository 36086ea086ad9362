// Package reading reads tabs for handlers that answer with elements or with compact text: GetDom, GetCompact, the lists of ReadPage, and
// the changes that an action is answered with.
//
// A Snapshot is computed per call from an immutable snapshot of the page, so that no call changes what another sees. What a caller was
// shown is noted in package views: later diffs are made against that.
//
// Callers owe a valid request (package check). The errors that they get are those of package actor; package rpcstatus makes
// statuses of them.
package reading

import (
	"context"
	"time"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/actor/tabpool"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/server/authz"
	"github.com/domtap/domtap/internal/server/identity"
	"github.com/domtap/domtap/internal/server/replay"
	"github.com/domtap/domtap/internal/server/streaming"
	"github.com/domtap/domtap/internal/server/views"
)

// ForReadPage is the client ID whose baselines the lists of ReadPage use, so that they disturb no diffs. No
// request can name it.
const ForReadPage = "\x00ReadPage"

// Reader reads tabs. All its fields but Replay are set.
type Reader struct {
	// Access is the only way to tabs.
	Access *authz.Access
	// Views has what the callers have seen of the tabs.
	Views *views.Cache
	// Replay has the recordings that this daemon replays; nil: its tabs are live.
	Replay *replay.Player
}

// Source finds what a tab of the caller is watched on: the tab, or a copy of another node's.
func (c *Reader) Source(ctx context.Context, id string) (streaming.Source, error) {
	remote, ok := streaming.SourceOf(ctx)
	if !ok {
		return c.Access.Tab(ctx, id)
	}
	if !identity.From(ctx).Owns(remote.Head().Info.Session) {
		return nil, tabpool.NoTab(id)
	}
	return remote, nil
}

// Moment makes the moment that a request names; zero for none. A daemon with live tabs has no moment but that, so that any
// other fails when a tab is read.
func (c *Reader) Moment(at *domtapv1.Moment) actor.Moment {
	switch {
	case at == nil:
		return actor.Moment{}
	case c.Replay == nil:
		return actor.Moment{Time: time.Unix(0, 0)}
	}
	return c.Replay.Moment(at)
}

// InfoAt is what a tab was at a moment.
func (c *Reader) InfoAt(ctx context.Context, tab *actor.Tab, at *domtapv1.Moment) (actor.Info, error) {
	if at == nil {
		return tab.Info(), nil
	}
	reading, err := tab.Read(ctx, actor.ReadOptions{At: c.Moment(at)})
	if err != nil {
		return actor.Info{}, err
	}
	return reading.Head.Info, nil
}
