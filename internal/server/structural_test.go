package server

import (
	"fmt"
	"slices"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/domtap/domtap/actor/actortest"
	"github.com/domtap/domtap/actor/driver"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// diary serves a page with a button that changes a heading, adds a text and a link, and moves itself into another section.
func (b *bench) diary() (tab string) {
	heading, save, section := actortest.Heading(2, "Draft"), actortest.Button("Save"), box("region", "Notes")
	whole := box("main", "", heading, save, section)
	save.Act = func(p *actortest.Page, _ driver.Action) error {
		p.Update(func(*actortest.Frame) {
			heading.Text = "Saved"
			section.Children = []*actortest.Node{box("paragraph", "All is well"), save, actortest.Link("Undo", shopURL+"undo")}
			whole.Children = []*actortest.Node{heading, section}
		})
		return nil
	}
	opened, _ := b.shop(whole)
	return opened.GetId()
}

// look reads a tab as a client.
type look func(b *bench, tab, client string)

func compactLook(change func(*domtapv1.GetCompactRequest)) look {
	return func(b *bench, tab, client string) {
		b.tree(tab, func(r *domtapv1.GetCompactRequest) {
			r.Format, r.ClientId = domtapv1.Format_FORMAT_LINES, client
			change(r)
		})
	}
}

var (
	plainLook = compactLook(func(*domtapv1.GetCompactRequest) {})
	fullLook  = func(b *bench, tab, client string) {
		b.getDom(&domtapv1.GetDomRequest{TabId: tab, ClientId: client, FullSnapshot: true})
	}
	denseLook = compactLook(func(r *domtapv1.GetCompactRequest) { r.Format = domtapv1.Format_FORMAT_DENSE })
	treeLook  = compactLook(func(r *domtapv1.GetCompactRequest) { r.Format = domtapv1.Format_FORMAT_TREE })
	allLook   = compactLook(func(r *domtapv1.GetCompactRequest) { r.InteractiveOnly = proto.Bool(false) })
	partLook  = compactLook(func(r *domtapv1.GetCompactRequest) { r.FullSnapshot, r.RootRef = true, proto.Uint32(0) })
	pageLook  = func(b *bench, tab, client string) {
		mode := domtapv1.ReadMode_READ_MODE_INTERACTIVE
		if _, err := b.pages.ReadPage(b.t.Context(), &domtapv1.ReadPageRequest{TabId: tab, Mode: mode}); err != nil {
			b.t.Error(err)
		}
	}
)

// named is the target of the diary's button. Its ref depends on which client reads it first.
var named = &domtapv1.Target{Role: "button", Name: "Save"}

// TestDiffsOfActionsListWhatTheirClientReads reads a page in every way, and checks which headings and texts the diff of the next action
// lists.
func TestDiffsOfActionsListWhatTheirClientReads(t *testing.T) {
	for name, c := range map[string]struct {
		looks      []look
		structural bool
	}{
		"no read":                  {nil, false},
		"the default":              {[]look{plainLook}, false},
		"DENSE":                    {[]look{denseLook}, false},
		"TREE":                     {[]look{treeLook}, false},
		"ReadPage":                 {[]look{pageLook}, false},
		"interactive_only false":   {[]look{allLook}, true},
		"full_snapshot":            {[]look{fullLook}, true},
		"the default after all":    {[]look{fullLook, plainLook}, false},
		"all after the default":    {[]look{plainLook, fullLook}, true},
		"a part after the default": {[]look{plainLook, partLook}, false},
		"a part after all":         {[]look{fullLook, partLook}, true},
		"DENSE after all":          {[]look{allLook, denseLook}, false},
		"ReadPage after all":       {[]look{fullLook, pageLook}, true},
		"all after TREE":           {[]look{treeLook, allLook}, true},
	} {
		for _, client := range []string{"", "ann"} {
			inBubble(t, Config{}, func(t *testing.T, b *bench) {
				tab := b.diary()
				for _, one := range c.looks {
					one(b, tab, client)
				}
				got, err := b.act.Interact(t.Context(), &domtapv1.InteractRequest{TabId: tab, ClientId: client, Steps: []*domtapv1.Step{clickOn(named)}})
				if err != nil {
					t.Fatal(err)
				}
				want := []string{"Undo"}
				if c.structural {
					want = []string{"Saved", "All is well", "Undo"}
				}
				if added := texts(got.GetDiff().GetAdded()); !slices.Equal(added, want) || got.GetVerdict() != domtapv1.Verdict_VERDICT_CHANGED {
					t.Errorf("%s, client %q: %v, %q added, want %q", name, client, got.GetVerdict(), added, want)
				}
			})
		}
	}
}

// TestReadsOfOthersDoNotChangeTheDiffsOfActions compares the diffs of a client that is alone with the diffs of a client next to others that
// read and watch everything.
func TestReadsOfOthersDoNotChangeTheDiffsOfActions(t *testing.T) {
	others := func(b *bench, tab string) {
		fullLook(b, tab, "bob")
		b.watch(&domtapv1.WatchDomRequest{TabId: tab, FullSnapshot: true, ClientId: "eve"}).next()
	}
	for _, mine := range []look{func(*bench, string, string) {}, plainLook, denseLook} {
		var alone, beside [2]string
		for _, out := range []*[2]string{&alone, &beside} {
			for i, format := range []domtapv1.Format{domtapv1.Format_FORMAT_UNSPECIFIED, domtapv1.Format_FORMAT_DIFF} {
				inBubble(t, Config{}, func(t *testing.T, b *bench) {
					tab := b.diary()
					if out == &beside {
						others(b, tab)
					}
					mine(b, tab, "ann")
					got, err := b.act.Interact(t.Context(), &domtapv1.InteractRequest{TabId: tab, ClientId: "ann", Format: format, Steps: []*domtapv1.Step{clickOn(named)}})
					if err != nil {
						t.Fatal(err)
					}
					for _, e := range got.GetDiff().GetAdded() {
						e.Ref = 0 // refs are assigned in the order of reads
					}
					out[i] = fmt.Sprint(got.GetDiff().GetAdded(), got.GetDiff().GetChanged(), got.GetDiff().GetRemoved(), got.GetDiff().GetMoved())
					if lines := got.GetDiffText(); lines != "" {
						out[i] = lines[:len("Changes: +1 -0 ~0\n")]
					}
				})
			}
		}
		if alone != beside {
			t.Errorf("alone:\n%s\nbeside others:\n%s", alone, beside)
		}
	}
}

// TestStructureIsListedOnlyInTheDocumentThatWasRead follows a link after a read of the previous document.
func TestStructureIsListedOnlyInTheDocumentThatWasRead(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		b.browser.Serve(shopURL+"2", func() actortest.Screen {
			return actortest.Screen{Title: "Two", Body: []*actortest.Node{actortest.Heading(1, "Two"), actortest.Button("Back")}}
		})
		link := actortest.Link("Go", shopURL+"2")
		link.Act = func(p *actortest.Page, _ driver.Action) error { p.Go(shopURL + "2"); return nil }
		tab, _ := b.shop(link)
		fullLook(b, tab.GetId(), "ann")
		b.watch(&domtapv1.WatchDomRequest{TabId: tab.GetId(), FullSnapshot: true, ClientId: "eve"}).next()
		got, err := b.act.Interact(t.Context(), &domtapv1.InteractRequest{
			TabId: tab.GetId(), ClientId: "ann", Steps: []*domtapv1.Step{clickOn(&domtapv1.Target{Role: "link", Name: "Go"})},
		})
		if added := texts(got.GetDiff().GetAdded()); err != nil || !slices.Equal(added, []string{"Back"}) {
			t.Errorf("%v, %q added, want the button", err, added)
		}
	})
}

// TestChangesThatTheDiffDoesNotListCountForTheVerdict changes a heading that the tab knows but the client has not read.
func TestChangesThatTheDiffDoesNotListCountForTheVerdict(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		heading, field := actortest.Heading(2, "Draft"), actortest.Textbox("Name", "")
		save := actortest.Button("Save")
		save.Type = "submit"
		save.Act = func(p *actortest.Page, _ driver.Action) error {
			p.Update(func(*actortest.Frame) { heading.Text += "!" })
			return nil
		}
		opened, _ := b.shop(heading, field, save)
		tab := opened.GetId()
		fullLook(b, tab, "bob")
		for client, listed := range map[string]int{"ann": 0, "bob": 1} {
			got, err := b.act.Interact(t.Context(), &domtapv1.InteractRequest{TabId: tab, ClientId: client, Steps: []*domtapv1.Step{clickOn(named)}})
			if err != nil || got.GetVerdict() != domtapv1.Verdict_VERDICT_CHANGED || len(got.GetDiff().GetAdded()) != listed {
				t.Errorf("%s: %v, %v", client, got, err)
			}
			form, err := b.act.FillForm(t.Context(), &domtapv1.FillFormRequest{
				TabId: tab, ClientId: client, Submit: true, Fields: []*domtapv1.FormField{{Label: "Name", Value: client}},
			})
			if err != nil || form.GetVerdict() != domtapv1.Verdict_VERDICT_CHANGED || len(form.GetDiff().GetAdded()) != listed || len(form.GetDiff().GetChanged()) != 1 {
				t.Errorf("form of %s: %v, %v", client, form, err)
			}
		}
		words, err := b.act.Interact(t.Context(), &domtapv1.InteractRequest{
			TabId: tab, ClientId: "ann", Format: domtapv1.Format_FORMAT_DIFF, Steps: []*domtapv1.Step{clickOn(named)},
		})
		if err != nil || words.GetDiffText() != "Changes: in headings, texts or images alone\n" {
			t.Errorf("the diff as text: %q, %v", words.GetDiffText(), err)
		}
	})
}
