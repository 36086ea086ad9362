package daemon

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/internal/journal"
	"github.com/domtap/domtap/internal/sessions"
)

// Restore says which tabs of an earlier daemon come back, of those that asked for it. The zero value is RestoreKilled.
type Restore uint8

// The ways.
const (
	// RestoreKilled: those of a daemon that was killed; one that was asked to stop forgets them.
	RestoreKilled Restore = iota
	// RestoreAlways: those of one that was asked to stop, too.
	RestoreAlways
	// RestoreNever: none, and nothing of them is written.
	RestoreNever
)

// journalPath is where a daemon keeps its tabs. Daemons that share a state directory differ in what they listen on.
func (cfg Config) journalPath() string {
	sum := sha256.Sum256([]byte(cmp.Or(cfg.Socket, cfg.Listen)))
	return filepath.Join(cfg.Browser.StateDir, "tabs-"+hex.EncodeToString(sum[:4]))
}

// keeping is what a daemon keeps of its tabs.
type keeping struct {
	book *journal.Book
	kept []actor.Kept
}

// keepTabs begins to keep the tabs, which the pool is told of. What close does is owed when the pool is closed. The end of
// ctx is the wish to stop.
func (cfg Config) keepTabs(ctx context.Context, tabs *actor.Config) (k keeping, closeBook func()) {
	path := cfg.journalPath()
	if cfg.Restore == RestoreNever {
		if err := journal.Remove(path); err != nil {
			cfg.Logger.Warn("the journal of tabs could not be removed", "file", path, "error", err)
		}
		return keeping{}, func() {}
	}
	k.book, k.kept = journal.Open(path, cfg.Logger)
	tabs.Keeper = k.book
	if cfg.Restore == RestoreAlways {
		return k, k.book.Close
	}
	stop := context.AfterFunc(ctx, k.book.Clear)
	return k, func() {
		stop()
		if ctx.Err() != nil {
			k.book.Clear()
		}
		k.book.Close()
	}
}

// revive brings back what an earlier daemon kept, as far as its sessions are there.
func (k keeping) revive(cfg Config, pool *actor.Pool, known *sessions.Sessions) {
	for _, tab := range k.kept {
		err := known.Has(tab.Session)
		if err == nil {
			err = pool.Revive(tab)
		}
		if err != nil {
			k.book.Forget(tab.ID)
			cfg.Logger.Warn("a tab of the daemon before does not come back", "tab", tab.ID, "error", err)
		}
	}
}
