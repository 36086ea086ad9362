//go:build !cluster

package servecmd

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/domtap/domtap/cmd/domtap/internal/exit"
)

// registerCluster defines no flag: nothing of a cluster is in this program. Who asks for a cluster learns how to get one.
func (s *Flags) registerCluster(cmd *cobra.Command) {
	next := cmd.FlagErrorFunc()
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		if text := err.Error(); strings.HasPrefix(text, "unknown flag: --cluster") || strings.HasPrefix(text, "unknown flag: --nats") {
			return exit.Errorf(exit.Usage, "build one with clusters: go build -tags cluster ./cmd/domtap", "%w", err)
		}
		return next(cmd, err)
	})
}
