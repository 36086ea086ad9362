package turn

import (
	"context"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/domtap/domtap/dom"
	"github.com/domtap/domtap/internal/lazyregexp"
)

const (
	// workLimit is how long an answer waits while the page says that it is working, and workEvery how often the page is asked.
	workLimit = 4 * time.Second
	workEvery = 150 * time.Millisecond
	// maxWorking is how long a text that says so is, in characters.
	maxWorking = 60
)

// working matches texts by which pages say that they are working, such as "Processing…" and "Please wait".
var working = lazyregexp.New(`(?i)^\W*(?:` +
	`(?:load|process|sav|send|submitt|search|upload|updat|creat|delet|remov|add|import|connect|check|verify|validat|work|fetch|refresh|sign|logg)ing\b[^.!?]*(?:…|\.\.+)` +
	`|(?:loading|processing|saving|sending|submitting|searching|uploading|please wait|just a moment|one moment)\W*` +
	`|.*\bplease wait\b.*` +
	`|(?:wird|werden)\b.*\b(?:geladen|gespeichert|gesendet|verarbeitet)\W*|bitte warten\W*|chargement\b.*|veuillez patienter\W*|cargando\b.*|caricamento\b.*|carregando\b.*` +
	`|加载中.*|正在加载.*|読み込み中.*|処理中.*)$`)

// isWorking reports whether a notice says in words that the page is working. A progress bar alone does not: many pages have one that stays.
func isWorking(n dom.Notice) bool {
	switch n.Kind {
	case dom.NoticeText, dom.NoticeStatus, dom.NoticeAlert, dom.NoticeToast, dom.NoticeBusy:
		return !n.Gone && utf8.RuneCountInString(n.Text) <= maxWorking && working().MatchString(n.Text)
	}
	return false
}

// awaitWork waits while notices that came after since say that the page is working, and then until the page is at rest, so that the answer
// has the result of the work. The wait ending early is no error: the answer has what there is.
func (t *run) awaitWork(ctx context.Context, since uint64) {
	start := t.x.State()
	bounded, cancel := context.WithTimeout(ctx, workLimit)
	defer cancel()
	head := t.x.Publish()
	works := func() bool { return slices.ContainsFunc(head.Notices().Since(since), isWorking) }
	for works() {
		if now := t.x.State(); bounded.Err() != nil || now.Dialog != nil || now.Commits != start.Commits || now.Halts != start.Halts || t.live.Hung() {
			return
		}
		round, stop := context.WithTimeout(bounded, workEvery)
		for t.x.AwaitHead(round) {
		}
		stop()
		if head = t.collected(bounded); works() {
			continue
		}
		if err := t.settle(ctx, start, ""); err != nil {
			t.x.Debug("the page did not come to rest after its work", err)
		}
		head = t.collected(ctx) // more work may have begun
	}
}
