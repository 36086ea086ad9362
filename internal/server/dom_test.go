package server

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"github.com/domtap/domtap/actor/actortest"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/dom"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/tokens"
)

func wantTexts(t *testing.T, what string, elements []*domtapv1.Element, want ...string) {
	t.Helper()
	if got := texts(elements); !slices.Equal(got, want) {
		t.Errorf("%s: elements %v, want %v", what, got, want)
	}
}

// at sets the box of a node and returns the node.
func at(n *actortest.Node, x, y, w, h float64) *actortest.Node {
	n.Box = dom.Box{X: x, Y: y, Width: w, Height: h}
	return n
}

func buttons(prefix string, n int) []*actortest.Node {
	out := make([]*actortest.Node, n)
	for i := range out {
		out[i] = actortest.Button(fmt.Sprintf("%s %d", prefix, i))
	}
	return out
}

func TestGetDomSelects(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		field := actortest.Textbox("Email", "a@b.c")
		field.Attributes = map[string]string{"id": "mail", "class": "wide"}
		frame := &actortest.Frame{ID: "F", Body: []*actortest.Node{actortest.Button("Inner")}}
		form := actortest.El("form", "form", "Form", at(field, 10, 20, 100, 30), at(actortest.Button("Send"), 10, 5000, 10, 10))
		form.Kind = dom.Structural
		tab, _ := b.shop(at(actortest.Heading(1, "Title"), 0, 0, 10, 10), form, actortest.Iframe("Ad", frame))
		ask := func(change func(*domtapv1.GetDomRequest)) *domtapv1.GetDomResponse {
			r := &domtapv1.GetDomRequest{TabId: tab.GetId()}
			change(r)
			return b.getDom(r)
		}
		got := ask(func(r *domtapv1.GetDomRequest) {})
		wantTexts(t, "default", got.GetElements(), "Email", "Send", "Inner")
		if got.GetTabId() != tab.GetId() || got.GetUrl() != shopURL || got.GetTitle() != "Shop" || got.GetEpoch() == "" || got.GetRevision() == 0 {
			t.Errorf("the answer is of %v", got)
		}
		mail := got.GetElements()[0]
		if r := mail.GetRect(); r.GetX() != 10 || r.GetY() != 20 || r.GetWidth() != 100 || r.GetHeight() != 30 {
			t.Errorf("the box is %v", r)
		}
		if mail.GetValue() != "a@b.c" || mail.GetAttributes() != nil || !mail.GetInViewport() {
			t.Errorf("the field is %v", mail)
		}
		all := ask(func(r *domtapv1.GetDomRequest) { r.InteractiveOnly = proto.Bool(false) }).GetElements()
		wantTexts(t, "structural", all, "Title", "Form", "Email", "Send", "Ad", "Inner")
		wantTexts(t, "full", ask(func(r *domtapv1.GetDomRequest) {
			r.FullSnapshot, r.ViewportOnly, r.MaxElements = true, true, proto.Int32(1)
		}).GetElements(), "Title", "Form", "Email", "Send", "Ad", "Inner")
		wantTexts(t, "viewport", ask(func(r *domtapv1.GetDomRequest) { r.ViewportOnly = true }).GetElements(), "Email", "Inner")
		wantTexts(t, "root", ask(func(r *domtapv1.GetDomRequest) { r.RootRef = proto.Uint32(all[1].GetRef()) }).GetElements(), "Email", "Send")
		wantTexts(t, "frame", ask(func(r *domtapv1.GetDomRequest) { r.FrameId = "F" }).GetElements(), "Inner")
		named := ask(func(r *domtapv1.GetDomRequest) { r.IncludeAttributes = []string{"id", "title"} }).GetElements()[0]
		if len(named.GetAttributes()) != 1 || named.GetAttributes()["id"] != "mail" {
			t.Errorf("attributes %v, want the id alone", named.GetAttributes())
		}
	})
}

func TestGetDomLimits(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		tab, _ := b.shop(append(buttons("Button", 400), actortest.Link("Last", shopURL))...)
		ask := func(elements, budget *int32) *domtapv1.ViewMetadata {
			return b.getDom(&domtapv1.GetDomRequest{TabId: tab.GetId(), MaxElements: elements, MaxTokens: budget}).GetMetadata()
		}
		if m := ask(nil, nil); m.GetIncludedElements() != 300 || m.GetTotalElements() != 401 || !m.GetTruncated() ||
			m.GetTruncationReason() != domtapv1.TruncationReason_TRUNCATION_REASON_ELEMENT_LIMIT ||
			m.GetOmittedByRole()["link"] != 1 || m.GetTokens() == 0 || m.GetTokenizer() != "o200k_base" {
			t.Errorf("default limits gave %v", m)
		}
		if m := ask(proto.Int32(0), proto.Int32(0)); m.GetIncludedElements() != 401 || m.GetTruncated() || m.GetTokens() != 0 || m.GetTokenizer() != "" {
			t.Errorf("no limits gave %v", m)
		}
		if m := ask(proto.Int32(7), proto.Int32(0)); m.GetIncludedElements() != 7 {
			t.Errorf("7 elements gave %v", m)
		}
		if m := ask(proto.Int32(0), proto.Int32(200)); m.GetTokens() > 200 || m.GetTokens() < 150 ||
			m.GetTruncationReason() != domtapv1.TruncationReason_TRUNCATION_REASON_TOKEN_BUDGET {
			t.Errorf("200 tokens gave %v", m)
		}
	})
}

func TestTokensAreThoseOfTheTextAsSent(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		var nodes []*actortest.Node
		for i := range 500 {
			nodes = append(nodes, actortest.Link(fmt.Sprintf("Товар %d — “quoted” 商品", i), fmt.Sprintf("%sitem/%d?x=%x", shopURL, i, i*i)))
		}
		tab, page := b.shop(nodes...)
		page.PushState(shopURL + "second")
		page.SetTitle("A title of its own")
		for _, budget := range []int32{200, 201, 333, 1000, 8000, 50_000} {
			for _, history := range []bool{true, false} {
				r := &domtapv1.GetCompactRequest{
					TabId: tab.GetId(), MaxElements: proto.Int32(0), MaxTokens: &budget, IncludeHistory: &history,
				}
				got, err := b.dom.GetCompact(t.Context(), r)
				if err != nil {
					t.Fatal(err)
				}
				cost := tokens.Count(got.GetText())
				if cost > int(budget) || cost != int(got.GetMetadata().GetTokens()) {
					t.Errorf("budget %d: the text costs %d, said %d", budget, cost, got.GetMetadata().GetTokens())
				}
				lines := strings.Count(got.GetText(), "\n[")
				if lines != int(got.GetMetadata().GetIncludedElements()) {
					t.Errorf("budget %d: %d lines, said %d", budget, lines, got.GetMetadata().GetIncludedElements())
				}
				dom := b.getDom(&domtapv1.GetDomRequest{
					TabId: tab.GetId(), MaxElements: proto.Int32(0), MaxTokens: &budget, IncludeHistory: &history,
				})
				if !proto.Equal(dom.GetMetadata(), got.GetMetadata()) || (len(dom.GetHistory()) > 0) != history {
					t.Errorf("budget %d: GetDom says %v, GetCompact %v", budget, dom.GetMetadata(), got.GetMetadata())
				}
			}
		}
	})
}

func TestGetCompactPrintsLines(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		tab, _ := b.shop(actortest.Link("Home", shopURL+"home"), actortest.Button("Pay"))
		got, err := b.dom.GetCompact(t.Context(), &domtapv1.GetCompactRequest{TabId: tab.GetId()})
		if err != nil {
			t.Fatal(err)
		}
		want := "URL: https://shop.example/ | Title: Shop\n[0] Home (a →/home)\n[1] Pay (button)\n"
		if got.GetText() != want || got.GetEpoch() == "" {
			t.Errorf("text:\n%s\nwant:\n%s", got.GetText(), want)
		}
	})
}

func TestIncrementalIsPerCallerTabAndView(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		tab, page := b.shop(actortest.Button("One"), actortest.Button("Two"))
		ask := func(client string, max int32) *domtapv1.GetDomResponse {
			return b.getDom(&domtapv1.GetDomRequest{
				TabId: tab.GetId(), ClientId: client, MaxElements: &max, Incremental: true,
			})
		}
		add := func(text string) {
			page.Update(func(main *actortest.Frame) { main.Body = append(main.Body, actortest.Button(text)) })
		}
		wantResync := func(what string, got *domtapv1.GetDomResponse, reason string) {
			t.Helper()
			if got.GetResync().GetReason() != reason || got.GetDiff() != nil {
				t.Errorf("%s: resync %q with diff %v, want resync %q", what, got.GetResync().GetReason(), got.GetDiff(), reason)
			}
		}
		wantAdded := func(what string, got *domtapv1.GetDomResponse, want ...string) {
			t.Helper()
			if got.GetResync() != nil || got.GetDiff() == nil {
				t.Errorf("%s: resync %v, diff %v, want a diff", what, got.GetResync(), got.GetDiff())
			}
			wantTexts(t, what, got.GetDiff().GetAdded(), want...)
		}
		wantResync("first", ask("ann", 0), "first_call")
		wantAdded("unchanged", ask("ann", 0))
		add("Three")
		wantResync("another caller", ask("bob", 0), "first_call")
		wantResync("another view", ask("ann", 100), "view_changed")
		add("Four")
		got := ask("ann", 0)
		wantAdded("first view", got, "Three", "Four")
		if d := got.GetDiff(); d.GetToRevision() != got.GetRevision() || d.GetFromRevision() != got.GetRevision()-2 || d.GetAddedCount() != 2 {
			t.Errorf("the diff at revision %d is %v", got.GetRevision(), d)
		}
		wantTexts(t, "with the diff", got.GetElements(), "One", "Two", "Three", "Four")
		wantAdded("second view", ask("ann", 100), "Four")
		wantAdded("another caller again", ask("bob", 0), "Four")
		wantResync("the connection", ask("", 0), "first_call")
		wantAdded("the connection again", ask("", 0))
		b.browser.Serve(shopURL+"next", func() actortest.Screen { return actortest.Screen{Body: buttons("Other", 2)} })
		if _, err := b.tabs.Navigate(t.Context(), &domtapv1.NavigateRequest{TabId: tab.GetId(), Url: shopURL + "next"}); err != nil {
			t.Fatal(err)
		}
		wantResync("another document", ask("ann", 0), "navigated")
	})
}

// The baseline is the caller's last read, whether or not that read requested a diff.
func TestIncrementalFollowsEveryAnswer(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		tab, page := b.shop(buttons("B", 3)...)
		b.getDom(&domtapv1.GetDomRequest{TabId: tab.GetId()})
		page.Update(func(main *actortest.Frame) { main.Body = main.Body[1:] })
		if _, err := b.dom.GetCompact(t.Context(), &domtapv1.GetCompactRequest{TabId: tab.GetId()}); err != nil {
			t.Fatal(err)
		}
		page.Update(func(main *actortest.Frame) { main.Body = main.Body[1:] })
		d := b.getDom(&domtapv1.GetDomRequest{TabId: tab.GetId(), Incremental: true}).GetDiff()
		if d.GetRemovedCount() != 1 || d.GetRemoved()[0].GetText() != "B 1" {
			t.Errorf("the diff is %v, want B 1 removed", d)
		}
	})
}

func TestConnectionsAreCallersOfTheirOwn(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		tab, _ := b.shop(buttons("B", 3)...)
		b.getDom(&domtapv1.GetDomRequest{TabId: tab.GetId()})
		conn := b.redial()
		defer conn.Close()
		other, err := domtapv1.NewDomServiceClient(conn).GetDom(t.Context(), &domtapv1.GetDomRequest{TabId: tab.GetId(), Incremental: true})
		if err != nil || other.GetResync().GetReason() != "first_call" {
			t.Errorf("a second connection got %v, %v, want first_call", other.GetResync(), err)
		}
	})
}

func TestMostlyChangedGivesTheWholeView(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		tab, page := b.shop(buttons("B", 20)...)
		ask := func() *domtapv1.GetDomResponse {
			return b.getDom(&domtapv1.GetDomRequest{TabId: tab.GetId(), Incremental: true})
		}
		rename := func(n int) {
			page.Update(func(main *actortest.Frame) {
				for _, node := range main.Body[:n] {
					node.Text += "!"
				}
			})
		}
		ask()
		rename(14)
		if got := ask(); got.GetResync() != nil || got.GetDiff().GetAddedCount() != 14 || got.GetDiff().GetRemovedCount() != 14 {
			t.Errorf("70%% changed gave resync %v, want a diff", got.GetResync())
		}
		rename(15)
		if got := ask(); got.GetResync().GetReason() != "mostly_changed" || got.GetDiff() != nil || len(got.GetElements()) != 20 {
			t.Errorf("75%% changed gave resync %v", got.GetResync())
		}
	})
}

func TestSinceRevision(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		tab, page := b.shop(buttons("B", 3)...)
		first := b.getDom(&domtapv1.GetDomRequest{TabId: tab.GetId()})
		for i := range 3 {
			page.Update(func(main *actortest.Frame) { main.Body = append(main.Body, actortest.Button(fmt.Sprint("N ", i))) })
			b.getDom(&domtapv1.GetDomRequest{TabId: tab.GetId()})
		}
		since := func(revision uint64, epoch string) *domtapv1.GetDomResponse {
			return b.getDom(&domtapv1.GetDomRequest{TabId: tab.GetId(), SinceRevision: &revision, Epoch: epoch})
		}
		got := since(first.GetRevision(), first.GetEpoch())
		wantTexts(t, "added since the first", got.GetDiff().GetAdded(), "N 0", "N 1", "N 2")
		now := got.GetRevision()
		if d := since(now, first.GetEpoch()).GetDiff(); d == nil || d.GetAddedCount() != 0 || d.GetFromRevision() != now {
			t.Errorf("since now: %v", d)
		}
		for _, c := range []struct {
			revision uint64
			epoch    string
			want     string
		}{
			{now + 1, first.GetEpoch(), "revision_unknown"},
			{0, first.GetEpoch(), "revision_too_old"},
			{now, "another", "epoch_changed"},
		} {
			if got := since(c.revision, c.epoch); got.GetResync().GetReason() != c.want || got.GetDiff() != nil || len(got.GetElements()) != 6 {
				t.Errorf("since %d of %s: resync %v, want %s", c.revision, c.epoch, got.GetResync(), c.want)
			}
		}
	})
}

func TestGetCompactDiff(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		tab, page := b.shop(buttons("B", 12)...)
		ask := func(budget int32) *domtapv1.GetCompactResponse {
			t.Helper()
			got, err := b.dom.GetCompact(t.Context(), &domtapv1.GetCompactRequest{
				TabId: tab.GetId(), Format: domtapv1.Format_FORMAT_DIFF, Incremental: true, MaxTokens: &budget,
			})
			if err != nil {
				t.Fatal(err)
			}
			return got
		}
		if got := ask(8000); got.GetResync().GetReason() != "first_call" || !strings.HasPrefix(got.GetText(), "URL: ") {
			t.Errorf("the first call gave %v", got)
		}
		page.Update(func(main *actortest.Frame) { main.Body[0].Text = "New" })
		got := ask(8000)
		want := "Changes: +1 -1 ~0\nAdded:\n  [0] <button>New</button>\nRemoved:\n  [0] <button>B 0</button>\n"
		if got.GetText() != want || got.GetResync() != nil {
			t.Errorf("text %q, resync %v, want %q", got.GetText(), got.GetResync(), want)
		}
		if n := tokens.Count(want); int(got.GetMetadata().GetTokens()) != n {
			t.Errorf("the diff costs %d, said %v", n, got.GetMetadata())
		}
		if got := ask(8000); got.GetText() != "Changes: none\n" {
			t.Errorf("unchanged: %q", got.GetText())
		}
		long := strings.Repeat(" long", 8)
		page.Update(func(main *actortest.Frame) { main.Body = buttons("Old"+long, 10) })
		if got := ask(230); got.GetMetadata().GetTruncated() {
			t.Fatalf("the test's page does not fit the budget: %v", got)
		}
		page.Update(func(main *actortest.Frame) {
			for _, n := range main.Body[:7] {
				n.Text = strings.Replace(n.Text, "Old", "New", 1)
			}
		})
		if got := ask(230); got.GetResync().GetReason() != "mostly_changed" || !strings.HasPrefix(got.GetText(), "URL: ") {
			t.Errorf("a diff above the budget gave %v", got)
		}
	})
}

func TestGeometryInDiffs(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		tab, page := b.shop(at(actortest.Button("One"), 0, 0, 10, 10), at(actortest.Button("Two"), 0, 20, 10, 10))
		ask := func(geometry bool) *domtapv1.Diff {
			return b.getDom(&domtapv1.GetDomRequest{TabId: tab.GetId(), Incremental: true, IncludeGeometry: geometry}).GetDiff()
		}
		move := func(x float64) { page.Update(func(main *actortest.Frame) { main.Body[1].Box.X = x }) }
		ask(false)
		move(5)
		if d := ask(false); d == nil || d.GetChangedCount() != 0 {
			t.Errorf("without include_geometry: %v", d)
		}
		move(7)
		d := ask(true)
		if d.GetChangedCount() != 1 || !proto.Equal(d.GetChanged()[0].GetFields()[0],
			&domtapv1.FieldChange{Field: "rect", Old: "5,20 10x10", New: "7,20 10x10"}) {
			t.Errorf("with include_geometry: %v", d)
		}
	})
}

func TestDomErrors(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		tab, page := b.shop(buttons("B", 3)...)
		first := b.getDom(&domtapv1.GetDomRequest{TabId: tab.GetId()}).GetElements()[0].GetRef()
		page.Update(func(main *actortest.Frame) { main.Body = main.Body[1:] })
		get := func(r *domtapv1.GetDomRequest) error {
			_, err := b.dom.GetDom(t.Context(), r)
			return err
		}
		wantCode(t, get(&domtapv1.GetDomRequest{TabId: "t99"}), codes.NotFound, "NOT_FOUND")
		wantCode(t, get(&domtapv1.GetDomRequest{TabId: tab.GetId(), RootRef: &first}), codes.FailedPrecondition, "STALE_REF")
		wantCode(t, get(&domtapv1.GetDomRequest{TabId: tab.GetId(), RootRef: proto.Uint32(12345)}), codes.InvalidArgument, "INVALID")
		wantCode(t, get(&domtapv1.GetDomRequest{TabId: tab.GetId(), FrameId: "nowhere"}), codes.NotFound, "NOT_FOUND")
		wantCode(t, get(&domtapv1.GetDomRequest{TabId: tab.GetId(), Cursor: "c1"}), codes.FailedPrecondition, "CURSOR_EXPIRED")
		bad := get(&domtapv1.GetDomRequest{MaxElements: proto.Int32(1001), MaxTokens: proto.Int32(3)})
		wantCode(t, bad, codes.InvalidArgument, "")
		if got, want := violatedFields(bad), []string{"tab_id", "max_elements", "max_tokens"}; !slices.Equal(got, want) {
			t.Errorf("violated fields %v, want %v", got, want)
		}
		page.OpenDialog(driver.Dialog{Type: "alert", Message: "Hi"})
		wantCode(t, get(&domtapv1.GetDomRequest{TabId: tab.GetId()}), codes.FailedPrecondition, "DIALOG_OPEN")
	})
}
