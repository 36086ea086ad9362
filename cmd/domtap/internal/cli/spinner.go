package cli

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/domtap/domtap/cmd/domtap/internal/render"
)

const (
	// spinAfter is how long a command waits before it says what for. What takes less needs no words.
	spinAfter = 500 * time.Millisecond
	// spinEvery is the time between two pictures of the spinner.
	spinEvery = 200 * time.Millisecond
	// leastColumns is the width of a terminal below which there is no room for words.
	leastColumns = 20
)

// spinFrames are the pictures of the spinner. Every terminal has them.
const spinFrames = `|/-\`

// ColumnsOf returns the width of the terminal that w is; 0: w is no terminal, or one that cannot go back in a line.
func ColumnsOf(w io.Writer, termName string) int {
	f, ok := w.(*os.File)
	if !ok || termName == "dumb" || !term.IsTerminal(int(f.Fd())) {
		return 0
	}
	columns, _, err := term.GetSize(int(f.Fd()))
	if err != nil || columns <= 0 {
		return 0
	}
	return columns
}

// Waiting says on the terminal what the command waits for, if that takes longer than half a second, until the returned function is called. That
// removes the words, and must be called before anything else is printed. Where standard error is no terminal, nothing is printed.
func (e *Env) Waiting(what string) (done func()) {
	if e.Columns == nil || e.Columns() < leastColumns {
		return func() {}
	}
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		e.spin(render.Line(what), stop)
	}()
	return func() {
		close(stop)
		<-stopped
	}
}

// spin draws until stop is closed, and then removes what it drew. Failures to write are ignored: the words are for somebody who looks.
func (e *Env) spin(what string, stop <-chan struct{}) {
	began := time.Now()
	after := time.NewTimer(spinAfter)
	defer after.Stop()
	drawn := 0
	for i := 0; ; i++ {
		select {
		case <-stop:
			if drawn > 0 {
				_, _ = fmt.Fprintf(render.Raw(e.Err), "\r%s\r", strings.Repeat(" ", drawn))
			}
			return
		case <-after.C:
		}
		line, width := spinLine(i, what, time.Since(began), e.Columns()-1) // the last column would make some terminals begin a new line
		_, _ = fmt.Fprintf(render.Raw(e.Err), "\r%s%s", line, strings.Repeat(" ", max(0, drawn-width)))
		drawn = max(drawn, width)
		after.Reset(spinEvery)
	}
}

// spinLine is one picture with its words and time, in at most limit columns, and how many it takes. Characters outside ASCII count as two
// columns, which none exceeds.
func spinLine(i int, what string, took time.Duration, limit int) (line string, width int) {
	end := fmt.Sprintf(" (%ds)", int(took.Seconds()))
	limit -= len(end)
	line = string(spinFrames[i%len(spinFrames)]) + " "
	width = len(line)
	for _, r := range what {
		columns := 1
		if r > '~' {
			columns = 2
		}
		if width+columns > limit {
			break
		}
		line, width = line+string(r), width+columns
	}
	return line + end, width + len(end)
}
