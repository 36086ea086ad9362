package main

import (
	"context"
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unicode"

	"github.com/spf13/cobra"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// forbidden holds the characters besides C0 that no command prints: C1, direction marks, zero width characters, separators, blanks that are
// not white space, and tags.
const forbidden = "\x7f\u0080\u0085\u009b\u009d\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u180b\u180e\u200b\u200e\u200f\u2028\u2029\u202a\u202b\u202c\u202d\u202e" +
	"\u2060\u2061\u2062\u2063\u2064\u2066\u2067\u2068\u2069\u206a\u206f\u2800\u3164\ufeff\uffa0\ufff9\ufffb\U0001d173\U000e0001\U000e0041\U000e007f\U000e0fff"

// hostileText contains every forbidden character, an escape sequence in 7 and one in 8 bits, and repetitions of characters that are allowed
// only once.
const hostileText = "a\x1b[2J\x1b]0;x\x07\x08\rb" + forbidden + "c\ufe0f\ufe0f\ufe0f\U000e0100\U000e0101d\u200d\u200d\u200c日\u200d\u200d\u200d"

// acts returns the first character of an output that no command may print.
func acts(out string) string {
	run := 0
	for i, r := range out {
		flood := unicode.In(r, unicode.Variation_Selector) || r == '\u200c' || r == '\u200d'
		if run++; !flood {
			run = 0
		}
		if r < ' ' && r != '\n' && r != '\t' || strings.ContainsRune(forbidden, r) || run > 2 {
			return out[i:min(i+8, len(out))]
		}
	}
	return ""
}

// hostileDaemon answers every method of the API with a message whose strings are all hostile. round selects enums, the
// fields of oneofs, and errors.
type hostileDaemon struct{ now atomic.Int32 }

// round may be called concurrently, also by calls that an earlier command left behind.
func (d *hostileDaemon) round() int { return int(d.now.Load()) }

// failingRound is the round in which every call fails.
const failingRound = 2

// start serves on a socket until the test ends, and returns its address.
func (d *hostileDaemon) start(t *testing.T) (address string) {
	t.Helper()
	socket := filepath.Join(shortDir(t), "s")
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer(grpc.Creds(insecure.NewCredentials()), grpc.UnknownServiceHandler(d.answer))
	healthv1.RegisterHealthServer(server, health.NewServer())
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	t.Cleanup(func() {
		server.Stop()
		if err := <-served; err != nil && !errors.Is(err, grpc.ErrServerStopped) {
			t.Errorf("the hostile daemon: %v", err)
		}
	})
	return "unix://" + socket
}

// answer sends one message. A stream then ends as if the tab was closed.
func (d *hostileDaemon) answer(_ any, stream grpc.ServerStream) error {
	if err := stream.RecvMsg(new(emptypb.Empty)); err != nil {
		return err
	}
	if d.round() == failingRound {
		return status.Error(codes.FailedPrecondition, hostileText)
	}
	full, _ := grpc.MethodFromServerStream(stream)
	found, err := protoregistry.GlobalFiles.FindDescriptorByName(protoreflect.FullName(strings.ReplaceAll(strings.TrimPrefix(full, "/"), "/", ".")))
	if err != nil {
		return status.Error(codes.Unimplemented, err.Error())
	}
	method, ok := found.(protoreflect.MethodDescriptor)
	if !ok {
		return status.Error(codes.Unimplemented, full)
	}
	kind, err := protoregistry.GlobalTypes.FindMessageByName(method.Output().FullName())
	if err != nil {
		return status.Error(codes.Unimplemented, err.Error())
	}
	message := kind.New()
	d.fill(message, 0)
	if err := stream.SendMsg(message.Interface()); err != nil || !method.IsStreamingServer() {
		return err
	}
	return status.Error(codes.Aborted, hostileText)
}

// maxDepth limits the nesting of messages.
const maxDepth = 6

// fill sets every field of a message.
func (d *hostileDaemon) fill(m protoreflect.Message, depth int) {
	switch known := m.Interface().(type) {
	case *timestamppb.Timestamp:
		known.Seconds = 1
		return
	case *durationpb.Duration:
		known.Seconds = 1
		return
	}
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		field := fields.Get(i)
		if field.Name() == "body_missing" && d.round() == 0 {
			continue // in round 0 the body must not be missing
		}
		if one := field.ContainingOneof(); one != nil && !one.IsSynthetic() && one.Fields().Get(d.round()%one.Fields().Len()) != field {
			continue
		}
		if inner := field.Message(); inner != nil && !field.IsMap() && (depth == maxDepth || strings.HasPrefix(string(inner.FullName()), "google.protobuf.Struct")) {
			continue
		}
		switch {
		case field.IsMap():
			if field.MapKey().Kind() == protoreflect.StringKind && field.MapValue().Message() == nil {
				m.Mutable(field).Map().Set(protoreflect.ValueOfString(hostileText).MapKey(), d.scalar(field.MapValue()))
			}
		case field.IsList() && field.Message() != nil:
			d.fill(m.Mutable(field).List().AppendMutable().Message(), depth+1)
		case field.IsList():
			m.Mutable(field).List().Append(d.scalar(field))
		case field.Message() != nil:
			d.fill(m.Mutable(field).Message(), depth+1)
		default:
			m.Set(field, d.scalar(field))
		}
	}
}

// scalar returns a value for a field.
func (d *hostileDaemon) scalar(field protoreflect.FieldDescriptor) protoreflect.Value {
	text := hostileText
	if name := string(field.Name()); strings.HasSuffix(name, "_json") || name == "har" {
		inner, err := json.Marshal(map[string]string{"x": hostileText})
		if err != nil {
			panic(err)
		}
		text = string(inner)
	}
	n := d.round() + 1
	switch field.Kind() {
	case protoreflect.StringKind:
		return protoreflect.ValueOfString(text)
	case protoreflect.BytesKind:
		return protoreflect.ValueOfBytes([]byte(text))
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(d.round() == 0)
	case protoreflect.EnumKind:
		return protoreflect.ValueOfEnum(field.Enum().Values().Get(n % field.Enum().Values().Len()).Number())
	case protoreflect.Int32Kind, protoreflect.Sint32Kind, protoreflect.Sfixed32Kind:
		return protoreflect.ValueOfInt32(int32(n))
	case protoreflect.Int64Kind, protoreflect.Sint64Kind, protoreflect.Sfixed64Kind:
		return protoreflect.ValueOfInt64(int64(n))
	case protoreflect.Uint32Kind, protoreflect.Fixed32Kind:
		return protoreflect.ValueOfUint32(uint32(n))
	case protoreflect.Uint64Kind, protoreflect.Fixed64Kind:
		return protoreflect.ValueOfUint64(uint64(n))
	case protoreflect.FloatKind:
		return protoreflect.ValueOfFloat32(float32(n))
	case protoreflect.DoubleKind:
		return protoreflect.ValueOfFloat64(float64(n))
	case protoreflect.MessageKind, protoreflect.GroupKind:
	}
	panic("a message is no scalar: " + string(field.FullName()))
}

// commandLines maps every command to its arguments, with | between two uses. HOSTILE stands for hostileText, DIR for a directory.
var commandLines = map[string]string{
	"open": "https://a.test|HOSTILE|-q https://a.test", "tabs": "", "attach": "|--all|HOSTILE", "goto": "https://a.test|HOSTILE", "back": "", "forward": "", "reload": "", "close": "|HOSTILE", "restore": "",
	"session new": "HOSTILE", "session list": "", "session set": "HOSTILE --user-agent HOSTILE", "session save": "default -", "session load": "HOSTILE testdata/upload.txt",
	"session close": "HOSTILE", "session devices": "", "session login": "HOSTILE --state DIR/s.json --until-text HOSTILE",
	"profile save": "work|HOSTILE", "profile refresh": "work", "profile load": "work", "profile list": "", "profile delete": "work|HOSTILE",
	"cookies list": "|HOSTILE", "cookies get": "HOSTILE", "cookies set": "HOSTILE HOSTILE|a b --url https://a.test", "cookies delete": "HOSTILE --url https://a.test|--all",
	"storage list": "|--values|--area session --values", "storage get": "HOSTILE --area session", "storage set": "HOSTILE HOSTILE --area session", "storage delete": "HOSTILE --area session", "storage clear": "--area session",
	"route block": "HOSTILE", "route mock": "HOSTILE --body HOSTILE", "route rewrite": "HOSTILE --to HOSTILE", "route list": "", "route remove": "HOSTILE|--all",
	"read": "|--mode interactive|--mode visual|--outline", "snapshot": "", "compact": "|--since 1 --epoch HOSTILE", "find": "HOSTILE", "dom": "", "watch": "|--until text=HOSTILE", "wait": "--text HOSTILE",
	"pdf": "DIR/p.pdf", "shot": "DIR/p.png", "extract": "HOSTILE", "batch": "https://a.test", "log": "", "timeline": "|--follow", "request": "1|1 --body|1 --save DIR/body|HOSTILE",
	"har": "-|DIR/a.har", "video": "DIR/v.gif", "audit": "", "prune": "--stats", "search": "HOSTILE", "record start": "", "record stop": "", "record list": "", "replay": "HOSTILE",
	"click": "1|--text HOSTILE", "dblclick": "1", "hover": "1", "type": "1 HOSTILE", "fill": "1 HOSTILE", "press": "HOSTILE", "select": "1 HOSTILE", "check": "1", "uncheck": "1", "scroll": "1", "drag": "1 2", "mouse": "down 1 up|HOSTILE", "do": "HOSTILE|tabs",
	"upload": "1 testdata/upload.txt|1 HOSTILE", "dialog accept": "HOSTILE", "dialog dismiss": "", "downloads": "", "form": "HOSTILE=HOSTILE", "tool": "|HOSTILE|HOSTILE --input {}", "eval": "HOSTILE", "pause": "HOSTILE", "resume": "HOSTILE",
	"mcp install": "cursor --print|HOSTILE", "mcp uninstall": "cursor --print|HOSTILE", "skill": "", "repl": "", "stats": "", "cluster status": "", "cluster drain": "HOSTILE", "cluster move": "HOSTILE HOSTILE",
	"config": "", "health": "HOSTILE", "doctor": "", "socket": "", "token": "", "token new": "alice|HOSTILE", "version": "", "man": "", "ui": "", "stop": "",
}

// notRun maps the commands that this test does not run to the reason.
var notRun = map[string]string{
	"serve": "it is the daemon: its log goes through the same writer", "mcp": "it speaks a protocol: messages are exact",
}

// TestNoCommandCommandsTheTerminal runs every command with hostile arguments against a daemon with hostile answers, with text and JSON
// output. No output may contain a character that affects a terminal or has no glyph.
func TestNoCommandCommandsTheTerminal(t *testing.T) {
	daemon := new(hostileDaemon)
	address := daemon.start(t)
	forEachCommand(newRoot(newApp(nil, nil, nil, nil)), func(cmd *cobra.Command) {
		name := strings.TrimPrefix(cmd.CommandPath(), "domtap ")
		lines, known := commandLines[name]
		switch {
		case cmd.HasSubCommands() && !known || notRun[name] != "":
			return
		case !known:
			t.Errorf("%s: no command line in commandLines", name)
			return
		}
		for line := range strings.SplitSeq(lines, "|") {
			for _, flags := range [][]string{nil, {"--json"}} {
				if flags != nil && cmd.Flags().Lookup("json") == nil {
					continue
				}
				for round := range failingRound + 1 {
					if flags != nil && round > 0 {
						break // the other rounds vary the layout of text output
					}
					daemon.now.Store(int32(round))
					printsPlain(t, address, slices.Concat(strings.Fields(name+" "+line), flags))
				}
			}
		}
	})
}

// printsPlain runs one command line and checks its output.
func printsPlain(t *testing.T, address string, words []string) {
	t.Helper()
	dir := t.TempDir()
	for i := range words {
		words[i] = strings.NewReplacer("HOSTILE", hostileText, "DIR", dir).Replace(words[i])
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	got := command{ctx: ctx, in: "tabs\n", env: map[string]string{
		"DOMTAP_ADDR": address, "DOMTAP_TAB": "t1", "DOMTAP_STATE_DIR": dir, "HOME": dir, "DOMTAP_PROFILE_PASSPHRASE": "x",
	}}.run(t, words...)
	if ctx.Err() != nil {
		t.Errorf("%.40q does not end", words)
	}
	if bad := acts(got.out); bad != "" {
		t.Errorf("%.40q prints %+q", strings.Join(words, " "), bad)
	}
	if bad := acts(got.errors); bad != "" {
		t.Errorf("%.40q prints %+q on standard error", strings.Join(words, " "), bad)
	}
}

// writesPast maps the files that may use the process's streams, or bypass render.Writer, to the reason.
var writesPast = map[string]string{
	"main.go": "it has the streams", "internal/render/writer.go": "the writer", "internal/cli/printer.go": "colours", "internal/cli/spinner.go": "goes back in the line",
	"internal/replcmd/prompt.go": "edits a line",
	"internal/cli/app.go":        "files on standard output", "internal/readcmd/video.go": "a GIF", "internal/readcmd/prune.go": "copies byte for byte",
	"internal/daemoncmd/mcp.go": "a protocol", "internal/daemoncmd/install.go": "a file of another program",
}

// TestCommandsWriteThroughOneWriter searches all commands for os.Stdout, os.Stderr, render.Raw, render.Exact, print and fmt.Print.
func TestCommandsWriteThroughOneWriter(t *testing.T) {
	used := map[string]bool{}
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if found := pastWriter(n); found != "" {
				used[filepath.ToSlash(path)] = true
				if writesPast[filepath.ToSlash(path)] == "" {
					t.Errorf("%s uses %s: write to App.Out, App.Err or a Printer", path, found)
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for path := range writesPast {
		if !used[path] && path != "internal/render/writer.go" {
			t.Errorf("%s needs no entry in writesPast", path)
		}
	}
}

// pastWriter returns the name of the function or stream by which a node bypasses the writer.
func pastWriter(n ast.Node) string {
	if call, ok := n.(*ast.CallExpr); ok {
		if name, ok := call.Fun.(*ast.Ident); ok && (name.Name == "print" || name.Name == "println") {
			return name.Name
		}
	}
	selected, ok := n.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	from, ok := selected.X.(*ast.Ident)
	if !ok {
		return ""
	}
	name := from.Name + "." + selected.Sel.Name
	if strings.HasPrefix(name, "fmt.Print") || slices.Contains([]string{"os.Stdout", "os.Stderr", "os.NewFile", "render.Raw", "render.Exact"}, name) {
		return name
	}
	return ""
}

// TestFilesOnStandardOutputAreExact checks that a picture, a body and a copied transcript are written unchanged, because they are not text
// for a terminal.
func TestFilesOnStandardOutputAreExact(t *testing.T) {
	address := new(hostileDaemon).start(t)
	for _, line := range []string{"shot -", "pdf -", "request 1 --save -"} {
		got := command{env: map[string]string{"DOMTAP_ADDR": address, "DOMTAP_TAB": "t1", "DOMTAP_STATE_DIR": t.TempDir()}}.run(t, strings.Fields(line)...)
		if got.out != hostileText {
			t.Errorf("%s prints %q", line, got.out)
		}
	}
	got := command{env: map[string]string{"DOMTAP_ADDR": address, "DOMTAP_TAB": "t1", "DOMTAP_STATE_DIR": t.TempDir()}}.run(t, "har", "-")
	if parsed := parsedText(t, got.out); !strings.Contains(parsed, hostileText) {
		t.Errorf("har - prints %q", got.out)
	}
}
