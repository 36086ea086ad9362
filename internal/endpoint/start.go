package endpoint

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/domtap/domtap/internal/lazyregexp"
)

const (
	// StartLimit limits the time until a daemon serves.
	StartLimit = 30 * time.Second
	// largestLog is the size in bytes above which a log is renamed at the next start.
	largestLog = 4 << 20
	// readyWord is the text that an on-demand daemon writes when it listens.
	readyWord = "ready\n"
)

// Ensure starts a daemon if none listens on the target, and returns when a daemon is serving. If several programs call it concurrently, one
// of them starts the daemon and all use it. Ensure never starts daemons for TCP addresses.
func Ensure(ctx context.Context, to Target, at Places, o Options, launch func(context.Context, Places) error) error {
	if to.Answers(ctx) {
		return nil
	}
	at.Socket = to.Socket
	ctx, cancel := context.WithTimeout(ctx, StartLimit)
	defer cancel()
	if err := launch(ctx, at); err != nil {
		return err
	}
	return AwaitServing(ctx, to, o)
}

// ServeArgs returns the arguments for Launch that start a daemon with these paths. The daemon opens a TCP port only if DOMTAP_LISTEN or its
// configuration file sets one. Other settings also come from these sources.
func ServeArgs(at Places) ([]string, error) {
	args := []string{"serve", "--on-demand"}
	for flag, path := range map[string]string{"--state-dir": at.State, "--socket": at.Socket, "--token-file": at.Token} {
		absolute, err := filepath.Abs(path)
		if err != nil {
			return nil, fmt.Errorf("find the working directory: %w", err)
		}
		args = append(args, flag, absolute)
	}
	return args, nil
}

// Launch starts the domtap program at a path with the arguments of ServeArgs. The process has its own session, so that it outlives the
// caller and its terminal. Launch returns when the daemon listens, when the daemon ended because another one is serving, or when ctx ends.
func Launch(ctx context.Context, program string, at Places, args []string) error {
	log, err := openLog(at)
	if err != nil {
		return errorf(Unreachable, "choose another directory with --state-dir", "the daemon cannot start: %w", err)
	}
	defer func() { _ = log.Close() }()
	began, err := log.Seek(0, io.SeekEnd)
	if err != nil {
		return fmt.Errorf("read the daemon's log: %w", err)
	}
	cmd, ready, err := start(program, args, log)
	if err != nil {
		return errorf(Unreachable, "", "the daemon cannot start: %w", err)
	}
	defer func() { _ = ready.Close() }()
	if word, err := readAll(ctx, cmd, ready); err != nil {
		terminate(cmd)
		if errors.Is(err, context.Canceled) {
			return err
		}
		return errorf(Unreachable, "read its log in "+at.Log()+", or run domtap doctor", "the daemon was not ready in time (%w); its last message: %s", err, lastError(log, began))
	} else if word == readyWord {
		return cmd.Process.Release()
	}
	if err := cmd.Wait(); err != nil { // the process closed its end of the pipe, so it is ending
		return errorf(Unreachable, "read its log in "+at.Log()+", or run domtap doctor", "%s", lastError(log, began))
	}
	return nil
}

// openLog opens the daemon's log for appending. It first renames a large log; one old log is kept.
func openLog(at Places) (*os.File, error) {
	for _, dir := range []string{at.State, filepath.Dir(at.Socket)} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
	}
	if info, err := os.Stat(at.Log()); err == nil && info.Size() > largestLog {
		if err := os.Rename(at.Log(), at.Log()+".old"); err != nil {
			return nil, err
		}
	}
	return os.OpenFile(at.Log(), os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
}

// start starts the process. The returned file yields the readyWord, or ends without it if the process ends.
func start(program string, args []string, log *os.File) (*exec.Cmd, *os.File, error) {
	ready, theirs, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	cmd := exec.Command(program, args...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.Env = slices.DeleteFunc(os.Environ(), func(one string) bool { return strings.HasPrefix(one, PassphraseVariable+"=") })
	detach(cmd, theirs)
	err = cmd.Start()
	if err = errors.Join(err, theirs.Close()); err != nil {
		return nil, nil, errors.Join(err, ready.Close())
	}
	return cmd, ready, nil
}

// PassphraseVariable is the environment variable with the passphrase of login profiles. Only commands read it: they do not pass it to
// daemons that they start, and browsers do not get it.
const PassphraseVariable = "DOMTAP_PROFILE_PASSPHRASE"

// readAll reads the pipe of a process to its end, or until ctx ends.
func readAll(ctx context.Context, cmd *exec.Cmd, pipe *os.File) (string, error) {
	stop := context.AfterFunc(ctx, func() { giveUp(cmd, pipe) })
	defer stop()
	text, err := io.ReadAll(pipe)
	if err != nil && ctx.Err() != nil {
		err = ctx.Err()
	}
	return string(text), err
}

// complaint is the prefix of the command line's error messages.
const complaint = "domtap: "

// lastError returns the first error message in a log after an offset, or else the last line of the log.
func lastError(log io.ReaderAt, from int64) string {
	text, err := io.ReadAll(io.NewSectionReader(log, from, largestLog))
	if err != nil {
		return err.Error()
	}
	last := "the daemon logged nothing"
	for line := range bytes.Lines(text) {
		said, found := strings.CutPrefix(string(line), complaint)
		if found {
			return asVariables(strings.TrimSpace(said))
		}
		if len(bytes.TrimSpace(line)) > 0 {
			last = strings.TrimSpace(string(line))
		}
	}
	return last
}

// ofServe matches flags of domtap serve in its messages.
var ofServe = lazyregexp.New(`(^|[^\w-])--([a-z][a-z-]+)( of domtap serve)?`)

// asVariables replaces the flags in a message of domtap serve by environment variables. A command that starts the daemon does not have
// these flags, but the user can set the variables.
func asVariables(message string) string {
	parts := strings.Split(message, `"`) // every second part is quoted text from other programs
	for i := 0; i < len(parts); i += 2 {
		parts[i] = ofServe().ReplaceAllStringFunc(parts[i], func(match string) string {
			part := ofServe().FindStringSubmatch(match)
			return part[1] + "DOMTAP_" + strings.ToUpper(strings.ReplaceAll(part[2], "-", "_"))
		})
	}
	return strings.Join(parts, `"`)
}

// NotifyReady notifies the program that started this daemon that the daemon listens.
func NotifyReady() error {
	pipe := readyFile()
	_, err := pipe.WriteString(readyWord)
	return errors.Join(err, pipe.Close())
}
