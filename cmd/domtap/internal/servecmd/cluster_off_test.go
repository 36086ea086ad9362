//go:build !cluster

package servecmd

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/domtap/domtap/cmd/domtap/internal/cli"
	"github.com/domtap/domtap/cmd/domtap/internal/exit"
)

func TestWhoAsksForAClusterLearnsHowToBuildOne(t *testing.T) {
	for _, flag := range []string{"--cluster", "--cluster-node", "--nats"} {
		cmd := Serve(new(cli.App))
		cmd.SetArgs([]string{flag, "x"})
		cmd.SetOut(io.Discard)
		cmd.SetErr(io.Discard)
		cmd.SilenceUsage, cmd.SilenceErrors = true, true
		err := cmd.ExecuteContext(t.Context())
		known, ok := errors.AsType[*exit.Error](err)
		if !ok || known.Code != exit.Usage || !strings.Contains(known.Hint, "-tags cluster") {
			t.Errorf("%s: the error is %v", flag, err)
		}
	}
}
