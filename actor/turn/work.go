package turn

import (
	"context"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/dom"
	"github.com/domtap/domtap/internal/lazyregexp"
)

const (
	// workLimit is how long an answer waits for work that the page says goes on, and workEvery how often the page is asked.
	workLimit = 4 * time.Second
	workEvery = 150 * time.Millisecond
	// maxWorking is how long a text that says so is, in characters.
	maxWorking = 60
)

// working matches texts by which pages say that work goes on, such as "Processing…" and "Please wait".
var working = lazyregexp.New(`(?i)^\W*(?:` +
	`(?:load|process|sav|send|submitt|search|upload|updat|creat|delet|remov|add|import|connect|check|verify|validat|work|fetch|refresh|sign|logg)ing\b[^.!?]*(?:…|\.\.+)` +
	`|(?:loading|processing|saving|sending|submitting|searching|uploading|please wait|just a moment|one moment)\W*` +
	`|.*\bplease wait\b.*` +
	`|(?:wird|werden)\b.*\b(?:geladen|gespeichert|gesendet|verarbeitet)\W*|bitte warten\W*|chargement\b.*|veuillez patienter\W*|cargando\b.*|caricamento\b.*|carregando\b.*` +
	`|加载中.*|正在加载.*|読み込み中.*|処理中.*)$`)

// isWorking reports whether a notice says in words that work goes on: bars of progress are there to stay on many pages.
func isWorking(n dom.Notice) bool {
	switch n.Kind {
	case dom.NoticeText, dom.NoticeStatus, dom.NoticeAlert, dom.NoticeToast, dom.NoticeBusy:
		return !n.Gone && utf8.RuneCountInString(n.Text) <= maxWorking && working().MatchString(n.Text)
	}
	return false
}

// awaitWork waits while the page says that work goes on that it did not speak of before a change of its notices, and then until it is at
// rest. What the work leads to is in the answer then. Nothing that ends the wait is an error: the answer says what there is.
func (t *run) awaitWork(ctx context.Context, since uint64) {
	start := t.x.State()
	bounded, cancel := context.WithTimeout(ctx, workLimit)
	defer cancel()
	all := t.x.Publish().Notices()
	for slices.ContainsFunc(all.Since(since), isWorking) {
		if now := t.x.State(); bounded.Err() != nil || now.Dialog != nil || now.Commits != start.Commits || now.Halts != start.Halts || t.live.Hung() {
			return
		}
		round, stop := context.WithTimeout(bounded, workEvery)
		for t.x.AwaitHead(round) {
		}
		stop()
		if all = t.notices(bounded); !slices.ContainsFunc(all.Since(since), isWorking) {
			if err := t.settle(ctx, start, ""); err != nil {
				t.x.Debug("the page did not come to rest after its work", err)
			}
			all = t.notices(ctx) // more work may have begun
		}
	}
}

// notices asks the page what there is to notice now. A page that does not answer has said what it has.
func (t *run) notices(ctx context.Context) *actor.Notices {
	if t.live.Hung() || t.x.Ready() != nil {
		return t.x.Head().Notices()
	}
	err := t.x.Query(ctx, func(ctx context.Context, page driver.Page) error { return page.CollectNotices(ctx, false) })
	if err == nil {
		err = t.x.Drain()
	}
	if err != nil {
		t.x.Debug("the page did not say what there is to notice", err)
	}
	return t.x.Publish().Notices()
}
