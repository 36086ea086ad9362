package tools

import (
	_ "embed"
	"flag"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/testenv"
)

var update = flag.Bool("update", false, "write testdata/answers.txt")

//go:embed page.html
var page string

// frame is the document of a frame that offers a tool of the same name as the main document, and one of its own.
const frame = `<p>Frame</p><button>In the frame</button><script>
const offer = (name, execute) => document.modelContext.registerTool({ name, description: "In the frame", inputSchema: { type: "object" }, execute });
offer("price", () => "framed"); offer("framed", () => { document.querySelector("button").textContent = "Changed"; return "done" });
</script>`

// shop serves the pages.
func shop(t *testing.T) string {
	answer := func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "ordered") }
	return testenv.Pages(t, map[string]http.HandlerFunc{
		"/": testenv.HTML(page), "/frame": testenv.HTML(frame), "/order": answer, "/terms": testenv.HTML("<title>Terms</title><h1>Terms</h1>"),
		"/found": testenv.HTML("<title>Found</title><h1>Found</h1>"), "/subscribed": testenv.HTML("<title>Thanks</title><h1>Thanks</h1>"),
	})
}

// tools waits until a tab offers as many tools as the pages of the test, and returns them.
func tools(t *testing.T, d *testenv.Daemon, tab string, met func(*domtapv1.WatchToolsResponse) bool) []*domtapv1.PageTool {
	t.Helper()
	stream, err := d.Tools.WatchTools(testenv.Within(t, time.Minute), &domtapv1.WatchToolsRequest{TabId: tab})
	if err != nil {
		t.Fatal(err)
	}
	for {
		m, err := stream.Recv()
		if err != nil {
			t.Fatal(err)
		}
		if met(m) {
			return m.GetTools()
		}
	}
}

func named(m *domtapv1.WatchToolsResponse, name string) int {
	n := 0
	for _, tool := range m.GetTools() {
		if tool.GetName() == name {
			n++
		}
	}
	return n
}

// isWhole reports whether the page and its frame have offered all of their tools.
func isWhole(m *domtapv1.WatchToolsResponse) bool {
	return named(m, "for_now") == 1 && named(m, "framed") == 1 && named(m, "search") == 1
}

// TestAnswersOfTools calls tools that do what they say and tools that do not, each on a fresh page, and compares the answers with
// testdata/answers.txt.
func TestAnswersOfTools(t *testing.T) {
	d, url := testenv.StartDaemon(t), shop(t)
	var got strings.Builder
	for _, call := range []struct{ name, input string }{
		{"add_to_cart", `{"item": "tea"}`}, {"add_to_cart", `{"item": "tea", "count": 10}`}, {"add_to_cart", `{"count": 1}`}, {"add_to_cart", `{"item": "tea", "n": 1}`},
		{"framed", ""}, {"price", ""}, {"order", ""}, {"fails", ""}, {"asks", ""}, {"leaves", ""}, {"opens", ""}, {"unknown", ""},
		{"subscribe", `{"email": "ada@example.com", "often": "weekly"}`}, {"subscribe", `{"email": "ada@example.com", "often": "never"}`}, {"search", `{"q": "tea"}`},
		{"does_nothing", ""}, {"reads_and_writes", ""}, {"reads_and_changes", ""}, {"reads_and_leaves", ""}, {"fails_and_writes", ""}, {"fails_and_changes", ""},
		{"forges", ""}, {"huge", ""}, {"circular", ""}, {"nothing", ""}, {"recursive", ""}, {"nonsense", `{"a": "("}`}, {"removes_itself", ""},
	} {
		tab := d.Open(url)
		tools(t, d, tab, isWhole)
		fmt.Fprintf(&got, "> %s %s\n%s\n", call.name, call.input, transcript(t, d, url, &domtapv1.CallToolRequest{TabId: tab, Name: call.name, InputJson: call.input}))
		if _, err := d.Tabs.CloseTab(t.Context(), &domtapv1.CloseTabRequest{TabId: tab}); err != nil {
			t.Fatal(err)
		}
	}
	const file = "testdata/answers.txt"
	if *update {
		if err := os.WriteFile(file, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got.String() != string(want) {
		t.Errorf("the answers differ from %s:\n%s", file, got.String())
	}
}

// frameID and ref match what differs from run to run: the ID of a frame, and a ref, which depends on when the frame was read.
var (
	frameID = regexp.MustCompile(`\b[0-9A-F]{32}\b`)
	ref     = regexp.MustCompile(`\[\d+\]`)
)

// transcript calls a tool and prints the answer.
func transcript(t *testing.T, d *testenv.Daemon, url string, r *domtapv1.CallToolRequest) string {
	r.Format = domtapv1.Format_FORMAT_DIFF
	answer, err := d.Tools.CallTool(testenv.Within(t, time.Minute), r)
	if err != nil {
		return fmt.Sprintf("%s: %s\n", status.Code(err), frameID.ReplaceAllString(status.Convert(err).Message(), "FRAME"))
	}
	var b strings.Builder
	claim, observed := answer.GetClaim(), answer.GetObserved()
	output, _, _ := strings.Cut(claim.GetOutput(), "\n    at ")
	if len(output) > 200 {
		output = fmt.Sprintf("%s… (%d bytes)", output[:20], len(output))
	}
	fmt.Fprintf(&b, "claims %s: %q", strings.TrimPrefix(claim.GetStatus().String(), "TOOL_STATUS_"), output)
	if claim.GetOutputCut() {
		b.WriteString(", cut")
	}
	result := observed.GetResults()[0]
	fmt.Fprintf(&b, "\n%s: %s\n", strings.TrimPrefix(answer.GetAgreement().String(), "AGREEMENT_"), result.GetSummary())
	if result.GetError() != "" {
		fmt.Fprintf(&b, "error: %s\n", result.GetError())
	}
	for _, sent := range answer.GetRequests() {
		fmt.Fprintf(&b, "sent %s %s %d\n", sent.GetMethod(), sent.GetUrl(), sent.GetStatus())
	}
	fmt.Fprintf(&b, "%s\n%s", strings.TrimPrefix(observed.GetVerdict().String(), "VERDICT_"), observed.GetDiffText())
	for _, o := range observed.GetOutcome() {
		fmt.Fprintf(&b, "! %s: %s\n", strings.TrimPrefix(o.GetKind().String(), "OUTCOME_KIND_"), o.GetText())
	}
	return ref.ReplaceAllString(strings.ReplaceAll(b.String(), url, ""), "[n]")
}

// TestToolsThatNeverAnswerAreCanceled waits for a tool only as long as the call allows.
func TestToolsThatNeverAnswerAreCanceled(t *testing.T) {
	d := testenv.StartDaemon(t)
	tab := d.Open(shop(t))
	tools(t, d, tab, isWhole)
	answer, err := d.Tools.CallTool(t.Context(), &domtapv1.CallToolRequest{TabId: tab, Name: "never", Timeout: durationpb.New(200 * time.Millisecond)})
	if err != nil {
		t.Fatal(err)
	}
	if got := answer.GetClaim().GetStatus(); got != domtapv1.ToolStatus_TOOL_STATUS_TIMED_OUT {
		t.Errorf("the claim of a tool that never answers is %v: %v", got, answer)
	}
	if _, err := d.Tools.CallTool(t.Context(), &domtapv1.CallToolRequest{TabId: tab, Name: "add_to_cart", InputJson: `{"item":"tea"}`}); err != nil {
		t.Errorf("a call after it: %v", err)
	}
}

// TestAToolThatHangsThePageHasNoClaim checks that the call fails with the state of the page instead of a claim.
func TestAToolThatHangsThePageHasNoClaim(t *testing.T) {
	d := testenv.StartDaemon(t)
	tab := d.Open(shop(t))
	tools(t, d, tab, isWhole)
	answer, err := d.Tools.CallTool(testenv.Within(t, time.Minute), &domtapv1.CallToolRequest{TabId: tab, Name: "hangs"})
	if testenv.Reason(err) != "PAGE_UNRESPONSIVE" || !strings.Contains(err.Error(), "may be done only in part") {
		t.Errorf("a tool that hangs the page: %v, %v", answer, err)
	}
}

// TestToolsAreNotCalledInSessionsWithMasks calls a tool that would return masked text.
func TestToolsAreNotCalledInSessionsWithMasks(t *testing.T) {
	d := testenv.StartDaemon(t)
	mask := &domtapv1.Mask{Selectors: []string{"#note"}}
	if _, err := d.Sessions.CreateSession(t.Context(), &domtapv1.CreateSessionRequest{SessionId: "masked", Settings: &domtapv1.SessionSettings{Mask: mask}}); err != nil {
		t.Fatal(err)
	}
	opened, err := d.Tabs.OpenTab(t.Context(), &domtapv1.OpenTabRequest{SessionId: "masked", Url: shop(t)})
	if err != nil {
		t.Fatal(err)
	}
	tab := opened.GetTab().GetId()
	tools(t, d, tab, isWhole)
	answer, err := d.Tools.CallTool(t.Context(), &domtapv1.CallToolRequest{TabId: tab, Name: "reveals"})
	if testenv.Reason(err) != "NOT_ACTIONABLE" || !strings.Contains(err.Error(), "masks") {
		t.Errorf("a tool of a masked page: %v, %v", answer, err)
	}
}

// TestToolsEndWithTheirDocument checks what a tab lists while tools and documents come and go.
func TestToolsEndWithTheirDocument(t *testing.T) {
	d, url := testenv.StartDaemon(t), shop(t)
	tab := d.Open(url)
	tools(t, d, tab, isWhole)
	if _, err := d.Tools.CallTool(t.Context(), &domtapv1.CallToolRequest{TabId: tab, Name: "removes_itself"}); err != nil {
		t.Fatal(err)
	}
	tools(t, d, tab, func(m *domtapv1.WatchToolsResponse) bool { return named(m, "for_now") == 0 && named(m, "framed") == 1 })
	testenv.Evaluate[any](t, d, `document.querySelector("iframe").remove()`)
	tools(t, d, tab, func(m *domtapv1.WatchToolsResponse) bool { return named(m, "framed") == 0 && named(m, "price") == 1 })
	d.Show(tab, url+"/terms")
	tools(t, d, tab, func(m *domtapv1.WatchToolsResponse) bool { return len(m.GetTools()) == 0 && !m.GetIncomplete() })
	_, err := d.Tools.CallTool(t.Context(), &domtapv1.CallToolRequest{TabId: tab, Name: "price"})
	if status.Code(err) != codes.NotFound || !strings.Contains(err.Error(), "offers no tools") {
		t.Errorf("a call of a tool that is gone: %v", err)
	}
}

// TestToolsOfFramesAreTold requires the frame of a name that several documents use.
func TestToolsOfFramesAreTold(t *testing.T) {
	d := testenv.StartDaemon(t)
	tab := d.Open(shop(t))
	var framed string
	for _, tool := range tools(t, d, tab, isWhole) {
		if tool.GetName() == "framed" {
			framed = tool.GetFrameId()
		}
	}
	_, err := d.Tools.CallTool(t.Context(), &domtapv1.CallToolRequest{TabId: tab, Name: "price"})
	if testenv.Reason(err) != "AMBIGUOUS_TARGET" || !strings.Contains(err.Error(), framed) {
		t.Errorf("a name of two frames: %v", err)
	}
	answer, err := d.Tools.CallTool(t.Context(), &domtapv1.CallToolRequest{TabId: tab, Name: "price", FrameId: framed})
	if err != nil || answer.GetClaim().GetOutput() != "framed" {
		t.Errorf("the tool of the frame: %v, %v", answer, err)
	}
}

// TestAPageOfManyToolsIsBounded offers more tools than a tab lists, with texts that are too long.
func TestAPageOfManyToolsIsBounded(t *testing.T) {
	d := testenv.StartDaemon(t)
	tab := d.Open(testenv.Serve(t, testenv.HTML(`<title>Many</title><button>One</button><script>
for (let i = 0; i < 10000; i++) document.modelContext.registerTool({ name: (i === 5 ? "x".repeat(200) : "") + "t" + i, description: "d".repeat(3000),
  inputSchema: { type: "object", title: i === 7 ? "s".repeat(20000) : "" }, execute: () => 0 });
</script>`)))
	all := tools(t, d, tab, func(m *domtapv1.WatchToolsResponse) bool { return m.GetIncomplete() && len(m.GetTools()) == 200 })
	for _, tool := range all {
		if len(tool.GetDescription()) != 1000 || tool.GetSchemaOmitted() != (tool.GetName() == "t7") || (tool.GetInputSchemaJson() == "") != tool.GetSchemaOmitted() {
			t.Fatalf("a tool exceeds the limits: %.200v", tool)
		}
	}
	if got := testenv.Texts(d.All(tab)); len(got) == 0 || got[0] != "button One" {
		t.Errorf("the page is not readable: %q", got)
	}
}
