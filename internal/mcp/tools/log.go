package tools

import (
	"context"

	"google.golang.org/protobuf/proto"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/mcp/args"
	"github.com/domtap/domtap/internal/mcp/text"
)

// logRead limits the entries that are read. logLines limits the lines that are shown; equal entries share a line.
const (
	logRead  = 200
	logLines = 20
)

// logArgs holds the arguments of browser_log.
type logArgs struct {
	Tab string    `json:"tab"`
	All args.Bool `json:"all"`
}

// log shows new problems since the model's last call, or the newest entries of all kinds.
func log(ctx context.Context, c *Call) error {
	a, err := read[logArgs](c)
	if err != nil {
		return err
	}
	id, err := c.tab(a.Tab)
	if err != nil {
		return err
	}
	request := &domtapv1.ReadLogRequest{TabId: id, MaxEntries: proto.Int32(logRead), ProblemsOnly: !a.All.Value}
	if !a.All.Value {
		request.After = c.Session.ReadLog(id)
	}
	answer, err := c.Daemon.Pages.ReadLog(ctx, request)
	if err != nil {
		return err
	}
	c.Session.SetReadLog(id, answer.GetNextSequence())
	lines, more := text.Log(answer.GetEntries(), logLines)
	switch {
	case lines == "" && request.GetAfter() > 0:
		c.addLine("no problems since you last asked; all: true lists earlier entries")
	case lines == "" && !a.All.Value:
		c.addLine("no problems")
	case lines == "":
		c.addLine("the log is empty")
	}
	if more > 0 {
		c.addLine("%d earlier entries are not shown", more)
	}
	c.addPageText(lines)
	return nil
}
