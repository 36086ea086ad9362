package e2e

import (
	"testing"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/actor/tabpool"
	"github.com/domtap/domtap/internal/testenv"
)

// The browser ignores a close while it commits the error document of a navigation that has just failed.
func TestATabThatHasJustFailedToLoadIsClosed(t *testing.T) {
	b := testenv.StartBrowser(t)
	pool := testenv.StartPool(t, b)
	for range 3 {
		tab, err := pool.Open(t.Context(), tabpool.OpenOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, url := range []string{"http://nowhere.invalid/", "http://127.0.0.1:1/"} {
			if _, err := tab.Navigate(t.Context(), url, actor.WaitLoad); err == nil {
				t.Fatalf("%s was loaded", url)
			}
		}
		id := b.Newest().ID()
		if err := pool.CloseTab(t.Context(), tab.ID()); err != nil {
			t.Fatal(err)
		}
		var open struct {
			TargetInfos []struct {
				ID string `json:"targetId"`
			} `json:"targetInfos"`
		}
		if err := b.Call(t.Context(), "", "Target.getTargets", struct{}{}, &open); err != nil {
			t.Fatal(err)
		}
		for _, target := range open.TargetInfos {
			if target.ID == id {
				t.Errorf("tab %s is closed, and its page is not", tab.ID())
			}
		}
	}
}
