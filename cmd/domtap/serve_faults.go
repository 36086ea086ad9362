package main

import (
	"github.com/spf13/cobra"

	"github.com/domtap/domtap/cmd/domtap/internal/daemon"
)

// registerFaults defines the flags that say what survives the daemon.
func (s *serveFlags) registerFaults(cmd *cobra.Command) {
	choiceFlag(cmd, &s.restore, "restore-tabs", "", "which tabs of the daemon before come back, of those opened with --restore: killed brings back those of one that "+
		"was killed, always those of one that was stopped, too, and never writes none down", "killed", "always", "never")
	alsoEnv(cmd.Flags(), "restore-tabs")
}

// restores are the words of --restore-tabs.
var restores = map[string]daemon.Restore{"killed": daemon.RestoreKilled, "always": daemon.RestoreAlways, "never": daemon.RestoreNever}
