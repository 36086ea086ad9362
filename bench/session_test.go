package bench

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/domtap/domtap/internal/mcp"
	"github.com/domtap/domtap/internal/mcp/tools"
	"github.com/domtap/domtap/internal/server"
	"github.com/domtap/domtap/internal/testenv"
	"github.com/domtap/domtap/internal/tokens"
	"github.com/domtap/domtap/internal/transcript"
)

const (
	// sessionCalls is the number of calls of the session. sessionLimit limits the cost of its pruned transcript, in tokens.
	sessionCalls = 58
	sessionLimit = 100_000
)

// TestFiftyEightCalls browses the pages in $DOMTAP_PAGES as a model would, through the MCP server, in 58 calls, three per page: it
// navigates, acts (fills in the first text field, or scrolls), and reads the page again. It runs twice: with the defaults of the tools, and
// with incremental reads. It counts the cost on the transcript that the host keeps, as JSON in the format of Anthropic messages, without
// the tool definitions:
//
//	answers   what the tools answered, each counted once
//	largest   the largest of them
//	final     the transcript after the last call
//	cumulated the transcripts before each of the model's turns, added up: what is paid for without a cache
//
// Pruned means that the host prunes the transcript before each turn (package prune, keep 1), so that it always stays small. Without the
// folder the test is skipped.
func TestFiftyEightCalls(t *testing.T) {
	site, files := savedPages(t)
	var urls []string
	for _, file := range files {
		urls = append(urls, site+"/"+filepath.Base(file))
	}
	d := testenv.StartDaemon(t, "host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1")
	table := []string{"session               calls errors answers largest   final cumulated"}
	for _, incremental := range []bool{false, true} {
		s := browse(t, d.Socket, urls, incremental)
		name := "defaults"
		if incremental {
			name = "incremental"
		}
		table = append(table, s.row(t, name, false), s.row(t, name+", pruned", true))
	}
	t.Logf("\n%s\n%s tokens", strings.Join(table, "\n"), tokens.Name)
}

// visit is a session of a model with the MCP server, and the host's transcript.
type visit struct {
	client   *sdk.ClientSession
	messages []json.RawMessage
	calls    int
	errors   int
	answers  []int
}

// browse makes the calls.
func browse(t *testing.T, socket string, urls []string, incremental bool) *visit {
	t.Helper()
	v := &visit{client: connectMCP(t, socket)}
	v.add(t, map[string]any{"role": "user", "content": "Look through these pages and tell me what each is about."})
	again := map[string]any{}
	if incremental {
		again["incremental"] = true
	}
	for i := 0; v.calls < sessionCalls; i++ {
		page := v.call(t, "browser_navigate", map[string]any{"url": urls[i%len(urls)]})
		if v.calls < sessionCalls {
			v.call(t, "browser_interact", map[string]any{"steps": []any{firstStep(page)}})
		}
		if v.calls < sessionCalls {
			v.call(t, "browser_get_elements_compact", again)
		}
	}
	return v
}

func connectMCP(t *testing.T, socket string) *sdk.ClientSession {
	t.Helper()
	conn, err := grpc.NewClient("unix:"+socket, grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(server.MaxMessage)))
	if err != nil {
		t.Fatal(err)
	}
	server, err := mcp.New(t.Context(), mcp.Options{Conn: conn, Tools: tools.Core})
	if err != nil {
		t.Fatal(err)
	}
	near, far := sdk.NewInMemoryTransports()
	go func() { _ = server.Serve(t.Context(), far) }() // Close ends it
	client, err := sdk.NewClient(&sdk.Implementation{Name: "bench", Version: "1"}, nil).Connect(t.Context(), near, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = client.Close()
		server.Close()
		_ = conn.Close()
	})
	return client
}

// textField matches a line of a field that can be filled.
var textField = regexp.MustCompile(`(?m)^\[(\d+)\] .*\(input type=(?:text|search|email)`)

// firstStep returns the model's action on a page.
func firstStep(page string) map[string]any {
	if field := textField.FindStringSubmatch(page); field != nil {
		return map[string]any{"action": "fill", "ref": field[1], "value": "harbour"}
	}
	return map[string]any{"action": "scroll", "value": "800"}
}

// add adds a message to the transcript.
func (v *visit) add(t *testing.T, message map[string]any) {
	t.Helper()
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(message); err != nil {
		t.Fatal(err)
	}
	v.messages = append(v.messages, json.RawMessage(strings.TrimSpace(b.String())))
}

// call makes a call and adds it to the transcript.
func (v *visit) call(t *testing.T, tool string, arguments map[string]any) string {
	t.Helper()
	v.calls++
	result, err := v.client.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		t.Fatalf("%s: %v", tool, err)
	}
	text := result.Content[0].(*sdk.TextContent).Text
	if result.IsError {
		v.errors++
		t.Logf("%s %v: %s", tool, arguments, text)
	}
	v.answers = append(v.answers, tokens.Count(text))
	id := fmt.Sprintf("call_%d", v.calls)
	v.add(t, map[string]any{"role": "assistant", "content": []any{map[string]any{"type": "tool_use", "id": id, "name": tool, "input": arguments}}})
	v.add(t, map[string]any{"role": "user", "content": []any{map[string]any{
		"type": "tool_result", "tool_use_id": id, "content": []any{map[string]any{"type": "text", "text": text}}}}})
	return text
}

// row returns the costs of a session.
func (v *visit) row(t *testing.T, name string, pruned bool) string {
	t.Helper()
	answers, largest := 0, 0
	for _, n := range v.answers {
		answers, largest = answers+n, max(largest, n)
	}
	costs := map[string]int{} // costs of messages, because most messages recur
	final, cumulated := 0, 0
	for turn := 1; turn <= len(v.messages); turn += 2 { // before each turn of the model, and after the last call
		final = 0
		for _, message := range v.before(t, turn, pruned) {
			cost, known := costs[string(message)]
			if !known {
				cost = tokens.Count(string(message))
				costs[string(message)] = cost
			}
			final += cost
		}
		cumulated += final
	}
	if pruned && final > sessionLimit {
		t.Errorf("%s: the transcript of %d calls costs %d tokens, more than %d", name, v.calls, final, sessionLimit)
	}
	if v.calls != sessionCalls || v.errors > sessionCalls/10 {
		t.Errorf("%s: %d calls, of which %d failed", name, v.calls, v.errors)
	}
	return fmt.Sprintf("%-21s %5d %6d %7d %7d %7d %9d", name, v.calls, v.errors, answers, largest, final, cumulated)
}

// before returns the transcript at the start of a turn of the model.
func (v *visit) before(t *testing.T, messages int, pruned bool) []json.RawMessage {
	t.Helper()
	if !pruned {
		return v.messages[:messages]
	}
	parts := make([][]byte, messages)
	for i := range parts {
		parts[i] = v.messages[i]
	}
	whole := "[" + string(bytes.Join(parts, []byte(","))) + "]"
	small, _, err := transcript.Transcript([]byte(whole), transcript.Default())
	if err != nil {
		t.Fatal(err)
	}
	var out []json.RawMessage
	if err := json.Unmarshal(small, &out); err != nil {
		t.Fatal(err)
	}
	return out
}
