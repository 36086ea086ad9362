package sessioncmd

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/domtap/domtap/cmd/domtap/internal/cli"
	"github.com/domtap/domtap/cmd/domtap/internal/exit"
	"github.com/domtap/domtap/cmd/domtap/internal/instance"
	"github.com/domtap/domtap/cmd/domtap/internal/profileflags"
	"github.com/domtap/domtap/cmd/domtap/internal/render"
	"github.com/domtap/domtap/cmd/domtap/internal/sessionflags"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/endpoint"
)

// loginFlags holds the flags of session login.
type loginFlags struct {
	profile, file          string
	untilURL, untilText    string
	replace, withDatabases bool
	*profileflags.Profiles
}

// loginSession is the session in which the user logs in.
const loginSession = "login"

// loginLimit limits how long the user may take if --timeout is not set.
const loginLimit = 15 * time.Minute

func login(a *cli.App) *cobra.Command {
	var flags loginFlags
	cmd := &cobra.Command{
		Use:   "login URL",
		Short: "Open a window for a person to log in, and save the login",
		Long: `Open URL in the window of a separate browser, let a person log in, and save the cookies, local storage and
databases as a login profile (--profile) or as a file (--state). The command waits until you press Enter in the
terminal, or until the page has a URL (--until-url) or a text (--until-text). The browser closes when the command
ends. The daemon is not involved.

The window needs a display and a full browser, not the headless shell. For a server, log in on another machine and
copy the file to the server.`,
		Example: `  domtap session login https://example.com/login --profile shop --profile-identity key.txt
  domtap session login https://example.com/login --state state.json --until-url '*/account*'`,
		Args: cli.Args("URL"), ValidArgsFunction: cobra.NoFileCompletions,
	}
	a.Flags.Register(cmd)
	flags.register(a, cmd)
	cmd.RunE = a.WithoutDaemon(func(ctx context.Context, _ endpoint.Target, args []string) error {
		limit := loginLimit
		if cmd.Flags().Changed("timeout") {
			limit = a.Flags.Timeout
		}
		ctx, cancel := cli.WithTimeout(ctx, limit)
		defer cancel()
		return flags.run(ctx, a, cli.CompleteURL(args[0]))
	})
	return cmd
}

func (f *loginFlags) register(a *cli.App, cmd *cobra.Command) {
	flags := cmd.Flags()
	cli.MakeOwn(flags.Lookup("timeout"), "the time limit for the login; 0 means no limit", loginLimit.String())
	flags.StringVar(&f.profile, "profile", "", "save the login as this login profile")
	flags.StringVar(&f.file, "state", "", "save the login in this file, without encryption")
	flags.BoolVar(&f.replace, "replace", false, "replace an existing profile of this name")
	flags.StringVar(&f.untilURL, "until-url", "", "wait until the page has this URL: a part of the URL or, with a *, a pattern for the whole URL")
	flags.StringVar(&f.untilText, "until-text", "", "wait until the page shows this text")
	DatabasesFlag(cmd, &f.withDatabases, true)
	cmd.MarkFlagsMutuallyExclusive("profile", "state")
	cmd.MarkFlagsOneRequired("profile", "state")
	f.Profiles = profileflags.Register(a, cmd)
}

// run performs the login. It checks first whether the result can be saved.
func (f *loginFlags) run(ctx context.Context, a *cli.App, url string) error {
	if f.profile != "" {
		if err := f.Check(f.profile, f.replace); err != nil {
			return err
		}
	}
	if err := needDisplay(a); err != nil {
		return err
	}
	state, err := f.inWindow(ctx, a, url)
	if err != nil {
		return err
	}
	if f.profile != "" {
		return f.Save(f.profile, state, f.replace)
	}
	raw, err := sessionflags.EncodeState(state)
	if err != nil {
		return err
	}
	if err := writePrivate(f.file, raw); err != nil {
		return exit.Errorf(exit.Failure, "", "save the session: %w", err)
	}
	return nil
}

// needDisplay returns an error if no window can be shown. Only Unix with X11 or Wayland may lack a display.
func needDisplay(a *cli.App) error {
	if runtime.GOOS == "darwin" || runtime.GOOS == "windows" {
		return nil
	}
	for _, name := range []string{"DISPLAY", "WAYLAND_DISPLAY"} {
		if value, _ := a.Lookup(name); value != "" {
			return nil
		}
	}
	return exit.Errorf(exit.Precondition,
		"log in on a machine with a display (domtap session login URL --state state.json), copy the file here, and load it: domtap session new NAME --state state.json; or use ssh -X, or a virtual display",
		"no display: DISPLAY and WAYLAND_DISPLAY are not set, so no window can be shown")
}

// inWindow starts a daemon with a visible browser, waits for the user, and then reads the state of the browser. It removes the daemon and
// all its files.
func (f *loginFlags) inWindow(ctx context.Context, a *cli.App, url string) (state *domtapv1.StorageState, err error) {
	dir, err := os.MkdirTemp("", "domtap-login-") // mode 0700
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	at := endpoint.Places{State: dir, Socket: filepath.Join(dir, "s"), Token: filepath.Join(dir, "token")}
	to := endpoint.Target{Socket: at.Socket}
	options := endpoint.Options{Agent: "domtap-cli/" + a.Version}
	// The settings of the regular daemon do not apply to this one.
	visible := []string{"--headless=false", "--warm-sessions=0", "--browsers=1", "--listen=", "--web=", "--metrics=", "--remote=", "--profile="}
	defer func() {
		stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), endpoint.StartLimit)
		defer cancel()
		_, stopErr := instance.Stop(stopping, to.Socket)
		err = errors.Join(err, stopErr)
	}()
	err = endpoint.Ensure(ctx, to, at, options, func(ctx context.Context, at endpoint.Places) error {
		defer a.Waiting("starting a browser with a window")()
		return a.Launch(ctx, at, visible)
	})
	if err != nil {
		return nil, exit.Errorf(exit.Unavailable, "a window needs a full browser, not the headless shell; run domtap doctor to check the browser", "the browser for the login: %w", withLog(err, at))
	}
	conn, err := endpoint.Dial(to, options)
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close() }()
	return f.loggedIn(ctx, a, conn, url)
}

// withLog adds the last lines of the daemon's log to an error, because the log is deleted with its directory.
func withLog(err error, at endpoint.Places) error {
	text, readErr := os.ReadFile(at.Log())
	if readErr != nil || len(text) == 0 {
		return err
	}
	return fmt.Errorf("%w (%s)", err, render.Line(string(text[max(0, len(text)-300):])))
}

// loggedIn opens the page, waits for the login, and reads the state.
func (f *loginFlags) loggedIn(ctx context.Context, a *cli.App, conn *grpc.ClientConn, url string) (*domtapv1.StorageState, error) {
	sessions, tabs := domtapv1.NewSessionServiceClient(conn), domtapv1.NewTabServiceClient(conn)
	if _, err := sessions.CreateSession(ctx, &domtapv1.CreateSessionRequest{SessionId: loginSession}); err != nil {
		return nil, err
	}
	done := a.Waiting("loading " + url)
	opened, err := tabs.OpenTab(ctx, &domtapv1.OpenTabRequest{Url: url, SessionId: loginSession})
	done()
	if err != nil {
		return nil, err
	}
	if err := f.wait(ctx, a, conn, opened.GetTab().GetId()); err != nil {
		return nil, err
	}
	return State(ctx, a, &cli.Client{Sessions: sessions}, loginSession, f.withDatabases)
}

// wait waits until the user has logged in.
func (f *loginFlags) wait(ctx context.Context, a *cli.App, conn *grpc.ClientConn, tab string) error {
	if f.untilURL != "" || f.untilText != "" {
		a.Note("log in in the browser window; it closes when you are done")
		defer a.Waiting("waiting for the login")()
		return f.waitForPage(ctx, conn, tab)
	}
	a.Note("log in in the browser window, then press Enter here")
	pressed := make(chan error, 1)
	go func() { // may keep waiting for a key until the command ends
		_, err := bufio.NewReader(a.In).ReadString('\n')
		if errors.Is(err, io.EOF) {
			err = exit.Errorf(exit.Usage, "run it in a terminal, or use --until-url or --until-text", "nobody can press Enter: standard input is closed")
		}
		pressed <- err
	}()
	select {
	case err := <-pressed:
		return err
	case <-ctx.Done():
		return fmt.Errorf("waiting for the login: %w", context.Cause(ctx))
	}
}

// longestWait limits how long one call waits for a condition.
const longestWait = 4 * time.Minute

// waitForPage waits for the page, with repeated calls if necessary.
func (f *loginFlags) waitForPage(ctx context.Context, conn *grpc.ClientConn, tab string) error {
	until := &domtapv1.WaitCondition{Url: f.untilURL, Text: f.untilText}
	for {
		_, err := domtapv1.NewDomServiceClient(conn).WaitFor(ctx, &domtapv1.WaitForRequest{TabId: tab, Until: until, Timeout: durationpb.New(longestWait)})
		if status.Code(err) != codes.DeadlineExceeded || ctx.Err() != nil {
			return err
		}
	}
}
