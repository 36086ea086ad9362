package archtest

// module is the path of this repository's module.
const module = "github.com/domtap/domtap"

// layer defines what the non-test code of a layer may import besides the standard library and itself.
type layer struct {
	// layers lists the layers that it may import.
	layers []string
	// modules allows other modules, except those with owners.
	modules bool
	// pure forbids goroutines and the packages in impure, so that the same input always gives the same output.
	pure bool
}

// layers maps directories to their rules. A directory belongs to the longest matching name: internal/browser/observer/x belongs to
// internal/browser/observer. Data flows browser → actor → view → compact and server. No import goes in the opposite direction.
var layers = map[string]layer{
	"dom":                        {},
	"diff":                       {layers: []string{"dom"}, pure: true},
	"internal/tokens":            {pure: true},
	"internal/content/injection": {layers: []string{"dom"}, pure: true},
	"view":                       {layers: []string{"dom", "internal/tokens", "internal/elementcontext"}, pure: true},
	"compact":                    {layers: []string{"dom", "diff", "view", "compact/internal", "internal/elementcontext"}, pure: true},
	"internal/elementcontext":    {layers: []string{"dom", "internal/refs", "internal/lazyregexp"}, pure: true},
	// Clients read texts with it, so it has few dependencies.
	"compact/dense":             {layers: []string{"dom", "diff", "compact/internal", "internal/elementcontext", "internal/truncate", "internal/lazyregexp", "internal/plural"}, pure: true},
	"compact/internal":          {layers: []string{"dom"}, pure: true},
	"internal/content/markdown": {layers: []string{"compact", "internal/truncate"}, modules: true, pure: true},
	"internal/content/annotate": {pure: true},
	"internal/content/document": {layers: []string{"internal/truncate"}, pure: true},
	"internal/condition":        {layers: []string{"dom", "internal/elementcontext"}, pure: true},
	// Removing accents requires a library.
	"internal/find":              {layers: []string{"dom", "internal/elementcontext"}, modules: true, pure: true},
	"internal/transcript":        {layers: []string{"internal/tokens", "internal/truncate", "internal/lazyregexp"}, pure: true},
	"internal/telemetry/pagelog": {layers: []string{"internal/truncate", "internal/lazyregexp"}},
	"internal/telemetry/usage":   {},
	"internal/telemetry/har":     {layers: []string{"internal/lazyregexp"}},
	"internal/css":               {pure: true},
	"internal/audit":             {layers: []string{"dom", "internal/truncate"}, pure: true},
	"internal/content/animation": {pure: true},
	"internal/content/extract":   {layers: []string{"internal/lazyregexp"}, pure: true},
	// Mapping names in other scripts as browsers do requires a library.
	"internal/netpolicy": {modules: true, pure: true},
	// The browser's traffic passes through it. Its errors are for clients, so they have the types of actor.
	"internal/netpolicy/proxy": {layers: []string{"internal/netpolicy", "actor"}},
	"actor":                    {layers: []string{"dom", "diff", "internal/retry", "internal/telemetry/pagelog", "internal/truncate", "internal/elementcontext", "internal/lazyregexp"}},
	// A tab and its components do not depend on the pool.
	"actor/tabpool": {layers: []string{"dom", "actor", "internal/lazyregexp"}},
	// A fake browser for tests.
	"actor/actortest": {layers: []string{"dom", "actor", "internal/sessions", "internal/telemetry/pagelog"}},
	// The handling of requests, on plain values.
	"internal/routes":   {layers: []string{"internal/folders"}},
	"internal/folders":  {},
	"internal/sessions": {layers: []string{"dom", "actor", "actor/tabpool", "internal/truncate", "internal/routes"}},
	"internal/journal":  {layers: []string{"dom", "actor"}},
	"internal/browser": {layers: []string{
		"dom", "actor", "internal/sessions", "internal/telemetry/pagelog", "internal/browser/activity", "internal/browser/capture", "internal/browser/clipboard", "internal/browser/console",
		"internal/browser/devtools", "internal/browser/dialogs", "internal/browser/documents", "internal/browser/downloads", "internal/browser/emulate",
		"internal/browser/adapters", "internal/browser/frames", "internal/browser/input", "internal/browser/launch", "internal/browser/navigation", "internal/browser/observer",
		"internal/browser/pdfreader", "internal/browser/permissions", "internal/browser/requests", "internal/browser/storagestate", "internal/browser/targets", "internal/browser/warm", "internal/browser/webmcp", "internal/browser/windows",
		"internal/browser/intercept", "internal/routes",
	}, modules: true},
	// The parts of a page, lower ones first. None depends on the page itself.
	"internal/browser/monitor":    {},
	"internal/browser/activity":   {layers: []string{"internal/browser/console"}, modules: true},
	"internal/browser/frames":     {layers: []string{"dom", "actor", "internal/browser/devtools", "internal/browser/observer", "internal/browser/monitor"}, modules: true},
	"internal/browser/documents":  {layers: []string{"dom", "actor", "internal/truncate", "internal/browser/devtools", "internal/browser/observer", "internal/browser/frames"}, modules: true},
	"internal/browser/webmcp":     {layers: []string{"actor", "dom", "internal/truncate", "internal/browser/devtools", "internal/browser/frames"}, modules: true},
	"internal/browser/dialogs":    {layers: []string{"actor", "internal/truncate", "internal/browser/frames"}, modules: true},
	"internal/browser/requests":   {layers: []string{"dom", "actor", "internal/browser/devtools", "internal/browser/console", "internal/browser/frames"}, modules: true},
	"internal/browser/navigation": {layers: []string{"actor", "internal/browser/dialogs", "internal/browser/frames", "internal/browser/observer"}, modules: true},
	"internal/browser/capture": {layers: []string{"dom", "actor", "internal/browser/devtools", "internal/browser/observer", "internal/browser/redact", "internal/browser/documents", "internal/browser/frames", "internal/browser/windows"},
		modules: true},
	// The functions that combine several parts of a page.
	"internal/browser/adapters": {layers: []string{"dom", "actor", "internal/browser/activity", "internal/browser/capture", "internal/browser/clipboard", "internal/browser/devtools", "internal/browser/documents",
		"internal/browser/emulate", "internal/browser/frames", "internal/browser/input", "internal/browser/navigation", "internal/browser/requests", "internal/browser/storagestate"}, modules: true},
	// The parts of a browser.
	"internal/browser/clipboard":    {layers: []string{"actor", "internal/browser/devtools", "internal/browser/hidden"}, modules: true},
	"internal/browser/downloads":    {layers: []string{"dom", "actor", "internal/truncate", "internal/folders", "internal/browser/devtools", "internal/browser/downloaddir"}, modules: true},
	"internal/browser/emulate":      {layers: []string{"dom", "internal/sessions", "internal/browser/devtools", "internal/browser/intercept", "internal/lazyregexp", "internal/routes"}, modules: true},
	"internal/browser/intercept":    {layers: []string{"internal/browser/devtools", "internal/routes"}, modules: true},
	"internal/browser/hidden":       {layers: []string{"internal/browser/devtools"}, modules: true},
	"internal/browser/pdfreader":    {layers: []string{"internal/browser/devtools", "internal/browser/hidden"}, modules: true},
	"internal/browser/permissions":  {layers: []string{"internal/browser/clipboard", "internal/browser/devtools"}, modules: true},
	"internal/browser/targets":      {layers: []string{"actor", "internal/browser/devtools"}, modules: true},
	"internal/browser/windows":      {layers: []string{"internal/browser/devtools"}, modules: true},
	"internal/browser/warm":         {layers: []string{"internal/retry"}},
	"internal/browser/storagestate": {layers: []string{"actor", "internal/sessions", "internal/browser/devtools", "internal/browser/hidden"}, modules: true},
	// Masked areas of a picture are painted over without a browser.
	"internal/browser/redact":   {layers: []string{"dom"}, pure: true},
	"internal/browser/console":  {layers: []string{"internal/telemetry/pagelog"}, modules: true},
	"internal/browser/observer": {layers: []string{"dom"}},
	"internal/browser/devtools": {layers: []string{"internal/truncate"}, modules: true},
	// For tests: a fake browser at the other end of a connection.
	"internal/browser/devtools/devtoolstest": {modules: true},
	"internal/browser/downloaddir":           {layers: []string{"internal/truncate", "internal/lazyregexp"}},
	// Running browsers of this machine, found by files and ports.
	"internal/browser/discovery":     {layers: []string{"internal/truncate"}},
	"internal/browser/launch":        {layers: []string{"actor", "internal/sessions", "internal/browser/devtools", "internal/browser/discovery", "internal/lazyregexp"}, modules: true},
	"internal/browser/keyboard":      {modules: true, pure: true},
	"internal/browser/input/outcome": {layers: []string{"dom", "actor"}, pure: true},
	"internal/browser/input":         {layers: []string{"dom", "actor", "internal/browser/devtools", "internal/browser/input/outcome", "internal/browser/keyboard", "internal/browser/frames", "internal/retry"}, modules: true},
	// It uses browsers through an interface, so that their failures can be tested without a browser.
	"internal/browserpool": {layers: []string{"dom", "actor", "internal/retry", "internal/sessions"}},
	// The cluster: first the packages that run NATS or connect to it, then the packages that make decisions. None of them depends on
	// browsers or the services.
	"internal/retry":            {},
	"internal/cluster/embedded": {layers: []string{"internal/retry", "internal/lazyregexp"}, modules: true},
	"internal/cluster/registry": {layers: []string{"internal/retry"}, modules: true},
	"internal/cluster/lease":    {layers: []string{"internal/retry"}},
	"internal/cluster/counts":   {},
	"internal/cluster/ledger":   {layers: []string{"internal/cluster/registry", "internal/cluster/placement"}},
	// Ownership of sessions and the reaction to failures. Browsers are behind an interface.
	"internal/cluster/owned": {layers: []string{"internal/cluster/ledger", "internal/cluster/registry"}},
	"internal/cluster":       {layers: []string{"internal/retry", "internal/cluster/counts", "internal/cluster/owned", "internal/cluster/ledger", "internal/cluster/registry", "internal/cluster/lease", "internal/cluster/placement"}},
	// Records that other nodes read, and test servers that can be killed.
	"internal/cluster/natstest":    {layers: []string{"internal/cluster/embedded"}, modules: true},
	"internal/cluster/logs":        {layers: []string{"internal/cluster/registry", "internal/retry"}, modules: true},
	"internal/cluster/replication": {layers: []string{"dom", "actor", "gen", "internal/cluster/logs", "internal/cluster/registry", "internal/cluster/tablog", "internal/retry"}, modules: true},
	"internal/cluster/tablog":      {layers: []string{"dom", "actor", "gen"}, modules: true},
	// Files with the recorded states of a tab.
	"internal/recording": {layers: []string{"dom", "actor", "gen", "internal/cluster/tablog"}, modules: true},
	// States for tests of recordings.
	"internal/recording/recordingtest": {layers: []string{"dom", "actor"}},
	// Entries and states in, programs out.
	"internal/recording/script": {layers: []string{"dom", "actor", "gen", "internal/elementcontext", "internal/refs", "internal/css"}, modules: true, pure: true},
	// A file made of plain values and embedded files.
	"internal/recording/trace": {pure: true},
	// Web search and the providers of its results. No browser is involved.
	"internal/search":            {layers: []string{"internal/tokens", "internal/truncate"}},
	"internal/search/provider":   {layers: []string{"internal/search", "internal/truncate"}},
	"internal/search/searchtest": {},
	// Files with logins, encrypted by a library, and the configuration files of MCP hosts.
	"internal/mcphost": {},
	"internal/profile": {layers: []string{"internal/lazyregexp"}, modules: true},
	// The sessions and tabs of a daemon, in the role of a cluster node.
	"internal/cluster/member": {layers: []string{"dom", "actor", "actor/tabpool", "internal/sessions", "internal/cluster", "internal/cluster/registry"}},
	// Pure computation on a table of nodes and a name.
	"internal/cluster/placement": {pure: true},
	// Calls that concern another node: a server for nodes, and their client.
	"internal/cluster/directory": {layers: []string{"internal/cluster", "internal/cluster/peers", "internal/cluster/registry", "internal/server"}, modules: true},
	// Operators' calls to a cluster.
	"internal/cluster/admin": {layers: []string{"gen", "internal/cluster", "internal/cluster/directory", "internal/cluster/registry", "internal/server"}, modules: true},
	"internal/cluster/peers": {layers: []string{"gen", "internal/server", "internal/server/rpc/listen", "internal/sessions"}, modules: true},
	"gen":                    {modules: true},
	// Entries are messages of the API, so that the same form is stored, sent and recorded.
	"internal/timeline": {layers: []string{"gen", "internal/plural"}, modules: true},
	"internal/server": {
		layers:  []string{"internal/sessions", "dom", "diff", "internal/tokens", "internal/content/injection", "view", "internal/condition", "internal/find", "internal/elementcontext", "compact", "compact/dense", "internal/content/markdown", "internal/content/document", "internal/content/annotate", "internal/transcript", "actor", "actor/tabpool", "internal/telemetry/pagelog", "internal/content/extract", "internal/telemetry/usage", "gen", "internal/server/rpc/listen", "internal/server/rpc/preauth", "internal/lazyregexp", "internal/truncate", "internal/search", "internal/routes", "internal/telemetry/har", "internal/audit", "internal/content/animation", "internal/timeline", "internal/recording", "internal/recording/script", "internal/recording/trace", "internal/folders", "internal/css"},
		modules: true,
	},
	// The gateway depends on the services only through their descriptors, so it imports neither the actors nor the server. Its page consists of files.
	"internal/gateway":    {layers: []string{"internal/gateway/ui", "internal/gateway/guard"}, modules: true},
	"internal/gateway/ui": {},
	// All HTTP servers are behind it.
	"internal/gateway/guard": {layers: []string{"internal/server/rpc/listen"}},
	// The daemon and its clients share the rules in it, so it is separate from the server.
	"internal/server/rpc/listen": {layers: []string{"internal/server/rpc/preauth"}},
	// Limits on the connections of unauthenticated clients.
	"internal/server/rpc/preauth": {},
	// OpenTelemetry spans for events from server and actor.
	"internal/telemetry/tracing": {modules: true},
	"internal/telemetry/metrics": {layers: []string{"actor", "internal/telemetry/usage", "internal/lazyregexp"}, modules: true},
	"client":                     {layers: []string{"gen", "internal/endpoint", "internal/retry"}, modules: true},
	"internal/mcp":               {layers: []string{"client", "gen", "internal/deadline", "internal/timeline", "internal/gateway/guard", "internal/nearest", "internal/plural", "internal/refs", "internal/truncate", "internal/lazyregexp"}, modules: true},
	// Programs as written by users of package client.
	"examples": {layers: []string{"client", "gen"}, modules: true},
	// Code that wires or measures the other layers may import all of them.
	"cmd":   {layers: everyLayer, modules: true},
	"bench": {layers: everyLayer, modules: true},
	// Each package in internal has its own row.
	"internal/archtest": {modules: true},
	"internal/golden":   {modules: true},
	"internal/testenv":  {layers: everyLayer, modules: true},
	// The actions of agents in tests, as text.
	"internal/testenv/script": {layers: everyLayer, modules: true},
	"internal/streamcheck":    {layers: everyLayer, modules: true},
	"internal/stubdns":        {modules: true},
	// The time limits of the command line and the MCP server for API steps.
	"internal/deadline": {layers: []string{"gen"}},
	// Input of people and models is parsed in the same way on the command line and over MCP.
	"internal/nearest": {pure: true},
	"internal/refs":    {pure: true},
	// It truncates every text that is stored or shown.
	"internal/truncate": {pure: true},
	// Regular expressions of packages are compiled on demand.
	"internal/lazyregexp": {pure: true},
	"internal/plural":     {pure: true},
	// The public package client depends on it, so every program that imports client has its dependencies.
	"internal/endpoint": {layers: []string{"internal/server/rpc/listen", "internal/lazyregexp"}, modules: true},
}

// everyLayer allows all layers.
var everyLayer = []string{"*"}

// owner restricts some packages to a few layers, so that the rest can be built and tested without them.
type owner struct {
	// packages are import path prefixes, by whole path elements.
	packages []string
	layers   []string
	// advice describes what to do instead.
	advice string
}

var owners = []owner{
	{
		packages: []string{"github.com/chromedp"},
		layers: []string{"internal/browser", "internal/browser/activity", "internal/browser/devtools", "internal/browser/devtools/devtoolstest", "internal/browser/launch", "internal/browser/input", "internal/browser/keyboard", "internal/browser/console", "internal/browser/frames", "internal/browser/documents",
			"internal/browser/dialogs", "internal/browser/requests", "internal/browser/navigation", "internal/browser/capture", "internal/browser/clipboard", "internal/browser/downloads", "internal/browser/adapters",
			"internal/browser/emulate", "internal/browser/hidden", "internal/browser/intercept", "internal/browser/pdfreader", "internal/browser/permissions", "internal/browser/storagestate", "internal/browser/targets", "internal/browser/webmcp", "internal/browser/windows", "bench"},
		advice: "add what you need to the interfaces of actor/driver and implement it in internal/browser",
	},
	{
		packages: []string{
			module + "/gen",
			"google.golang.org/grpc",
			"google.golang.org/protobuf",
			"google.golang.org/genproto",
			"github.com/grpc-ecosystem",
		},
		layers: []string{"gen", "internal/server", "internal/gateway", "internal/cluster/admin", "internal/cluster/directory", "internal/cluster/peers", "internal/cluster/tablog", "internal/cluster/replication", "internal/recording", "internal/recording/script", "internal/deadline", "internal/timeline", "internal/telemetry/metrics", "internal/telemetry/tracing", "client", "internal/mcp", "examples", "cmd", "bench", "internal/testenv", "internal/testenv/script", "internal/streamcheck", "internal/endpoint"},
		advice: "use the types of dom and actor and let internal/server convert them",
	},
	{
		packages: []string{"github.com/nats-io"},
		layers:   []string{"internal/cluster/embedded", "internal/cluster/registry", "internal/cluster/logs", "internal/cluster/natstest"},
		advice:   "add what you need to internal/cluster/registry, so that the rest of the cluster is tested on plain values",
	},
	{
		packages: []string{"github.com/klauspost/compress"},
		layers:   []string{"internal/recording"},
		advice:   "let internal/recording compress what is to be kept",
	},
	{
		packages: []string{"filippo.io/age"},
		layers:   []string{"internal/profile"},
		advice:   "let internal/profile keep what is to be encrypted",
	},
	{
		packages: []string{"go.opentelemetry.io"},
		layers:   []string{"internal/telemetry/tracing"},
		advice:   "add what you need to actor.Tracer or server.Config.Traces and implement it in internal/telemetry/tracing",
	},
	{
		packages: []string{"connectrpc.com"},
		layers:   []string{"internal/gateway"},
		advice:   "serve it as a service of grpc in internal/server, and internal/gateway gives it to browsers",
	},
	{
		packages: []string{"github.com/prometheus", "github.com/grpc-ecosystem/go-grpc-middleware/providers"},
		layers:   []string{"internal/telemetry/metrics"},
		advice:   "add what you need to actor.Meter or server.Metrics and implement it in internal/telemetry/metrics",
	},
	{
		packages: []string{"github.com/modelcontextprotocol"},
		layers:   []string{"internal/mcp", "bench"},
		advice:   "let mcp speak the protocol; what tools do is in mcp/tools, which needs none of it",
	},
}

// impure lists, by exact path, the packages that a pure layer must not import.
var impure = []string{
	"context", "crypto/rand", "math/rand", "math/rand/v2", "net", "net/http", "os", "os/exec", "syscall", "time",
}

// call forbids a function of the standard library outside the given layers.
type call struct {
	pkg    string
	names  []string
	layers []string
	advice string
}

var calls = []call{
	{
		pkg: "os", names: []string{"Exit"}, layers: []string{"cmd", "examples"},
		advice: "return an error and let cmd/ choose the exit code",
	},
	{
		pkg: "log", names: []string{"Fatal", "Fatalf", "Fatalln"}, layers: []string{"cmd", "examples"},
		advice: "return an error and let cmd/ choose the exit code",
	},
	// A call uses its caller's context, so that the end of the call ends the work. Only objects that outlive every call have no suitable
	// context: the pool's tabs, the sessions, and the rights of the server's own token. Their packages derive a context from
	// context.Background and end it in Close.
	{
		pkg: "context", names: []string{"Background"}, layers: []string{"cmd", "examples", "actor/tabpool", "internal/sessions", "internal/server"},
		advice: "take the caller's context as the first argument",
	},
	// Expressions that a package compiles during initialization delay every command of the program.
	{
		pkg: "regexp", names: []string{"MustCompile", "MustCompilePOSIX"}, layers: []string{"internal/lazyregexp"},
		advice: "use lazyregexp.New, or regexp.Compile for an expression that is not known before",
	},
	{
		pkg: "context", names: []string{"TODO"}, layers: []string{"cmd", "examples"},
		advice: "take the caller's context as the first argument",
	},
}
