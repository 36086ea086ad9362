package exit

import (
	"google.golang.org/grpc/codes"

	"github.com/domtap/domtap/internal/endpoint"
)

// row is how one kind of failure ends a command.
type row struct {
	code int
	// hint is what to do next; empty: the message says it, or nothing helps.
	hint string
	// flag is one that alternative, a better hint, is about.
	flag, alternative string
}

// hintFor is the hint for a command that has certain flags.
func (r row) hintFor(has HasFlag) string {
	if r.flag != "" && has != nil && has(r.flag) {
		return r.alternative
	}
	return r.hint
}

// ofKind gives every failure to find or reach a daemon its code. Each has a hint of its own.
var ofKind = map[endpoint.Kind]int{
	endpoint.Misused:     Usage,
	endpoint.Denied:      Denied,
	endpoint.Unreachable: Unavailable,
}

// statuses has a row for each status of gRPC.
var statuses = map[codes.Code]row{
	codes.Canceled:           {code: Interrupted},
	codes.Unknown:            {code: Failure},
	codes.InvalidArgument:    {code: Usage},
	codes.DeadlineExceeded:   {code: Timeout, hint: "give it longer with --timeout", flag: "wait", alternative: "give it longer with --timeout, or wait for less with --wait commit"},
	codes.NotFound:           {code: NotFound},
	codes.AlreadyExists:      {code: Failure},
	codes.PermissionDenied:   {code: Denied},
	codes.ResourceExhausted:  {code: Failure},
	codes.FailedPrecondition: {code: Precondition, hint: "domtap compact shows the page as it is now"},
	codes.Aborted:            {code: Precondition},
	codes.OutOfRange:         {code: Usage},
	codes.Unimplemented:      {code: Failure, hint: "this daemon does not offer it; domtap version tells its version"},
	codes.Internal:           {code: Failure},
	codes.Unavailable:        {code: Unavailable, hint: "domtap doctor checks browser, socket and daemon"},
	codes.DataLoss:           {code: Failure},
	codes.Unauthenticated:    {code: Denied, hint: "domtap token prints the token of this user's daemon; --token-file names another"},
}

// reasons has a row for each reason of an ErrorInfo. The code is for a step that failed inside an answer; a status has one
// of its own. The hint goes before that of the status.
var reasons = map[string]row{
	"STALE_REF":         {code: Precondition, hint: "the element is gone, or shows something else now; domtap compact shows the refs of now"},
	"NOT_ACTIONABLE":    {code: Precondition, hint: "the element is hidden, disabled or covered; domtap shot page.png shows the page"},
	"NOT_DELIVERED":     {code: Precondition, hint: "domtap compact shows what came of it"},
	"PAGE_UNRESPONSIVE": {code: Precondition, hint: "domtap tabs says when it is READY again; domtap goto URL leaves it"},
	"NAVIGATION_FAILED": {code: Precondition, hint: "check the URL, and that its server answers"},
	"NO_HISTORY":        {code: Precondition, hint: "the tab has no such page in its history"},
	"NAVIGATED_AWAY":    {code: Precondition, hint: "the page has changed; domtap compact shows it"},
	"CURSOR_EXPIRED":    {code: Precondition, hint: "read from the start", flag: "cursor", alternative: "read from the start: the same command without --cursor"},
	"AMBIGUOUS_TARGET":  {code: Precondition, hint: "use the ref of the one that is meant"},
	"TARGET_NOT_FOUND":  {code: Precondition, hint: "domtap compact shows what is on the page"},
	"DIALOG_OPEN":       {code: Precondition, hint: "domtap dialog accept, or domtap dialog dismiss"},
	"DOWNLOAD":          {code: Precondition, hint: "domtap downloads shows how it goes, and where the file is"},
	"NO_DIALOG":         {code: Precondition, hint: "domtap tabs shows which tab waits behind a dialog"},
	"TAB_CLOSED":        {code: Precondition, hint: "domtap tabs lists the tabs that are left"},
	"TAB_RESTORING":     {code: Unavailable, hint: "try again in a moment"},
	"EXISTS":            {code: Failure, hint: "choose another name"},
	"NOT_FOUND":         {code: NotFound},
	"INVALID":           {code: Usage},
	"URL_POLICY":        {code: Denied},
	"UPLOAD_POLICY":     {code: Denied},
	"RIGHTS":            {code: Denied, hint: "the token may only read; --token-file names another"},
	"TOKEN":             {code: Denied},
	"EVALUATE_OFF":      {code: Denied, hint: "start the daemon with domtap serve --allow-eval"},
	"LIMIT_REACHED":     {code: Failure},
	"SLOW_READER":       {code: Failure, hint: "read faster, or less at a time"},
	"UNIMPLEMENTED":     {code: Failure},
	"PAGE_LOST":         {code: Unavailable},
	"DEADLINE_EXCEEDED": {code: Timeout, hint: "give it longer with --timeout"},
	"WAIT_TIMEOUT":      {code: Timeout, hint: "domtap compact shows the page; --timeout waits longer"},
	"UNKNOWN_KIND":      {code: Failure},
}

// limits says how to get below a limit that the daemon names.
var limits = map[string]string{
	"tabs":                "close tabs that are not needed: domtap close TAB",
	"tabs_per_client":     "close tabs that are not needed: domtap close TAB",
	"sessions":            "close sessions that are not needed: domtap session close NAME",
	"sessions_per_client": "close sessions that are not needed: domtap session close NAME",
}

// resources says how to find what a status says is not there.
var resources = map[string]string{
	"tab":     "domtap tabs lists the open tabs",
	"session": "domtap session list lists the sessions; domtap session new NAME makes one",
	"frame":   "domtap dom --json shows the frame of each element",
}
