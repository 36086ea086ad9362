package server

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"github.com/domtap/domtap/actor/actortest"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/tokens"
)

func TestCursorGoesOnToTheEnd(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		tab, page := b.shop(append(buttons("Button", 20), actortest.Link("Last", shopURL))...)
		r := &domtapv1.GetDomRequest{TabId: tab.GetId(), MaxElements: proto.Int32(8)}
		first := b.getDom(r)
		if m := first.GetMetadata(); m.GetOmittedByRole()["button"] != 12 || m.GetOmittedByRole()["link"] != 1 || len(m.GetNextCursor()) > 12 {
			t.Errorf("the first page says %v", m)
		}
		page.Update(func(main *actortest.Frame) {
			main.Body = slices.Insert(main.Body, 3, actortest.Button("New"))
			main.Body[0].Text = "Other"
		})
		r.Cursor = first.GetMetadata().GetNextCursor()
		second := b.getDom(r)
		wantTexts(t, "second page", second.GetElements(), "New", "Button 8", "Button 9", "Button 10", "Button 11", "Button 12", "Button 13", "Button 14")
		m := second.GetMetadata()
		if m.GetTotalElements() != 22 || m.GetIncludedElements() != 8 || !m.GetTruncated() ||
			m.GetTruncationReason() != domtapv1.TruncationReason_TRUNCATION_REASON_ELEMENT_LIMIT ||
			m.GetOmittedByRole()["button"] != 5 || m.GetOmittedByRole()["link"] != 1 {
			t.Errorf("the second page says %v", m)
		}
		if again := b.getDom(r); !proto.Equal(again, second) {
			t.Error("a cursor that is used again gives another page")
		}
		r.Cursor = m.GetNextCursor()
		last := b.getDom(r)
		wantTexts(t, "last page", last.GetElements(), "Button 15", "Button 16", "Button 17", "Button 18", "Button 19", "Last")
		if m := last.GetMetadata(); m.GetTotalElements() != 22 || m.GetIncludedElements() != 6 || m.GetTruncated() || m.GetNextCursor() != "" || m.GetOmittedByRole() != nil {
			t.Errorf("the last page says %v", m)
		}
	})
}

// refsInText matches the refs in LINES and TREE.
var refsInText = regexp.MustCompile(`\[(ref=e)?[0-9]+\]`)

func TestCompactTellsTheCursorAndKeepsTheBudget(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		var nodes []*actortest.Node
		for i := range 200 {
			nodes = append(nodes, actortest.Link(fmt.Sprintf("Товар %d — “quoted” 商品", i), fmt.Sprintf("%sitem/%d", shopURL, i)))
		}
		tab, page := b.shop(nodes...)
		page.PushState(shopURL + "second")
		for i, limit := range []int32{200, 333, 1000, 200, 333, 1000} {
			r := &domtapv1.GetCompactRequest{TabId: tab.GetId(), MaxTokens: &limit}
			if i >= 3 {
				r.Format = domtapv1.Format_FORMAT_TREE
			}
			shown := map[string]bool{}
			for ok := true; ok; ok = r.Cursor != "" {
				got, err := b.dom.GetCompact(t.Context(), r)
				if err != nil {
					t.Fatal(err)
				}
				m := got.GetMetadata()
				if cost := tokens.Count(got.GetText()); cost > int(limit) || cost != int(m.GetTokens()) {
					t.Errorf("budget %d: the text costs %d, said %d", limit, cost, m.GetTokens())
				}
				r.Cursor = m.GetNextCursor()
				if told := strings.Contains(got.GetText(), " (truncated: token budget, next: "+r.Cursor+")\n"); told != (r.Cursor != "") {
					t.Errorf("the cursor %q is not in:\n%s", r.Cursor, got.GetText())
				}
				for _, ref := range refsInText.FindAllString(got.GetText(), -1) {
					if shown[ref] {
						t.Errorf("%s comes twice", ref)
					}
					shown[ref] = true
				}
			}
			if len(shown) != 200 {
				t.Errorf("budget %d: %d elements in all pages, want 200", limit, len(shown))
			}
		}
	})
}

func TestCursorErrors(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		b.browser.Serve(shopURL, func() actortest.Screen { return actortest.Screen{Body: buttons("B", 20)} })
		tab, _ := b.open(shopURL)
		other, _ := b.open(shopURL)
		next := b.getDom(&domtapv1.GetDomRequest{TabId: tab.GetId(), MaxElements: proto.Int32(5)}).GetMetadata().GetNextCursor()
		get := func(r *domtapv1.GetDomRequest) error {
			_, err := b.dom.GetDom(t.Context(), r)
			return err
		}
		for _, r := range []*domtapv1.GetDomRequest{
			{TabId: tab.GetId(), Cursor: next, ViewportOnly: true},
			{TabId: tab.GetId(), Cursor: next, FullSnapshot: true},
			{TabId: tab.GetId(), Cursor: next, Incremental: true},
			{TabId: tab.GetId(), Cursor: next, SinceRevision: proto.Uint64(1), Epoch: "e"},
			{TabId: tab.GetId(), Cursor: next + "000000"},
		} {
			err := get(r)
			wantCode(t, err, codes.InvalidArgument, "")
			if got := violatedFields(err); !slices.Equal(got, []string{"cursor"}) {
				t.Errorf("%v: violated fields %v, want the cursor", r, got)
			}
		}
		wantCode(t, get(&domtapv1.GetDomRequest{TabId: other.GetId(), Cursor: next}), codes.FailedPrecondition, "CURSOR_EXPIRED")
		if err := get(&domtapv1.GetDomRequest{TabId: tab.GetId(), Cursor: next}); err != nil {
			t.Errorf("with the default limits instead: %v", err)
		}
		if _, err := b.tabs.Navigate(t.Context(), &domtapv1.NavigateRequest{TabId: tab.GetId(), Url: shopURL}); err != nil {
			t.Fatal(err)
		}
		gone := get(&domtapv1.GetDomRequest{TabId: tab.GetId(), Cursor: next})
		wantCode(t, gone, codes.FailedPrecondition, "CURSOR_EXPIRED")
		if !strings.Contains(gone.Error(), "read from the start") {
			t.Errorf("the error does not say what to do: %v", gone)
		}
	})
}

func TestGoingOnDoesNotDisturbDiffsAndStreams(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		tab, page := b.shop(buttons("B", 30)...)
		r := &domtapv1.GetDomRequest{TabId: tab.GetId(), MaxElements: proto.Int32(15), Incremental: true}
		next := b.getDom(r).GetMetadata().GetNextCursor()
		b.getDom(&domtapv1.GetDomRequest{TabId: tab.GetId(), MaxElements: proto.Int32(15), Cursor: next})
		page.Update(func(main *actortest.Frame) { main.Body[0].Text = "New" })
		got := b.getDom(r)
		if d := got.GetDiff(); d.GetAddedCount() != 1 || d.GetRemovedCount() != 1 || got.GetResync() != nil {
			t.Errorf("after a continuation the diff is %v, %v", d, got.GetResync())
		}
		stream := b.watch(&domtapv1.WatchDomRequest{TabId: tab.GetId(), MaxElements: proto.Int32(15)})
		m := stream.next().GetSnapshot().GetMetadata()
		if !m.GetTruncated() || m.GetNextCursor() != "" {
			t.Errorf("a stream says %v", m)
		}
	})
}
