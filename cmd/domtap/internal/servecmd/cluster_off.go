//go:build !cluster

package servecmd

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/domtap/domtap/cmd/domtap/internal/exit"
)

// registerCluster defines no flag, because this program was built without cluster support. The error for a cluster flag explains how to get
// such a program.
func (s *Flags) registerCluster(cmd *cobra.Command) {
	next := cmd.FlagErrorFunc()
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		if text := err.Error(); strings.HasPrefix(text, "unknown flag: --cluster") || strings.HasPrefix(text, "unknown flag: --nats") {
			return exit.Errorf(exit.Usage, "build one with clusters: go build -tags cluster ./cmd/domtap", "%w", err)
		}
		return next(cmd, err)
	})
}
