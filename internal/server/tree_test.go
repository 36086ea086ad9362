package server

import (
	"fmt"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/domtap/domtap/actor/actortest"
	"github.com/domtap/domtap/dom"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/tokens"
)

// box returns a structural node.
func box(role, text string, children ...*actortest.Node) *actortest.Node {
	n := actortest.El("div", role, text, children...)
	n.Kind = dom.Structural
	return n
}

// tree reads a tab in the format TREE. change can modify the request.
func (b *bench) tree(tab string, change func(*domtapv1.GetCompactRequest)) *domtapv1.GetCompactResponse {
	b.t.Helper()
	r := &domtapv1.GetCompactRequest{TabId: tab, Format: domtapv1.Format_FORMAT_TREE}
	if change != nil {
		change(r)
	}
	got, err := b.dom.GetCompact(b.t.Context(), r)
	if err != nil {
		b.t.Fatal(err)
	}
	return got
}

func wantText(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s:\n%s\nwant:\n%s", what, got, want)
	}
}

func TestTreeShowsWhatGivesAPageItsShape(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		tab, _ := b.shop(box("main", "", actortest.Heading(2, "Cart"), box("generic", "", actortest.Link("Home", shopURL))))
		const header = "URL: https://shop.example/ | Title: Shop\n"
		wantText(t, "default", b.tree(tab.GetId(), nil).GetText(),
			header+"- main [ref=e0]\n  - heading \"Cart\" [level=2] [ref=e1]\n  - link \"Home\" [ref=e3]\n")
		only := b.tree(tab.GetId(), func(r *domtapv1.GetCompactRequest) { r.InteractiveOnly = proto.Bool(true) })
		wantText(t, "interactive only", only.GetText(), header+"- link \"Home\" [ref=e3]\n")
		full := b.tree(tab.GetId(), func(r *domtapv1.GetCompactRequest) { r.FullSnapshot = true })
		if !strings.Contains(full.GetText(), "  - heading") || full.GetMetadata().GetTokens() != 0 {
			t.Errorf("the full tree is %v", full)
		}
	})
}

func TestTokensAreThoseOfTheTreeAsSent(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		var nodes []*actortest.Node
		for i := range 100 {
			n := box("generic", "", actortest.Link(fmt.Sprintf("Товар %d “quoted” 商品", i), shopURL))
			for range i % 40 {
				n = box("generic", "", n, actortest.Textbox("Field", "a value ="))
			}
			nodes = append(nodes, n)
		}
		tab, page := b.shop(nodes...)
		page.PushState(shopURL + "second")
		for _, budget := range []int32{200, 201, 777, 8000, 16_000} {
			for _, history := range []bool{true, false} {
				got := b.tree(tab.GetId(), func(r *domtapv1.GetCompactRequest) {
					r.MaxElements, r.MaxTokens, r.IncludeHistory = proto.Int32(0), &budget, &history
				})
				cost := tokens.Count(got.GetText())
				if cost > int(budget) || cost != int(got.GetMetadata().GetTokens()) {
					t.Errorf("budget %d: the text costs %d, said %d", budget, cost, got.GetMetadata().GetTokens())
				}
				if budget < 1000 && cost < int(budget)*3/4 {
					t.Errorf("budget %d: only %d used", budget, cost)
				}
			}
		}
	})
}

func TestNavigationOfThePreviousPageIsFolded(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		page := func(last string) func() actortest.Screen {
			return func() actortest.Screen {
				nav := box("navigation", "Main", actortest.Link("Home", shopURL), actortest.Link("Shop", shopURL), actortest.Link(last, shopURL))
				return actortest.Screen{Title: "Shop", Body: []*actortest.Node{nav, actortest.Button("Pay")}}
			}
		}
		b.browser.Serve(shopURL+"same", page("Help"))
		b.browser.Serve(shopURL+"other", page("Cart"))
		tab, _ := b.shop(page("Help")().Body...)
		goTo := func(path string) {
			t.Helper()
			if _, err := b.tabs.Navigate(t.Context(), &domtapv1.NavigateRequest{TabId: tab.GetId(), Url: shopURL + path}); err != nil {
				t.Fatal(err)
			}
		}
		dedupe := func(r *domtapv1.GetCompactRequest) { r.DedupeNavigation = true }
		const line = ": unchanged since the previous page (3 elements)\n"
		folds := func(what string, change func(*domtapv1.GetCompactRequest), want bool) *domtapv1.GetCompactResponse {
			t.Helper()
			got := b.tree(tab.GetId(), change)
			if strings.Contains(got.GetText(), line) != want || strings.Contains(got.GetText(), `"Home"`) == want {
				t.Errorf("%s: folded is %v, want %v:\n%s", what, !want, want, got.GetText())
			}
			if cost := tokens.Count(got.GetText()); cost != int(got.GetMetadata().GetTokens()) {
				t.Errorf("%s: the text costs %d, said %d", what, cost, got.GetMetadata().GetTokens())
			}
			return got
		}
		folds("the first page", dedupe, false)
		folds("the first page again", dedupe, false)
		goTo("same")
		folds("without dedupe", nil, false)
		got := folds("the second page", dedupe, true)
		folds("the second page again", dedupe, true)
		if m := got.GetMetadata(); m.GetTotalElements() != 2 || m.GetTruncated() {
			t.Errorf("the folded page has %v", m)
		}
		ref := uint32(0)
		if _, after, ok := strings.Cut(got.GetText(), "[ref=e"); ok {
			fmt.Sscan(strings.SplitN(after, "]", 2)[0], &ref)
		}
		folds("its root", func(r *domtapv1.GetCompactRequest) { r.DedupeNavigation, r.RootRef = true, &ref }, false)
		folds("interactive only", func(r *domtapv1.GetCompactRequest) {
			r.DedupeNavigation, r.InteractiveOnly = true, proto.Bool(true)
		}, false)
		goTo("other")
		folds("another menu", dedupe, false)
		goTo("other")
		folds("the same page again", dedupe, true)
	})
}

func TestTreesGoOnWhereTheyStopped(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		tab, _ := b.shop(box("main", "", buttons("Button", 40)...), box("contentinfo", "", buttons("Foot", 3)...))
		cursor, seen := "", map[string]int{}
		for page := 0; page < 10 && (page == 0 || cursor != ""); page++ {
			got := b.tree(tab.GetId(), func(r *domtapv1.GetCompactRequest) { r.Cursor, r.MaxTokens = cursor, proto.Int32(200) })
			if cost := tokens.Count(got.GetText()); cost > 200 || cost != int(got.GetMetadata().GetTokens()) {
				t.Errorf("page %d costs %d, said %d", page, cost, got.GetMetadata().GetTokens())
			}
			for line := range strings.Lines(got.GetText()) {
				if _, ref, ok := strings.Cut(line, "[ref="); ok {
					seen[ref]++
				}
			}
			cursor = got.GetMetadata().GetNextCursor()
		}
		if len(seen) != 45 || cursor != "" {
			t.Errorf("%d elements came, want 45", len(seen))
		}
		for ref, n := range seen {
			if n != 1 {
				t.Errorf("%s came %d times", ref, n)
			}
		}
	})
}

// TestNavigationIsFoldedOnlyForClientsThatReadIt reads two pages with the same menu. Some clients have received the whole menu with the
// first page, and others have not.
func TestNavigationIsFoldedOnlyForClientsThatReadIt(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		nav := func() *actortest.Node { return box("navigation", "Main", buttons("Item", 40)...) }
		b.browser.Serve(shopURL+"same", func() actortest.Screen {
			return actortest.Screen{Title: "Shop", Body: []*actortest.Node{nav(), actortest.Button("Pay")}}
		})
		tab, _ := b.shop(nav(), actortest.Button("Buy"))
		as := func(client string, most int32, cursor string) *domtapv1.GetCompactResponse {
			return b.tree(tab.GetId(), func(r *domtapv1.GetCompactRequest) {
				r.ClientId, r.DedupeNavigation, r.MaxElements, r.Cursor = client, true, &most, cursor
			})
		}
		as("whole", 0, "")
		as("part", 10, "")
		first := as("walks", 30, "")
		as("walks", 30, first.GetMetadata().GetNextCursor())
		if _, err := b.tabs.Navigate(t.Context(), &domtapv1.NavigateRequest{TabId: tab.GetId(), Url: shopURL + "same"}); err != nil {
			t.Fatal(err)
		}
		for client, want := range map[string]bool{"whole": true, "part": false, "walks": true, "new": false, "": false} {
			if got := strings.Contains(as(client, 0, "").GetText(), ": unchanged since"); got != want {
				t.Errorf("for client %q folded is %v, want %v", client, got, want)
			}
		}
	})
}

// TestContinuedReadIsNotFolded changes a menu to the menu of the previous page while a client is reading it in parts. The continuation
// contains the rest of the menu.
func TestContinuedReadIsNotFolded(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		nav := func() *actortest.Node { return box("navigation", "Main", buttons("Item", 40)...) }
		other := actortest.Button("Other")
		b.browser.Serve(shopURL+"same", func() actortest.Screen {
			n := nav()
			n.Children = append(n.Children, other)
			return actortest.Screen{Title: "Shop", Body: []*actortest.Node{n}}
		})
		tab, page := b.shop(nav())
		get := func(cursor string) *domtapv1.GetCompactResponse {
			return b.tree(tab.GetId(), func(r *domtapv1.GetCompactRequest) {
				r.DedupeNavigation, r.MaxElements, r.Cursor = true, proto.Int32(30), cursor
			})
		}
		get(get("").GetMetadata().GetNextCursor())
		if _, err := b.tabs.Navigate(t.Context(), &domtapv1.NavigateRequest{TabId: tab.GetId(), Url: shopURL + "same"}); err != nil {
			t.Fatal(err)
		}
		first := get("")
		page.Update(func(main *actortest.Frame) {
			n := main.Body[0]
			n.Children = n.Children[:len(n.Children)-1]
		})
		rest := get(first.GetMetadata().GetNextCursor())
		if n := strings.Count(rest.GetText(), "Item"); n != 40-30 {
			t.Errorf("%d of the menu's items come with the rest, want 10:\n%s", n, rest.GetText())
		}
		if again := get("").GetText(); !strings.Contains(again, ": unchanged since") {
			t.Errorf("from the start the menu is folded; got\n%s", again)
		}
	})
}
