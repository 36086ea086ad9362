// Package reading reads tabs for handlers that return elements or compact text: GetDom, GetCompact, the lists of ReadPage, and the changes
// after an action.
//
// Each call computes its Snapshot from an immutable snapshot of the page, so no call affects the view of another. Package tabview records
// what each caller was shown. Later diffs start from that.
//
// Callers must pass valid requests (package rules). The functions return errors of package actor, which package rpcstatus converts to
// statuses.
package reading

import (
	"context"
	"time"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/actor/tabpool"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/server/replay"
	"github.com/domtap/domtap/internal/server/rpc/authz"
	"github.com/domtap/domtap/internal/server/rpc/identity"
	"github.com/domtap/domtap/internal/server/tabview"
)

// ForReadPage is the client ID that the lists of ReadPage use, so that they do not affect the baselines of diffs. A request cannot contain
// it.
const ForReadPage = "\x00ReadPage"

// Reader reads tabs. All fields except Replay must be set.
type Reader struct {
	// Access provides the only access to tabs.
	Access *authz.Access
	// Views records the views that callers have received.
	Views *tabview.Cache
	// Replay serves recordings instead of live tabs. If nil, the tabs are live.
	Replay *replay.Player
}

// Source returns the source for watching a tab of the caller: the tab itself, or a copy of another node's tab.
func (c *Reader) Source(ctx context.Context, id string) (tabview.Source, error) {
	remote, ok := tabview.SourceOf(ctx)
	if !ok {
		return c.Access.Tab(ctx, id)
	}
	if !identity.From(ctx).Owns(remote.Head().Info.Session) {
		return nil, tabpool.NoTab(id)
	}
	return remote, nil
}

// Moment converts the moment of a request. It returns the zero Moment if the request names none. If the request names one and the tabs are
// live, reading a tab at the returned moment fails.
func (c *Reader) Moment(at *domtapv1.Moment) actor.Moment {
	switch {
	case at == nil:
		return actor.Moment{}
	case c.Replay == nil:
		return actor.Moment{Time: time.Unix(0, 0)}
	}
	return c.Replay.Moment(at)
}

// InfoAt returns the state of a tab at a moment.
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
