package house

// module is the path of this repository's module.
const module = "github.com/domtap/domtap"

// room says what the non-test code of one room may import besides the standard library and itself.
type room struct {
	// rooms lists the rooms it may import.
	rooms []string
	// modules allows other modules, apart from those that have keepers.
	modules bool
	// pure forbids goroutines and the packages in impure: same input, same output, at any time.
	pure bool
}

// rooms is the house. A directory belongs to the longest name that leads to it: browser/page/x to
// browser/page. Data flows browser → actor → view → compact and rpc, and no import goes against it.
var rooms = map[string]room{
	"dom":      {},
	"diff":     {rooms: []string{"dom"}, pure: true},
	"tokens":   {modules: true},
	"signals":  {rooms: []string{"dom"}, pure: true},
	"view":     {rooms: []string{"dom", "tokens"}, pure: true},
	"compact":  {rooms: []string{"dom", "diff", "view"}, pure: true},
	"read":     {rooms: []string{"compact", "internal/truncate"}, modules: true, pure: true},
	"marks":    {pure: true},
	"await":    {rooms: []string{"dom"}, pure: true},
	"prune":    {rooms: []string{"tokens", "internal/truncate"}, pure: true},
	"logs":     {rooms: []string{"internal/truncate"}},
	"accounts": {},
	"extract":  {pure: true},
	// Names in other scripts are mapped as browsers map them, which takes a library.
	"policy": {modules: true, pure: true},
	// The way that the browser\'s traffic takes; its errors are for clients, so they are those of actor.
	"egress": {rooms: []string{"policy", "actor"}},
	"actor":  {rooms: []string{"dom", "diff", "logs", "internal/truncate"}},
	"browser": {rooms: []string{
		"dom", "actor", "logs", "browser/page", "browser/link", "browser/launch", "browser/hands", "browser/record", "browser/shelf", "browser/veil",
		"browser/frames", "browser/documents", "browser/dialogs", "browser/requests", "browser/navigation", "browser/capture", "internal/truncate",
	}, modules: true},
	// The parts of a page, the lower ones first. None knows the page itself.
	"browser/monitor":    {},
	"browser/frames":     {rooms: []string{"dom", "actor", "browser/link", "browser/page", "browser/monitor"}, modules: true},
	"browser/documents":  {rooms: []string{"dom", "actor", "internal/truncate", "browser/link", "browser/page", "browser/frames"}, modules: true},
	"browser/dialogs":    {rooms: []string{"actor", "internal/truncate", "browser/frames"}, modules: true},
	"browser/requests":   {rooms: []string{"actor", "browser/record", "browser/frames"}, modules: true},
	"browser/navigation": {rooms: []string{"actor", "browser/dialogs", "browser/frames"}, modules: true},
	"browser/capture": {rooms: []string{"dom", "actor", "browser/link", "browser/page", "browser/veil", "browser/documents", "browser/frames"},
		modules: true},
	// What is masked in a picture is painted over without a browser.
	"browser/veil":   {rooms: []string{"dom"}, pure: true},
	"browser/record": {rooms: []string{"logs"}, modules: true},
	"browser/page":   {rooms: []string{"dom"}},
	"browser/link":   {modules: true},
	"browser/shelf":  {rooms: []string{"internal/truncate"}},
	"browser/launch": {rooms: []string{"actor", "browser/link"}, modules: true},
	"browser/input":  {modules: true, pure: true},
	"browser/hands":  {rooms: []string{"dom", "actor", "browser/link", "browser/input", "browser/frames"}, modules: true},
	// It knows browsers by an interface, so that what it does when they die is tested without one.
	"fleet": {rooms: []string{"dom", "actor"}},
	"gen":   {modules: true},
	"rpc": {
		rooms:   []string{"dom", "diff", "tokens", "signals", "view", "await", "compact", "read", "marks", "prune", "actor", "logs", "extract", "accounts", "gen", "rpc/listen"},
		modules: true,
	},
	// web knows the services by their descriptions alone, so neither the actors nor rpc; its page is files.
	"web":    {rooms: []string{"web/ui", "web/guard"}, modules: true},
	"web/ui": {},
	// Every server of HTTP stands behind it.
	"web/guard": {rooms: []string{"rpc/listen"}},
	// The daemon and its clients meet by the rules in here, so it stands apart from the server.
	"rpc/listen": {},
	// Spans for OpenTelemetry, of what rpc and actor tell of.
	"traces":  {modules: true},
	"metrics": {rooms: []string{"actor", "accounts"}, modules: true},
	"client":  {rooms: []string{"gen", "internal/endpoint"}, modules: true},
	"mcp":     {rooms: []string{"client", "gen", "web/guard"}, modules: true},
	// Programs as users of package client write them.
	"examples": {rooms: []string{"client", "gen"}, modules: true},
	// What wires or measures the other rooms may import all of them.
	"cmd":      {rooms: everyRoom, modules: true},
	"bench":    {rooms: everyRoom, modules: true},
	"internal": {rooms: everyRoom, modules: true},
	// Every text that is stored or shown is cut by it.
	"internal/truncate": {pure: true},
	// Public package client stands on it, and what that needs every program needs that imports client.
	"internal/endpoint": {rooms: []string{"rpc/listen"}, modules: true},
}

// everyRoom allows all rooms.
var everyRoom = []string{"*"}

// keeper gives some packages to few rooms, so that the rest can be built and tested without them.
type keeper struct {
	// packages are import path prefixes, by whole path elements.
	packages []string
	rooms    []string
	// advice says what to do instead.
	advice string
}

var keepers = []keeper{
	{
		packages: []string{"github.com/chromedp"},
		rooms: []string{"browser", "browser/link", "browser/launch", "browser/hands", "browser/input", "browser/record", "browser/frames", "browser/documents",
			"browser/dialogs", "browser/requests", "browser/navigation", "browser/capture", "bench"},
		advice: "add what you need to the interfaces of actor/driver and implement it in browser",
	},
	{
		packages: []string{
			module + "/gen",
			"google.golang.org/grpc",
			"google.golang.org/protobuf",
			"google.golang.org/genproto",
			"github.com/grpc-ecosystem",
		},
		rooms:  []string{"gen", "rpc", "web", "metrics", "traces", "client", "mcp", "examples", "cmd", "bench", "internal", "internal/endpoint"},
		advice: "use the types of dom and actor and let rpc convert them",
	},
	{
		packages: []string{"go.opentelemetry.io"},
		rooms:    []string{"traces"},
		advice:   "add what you need to actor.Tracer or rpc.Config.Traces and implement it in traces",
	},
	{
		packages: []string{"connectrpc.com"},
		rooms:    []string{"web"},
		advice:   "serve it as a service of grpc in rpc, and web gives it to browsers",
	},
	{
		packages: []string{"github.com/prometheus", "github.com/grpc-ecosystem/go-grpc-middleware/providers"},
		rooms:    []string{"metrics"},
		advice:   "add what you need to actor.Meter or rpc.Metrics and implement it in metrics",
	},
	{
		packages: []string{"github.com/modelcontextprotocol"},
		rooms:    []string{"mcp", "bench"},
		advice:   "let mcp speak the protocol; what tools do is in mcp/tools, which needs none of it",
	},
}

// impure lists, by exact path, what a pure room may not import.
var impure = []string{
	"context", "crypto/rand", "math/rand", "math/rand/v2", "net", "net/http", "os", "os/exec", "syscall", "time",
}

// call forbids a function of the standard library outside the rooms named.
type call struct {
	pkg    string
	names  []string
	rooms  []string
	advice string
}

var calls = []call{
	{
		pkg: "os", names: []string{"Exit"}, rooms: []string{"cmd", "examples"},
		advice: "return an error and let cmd/ choose the exit code",
	},
	{
		pkg: "log", names: []string{"Fatal", "Fatalf", "Fatalln"}, rooms: []string{"cmd", "examples"},
		advice: "return an error and let cmd/ choose the exit code",
	},
	// A call takes its caller's context, so that the end of the call ends the work. Only what outlives every call
	// has no caller whose context fits: the pool's tabs, the sessions, and the rights of the server's own token.
	// Their packages derive a context of their own from context.Background and end it in Close.
	{
		pkg: "context", names: []string{"Background"}, rooms: []string{"cmd", "examples", "actor", "rpc"},
		advice: "take the caller's context as the first argument",
	},
	{
		pkg: "context", names: []string{"TODO"}, rooms: []string{"cmd", "examples"},
		advice: "take the caller's context as the first argument",
	},
}
