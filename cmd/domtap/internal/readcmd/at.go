package readcmd

import (
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/domtap/domtap/cmd/domtap/internal/cli"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// atFlag is the value of the flag --at: a time in a recording.
type atFlag struct {
	offset time.Duration
	cmd    *cobra.Command
}

func (m *atFlag) register(cmd *cobra.Command) {
	m.cmd = cmd
	cmd.Flags().DurationVar(&m.offset, "at", 0, "in a recording (domtap replay): the state this long after its start (default: the current position of the replay)")
	cli.MarkRare(cmd.Flags(), "at")
}

// message returns nil if the flag is not set.
func (m *atFlag) message() *domtapv1.Moment {
	if !m.cmd.Flags().Changed("at") {
		return nil
	}
	return &domtapv1.Moment{When: &domtapv1.Moment_Offset{Offset: durationpb.New(m.offset)}}
}
