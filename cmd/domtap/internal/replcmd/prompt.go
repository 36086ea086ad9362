package replcmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/term"

	"github.com/domtap/domtap/cmd/domtap/internal/render"
)

const promptText = "domtap> "

// prompt reads lines from a terminal until exit, Ctrl-D or SIGTERM. The terminal is in raw mode while a line is edited, and in its previous
// mode while a command runs.
func (r *repl) prompt(ctx context.Context, in *os.File) error {
	t := term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{lineClearer{in}, render.Raw(r.app.Out)}, promptText)
	t.History = history{t.History}
	// The signal of Ctrl-C ends the context of the whole program, so commands here have separate contexts.
	ctx = context.WithoutCancel(ctx)
	t.AutoCompleteCallback = func(line string, pos int, key rune) (string, int, bool) {
		if key != '\t' {
			return "", 0, false
		}
		return r.complete(ctx, t, line, pos)
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)
	for {
		line, err := readLine(t, in)
		if errors.Is(err, io.EOF) {
			_, _ = fmt.Fprintln(r.app.Out)
			return nil
		}
		if err != nil {
			return fmt.Errorf("read the terminal: %w", err)
		}
		select {
		case s := <-signals: // the signal was for a command that had ended before
			if s == syscall.SIGTERM {
				return nil
			}
		default:
		}
		if over, err := r.command(ctx, line, in, signals); over || err != nil {
			return err
		}
	}
}

// lineClearer reads keys and lets Ctrl-C clear the line, because term.Terminal would end at Ctrl-C. It replaces Ctrl-C by the keys that move
// the cursor to the end of the line, delete everything before it, and start a new prompt.
type lineClearer struct{ io.Reader }

const ctrlC, clearLine = "\x03", "\x05\x15\r"

func (c lineClearer) Read(p []byte) (int, error) {
	keys := make([]byte, max(1, len(p)/len(clearLine)))
	n, err := c.Reader.Read(keys)
	return copy(p, bytes.ReplaceAll(keys[:n], []byte(ctrlC), []byte(clearLine))), err
}

// history is a history without empty lines.
type history struct{ term.History }

func (s history) Add(line string) {
	if line != "" {
		s.History.Add(line)
	}
}

// readLine reads one line.
func readLine(t *term.Terminal, in *os.File) (line string, err error) {
	before, err := term.MakeRaw(int(in.Fd()))
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, term.Restore(int(in.Fd()), before)) }()
	if width, height, err := term.GetSize(int(in.Fd())); err == nil && width > 0 {
		_ = t.SetSize(width, height) // an error only affects where the line wraps
	}
	return t.ReadLine()
}

// command runs one line. Ctrl-C ends the command. over reports whether the prompt ends, too.
func (r *repl) command(ctx context.Context, line string, in io.Reader, signals <-chan os.Signal) (over bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	done, watched := make(chan struct{}), make(chan struct{})
	terminated := false
	go func() {
		defer close(watched)
		select {
		case s := <-signals:
			terminated = s == syscall.SIGTERM
			cancel()
		case <-done:
		}
	}()
	_, err = r.run(ctx, line, in)
	close(done)
	<-watched
	cancel()
	return errors.Is(err, errExit) || terminated, nil
}

// complete completes the word before the cursor up to the common prefix of all candidates. If there are several, it lists them.
func (r *repl) complete(ctx context.Context, t io.Writer, line string, pos int) (string, int, bool) {
	// The terminal counts characters, not bytes.
	runes := []rune(line)
	head, rest := string(runes[:min(pos, len(runes))]), string(runes[min(pos, len(runes)):])
	start := strings.LastIndexAny(head, " \t") + 1
	words, err := Split(head[:start])
	if err != nil {
		return "", 0, false
	}
	found := r.candidates(ctx, words, head[start:])
	if len(found) == 0 {
		return "", 0, false
	}
	common := found[0].word
	for _, c := range found[1:] {
		common = commonPrefix(common, c.word)
	}
	if len(found) == 1 {
		common += " "
	} else if common == head[start:] {
		_, _ = io.WriteString(t, list(found))
	}
	head = head[:start] + common
	return head + rest, len([]rune(head)), true
}

// candidate is a possible word at the cursor.
type candidate struct{ word, about string }

// candidates requests the candidates from the commands, as the completion of the shell does.
func (r *repl) candidates(ctx context.Context, words []string, prefix string) (found []candidate) {
	var out bytes.Buffer
	app := r.child(strings.NewReader(""))
	app.Out, app.Err = &out, io.Discard
	app.Run(ctx, r.root(app), slices.Concat([]string{"__complete"}, words, []string{prefix}))
	for line := range strings.Lines(out.String()) {
		word, about, _ := strings.Cut(strings.TrimRight(line, "\n"), "\t")
		if strings.HasPrefix(word, ":") || word == "" || !strings.HasPrefix(word, prefix) {
			continue
		}
		found = append(found, candidate{render.Line(word), render.Line(about)})
	}
	if len(words) == 0 && strings.HasPrefix("exit", prefix) {
		found = append(found, candidate{"exit", "End the prompt"})
	}
	return found
}

// maxListed limits how many candidates are listed.
const maxListed = 60

func list(found []candidate) string {
	var b strings.Builder
	for _, c := range found[:min(len(found), maxListed)] {
		fmt.Fprintf(&b, "%-24s %s\r\n", c.word, c.about)
	}
	if more := len(found) - maxListed; more > 0 {
		fmt.Fprintf(&b, "and %d more\r\n", more)
	}
	return b.String()
}

// commonPrefix returns the common prefix of two words, in whole characters.
func commonPrefix(a, b string) string {
	x, y := []rune(a), []rune(b)
	i := 0
	for i < len(x) && i < len(y) && x[i] == y[i] {
		i++
	}
	return string(x[:i])
}
