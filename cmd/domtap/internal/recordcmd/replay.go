package recordcmd

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/domtap/domtap/actor/tabpool"
	"github.com/domtap/domtap/cmd/domtap/internal/cli"
	"github.com/domtap/domtap/cmd/domtap/internal/exit"
	"github.com/domtap/domtap/cmd/domtap/internal/render"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/server"
	"github.com/domtap/domtap/internal/server/replay"
	"github.com/domtap/domtap/internal/server/rpc/listen"
)

// replayFlags holds the flags of the command replay.
type replayFlags struct {
	socket string
	at     time.Duration
	har    string
	script bool
	goTest bool
	// export is the file to write. exportBytes limits its size.
	export      string
	exportBytes int
	page        pageFlags
}

// register adds the flags to a command.
func (o *replayFlags) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.socket, "socket", "", "the unix socket to listen on (default: replay.sock beside the daemon's socket)")
	f.StringVar(&o.har, "har", "", "write an HTTP archive of the requests to this `FILE`, without headers and bodies, and serve nothing; - is standard output")
	f.BoolVar(&o.script, "script", false, "print the actions of clients as a shell script of domtap commands, and serve nothing")
	f.BoolVar(&o.goTest, "go-test", false, "print the actions of clients as a Go test that uses package client, and serve nothing")
	f.StringVar(&o.export, "export", "", "write one HTML `FILE` that shows steps, pictures, diffs and requests offline, and serve nothing; - is standard output")
	f.IntVar(&o.exportBytes, "export-max-bytes", 32<<20, "with --export: maximum size of the file in bytes; to fit, every second picture and state is omitted first")
	o.page.register(cmd)
	f.DurationVar(&o.at, "at", 0, "show the state this long after the start (default: the end)")
	cli.MarkRare(f, "export-max-bytes", "go-test", "har", "socket")
	cmd.MarkFlagsMutuallyExclusive("har", "script", "go-test", "export")
	for _, page := range []string{"ui", "open"} { // the other modes serve nothing
		for _, other := range []string{"har", "script", "go-test", "export"} {
			cmd.MarkFlagsMutuallyExclusive(page, other)
		}
	}
}

// Replay returns the command replay.
func Replay(a *cli.App) *cobra.Command {
	var flags replayFlags
	cmd := &cobra.Command{
		Use:   "replay FILE…",
		Short: "Serve recordings read-only, at any point in time",
		Long: `Serve recordings read-only, on the same API as a daemon, until Ctrl-C. Every command that reads works on them with
--addr. Tabs show the end of the recording, or the state at --at. To see another time, pass --at to the command that
reads. domtap watch plays a recording.

Recordings of several tabs share one clock, which starts with the first recording.`,
		Example: `  domtap replay shop.domtap
  domtap replay shop.domtap --ui --open
  domtap replay shop.domtap --at 1m20s
  domtap replay shop.domtap --har shop.har
  domtap replay shop.domtap --script > shop.sh
  domtap replay shop.domtap --go-test > shop_test.go
  domtap replay shop.domtap --export shop.html
  domtap compact --addr unix:///run/user/1000/domtap/replay.sock --at 12s
  domtap watch --addr unix:///run/user/1000/domtap/replay.sock --at 0s --speed 10`,
		Args: cli.Args("FILE…"),
	}
	cli.StateDirFlag(cmd.Flags(), &a.Flags.StateDir)
	cli.MarkRare(cmd.Flags(), "state-dir")
	flags.register(cmd)
	cmd.RunE = cli.Work(func(cmd *cobra.Command, args []string) error { return flags.replay(cmd, a, args) })
	return cmd
}

// replay serves recordings, or converts them to a file if a flag requests that.
func (o *replayFlags) replay(cmd *cobra.Command, a *cli.App, files []string) error {
	if err := cli.FromEnv(cmd.Flags(), a.Lookup); err != nil {
		return err
	}
	for _, made := range []string{o.har, o.export} {
		if err := checkOutput(made, files); err != nil {
			return err
		}
	}
	player, err := replay.Open(cmd.Context(), files...)
	if err != nil {
		return exit.Errorf(exit.Usage, "name files that domtap record list prints", "%w", err)
	}
	defer player.Close()
	if o.har != "" || o.script || o.goTest {
		if err := sayMissing(cmd.Context(), a, player); err != nil {
			return err
		}
	}
	if o.har != "" {
		archive, err := player.HAR(a.Version)
		if err != nil {
			return err
		}
		return a.SaveFile(o.har, render.JSON(archive), "the archive")
	}
	if o.script || o.goTest {
		return o.program(a, player)
	}
	if o.export != "" {
		return o.saveTrace(a, player)
	}
	if cmd.Flags().Changed("at") {
		at := &domtapv1.Moment{When: &domtapv1.Moment_Offset{Offset: durationpb.New(o.at)}}
		if _, err := player.Seek(cmd.Context(), &domtapv1.SeekRequest{At: at}); err != nil {
			return err
		}
	}
	return o.serve(cmd.Context(), a, player)
}

// checkOutput returns an error if the output file is one of the recordings.
func checkOutput(file string, recordings []string) error {
	made, err := os.Stat(file)
	if err != nil {
		return nil // the file does not exist
	}
	for _, path := range recordings {
		if info, err := os.Stat(path); err == nil && os.SameFile(info, made) {
			return exit.Errorf(exit.Usage, "name another file", "%s is one of the recordings, and would be lost", file)
		}
	}
	return nil
}

// sayMissing reports what is missing in recordings that were cut off or damaged.
func sayMissing(ctx context.Context, a *cli.App, player *replay.Player) error {
	about, err := player.GetReplay(ctx, new(domtapv1.GetReplayRequest))
	if err != nil {
		return err
	}
	for _, tab := range about.GetTabs() {
		for _, gap := range tab.GetMissing() {
			if _, err := fmt.Fprintf(a.Err, "missing in %s: %s\n", tab.GetRecording().GetFile(), gap); err != nil {
				return err
			}
		}
	}
	return nil
}

// program prints the actions of the clients as a program.
func (o *replayFlags) program(a *cli.App, player *replay.Player) error {
	made, err := player.Script()
	if err != nil {
		return exit.Errorf(exit.Usage, "name the file of one tab", "%w", err)
	}
	text := made.Shell()
	if o.goTest {
		if text, err = made.Go(); err != nil {
			return err
		}
	}
	return a.SaveFile("-", text, "the program")
}

// saveTrace writes the HTML file, and reports what it leaves out.
func (o *replayFlags) saveTrace(a *cli.App, player *replay.Player) error {
	file, left, err := player.Export(a.Version, o.exportBytes)
	if err != nil {
		return exit.Errorf(exit.Usage, "raise --export-max-bytes", "export: %w", err)
	}
	for _, what := range left {
		if _, err := fmt.Fprintln(a.Err, "omitted: "+what); err != nil {
			return err
		}
	}
	// The file is private because it contains everything that pages showed.
	return a.SaveSecret(o.export, file, "the trace")
}

// serve serves a replay until ctx ends.
func (o *replayFlags) serve(ctx context.Context, a *cli.App, player *replay.Player) error {
	if o.socket == "" {
		at, err := a.Places()
		if err != nil {
			return err
		}
		o.socket = filepath.Join(filepath.Dir(at.Socket), "replay.sock")
	}
	path, err := filepath.Abs(o.socket)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	socket, err := listen.Socket(ctx, path)
	if err != nil {
		return exit.Errorf(exit.Unavailable, "name another socket with --socket", "%w", err)
	}
	token, err := o.page.token()
	if err != nil {
		_ = socket.Close() // the server has not started
		return err
	}
	pool := tabpool.New(replay.NewBrowser(), tabpool.Config{MaxTabs: maxTabs})
	daemon, err := server.New(pool, server.Config{Replay: player, Token: token})
	if err != nil {
		_ = socket.Close() // the server's error is more informative
		return err
	}
	about, err := player.GetReplay(ctx, new(domtapv1.GetReplayRequest))
	if err != nil {
		return err
	}
	said := render.Replay(about) + fmt.Sprintf("\nserving on --addr unix://%s until Ctrl-C\n", path)
	if o.page.on() {
		return o.page.serve(ctx, a, daemon, socket, said)
	}
	if err := a.Printer().Text(said); err != nil {
		return err
	}
	return daemon.Serve(ctx, socket)
}

// maxTabs limits how many recordings are replayed together.
const maxTabs = 1000
