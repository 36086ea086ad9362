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
	// StartLimit is how long a daemon may take until it serves.
	StartLimit = 30 * time.Second
	// largestLog is the size, in bytes, above which a log is renamed before the next start.
	largestLog = 4 << 20
	// readyWord is what a daemon that was started on demand writes when it listens.
	readyWord = "ready\n"
)

// Ensure starts a daemon if none listens on the target, and returns when one serves. If several
// programs call it at the same time, one starts the daemon and all find it. Daemons of TCP addresses
// are never started.
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

// ServeArgs returns the arguments for Launch that start a daemon at these places. The daemon opens a
// TCP port only if DOMTAP_LISTEN or its configuration file says so; other settings come from there,
// too.
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

// Launch starts domtap, the program at a path, with the arguments in a session of its own, so that it
// outlives the caller and its terminal. Launch returns when the daemon listens, when the daemon ended
// because another one serves, or when ctx ends. The arguments are those of ServeArgs.
func Launch(ctx context.Context, program string, at Places, args []string) error {
	log, err := openLog(at)
	if err != nil {
		return errorf(Unreachable, "choose another place with --state-dir", "the daemon cannot start: %w", err)
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
		return errorf(Unreachable, "its log is in "+at.Log()+"; domtap doctor checks what it needs", "the daemon was not ready in time (%w); its last message: %s", err, lastError(log, began))
	} else if word == readyWord {
		return cmd.Process.Release()
	}
	if err := cmd.Wait(); err != nil { // it has closed its end of the pipe, so it is ending
		return errorf(Unreachable, "its log is in "+at.Log()+"; domtap doctor checks what it needs", "%s", lastError(log, began))
	}
	return nil
}

// openLog opens the daemon's log for appending. A large log is renamed first; one old log is kept.
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

// start starts the process. Its readyWord, or its end without one, is read from the file.
func start(program string, args []string, log *os.File) (*exec.Cmd, *os.File, error) {
	ready, theirs, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	cmd := exec.Command(program, args...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.Env = slices.DeleteFunc(os.Environ(), func(one string) bool { return strings.HasPrefix(one, PassphraseVariable+"=") })
	apart(cmd, theirs)
	err = cmd.Start()
	if err = errors.Join(err, theirs.Close()); err != nil {
		return nil, nil, errors.Join(err, ready.Close())
	}
	return cmd, ready, nil
}

// PassphraseVariable is the environment variable with the passphrase of login profiles. It is for commands alone: neither a daemon that they
// start nor its browsers get it.
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

// lastError returns the first error message in a log from an offset on, or else the last line of the
// log.
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

// ofServe matches a flag of domtap serve in its messages.
var ofServe = lazyregexp.New(`(^|[^\w-])--([a-z][a-z-]+)( of domtap serve)?`)

// asVariables writes the flags in a message of domtap serve as environment variables, which a command that starts the daemon can set:
// it has none of these flags.
func asVariables(message string) string {
	parts := strings.Split(message, `"`) // every second one is quoted: words of other programs
	for i := 0; i < len(parts); i += 2 {
		parts[i] = ofServe().ReplaceAllStringFunc(parts[i], func(match string) string {
			part := ofServe().FindStringSubmatch(match)
			return part[1] + "DOMTAP_" + strings.ToUpper(strings.ReplaceAll(part[2], "-", "_"))
		})
	}
	return strings.Join(parts, `"`)
}

// TellReady tells the program that started this daemon that the daemon listens.
func TellReady() error {
	pipe := readyFile()
	_, err := pipe.WriteString(readyWord)
	return errors.Join(err, pipe.Close())
}
