package actor_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/actor/actortest"
	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/actor/tabpool"
	"github.com/domtap/domtap/actor/turn"
	"github.com/domtap/domtap/dom"
)

// The target of a navigation can be refused although its URL was allowed: after a redirect, after a click, and when going back.
func TestARefusedNavigationIsTheErrorOfItsAction(t *testing.T) {
	b, _, tab := start(t, tabpool.Config{})
	refused := apierr.Errorf(apierr.Refused, "not there")
	b.Serve(home+"inside", func() actortest.Screen { return actortest.Screen{Status: 403, Cause: refused} })
	b.Serve(home+"old", func() actortest.Screen { return actortest.Screen{Redirect: home + "inside"} })
	for _, url := range []string{home + "inside", home + "old"} {
		if _, err := tab.Navigate(t.Context(), url, actor.WaitLoad); !errors.Is(err, refused) {
			t.Errorf("%s: %v", url, err)
		}
	}
	if _, err := tab.Reload(t.Context(), actor.WaitLoad); !errors.Is(err, refused) {
		t.Errorf("reload: %v", err)
	}
	if info, err := tab.Navigate(t.Context(), home, actor.WaitLoad); err != nil || info.URL != home {
		t.Errorf("the tab is not usable: %+v, %v", info, err)
	}
	for _, entry := range tab.History() {
		if strings.Contains(entry.URL, "inside") {
			t.Errorf("the history has %s", entry.URL)
		}
	}
	link := actortest.El("a", "link", "Go")
	link.Act = func(p *actortest.Page, _ driver.Action) error { p.Go(home + "inside"); return nil }
	b.Serve(home+"links", func() actortest.Screen { return actortest.Screen{Body: []*actortest.Node{link}} })
	if _, err := tab.Navigate(t.Context(), home+"links", actor.WaitLoad); err != nil {
		t.Fatal(err)
	}
	r, err := tab.Read(t.Context(), actor.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var ref dom.Ref
	for _, el := range r.Head.Snapshot.Elements.Slice() {
		if el.Text == "Go" {
			ref = el.Ref
		}
	}
	out, err := turn.Run(t.Context(), tab, turn.Turn{Steps: []turn.Step{{Action: driver.Action{Kind: driver.Click, Location: driver.At(ref)}}}})
	if err != nil {
		t.Fatal(err)
	}
	if one := out.Results[0]; one.Done || !errors.Is(one.Err, refused) || one.Summary != `click "Go": done, but the page it opened was refused` || out.Verdict != turn.Navigated {
		t.Errorf("%+v, %v", one, out.Verdict)
	}
}
