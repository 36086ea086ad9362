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
	// spinAfter is the delay before the spinner appears. Shorter waits show nothing.
	spinAfter = 500 * time.Millisecond
	// spinEvery is the time between two frames of the spinner.
	spinEvery = 200 * time.Millisecond
	// leastColumns is the minimum terminal width for the spinner.
	leastColumns = 20
)

// spinFrames holds the frames of the spinner. Every terminal can display these characters.
const spinFrames = `|/-\`

// ColumnsOf returns the width of the terminal behind w. It returns 0 if w is not a terminal, or if the terminal cannot move the cursor
// back.
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

// Waiting shows on the terminal what the command waits for, if the wait takes longer than half a second. Calling done removes the text;
// call it before printing anything else. If standard error is not a terminal, nothing is printed.
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

// spin draws until stop is closed, and then removes its output. Write errors are ignored, because the output is only informative.
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
		line, width := spinLine(i, what, time.Since(began), e.Columns()-1) // writing the last column would start a new line on some terminals
		_, _ = fmt.Fprintf(render.Raw(e.Err), "\r%s%s", line, strings.Repeat(" ", max(0, drawn-width)))
		drawn = max(drawn, width)
		after.Reset(spinEvery)
	}
}

// spinLine returns one frame with its text and time, in at most limit columns, and its width. Each character outside ASCII counts as two
// columns, the maximum.
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
