package notices

import (
	"testing"

	"github.com/domtap/domtap/dom"
)

// texts joins the texts of notices.
func texts(all []dom.Notice) (out string) {
	for _, n := range all {
		out += n.Text + ";"
	}
	return out
}

func alert(id uint64, text string) []dom.Notice {
	return []dom.Notice{{ID: id, Kind: dom.NoticeAlert, Text: text}}
}

func TestWhatCameSinceAChange(t *testing.T) {
	var l *List
	if l.Last() != 0 || l.Since(0) != nil || l.Changed(0) != nil {
		t.Error("the nil list is not empty")
	}
	l = l.With("d", alert(1, "before"))
	start := l.Last()
	l = l.With("d", alert(2, "first")).With("other", alert(1, "of a frame"))
	if got := texts(l.Since(start)); got != "first;of a frame;" {
		t.Errorf("got %q", got)
	}
	if got := texts(l.Since(l.Last())); got != "" {
		t.Errorf("nothing came since, got %q", got)
	}
}

func TestAChangeIsNoNewNotice(t *testing.T) {
	l := (*List)(nil).With("d", alert(1, "Sav")).With("d", alert(2, "else"))
	start := l.Last()
	l = l.With("d", alert(1, "Saved"))
	if got := texts(l.Since(start)); got != "" {
		t.Errorf("a notice from before is new: %q", got)
	}
	if got := texts(l.Changed(start)); got != "Saved;" {
		t.Errorf("got the changes %q", got)
	}
	if got := texts(l.Since(0)); got != "Saved;else;" {
		t.Errorf("got %q, want the change in its place", got)
	}
}

func TestWorkThatIsOverIsLeftOut(t *testing.T) {
	busy := dom.Notice{ID: 1, Kind: dom.NoticeBusy, Text: "loading"}
	l := (*List)(nil).With("d", []dom.Notice{busy})
	if len(l.Since(0)) != 1 {
		t.Error("work that goes on is left out")
	}
	busy.Gone = true
	if l = l.With("d", []dom.Notice{busy}); len(l.Since(0)) != 0 || len(l.Changed(1)) != 1 {
		t.Errorf("got %v, and the changes %v", l.Since(0), l.Changed(1))
	}
}

func TestAListIsBoundedAndImmutable(t *testing.T) {
	first := (*List)(nil).With("d", alert(0, "first"))
	l := first
	for i := range uint64(3 * maxEntries) {
		l = l.With("d", alert(i, "more"))
	}
	if len(l.Since(0)) != maxEntries {
		t.Errorf("%d are kept", len(l.Since(0)))
	}
	if got := texts(first.Since(0)); got != "first;" {
		t.Errorf("an earlier list has %q now", got)
	}
}
