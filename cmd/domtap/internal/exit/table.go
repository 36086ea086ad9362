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
	codes.FailedPrecondition: {code: Precondition, hint: "run domtap compact to see the current page"},
	codes.Aborted:            {code: Precondition},
	codes.OutOfRange:         {code: Usage},
	codes.Unimplemented:      {code: Failure, hint: "the daemon does not support this call; update domtap, then run domtap stop"},
	codes.Internal:           {code: Failure},
	codes.Unavailable:        {code: Unavailable, hint: "run domtap doctor to check the browser, socket and daemon"},
	codes.DataLoss:           {code: Failure},
	codes.Unauthenticated:    {code: Denied, hint: "run domtap token to print the token of this user's daemon, or name another file with --token-file"},
}

// reasons maps each ErrorInfo reason to its row. The exit code applies to a step that failed inside a response; a status has its own code.
// The hint takes precedence over the hint of the status.
var reasons = map[string]row{
	"STALE_REF":         {code: Precondition, hint: "the element is gone or has changed; run domtap compact to see the current refs"},
	"NOT_ACTIONABLE":    {code: Precondition, hint: "run domtap snapshot to see the elements and their states, or domtap shot page.png to see the page"},
	"NOT_DELIVERED":     {code: Precondition, hint: "run domtap compact to see the result"},
	"PAGE_UNRESPONSIVE": {code: Precondition, hint: "run domtap tabs to see whether the tab is ready again, or domtap goto URL to leave the page"},
	"NAVIGATION_FAILED": {code: Precondition, hint: "check the URL, and check that its server answers"},
	"NO_HISTORY":        {code: Precondition, hint: "the tab has no such page in its history"},
	"NAVIGATED_AWAY":    {code: Precondition, hint: "the page has changed; run domtap compact to see the current page"},
	"CURSOR_EXPIRED":    {code: Precondition, hint: "read from the start", flag: "cursor", alternative: "run the same command without --cursor to read from the start"},
	"AMBIGUOUS_TARGET":  {code: Precondition, hint: "use the ref of the element that you mean"},
	"TARGET_NOT_FOUND":  {code: Precondition, hint: "run domtap compact to see the elements of the page"},
	"DIALOG_OPEN":       {code: Precondition, hint: "answer the dialog with domtap dialog accept or domtap dialog dismiss"},
	"DOWNLOAD":          {code: Precondition, hint: "run domtap downloads to see the progress and the path of the file"},
	"NO_DIALOG":         {code: Precondition, hint: "run domtap tabs to see which tab has an open dialog"},
	"TAB_CLOSED":        {code: Precondition, hint: "run domtap tabs to list the open tabs"},
	"TAB_RESTORING":     {code: Unavailable, hint: "try again in a moment"},
	"EXISTS":            {code: Failure, hint: "choose another name"},
	"NOT_FOUND":         {code: NotFound},
	"INVALID":           {code: Usage},
	"URL_POLICY":        {code: Denied},
	"UPLOAD_POLICY":     {code: Denied},
	"RIGHTS":            {code: Denied, hint: "the token has only the right to read; name another token with --token-file"},
	"TOKEN":             {code: Denied},
	"EVALUATE_OFF":      {code: Denied, hint: "start the daemon with domtap serve --allow-eval"},
	"LIMIT_REACHED":     {code: Failure},
	"SLOW_READER":       {code: Failure, hint: "read faster, or request less"},
	"UNIMPLEMENTED":     {code: Failure},
	"PAGE_LOST":         {code: Unavailable},
	"DEADLINE_EXCEEDED": {code: Timeout, hint: "use a longer --timeout"},
	"WAIT_TIMEOUT":      {code: Timeout, hint: "run domtap compact to see the page, or use a longer --timeout"},
	"UNKNOWN_KIND":      {code: Failure},

	"SEARCH_OFF":         {code: Precondition, hint: "stop the daemon with domtap stop, then start domtap serve --search-provider NAME"},
	"SEARCH_KIND":        {code: Precondition, hint: "run domtap doctor to list the providers, or choose another with --kind or --provider"},
	"SEARCH_PROVIDER":    {code: Precondition, hint: "omit --provider"},
	"SEARCH_KEY":         {code: Precondition, hint: "run domtap stop, then start the daemon with the right key (docs/search.md)"},
	"SEARCH_QUOTA":       {code: Failure, hint: "wait, or name another provider with --provider"},
	"SEARCH_TIMEOUT":     {code: Timeout, hint: "try again, or name another provider with --provider"},
	"SEARCH_ANSWER":      {code: Unavailable, hint: "run domtap doctor to check each provider"},
	"SEARCH_UNAVAILABLE": {code: Unavailable, hint: "run domtap doctor to check each provider"},
	"SEARCH_QUERY":       {code: Usage, hint: "use other or fewer words"},

	"CLIENT_PAUSED": {code: Precondition, hint: "run domtap resume to resume the client, or domtap timeline to see who paused it"},
	"NOT_PAUSED":    {code: Precondition, hint: "run domtap timeline to see which clients are paused"},

	"RECORDING_OFF":    {code: Precondition, hint: "stop the daemon with domtap stop, then start domtap serve --record DIR"},
	"RECORDING_FAILED": {code: Unavailable, hint: "check the disk of the daemon's machine, then record again"},
	"READ_ONLY_REPLAY": {code: Precondition, hint: "a recording is read-only; use a daemon with live tabs to act"},
	"NO_REPLAY":        {code: Precondition, hint: "--at works only on a recording; serve one with domtap replay FILE"},

	"SOCKET":    {code: Denied, hint: "run the command on the daemon's machine, over its socket"},
	"LIVE_PAGE": {code: Precondition, hint: "turn off the live page with domtap ui --off, or name another address with --web"},

	"OPERATOR":             {code: Denied, hint: "name another token with --token-file, or use the daemon's socket, which needs none"},
	"NO_CLUSTER":           {code: Precondition, hint: "name a daemon of the cluster with --addr"},
	"NODE_DRAINING":        {code: Precondition, hint: "run domtap cluster status to see which nodes accept sessions"},
	"NODE_SERVING":         {code: Precondition, hint: "run domtap cluster status to see the nodes"},
	"NODE_UNAVAILABLE":     {code: Unavailable, hint: "run domtap cluster status to see the nodes"},
	"NOT_MOVED":            {code: Unavailable, hint: "run domtap cluster status to see where the session is"},
	"REGISTRY_UNAVAILABLE": {code: Unavailable, hint: "try again in a few seconds"},
	"FENCED":               {code: Unavailable, hint: "try again in a few seconds"},
}

// limits maps each limit of the daemon to a hint.
var limits = map[string]string{
	"tabs":                "close tabs that you do not need: domtap close TAB",
	"tabs_per_client":     "close tabs that you do not need: domtap close TAB",
	"sessions":            "close sessions that you do not need: domtap session close NAME",
	"node_sessions":       "run domtap cluster status to see which nodes have room",
	"cluster_sessions":    "close sessions that you do not need: domtap session close NAME",
	"state_bytes":         "make room with domtap storage clear and domtap cookies delete",
	"origin_storage":      "make room with domtap storage delete or domtap storage clear",
	"sessions_per_client": "close sessions that you do not need: domtap session close NAME",
}

// resources maps each kind of resource to the hint for one that does not exist.
var resources = map[string]string{
	"tab":     "run domtap tabs to list the open tabs",
	"session": "run domtap session list to list the sessions, or domtap session new NAME to create one",
	"origin":  "run domtap storage list to list the origins of local storage",
	"node":    "run domtap cluster status to list the nodes",
	"frame":   "run domtap dom --json to see the frame of each element",
}
