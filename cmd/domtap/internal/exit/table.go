package exit

import (
	"google.golang.org/grpc/codes"

	"github.com/domtap/domtap/internal/endpoint"
)

// row is the exit code and the hint of one kind of failure.
type row struct {
	code int
	// hint recommends what to do next. It is empty if the message already does, or if nothing helps.
	hint string
	// alternative is the hint for commands that have the flag.
	flag, alternative string
}

// hintFor returns the hint for a command with the given flags.
func (r row) hintFor(has HasFlag) string {
	if r.flag != "" && has != nil && has(r.flag) {
		return r.alternative
	}
	return r.hint
}

// ofKind maps failures to find or reach a daemon to their exit codes. Such a failure contains its own hint.
var ofKind = map[endpoint.Kind]int{
	endpoint.Misused:     Usage,
	endpoint.Denied:      Denied,
	endpoint.Unreachable: Unavailable,
}

// statuses maps each gRPC status code to its row.
var statuses = map[codes.Code]row{
	codes.Canceled:           {code: Interrupted},
	codes.Unknown:            {code: Failure},
	codes.InvalidArgument:    {code: Usage},
	codes.DeadlineExceeded:   {code: Timeout, hint: "use a longer --timeout", flag: "wait", alternative: "use a longer --timeout, or wait for less with --wait commit"},
	codes.NotFound:           {code: NotFound},
	codes.AlreadyExists:      {code: Failure},
	codes.PermissionDenied:   {code: Denied},
	codes.ResourceExhausted:  {code: Failure},
	codes.FailedPrecondition: {code: Precondition, hint: "domtap compact shows the current page"},
	codes.Aborted:            {code: Precondition},
	codes.OutOfRange:         {code: Usage},
	codes.Unimplemented:      {code: Failure, hint: "the daemon does not support the call; update domtap, then run domtap stop"},
	codes.Internal:           {code: Failure},
	codes.Unavailable:        {code: Unavailable, hint: "domtap doctor checks browser, socket and daemon"},
	codes.DataLoss:           {code: Failure},
	codes.Unauthenticated:    {code: Denied, hint: "domtap token prints the token of this user's daemon; --token-file names another file"},
}

// reasons maps each ErrorInfo reason to its row. The exit code applies to a step that failed inside a response; a status has its own code.
// The hint takes precedence over the hint of the status.
var reasons = map[string]row{
	"STALE_REF":         {code: Precondition, hint: "the element is gone or has changed; domtap compact shows the current refs"},
	"NOT_ACTIONABLE":    {code: Precondition, hint: "domtap snapshot shows the elements and their states; domtap shot page.png shows how the page looks"},
	"NOT_DELIVERED":     {code: Precondition, hint: "domtap compact shows the result"},
	"PAGE_UNRESPONSIVE": {code: Precondition, hint: "domtap tabs shows when the tab is ready again; domtap goto URL leaves the page"},
	"NAVIGATION_FAILED": {code: Precondition, hint: "check the URL, and that its server answers"},
	"NO_HISTORY":        {code: Precondition, hint: "the tab has no such page in its history"},
	"NAVIGATED_AWAY":    {code: Precondition, hint: "the page has changed; domtap compact shows the current page"},
	"CURSOR_EXPIRED":    {code: Precondition, hint: "read from the start", flag: "cursor", alternative: "read from the start: run the same command without --cursor"},
	"AMBIGUOUS_TARGET":  {code: Precondition, hint: "use the ref of the element that you mean"},
	"TARGET_NOT_FOUND":  {code: Precondition, hint: "domtap compact shows what is on the page"},
	"DIALOG_OPEN":       {code: Precondition, hint: "domtap dialog accept, or domtap dialog dismiss"},
	"DOWNLOAD":          {code: Precondition, hint: "domtap downloads shows the progress, and the path of the file"},
	"NO_DIALOG":         {code: Precondition, hint: "domtap tabs shows which tab has an open dialog"},
	"TAB_CLOSED":        {code: Precondition, hint: "domtap tabs lists the open tabs"},
	"TAB_RESTORING":     {code: Unavailable, hint: "try again in a moment"},
	"EXISTS":            {code: Failure, hint: "choose another name"},
	"NOT_FOUND":         {code: NotFound},
	"INVALID":           {code: Usage},
	"URL_POLICY":        {code: Denied},
	"UPLOAD_POLICY":     {code: Denied},
	"RIGHTS":            {code: Denied, hint: "the token has only the right to read; --token-file names another token"},
	"TOKEN":             {code: Denied},
	"EVALUATE_OFF":      {code: Denied, hint: "start the daemon with domtap serve --allow-eval"},
	"LIMIT_REACHED":     {code: Failure},
	"SLOW_READER":       {code: Failure, hint: "read faster, or request less"},
	"UNIMPLEMENTED":     {code: Failure},
	"PAGE_LOST":         {code: Unavailable},
	"DEADLINE_EXCEEDED": {code: Timeout, hint: "use a longer --timeout"},
	"WAIT_TIMEOUT":      {code: Timeout, hint: "domtap compact shows the page; --timeout waits longer"},
	"UNKNOWN_KIND":      {code: Failure},

	"SEARCH_OFF":         {code: Precondition, hint: "domtap serve --search-provider NAME sets a provider; domtap stop ends the daemon without one"},
	"SEARCH_KIND":        {code: Precondition, hint: "domtap doctor lists the providers; --kind and --provider choose others"},
	"SEARCH_PROVIDER":    {code: Precondition, hint: "leave out --provider"},
	"SEARCH_KEY":         {code: Precondition, hint: "domtap stop; then start the daemon with the right key (docs/search.md)"},
	"SEARCH_QUOTA":       {code: Failure, hint: "wait, or name another provider with --provider"},
	"SEARCH_TIMEOUT":     {code: Timeout, hint: "try again, or name another provider with --provider"},
	"SEARCH_ANSWER":      {code: Unavailable, hint: "domtap doctor asks each provider"},
	"SEARCH_UNAVAILABLE": {code: Unavailable, hint: "domtap doctor asks each provider"},
	"SEARCH_QUERY":       {code: Usage, hint: "use other words, or fewer"},

	"CLIENT_PAUSED": {code: Precondition, hint: "domtap resume lets the client go on; domtap timeline shows who paused it"},
	"NOT_PAUSED":    {code: Precondition, hint: "domtap timeline shows who is paused"},

	"RECORDING_OFF":    {code: Precondition, hint: "domtap serve --record DIR records; domtap stop ends the daemon without it"},
	"RECORDING_FAILED": {code: Unavailable, hint: "check the disk of the daemon's machine, then record again"},
	"READ_ONLY_REPLAY": {code: Precondition, hint: "a recording can be read, not changed; use a daemon with live tabs to act"},
	"NO_REPLAY":        {code: Precondition, hint: "domtap replay FILE serves a recording; --at works there alone"},

	"SOCKET":    {code: Denied, hint: "run the command on the daemon's machine, over its socket"},
	"LIVE_PAGE": {code: Precondition, hint: "domtap ui --off ends the live page; --web names another address"},

	"OPERATOR":             {code: Denied, hint: "--token-file names another token; the daemon's socket needs none"},
	"NO_CLUSTER":           {code: Precondition, hint: "--addr names a daemon of the cluster"},
	"NODE_DRAINING":        {code: Precondition, hint: "domtap cluster status shows which nodes take sessions"},
	"NODE_SERVING":         {code: Precondition, hint: "domtap cluster status shows the nodes"},
	"NODE_UNAVAILABLE":     {code: Unavailable, hint: "domtap cluster status shows the nodes"},
	"NOT_MOVED":            {code: Unavailable, hint: "domtap cluster status shows where the session is"},
	"REGISTRY_UNAVAILABLE": {code: Unavailable, hint: "try again in a few seconds"},
	"FENCED":               {code: Unavailable, hint: "try again in a few seconds"},
}

// limits maps each limit of the daemon to a hint.
var limits = map[string]string{
	"tabs":                "close tabs that you do not need: domtap close TAB",
	"tabs_per_client":     "close tabs that you do not need: domtap close TAB",
	"sessions":            "close sessions that you do not need: domtap session close NAME",
	"node_sessions":       "domtap cluster status shows which nodes have room",
	"cluster_sessions":    "close sessions that you do not need: domtap session close NAME",
	"state_bytes":         "domtap storage clear and domtap cookies delete make room",
	"origin_storage":      "domtap storage delete and domtap storage clear make room",
	"sessions_per_client": "close sessions that you do not need: domtap session close NAME",
}

// resources maps each kind of resource to the hint for one that does not exist.
var resources = map[string]string{
	"tab":     "domtap tabs lists the open tabs",
	"session": "domtap session list lists the sessions; domtap session new NAME creates one",
	"origin":  "domtap storage list lists the origins of local storage",
	"node":    "domtap cluster status lists the nodes",
	"frame":   "domtap dom --json shows the frame of each element",
}
