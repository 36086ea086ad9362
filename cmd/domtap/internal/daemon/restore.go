package daemon

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"

	"github.com/domtap/domtap/actor/restore"
	"github.com/domtap/domtap/actor/tabpool"
	"github.com/domtap/domtap/internal/journal"
	"github.com/domtap/domtap/internal/sessions"
)

// Restore selects which tabs of an earlier daemon are restored, among tabs opened with restore. The zero value is RestoreKilled.
type Restore uint8

// The values of Restore.
const (
	// RestoreKilled restores the tabs of a daemon that was killed.
	RestoreKilled Restore = iota
	// RestoreAlways also restores the tabs of a daemon that was stopped.
	RestoreAlways
	// RestoreNever restores and stores no tabs.
	RestoreNever
)

// journalPath returns the directory of the tab journal. Daemons that share a state directory differ in their address.
func (cfg Config) journalPath() string {
	sum := sha256.Sum256([]byte(cmp.Or(cfg.Socket, cfg.Listen)))
	return filepath.Join(cfg.Browser.StateDir, "tabs-"+hex.EncodeToString(sum[:4]))
}

// keptTabs holds the tabs of an earlier daemon, and the journal of this daemon's tabs.
type keptTabs struct {
	journal *journal.Journal
	kept    []restore.Record
}

// keepTabs opens the journal and sets it in the configuration of the pool. The caller calls closeJournal after the pool is closed. The end
// of ctx is a request to stop.
func (cfg Config) keepTabs(ctx context.Context, tabs *tabpool.Config) (k keptTabs, closeJournal func()) {
	path := cfg.journalPath()
	if cfg.Cluster.Name != "" {
		return keptTabs{}, func() {} // another node restores them
	}
	if cfg.Restore == RestoreNever {
		if err := journal.Remove(path); err != nil {
			cfg.Logger.Warn("the journal of tabs could not be removed", "file", path, "error", err)
		}
		return keptTabs{}, func() {}
	}
	k.journal, k.kept = journal.Open(path, cfg.Logger)
	tabs.RestoreStore = k.journal
	if cfg.Restore == RestoreAlways {
		return k, k.journal.Close
	}
	stop := context.AfterFunc(ctx, k.journal.Clear)
	return k, func() {
		stop()
		if ctx.Err() != nil {
			k.journal.Clear()
		}
		k.journal.Close()
	}
}

// restore restores the tabs of an earlier daemon, if their session exists.
func (k keptTabs) restore(cfg Config, pool *tabpool.Pool, known *sessions.Sessions) {
	for _, tab := range k.kept {
		err := known.Has(tab.Session)
		if err == nil {
			err = pool.Restore(tab)
		}
		if err != nil {
			k.journal.Forget(tab.ID)
			cfg.Logger.Warn("a tab of the earlier daemon was not restored", "tab", tab.ID, "error", err)
		}
	}
}
