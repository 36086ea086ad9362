package server

import (
	"fmt"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/domtap/domtap/actor/actortest"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/compact/dense"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/tokens"
)

// press clicks a button by its name, and returns the changes as DENSE_DIFF.
func (b *bench) press(tab, client, name string) string {
	b.t.Helper()
	got, err := b.act.Interact(b.t.Context(), &domtapv1.InteractRequest{
		TabId: tab, ClientId: client, Format: domtapv1.Format_FORMAT_DENSE_DIFF,
		Steps: []*domtapv1.Step{clickOn(&domtapv1.Target{Role: "button", Name: name})},
	})
	if err != nil {
		b.t.Fatal(err)
	}
	if got.GetDiff() != nil {
		b.t.Errorf("the answer has %v, too", got.GetDiff())
	}
	return got.GetDiffText()
}

// onClick returns a button that changes the page when clicked.
func onClick(name string, change func(main *actortest.Frame)) *actortest.Node {
	button := actortest.Button(name)
	button.Act = func(p *actortest.Page, _ driver.Action) error {
		p.Update(change)
		return nil
	}
	return button
}

// people serves a table with a button Edit in each row, which opens a dialog. The dialog's button Save closes it and renders the table
// again.
func (b *bench) people() (tab string, page *actortest.Page) {
	rows := func() *actortest.Node {
		table := box("table", "")
		for i := range 30 {
			table.Children = append(table.Children, box("row", "",
				box("cell", fmt.Sprint(1000+i)), box("cell", fmt.Sprint("Person ", i)), box("cell", "", actortest.Button("Edit"))))
		}
		return table
	}
	whole := box("main", "", actortest.Link("Home", shopURL), rows())
	dialog := box("dialog", "Edit person", actortest.Textbox("Name", "Person 3"), actortest.Textbox("E-mail", "p@x.org"), actortest.Button("Cancel"))
	dialog.Children = append(dialog.Children, onClick("Save", func(*actortest.Frame) {
		whole.Children = []*actortest.Node{whole.Children[0], rows()}
	}))
	whole.Children = append(whole.Children, onClick("Open", func(*actortest.Frame) { whole.Children = append(whole.Children[:2:2], dialog) }))
	opened, page := b.shop(whole)
	return opened.GetId(), page
}

// TestASavedDialogOverARedrawnTableIsFewWords saves a dialog in front of a table of 30 rows, which is then rendered again.
func TestASavedDialogOverARedrawnTableIsFewWords(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		tab, _ := b.people()
		b.dense(tab, func(r *domtapv1.GetCompactRequest) { r.ClientId = "ann" })
		b.press(tab, "ann", "Open")
		text := b.press(tab, "ann", "Save")
		if n := tokens.Count(text); n > 120 || !strings.Contains(text, "= 30 redrawn unchanged: refs ") {
			t.Errorf("%d tokens:\n%s", n, text)
		}
		if d, err := dense.ParseDiff(text); err != nil || len(d.Removed) != 4 || len(d.Added) != 0 {
			t.Errorf("%v, %+v of\n%s", err, d, text)
		}
	})
}

func TestALabelThatChangesIsOneShortLine(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		label := actortest.Link("Cart: 2 items", shopURL+"cart")
		tab, _ := b.shop(label, onClick("Add to cart", func(*actortest.Frame) { label.Text = "Cart: 3 items" }))
		text := b.press(tab.GetId(), "ann", "Add to cart")
		wantText(t, "the answer", text, "~ [0] Cart: 3 items ← Cart: 2 items\n")
		if n := tokens.Count(text); n > 25 {
			t.Errorf("it costs %d tokens", n)
		}
	})
}

// TestDenseDiffsStartFromWhatTheirClientWasShown changes a page between two actions of a client. The second answer contains that change,
// but not the changes that the client already knows.
func TestDenseDiffsStartFromWhatTheirClientWasShown(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		list := box("list", "", actortest.Link("One", shopURL))
		add := func(name string) func(*actortest.Frame) {
			return func(*actortest.Frame) {
				list.Children = append(list.Children, actortest.Link(name, shopURL+name))
			}
		}
		tab, page := b.shop(append(many(20), list, onClick("Add", add("Two")), onClick("Again", add("Four")), actortest.Button("Nothing"))...)
		look := func(r *domtapv1.GetCompactRequest) { r.ClientId = "ann" }
		b.dense(tab.GetId(), look)
		wantText(t, "the first answer", b.press(tab.GetId(), "ann", "Add"), "+ [25] Two\n")
		page.Update(add("Three"))
		b.getDom(&domtapv1.GetDomRequest{TabId: tab.GetId(), ClientId: "ann", FullSnapshot: true}) // one read of everything
		wantText(t, "the second answer", b.press(tab.GetId(), "ann", "Again"), "+ [26] Three\n+ [27] Four\n")
		wantText(t, "without changes", b.press(tab.GetId(), "ann", "Nothing"), "Changes: none\n")
		page.Update(add("Five"))
		changes := func(r *domtapv1.GetCompactRequest) {
			look(r)
			r.Format, r.Incremental = domtapv1.Format_FORMAT_DENSE_DIFF, true
		}
		got := b.dense(tab.GetId(), changes)
		wantText(t, "read", got.GetText(), "+ [28] Five\n")
		if int(got.GetMetadata().GetTokens()) != tokens.Count(got.GetText()) || got.GetResync() != nil {
			t.Errorf("with %v, %v", got.GetMetadata(), got.GetResync())
		}
		wantText(t, "read again", b.dense(tab.GetId(), changes).GetText(), "Changes: none\n")
		wantText(t, "an action after it", b.press(tab.GetId(), "ann", "Nothing"), "Changes: none\n")
	})
}

func many(n int) (links []*actortest.Node) {
	for i := range n {
		links = append(links, actortest.Link(fmt.Sprint("Link ", i), fmt.Sprint(shopURL, i)))
	}
	return links
}

// TestNoDenseDiffCostsMoreThanThePage replaces a page, within the document and by a navigation.
func TestNoDenseDiffCostsMoreThanThePage(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		whole := box("main", "")
		whole.Children = append(many(30), onClick("Next", func(*actortest.Frame) {
			whole.Children = []*actortest.Node{actortest.Heading(1, "Done"), actortest.Link("Back", shopURL)}
		}))
		tab, page := b.shop(whole)
		b.dense(tab.GetId(), nil)
		const want = "URL: https://shop.example/ | Title: Shop\n<main>\n# Done\n[33] Back\n"
		wantText(t, "the page", b.press(tab.GetId(), "", "Next"), want)
		incremental := func(r *domtapv1.GetCompactRequest) {
			r.Format, r.Incremental = domtapv1.Format_FORMAT_DENSE_DIFF, true
		}
		page.Update(func(*actortest.Frame) { whole.Children = many(30) })
		got := b.dense(tab.GetId(), incremental)
		if !strings.HasPrefix(got.GetText(), "URL: ") || got.GetResync().GetReason() != "mostly_changed" {
			t.Errorf("%v", got)
		}
		got = b.dense(tab.GetId(), func(r *domtapv1.GetCompactRequest) { incremental(r); r.ClientId = "new" })
		if !strings.HasPrefix(got.GetText(), "URL: ") || got.GetResync().GetReason() != "first_call" {
			t.Errorf("%v", got)
		}
	})
}

func TestAStreamHasDenseDiffs(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		pay := actortest.Button("Pay 3 €")
		tab, page := b.shop(pay)
		s := b.watch(&domtapv1.WatchDomRequest{TabId: tab.GetId(), OmitInitial: true, Format: domtapv1.Format_FORMAT_DENSE_DIFF})
		if _, err := s.client.Header(); err != nil { // the header arrives when the watch has started
			t.Fatal(err)
		}
		page.Update(func(*actortest.Frame) { pay.Text = "Pay 4 €" })
		if m, err := s.client.Recv(); err != nil || m.GetText() != "~ [0] Pay 4 € (button) ← Pay 3 €\n" || m.GetDiff() == nil {
			t.Errorf("got %v", m)
		}
	})
}

// TestHeadingsAreListedWhereDenseShowsThemAsElements clicks a button that changes a heading.
func TestHeadingsAreListedWhereDenseShowsThemAsElements(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		tab := b.diary()
		b.dense(tab, func(r *domtapv1.GetCompactRequest) { r.InteractiveOnly = proto.Bool(false) })
		if text := b.press(tab, "", "Save"); !strings.Contains(text, "Saved") || !strings.Contains(text, "All is well") {
			t.Errorf("after a look at everything:\n%s", text)
		}
	})
}
