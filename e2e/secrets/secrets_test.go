package secrets

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/domtap/domtap/actor/tabpool"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/browser"
	"github.com/domtap/domtap/internal/server"
	"github.com/domtap/domtap/internal/telemetry/metrics"
	"github.com/domtap/domtap/internal/telemetry/usage"
	"github.com/domtap/domtap/internal/testenv"
)

const limit = testenv.Patience

// canary is part of all text of pages, all input and all requests.
const canary = "canary"

const page = `<!doctype html><title>canary-title</title>
<h1>canary-heading</h1><label>Name <input id=name value=canary-value></label><label>Key <input type=password></label>
<button onclick="console.log('canary-console'); throw new Error('canary-error')">canary-button</button>
<button onclick="alert('canary-dialog')">Ask</button>
<button onclick="Object.assign(document.createElement('a'), {href: 'data:application/octet-stream,canary', download: 'canary-file.bin'}).click()">Save</button>
<iframe name=canary-frame srcdoc="<title>canary-inner</title><p>canary-frame-text"></iframe>
<script>fetch('/missing?token=canary-query').catch(() => {}); history.pushState(null, '', '?session=canary-pushed#canary-fragment')</script>`

// TestPageContentReachesOnlyItsReaders runs a session full of canaries, with all kinds of failures. It searches the log at its most verbose
// level, the metrics and the statistics for them.
func TestPageContentReachesOnlyItsReaders(t *testing.T) {
	t.Parallel()
	log := new(safeBuffer)
	logger := slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug - 4}))
	measured := metrics.New()
	var book *usage.Recorder
	d := testenv.StartWithFronts(t, tabpool.Config{Logger: logger, Meter: measured, MaxTabs: 4}, server.Config{AllowEval: true, Logger: logger, Metrics: measured},
		browser.Config{Logger: logger}, func(s *server.Server) { book = s.Usage() })
	measured.FollowUsage(book)
	url := testenv.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.URL.Path, "missing") {
			http.NotFound(w, r)
			return
		}
		testenv.HTML(page)(w, r)
	}))
	ctx := testenv.Within(t, limit)
	tab := d.Open(strings.Replace(url, "http://", "http://canary-user:canary-password@", 1) + "/canary-path?key=canary-query")
	target := func(name string) *domtapv1.Target { return &domtapv1.Target{Role: "button", Name: name} }
	click := func(name string) *domtapv1.Step {
		return &domtapv1.Step{Action: &domtapv1.Step_Click{Click: &domtapv1.ClickStep{Target: target(name)}}}
	}
	fails := 0
	count := func(err error) {
		if err != nil {
			fails++
		}
	}
	act := func(steps ...*domtapv1.Step) {
		_, err := d.Actions.Interact(ctx, &domtapv1.InteractRequest{TabId: tab, Steps: steps})
		count(err)
	}
	act(&domtapv1.Step{Action: &domtapv1.Step_Fill{Fill: &domtapv1.FillStep{Target: &domtapv1.Target{Label: "Key"}, Text: "canary-typed"}}})
	act(click("canary-button"), click("canary-nothing"))
	act(click("canary-nothing"))
	act(click("Save"))
	act(click("Ask"))
	_, err := d.Dom.GetDom(ctx, &domtapv1.GetDomRequest{TabId: tab, ClientId: "canary-client"})
	count(err)
	_, err = d.Tabs.AnswerDialog(ctx, &domtapv1.AnswerDialogRequest{TabId: tab, Accept: true, PromptText: proto.String("canary-answer")})
	count(err)
	_, err = d.Actions.FillForm(ctx, &domtapv1.FillFormRequest{TabId: tab, Fields: []*domtapv1.FormField{{Label: "canary-label", Value: "canary-filled"}}})
	count(err)
	for _, script := range []string{"'canary-script'", "throw new Error('canary-thrown')", "((("} {
		_, err = d.Pages.Evaluate(ctx, &domtapv1.EvaluateRequest{TabId: tab, Expression: script})
		count(err)
	}
	_, err = d.Pages.Extract(ctx, &domtapv1.ExtractRequest{TabId: tab, Selectors: []string{"#canary-selector", "canary["}})
	count(err)
	_, err = d.Pages.Batch(ctx, &domtapv1.BatchRequest{Urls: []string{url + "/canary-batch", "http://canary.invalid/"}})
	count(err)
	for _, to := range []string{"canary:nowhere", "http://127.0.0.1:1/canary"} {
		_, err = d.Tabs.Navigate(ctx, &domtapv1.NavigateRequest{TabId: tab, Url: to, Timeout: durationpb.New(10 * time.Second)})
		count(err)
	}
	_, err = d.Tabs.GetTab(ctx, &domtapv1.GetTabRequest{TabId: "canary-tab"})
	count(err)
	_, err = d.Sessions.CloseSession(ctx, &domtapv1.CloseSessionRequest{SessionId: "canary-session"})
	count(err)
	_, err = d.Dom.GetDom(ctx, &domtapv1.GetDomRequest{TabId: tab, Cursor: "canary-cursor", IncludeAttributes: []string{"canary attribute"}})
	count(err)
	if fails < 8 {
		t.Errorf("only %d calls failed: the canaries were not everywhere that they should be", fails)
	}
	answer := httptest.NewRecorder()
	measured.Handler().ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	places := map[string]string{"log": log.String(), "metrics": answer.Body.String(), "accounts": fmt.Sprintf("%+v", book.Report(usage.Place{}))}
	for place, text := range places {
		if len(text) < 500 {
			t.Errorf("the %s say next to nothing: %s", place, text)
		}
		for line := range strings.Lines(text) {
			if strings.Contains(line, canary) {
				t.Errorf("in the %s: %.400s", place, line)
			}
		}
	}
}

// safeBuffer is a buffer that is safe for concurrent use.
type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *safeBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *safeBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}
