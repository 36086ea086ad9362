package turn

import (
	"context"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/dom"
	"github.com/domtap/domtap/internal/lazyregexp"
)

const (
	// workLimit bounds how long an answer waits while the page shows that it is working. workEvery is the interval between two checks of
	// the page.
	workLimit = 4 * time.Second
	workEvery = 150 * time.Millisecond
	// maxWorking is the maximum length of such a text in characters.
	maxWorking = 60
)

// working matches texts with which pages show that they are working, such as "Processing…" and "Please wait".
var working = lazyregexp.New(`(?i)^\W*(?:` +
	`(?:loading|processing|saving|sending|submitting|searching|uploading|please wait|just a moment|one moment)\W*` +
	`|.*\bplease wait\b.*` +
	`|(?:wird|werden)\b.*\b(?:geladen|gespeichert|gesendet|verarbeitet)\W*|bitte warten\W*|chargement\b.*|veuillez patienter\W*|cargando\b.*|caricamento\b.*|carregando\b.*` +
	`|加载中.*|正在加载.*|読み込み中.*|処理中.*)$`)

// activity matches texts that name an activity, such as "Placing your order…"; its group is the first word.
var activity = lazyregexp.New(`(?i)^\W*(\p{L}{2,}ing)\b[^.!?]*(?:…|\.\.+)$`)

// noActivity lists words that end in "ing" but name no activity.
var noActivity = map[string]bool{
	"nothing": true, "something": true, "everything": true, "anything": true, "thing": true, "spring": true, "string": true, "bring": true, "during": true,
	"morning": true, "evening": true, "missing": true, "warning": true, "according": true, "following": true, "regarding": true, "including": true, "concerning": true,
	"pending": true, "sterling": true, "ceiling": true, "wedding": true, "building": true, "clothing": true, "beijing": true,
}

// indicatesWork reports whether a text states that the page is working.
func indicatesWork(text string) bool {
	if working().MatchString(text) {
		return true
	}
	found := activity().FindStringSubmatch(text)
	return found != nil && !noActivity[strings.ToLower(found[1])]
}

// isWorking reports whether the text of a notice states that the page is working. A progress bar alone does not count, because many pages
// have a permanent one.
func isWorking(n dom.Notice) bool {
	switch n.Kind {
	case dom.NoticeText, dom.NoticeStatus, dom.NoticeAlert, dom.NoticeToast, dom.NoticeBusy:
		return !n.Gone && utf8.RuneCountInString(n.Text) <= maxWorking && indicatesWork(n.Text)
	}
	return false
}

// awaitWork waits while notices after since state that the page is working, and then until the page has settled, so that the answer
// includes the result of the work. Running out of time is not an error: the answer then includes the state so far.
//
// The names of controls count, too: a button "Save" that becomes "Saving…".
func (t *run) awaitWork(ctx context.Context, since uint64, out *Outcome) {
	start := t.x.State()
	bounded, cancel := context.WithTimeout(ctx, workLimit)
	defer cancel()
	head := t.x.Publish()
	works := func() bool {
		return slices.ContainsFunc(head.Notices().Since(since), isWorking) || controlIndicatesWork(head, out)
	}
	for works() {
		if now := t.x.State(); bounded.Err() != nil || now.Dialog != nil || now.Commits != start.Commits || now.Halts != start.Halts || t.live.Hung() {
			return
		}
		round, stop := context.WithTimeout(bounded, workEvery)
		for t.x.AwaitHead(round) {
		}
		stop()
		if controlIndicatesWork(head, out) { // notices arrive without a read, names do not
			if _, err := t.x.Read(bounded, actor.ReadOptions{}); err != nil {
				return
			}
		}
		if head = t.collected(bounded); works() {
			continue
		}
		if err := t.settle(ctx, start, ""); err != nil {
			t.x.Debug("the page did not come to rest after its work", err)
		}
		head = t.collected(ctx) // more work may have started
	}
}

// controlIndicatesWork reports whether the name of a control states that the page is working, and was different before the turn. It
// considers controls that were acted on, and all controls whose name ends in an ellipsis.
func controlIndicatesWork(now *actor.Head, out *Outcome) bool {
	says := func(el *dom.Element) bool {
		if el == nil || utf8.RuneCountInString(el.Text) > maxWorking || !indicatesWork(el.Text) {
			return false
		}
		was := out.Before.Find(el.Ref)
		return was == nil || was.Text != el.Text
	}
	for _, r := range out.Results {
		if r.Done && r.Element != nil && says(now.Snapshot.Find(r.Ref)) {
			return true
		}
	}
	for el := range now.Snapshot.Elements.All() {
		if el.Kind == dom.Interactive && (strings.HasSuffix(el.Text, "…") || strings.HasSuffix(el.Text, "...")) && says(el) {
			return true
		}
	}
	return false
}
