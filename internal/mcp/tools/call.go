package tools

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/mcp/args"
	"github.com/domtap/domtap/internal/mcp/fence"
	"github.com/domtap/domtap/internal/mcp/session"
)

// Call is one call of a tool, and its answer.
type Call struct {
	Arguments json.RawMessage
	Daemon    *Daemon
	Session   *session.Session

	// Images holds the screenshots of the answer.
	Images []Image
	// Failed reports that the call has failed, completely or in part.
	Failed bool

	// tool is the name of the tool.
	tool string
	args.Clamps
	lines []string
	page  strings.Builder
}

// Image is a screenshot.
type Image struct {
	Data     []byte
	MIMEType string
}

// addLine adds a line outside the fence. It must not contain text of a page.
func (c *Call) addLine(format string, values ...any) {
	c.lines = append(c.lines, fmt.Sprintf(format, values...))
}

// addMetadata adds notes about omitted frames and suspected prompt injections.
func (c *Call) addMetadata(m *domtapv1.ViewMetadata) {
	if late := len(m.GetLateFrames()); late > 0 {
		c.addLine("frames that did not answer in time: %d; read again", late)
	}
	c.addSignals(m.GetSignals())
}

// addSignals adds notes about suspected prompt injections. Notes are outside the fence, where no page can write.
func (c *Call) addSignals(signals []*domtapv1.Signal) {
	for _, s := range signals {
		at := s.GetWhere()
		if s.Ref != nil {
			at = fmt.Sprintf("[%d]", s.GetRef())
		}
		c.addLine("signal: %s, %s", strings.ReplaceAll(s.GetKind(), "_", " "), at)
	}
}

// addPageText adds text of a page.
func (c *Call) addPageText(text string) { c.page.WriteString(text) }

// Text returns the answer: the notes, one line each, and the text of the page in a fence.
func (c *Call) Text() string {
	var lines []string
	for _, n := range slices.Concat(c.lines, c.Notes) { // the verdict of an action must come first, because package transcript recognizes it
		lines = append(lines, "# "+n)
	}
	if page := fence.Wrap(c.page.String()); page != "" {
		lines = append(lines, page)
	}
	return strings.Join(lines, "\n")
}

// tab returns the tab that a call names, or else the current tab.
func (c *Call) tab(named string) (string, error) {
	if named != "" {
		return named, nil
	}
	if current := c.Session.Current(); current != "" {
		return current, nil
	}
	return "", inputf("no tab is open yet; open one with browser_navigate")
}

// maxTimeout is the maximum timeout that the daemon accepts.
const maxTimeout = 5 * time.Minute

// Fail turns an error into the answer. Messages that may quote a page go into the fence. Others become notes.
func (c *Call) Fail(err error) {
	c.Failed = true
	if _, ok := errors.AsType[*Input](err); ok {
		c.addLine("error: %s", oneLine(err.Error()))
		return
	}
	s := status.Convert(err)
	if quotesNoPage(s) {
		c.addLine("error: %s", oneLine(s.Message()))
		if s.Code() == codes.NotFound && isTab(s) {
			c.forget()
		}
		return
	}
	reason := reasonOf(s)
	if reason == "" {
		reason = strings.ToLower(s.Code().String())
	}
	c.addLine("error: %s%s", reason, advice[reason])
	message := oneLine(s.Message())
	if nearest := metadataOf(s, "nearest"); nearest != "" && !strings.Contains(message, nearest) {
		message += "; nearest: " + oneLine(nearest)
	}
	c.addPageText(message + "\n")
}

// advice maps the reasons of errors whose messages go into the fence to the suggested next step.
var advice = map[string]string{
	"INVALID":           " arguments",
	"STALE_REF":         ": look at the page again and use a ref from there",
	"TARGET_NOT_FOUND":  ": look at the page and use a ref",
	"AMBIGUOUS_TARGET":  ": use the ref of the element that you mean",
	"NOT_ACTIONABLE":    ": remove the obstacle, or wait until it is gone",
	"PAGE_UNRESPONSIVE": ": wait and read the page again, or navigate elsewhere",
	"NOT_DELIVERED":     ": check what the action did before you try again",
	"DIALOG_OPEN":       ": answer it with browser_tab, accept or dismiss",
	"WAIT_TIMEOUT":      ": look at the page, or wait longer",
	"CURSOR_EXPIRED":    ": read from the start, without cursor",
	"PAGE_LOST":         ": reload the page with browser_tab, or navigate elsewhere",
	"TAB_CLOSED":        ": open another tab with browser_navigate",

	"SEARCH_KIND":        ": search for another kind",
	"SEARCH_KEY":         ": the operator must correct the key; continue without search",
	"SEARCH_OFF":         ": continue without search",
	"SEARCH_TIMEOUT":     ": try again",
	"SEARCH_ANSWER":      ": continue without search",
	"SEARCH_UNAVAILABLE": ": try again later, or continue without search",
	"SEARCH_QUERY":       ": use other words",
}

// forget removes a tab that the daemon does not know, and suggests how to get another.
func (c *Call) forget() {
	var named struct {
		Tab string `json:"tab"`
	}
	_ = json.Unmarshal(c.Arguments, &named) // arguments that are not an object were already refused
	if named.Tab == "" {
		named.Tab = c.Session.Current()
	}
	c.Session.Remove(named.Tab)
	c.addLine("browser_navigate opens a tab; browser_tab lists the open tabs")
}

// quotesNoPage reports whether an error is only about the request or the daemon, without text of a page.
func quotesNoPage(s *status.Status) bool {
	switch s.Code() {
	case codes.NotFound:
		return isTab(s)
	case codes.ResourceExhausted, codes.PermissionDenied, codes.Unauthenticated, codes.Unimplemented, codes.Canceled:
		return true
	case codes.InvalidArgument, codes.Unavailable:
		return reasonOf(s) == ""
	}
	return false
}

// isTab reports whether an error of code NotFound is about a tab. Errors about other things, such as a tool of the page, may quote a page.
func isTab(s *status.Status) bool {
	resource := metadataOf(s, "resource")
	return resource == "" || resource == "tab"
}

func reasonOf(s *status.Status) string { return infoOf(s).GetReason() }

func metadataOf(s *status.Status, name string) string { return infoOf(s).GetMetadata()[name] }

func infoOf(s *status.Status) *errdetails.ErrorInfo {
	for _, detail := range s.Details() {
		if info, ok := detail.(*errdetails.ErrorInfo); ok {
			return info
		}
	}
	return nil
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
