package server

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/domtap/domtap/actor/actortest"
	"github.com/domtap/domtap/compact/dense"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/tokens"
)

// dense reads a tab in the format DENSE. change can modify the request.
func (b *bench) dense(tab string, change func(*domtapv1.GetCompactRequest)) *domtapv1.GetCompactResponse {
	b.t.Helper()
	return b.tree(tab, func(r *domtapv1.GetCompactRequest) {
		r.Format = domtapv1.Format_FORMAT_DENSE
		if change != nil {
			change(r)
		}
	})
}

// denseRefs returns the refs in a text.
func denseRefs(t *testing.T, text string) []uint32 {
	t.Helper()
	elements, err := dense.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	var refs []uint32
	for _, e := range elements {
		refs = append(refs, e.Ref)
	}
	return refs
}

func TestDenseHasHeadingsAndLandmarksAroundTheElements(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		tab, _ := b.shop(
			box("navigation", "Main", actortest.Link("Home", shopURL), actortest.Link("Help", "https://help.example/x")),
			box("main", "", actortest.Heading(2, "Cart"), actortest.Textbox("Coupon", `a "b" [1]`), actortest.Button("Pay (now)")),
			actortest.Link("Imprint", shopURL+"imprint"))
		const header = "URL: https://shop.example/ | Title: Shop\n"
		got := b.dense(tab.GetId(), nil)
		wantText(t, "default", got.GetText(), header+"<navigation Main>\n[1] Home [2] Help →help.example\n<main>\n## Cart\n"+
			"[5] Coupon (textbox =\"a \\\"b\\\" \\[1]\") [6] Pay \\(now) (button)\n</main>\n[7] Imprint\n")
		if m := got.GetMetadata(); m.GetTotalElements() != 5 || m.GetIncludedElements() != 5 || int(m.GetTokens()) != tokens.Count(got.GetText()) {
			t.Errorf("the metadata is %v", m)
		}
		root := uint32(3)
		got = b.dense(tab.GetId(), func(r *domtapv1.GetCompactRequest) { r.RootRef = &root })
		wantText(t, "below a root", got.GetText(), header+"<main>\n## Cart\n[5] Coupon (textbox =\"a \\\"b\\\" \\[1]\") [6] Pay \\(now) (button)\n")
		got = b.dense(tab.GetId(), func(r *domtapv1.GetCompactRequest) { r.Hrefs = true })
		if !strings.Contains(got.GetText(), "[1] Home →/ [2] Help →https://help.example/x\n") {
			t.Errorf("with hrefs:\n%s", got.GetText())
		}
		got = b.dense(tab.GetId(), func(r *domtapv1.GetCompactRequest) { r.FullSnapshot = true })
		if m := got.GetMetadata(); !slices.Equal(denseRefs(t, got.GetText()), []uint32{0, 1, 2, 3, 4, 5, 6, 7}) || m.GetTokens() != 0 {
			t.Errorf("everything, with %v:\n%s", m, got.GetText())
		}
	})
}

// TestDenseKeepsTheBudgetAndTheCursorGoesOn reads pages of uneven elements with small budgets, until no cursor is returned.
func TestDenseKeepsTheBudgetAndTheCursorGoesOn(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		var nodes []*actortest.Node
		for i := range 60 {
			nodes = append(nodes, actortest.Heading(1+i%3, fmt.Sprintf("Section %d of many", i)),
				box("form", "", actortest.Link(strings.Repeat("Товар “quoted” 商品 ", 1+i%5), fmt.Sprintf("%sitem/%d", shopURL, i)),
					actortest.Textbox("Field", "a value ="), actortest.Button("Go")))
		}
		tab, page := b.shop(nodes...)
		page.PushState(shopURL + "second")
		for _, limit := range []int32{200, 333, 1000, 5000, 50_000} {
			r := &domtapv1.GetCompactRequest{TabId: tab.GetId(), MaxTokens: &limit, MaxElements: proto.Int32(0), Format: domtapv1.Format_FORMAT_DENSE}
			shown := map[uint32]bool{}
			for ok := true; ok; ok = r.Cursor != "" {
				got, err := b.dom.GetCompact(t.Context(), r)
				if err != nil {
					t.Fatal(err)
				}
				m := got.GetMetadata()
				cost := tokens.Count(got.GetText())
				if cost > int(limit) || cost != int(m.GetTokens()) {
					t.Errorf("budget %d: the text costs %d, said %d", limit, cost, m.GetTokens())
				}
				refs := denseRefs(t, got.GetText())
				if int(m.GetIncludedElements()) != len(refs) || len(refs) == 0 {
					t.Fatalf("budget %d: %d elements, said %d", limit, len(refs), m.GetIncludedElements())
				}
				if m.GetTruncated() && cost < int(limit)*3/4 {
					t.Errorf("budget %d: only %d used", limit, cost)
				}
				for _, ref := range refs {
					if shown[ref] {
						t.Fatalf("budget %d: element %d comes twice", limit, ref)
					}
					shown[ref] = true
				}
				r.Cursor = m.GetNextCursor()
				if told := strings.Contains(got.GetText(), "(truncated: token budget, next: "+r.Cursor+")\n"); told != (r.Cursor != "") {
					t.Errorf("the cursor %q is not in:\n%s", r.Cursor, got.GetText())
				}
			}
			if len(shown) != 180 {
				t.Errorf("budget %d: %d elements of 180", limit, len(shown))
			}
		}
	})
}

func TestElementLimitOfDenseKeepsTheBestElements(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		tab, _ := b.shop(append(buttons("Button", 20), actortest.Link("Last", shopURL))...)
		got := b.dense(tab.GetId(), func(r *domtapv1.GetCompactRequest) { r.MaxElements = proto.Int32(8) })
		m := got.GetMetadata()
		if refs := denseRefs(t, got.GetText()); len(refs) != 8 || m.GetTruncationReason() != domtapv1.TruncationReason_TRUNCATION_REASON_ELEMENT_LIMIT ||
			m.GetOmittedByRole()["button"] != 12 || m.GetOmittedByRole()["link"] != 1 {
			t.Errorf("%v with %v", refs, m)
		}
	})
}

func TestIncrementalDenseIsThePage(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		tab, page := b.shop(actortest.Button("Pay"))
		const header = "URL: https://shop.example/ | Title: Shop\n"
		read := func(want string) {
			got := b.dense(tab.GetId(), func(r *domtapv1.GetCompactRequest) { r.Incremental, r.ClientId = true, "one" })
			wantText(t, "incremental", got.GetText(), header+want)
		}
		read("[0] Pay (button)\n")
		page.Update(func(main *actortest.Frame) { main.Body = append(main.Body, actortest.Button("More")) })
		read("[0] Pay (button) [1] More (button)\n")
	})
}

func TestDenseIsNoFormatOfStreams(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		tab, _ := b.shop()
		stream, err := b.dom.WatchDom(t.Context(), &domtapv1.WatchDomRequest{TabId: tab.GetId(), Format: domtapv1.Format_FORMAT_DENSE})
		if err == nil {
			_, err = stream.Recv()
		}
		if status.Code(err) != codes.InvalidArgument || !strings.Contains(err.Error(), "GetCompact has the other formats") {
			t.Errorf("got %v", err)
		}
	})
}
