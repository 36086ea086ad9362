package server

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/domtap/domtap/actor/actortest"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/actor/tabpool"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/server/rpc/rpcstatus"
	"github.com/domtap/domtap/internal/telemetry/pagelog"
)

// shopTab opens the shop and returns the tab's ID and page.
func (b *bench) shopTab() (string, *actortest.Page) {
	b.t.Helper()
	tab, page := b.shop(actortest.Button("Buy"))
	return tab.GetId(), page
}

type said string

func (s said) Entry() pagelog.Entry { return pagelog.Entry{Level: "error", Text: string(s)} }

func TestReadLogAsksThePageNothing(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		tab, page := b.shopTab()
		page.Log().Add(pagelog.Console, time.Now(), 10, said("before it hung"))
		page.Log().Begin("1", time.Second, pagelog.Entry{At: time.Now(), Level: "GET", URL: "https://x.example/"})
		page.Hang()
		resp, err := b.pages.ReadLog(t.Context(), &domtapv1.ReadLogRequest{TabId: tab})
		if err != nil || len(resp.GetEntries()) != 2 || resp.GetEntries()[0].GetText() != "before it hung" || resp.GetNextSequence() != 2 {
			t.Errorf("got %v, %v", resp, err)
		}
		only, err := b.pages.ReadLog(t.Context(), &domtapv1.ReadLogRequest{TabId: tab, Kinds: []domtapv1.LogKind{domtapv1.LogKind_LOG_KIND_NETWORK}})
		if err != nil || len(only.GetEntries()) != 1 || only.GetEntries()[0].GetLevel() != "GET" {
			t.Errorf("got %v, %v", only, err)
		}
		page.Resume()
	})
}

func TestEvaluateIsOffUnlessAllowed(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		tab, page := b.shopTab()
		_, err := b.pages.Evaluate(t.Context(), &domtapv1.EvaluateRequest{TabId: tab, Expression: "1"})
		if status.Code(err) != codes.PermissionDenied || rpcstatus.Reason(err) != "EVALUATE_OFF" || page.Calls("Evaluate") != 0 {
			t.Errorf("got %v", err)
		}
	})
}

func TestEvaluateIsOnRecordWithoutItsText(t *testing.T) {
	var log bytes.Buffer
	inBubble(t, Config{AllowEval: true, Logger: slog.New(slog.NewTextHandler(&log, nil))}, func(t *testing.T, b *bench) {
		tab, page := b.shopTab()
		page.Evaluates(func(s driver.Script) (driver.Evaluated, error) {
			return driver.Evaluated{JSON: `"` + strings.ToUpper(s.Expression) + `"`}, nil
		})
		got, err := b.pages.Evaluate(t.Context(), &domtapv1.EvaluateRequest{TabId: tab, Expression: "hush"})
		if err != nil || got.GetResultJson() != `"HUSH"` {
			t.Errorf("got %v, %v", got, err)
		}
	})
	if text := log.String(); !strings.Contains(text, "a script was evaluated") || strings.Contains(strings.ToLower(text), "hush") {
		t.Errorf("the log says %s", text)
	}
}

func TestExtractPutsDocumentsTogether(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		tab, page := b.shopTab()
		page.Extracts(func(e driver.Extraction) ([]driver.Extract, error) {
			if !bytes.Contains(e.Plan, []byte(`"selector":"h1"`)) {
				t.Errorf("the plan is %s", e.Plan)
			}
			return []driver.Extract{{Data: []byte(`{"values":[null],"url":"https://one.example/"}`)}, {Frame: "f", Data: []byte(`{"values":["12"]}`)}}, nil
		})
		got, err := b.pages.Extract(t.Context(), &domtapv1.ExtractRequest{TabId: tab, SchemaJson: `{"n": {"selector": "h1", "type": "number"}}`})
		if err != nil || got.GetResultJson() != `{"n":12}` || got.GetUrl() != "https://one.example/" || len(got.GetMissing()) != 0 {
			t.Errorf("got %v, %v", got, err)
		}
	})
}

// TestSeeingRefusesBadRequests checks that errors name the invalid field.
func TestSeeingRefusesBadRequests(t *testing.T) {
	inBubble(t, Config{AllowEval: true}, func(t *testing.T, b *bench) {
		ctx := t.Context()
		call := map[string]func(m proto.Message) error{
			"pdf":     func(m proto.Message) error { _, err := b.pages.Pdf(ctx, m.(*domtapv1.PdfRequest)); return err },
			"extract": func(m proto.Message) error { _, err := b.pages.Extract(ctx, m.(*domtapv1.ExtractRequest)); return err },
			"batch":   func(m proto.Message) error { _, err := b.pages.Batch(ctx, m.(*domtapv1.BatchRequest)); return err },
			"evaluate": func(m proto.Message) error {
				_, err := b.pages.Evaluate(ctx, m.(*domtapv1.EvaluateRequest))
				return err
			},
			"log": func(m proto.Message) error { _, err := b.pages.ReadLog(ctx, m.(*domtapv1.ReadLogRequest)); return err },
		}
		many := make([]string, 51)
		for i := range many {
			many[i] = shopURL
		}
		for _, c := range []struct {
			method string
			m      proto.Message
			want   string
		}{
			{"pdf", &domtapv1.PdfRequest{}, "tab_id: is required"},
			{"pdf", &domtapv1.PdfRequest{TabId: "t", Scale: proto.Float64(3)}, "scale: must be 0.1 to 2"},
			{"pdf", &domtapv1.PdfRequest{TabId: "t", PageRanges: "5-2"}, "page_ranges: must be"},
			{"pdf", &domtapv1.PdfRequest{TabId: "t", PageRanges: "1,,2"}, "page_ranges: must be"},
			{"pdf", &domtapv1.PdfRequest{TabId: "t", Format: 9}, "format: must be"},
			{"extract", &domtapv1.ExtractRequest{TabId: "t"}, "schema_json: is required, unless selectors or table is set"},
			{"extract", &domtapv1.ExtractRequest{TabId: "t", Selectors: []string{"a"}, Table: &domtapv1.ExtractTable{}}, "schema_json: is required, unless selectors"},
			{"extract", &domtapv1.ExtractRequest{TabId: "t", SchemaJson: `{"a":{"selector":"b","typ":"x"}}`}, "schema_json.a.typ: is unknown"},
			{"extract", &domtapv1.ExtractRequest{TabId: "t", SchemaJson: `[]`}, "schema_json: must be a JSON object"},
			{"extract", &domtapv1.ExtractRequest{TabId: "t", Selectors: []string{"a", " "}}, "selectors[1]: is empty"},
			{"extract", &domtapv1.ExtractRequest{TabId: "t", Table: &domtapv1.ExtractTable{Headers: []string{""}}}, "table.headers[0]: must have"},
			{"extract", &domtapv1.ExtractRequest{TabId: "t", Selectors: []string{"a"}, MaxRows: proto.Int32(0)}, "max_rows: must be 1 to 10000"},
			{"batch", &domtapv1.BatchRequest{}, "urls: must have 1 to 50 URLs"},
			{"batch", &domtapv1.BatchRequest{Urls: many}, "urls: must have 1 to 50 URLs"},
			{"batch", &domtapv1.BatchRequest{Urls: []string{shopURL, "no url"}}, "urls[1]: must be an absolute URL"},
			{"batch", &domtapv1.BatchRequest{Urls: []string{shopURL}, What: domtapv1.ReadMode_READ_MODE_VISUAL}, "what: must be"},
			{"batch", &domtapv1.BatchRequest{Urls: []string{shopURL}, Parallel: 9}, "parallel: must be 1 to 8"},
			{"batch", &domtapv1.BatchRequest{Urls: []string{shopURL}, Timeout: durationpb.New(time.Hour)}, "timeout: must be"},
			{"batch", &domtapv1.BatchRequest{Urls: []string{shopURL}, SchemaJson: "{}"}, "schema_json: has no fields"},
			{"evaluate", &domtapv1.EvaluateRequest{TabId: "t", Expression: " "}, "expression: is required"},
			{"evaluate", &domtapv1.EvaluateRequest{TabId: "t", Expression: strings.Repeat("x", 100_001)}, "expression: must have at most"},
			{"log", &domtapv1.ReadLogRequest{TabId: "t", MaxEntries: proto.Int32(1001)}, "max_entries: must be 1 to 1000"},
			{"log", &domtapv1.ReadLogRequest{TabId: "t", Kinds: []domtapv1.LogKind{7}}, "kinds[0]: must be"},
		} {
			if err := call[c.method](c.m); status.Code(err) != codes.InvalidArgument || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s %v: got %v, want %q", c.method, c.m, err, c.want)
			}
		}
	})
}

// slowURL never answers.
const slowURL = "https://slow.example/"

// batchBench serves a shop, a URL that never answers, and one whose answer never ends.
func (b *bench) batchBench() {
	b.browser.Serve(shopURL, func() actortest.Screen {
		return actortest.Screen{Title: "Shop", Body: []*actortest.Node{actortest.Button("Buy")}}
	})
	b.browser.Serve(slowURL, func() actortest.Screen { return actortest.Screen{Hold: true} })
	b.browser.Serve(slowURL+"half", func() actortest.Screen { return actortest.Screen{Stall: true} })
}

// batch reads URLs as INTERACTIVE, two concurrently.
func (b *bench) batch(ctx context.Context, each time.Duration, urls ...string) (*domtapv1.BatchResponse, error) {
	return b.pages.Batch(ctx, &domtapv1.BatchRequest{
		Urls: urls, Timeout: durationpb.New(each), Parallel: 2, What: domtapv1.ReadMode_READ_MODE_INTERACTIVE})
}

func (b *bench) noTabs() {
	b.t.Helper()
	synctest.Wait()
	if n := len(b.pool.Tabs()); n != 0 {
		b.t.Errorf("%d tabs are left", n)
	}
}

func TestBatchKeepsTheOrderAndLeavesNothingBehind(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		b.batchBench()
		got, err := b.batch(t.Context(), 10*time.Second, slowURL, shopURL, "https://nowhere.example/", "chrome://version", slowURL+"half", shopURL)
		if err != nil {
			t.Fatal(err)
		}
		for i, reason := range []string{"DEADLINE", "", "NAVIGATION_FAILED", "URL_POLICY", "DEADLINE", ""} {
			r := got.GetResults()[i]
			if r.GetReason() != reason || (r.GetError() == "") != (reason == "") || (r.GetText() == "") != (reason != "") {
				t.Errorf("result %d: %v", i, r)
			}
		}
		b.noTabs()
	})
}

// TestBatchReturnsPartialResultsAtItsDeadline requests far more than the time allows.
func TestBatchReturnsPartialResultsAtItsDeadline(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		b.batchBench()
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		got, err := b.batch(ctx, 15*time.Second, shopURL, slowURL, slowURL, slowURL, slowURL, slowURL, shopURL)
		if err != nil {
			t.Fatal(err)
		}
		for i, r := range got.GetResults() {
			if read := i == 0; read != (r.GetText() != "") || !read && (r.GetReason() != "DEADLINE" || r.GetError() == "") {
				t.Errorf("result %d: %v", i, r)
			}
		}
		b.noTabs()
	})
}

func TestACancelledBatchLeavesNothingBehind(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		b.batchBench()
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(3*time.Second, cancel)
		if _, err := b.batch(ctx, 10*time.Second, slowURL, slowURL, slowURL, shopURL); status.Code(err) != codes.Canceled {
			t.Errorf("got %v", err)
		}
		b.noTabs()
	})
}

// TestTabsThatAreThrownAwayOpenNoOthers lets a page in a tab opened with Alone open windows, even after the tab is closed.
func TestTabsThatAreThrownAwayOpenNoOthers(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		b.batchBench()
		tab, err := b.pool.Open(t.Context(), tabpool.OpenOptions{URL: shopURL, Alone: true})
		if err != nil {
			t.Fatal(err)
		}
		first := b.browser.Page(0).Open(shopURL)
		first.Open(shopURL)
		synctest.Wait()
		if n := len(b.pool.Tabs()); n != 1 {
			t.Errorf("%d tabs", n)
		}
		late := b.browser.Page(0)
		if err := b.pool.CloseTab(t.Context(), tab.ID()); err != nil {
			t.Fatal(err)
		}
		late.Open(shopURL)
		b.noTabs()
	})
}
