package actor

import (
	"context"
	"fmt"
	"time"

	"github.com/domtap/domtap/actor/driver"
)

// sameDocumentLimit limits how long the browser may take to report the URL of a same-document navigation.
const sameDocumentLimit = time.Second

// Navigate loads a URL and waits as specified by wait. It follows the page if that navigates to another document. If ctx has no deadline,
// the configured timeout applies. A dialog that opens while the page loads ends the wait without an error; see Info.Dialog. Navigate fails
// with an *Error of kind Refused when the URL policy denies the URL, Navigation when the browser cannot load it, DialogOpen when the old
// page opens a beforeunload dialog, or Lost when the renderer crashes. It fails with a wrapped context.DeadlineExceeded on timeout; the tab
// stays usable.
func (t *Tab) Navigate(ctx context.Context, url string, wait Wait) (Info, error) {
	return Do(ctx, t, Command{Name: "navigate", Leaves: true, URL: url}, withNotices(wait, driver.NoticeModeFor(url), func(ctx context.Context, x *Exclusive) (Info, error) { return x.Navigate(ctx, url, wait) }))
}

// Back goes one entry back in the tab's history. It fails with an *Error of kind NoHistory at the first entry, and otherwise behaves as
// Navigate.
func (t *Tab) Back(ctx context.Context, wait Wait) (Info, error) {
	return Do(ctx, t, Command{Name: "go back", Leaves: true}, withNotices(wait, driver.NoticesAll, func(ctx context.Context, x *Exclusive) (Info, error) { return x.Step(ctx, -1, wait) }))
}

// Forward goes one entry forward in the tab's history. It fails with an *Error of kind NoHistory at the last entry, and otherwise behaves
// as Navigate.
func (t *Tab) Forward(ctx context.Context, wait Wait) (Info, error) {
	return Do(ctx, t, Command{Name: "go forward", Leaves: true}, withNotices(wait, driver.NoticesAll, func(ctx context.Context, x *Exclusive) (Info, error) { return x.Step(ctx, 1, wait) }))
}

// Reload reloads the current document. It otherwise behaves as Navigate.
func (t *Tab) Reload(ctx context.Context, wait Wait) (Info, error) {
	return Do(ctx, t, Command{Name: "reload", Leaves: true}, withNotices(wait, driver.NoticesNew, func(ctx context.Context, x *Exclusive) (Info, error) {
		return navigator{x.t}.navigate(ctx, wait, t.page().Reload)
	}))
}

// noticeBound limits how long a loaded page may take to report its notices.
const noticeBound = 500 * time.Millisecond

// withNotices returns a navigation during which the selected documents report notices; see Head.Notices.
func withNotices(wait Wait, of driver.NoticeMode, navigate func(context.Context, *Exclusive) (Info, error)) func(context.Context, *Exclusive) (Info, error) {
	return func(ctx context.Context, x *Exclusive) (Info, error) {
		x.t.page().SetNoticeMode(ctx, of)
		defer func() { x.t.page().SetNoticeMode(context.WithoutCancel(ctx), driver.NoticesOff) }()
		info, err := navigate(ctx, x)
		if err != nil || wait == WaitCommit || x.Ready() != nil {
			return info, err
		}
		if x.t.policy.readAhead && wait.phase() >= driver.PhaseLoad { // runs while the notices are collected
			x.t.page().Prepare()
		}
		bounded, cancel := context.WithTimeout(ctx, noticeBound)
		defer cancel()
		if err := x.t.pump.query(bounded, func(ctx context.Context) error { return x.t.page().CollectNotices(ctx, true) }); err != nil {
			x.Debug("the page did not report its notices", err)
		}
		x.t.drain()
		return x.Publish().Info, nil
	}
}

// navigator moves the tab between documents.
type navigator struct{ *loop }

// navigate runs a navigation to completion.
func (t navigator) navigate(ctx context.Context, wait Wait, start func(context.Context) (driver.Commit, error)) (Info, error) {
	if _, ok := ctx.Deadline(); !ok {
		limit := t.policy.navigationTimeout
		cause := fmt.Errorf("the page did not load within %s; the tab stays usable: try again with a longer timeout: %w", limit, context.DeadlineExceeded)
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, limit, cause)
		defer cancel()
	}
	t.popupBudget.Reset()
	if t.health.Unresponsive() {
		t.interrupt(ctx)
	}
	if err := t.dialogs.UnloadErr(t.id); err != nil {
		return Info{}, err
	}
	_, sames := t.nav.Counts()
	var commit driver.Commit
	err := t.pump.call(ctx, func() error { return t.dialogs.UnloadErr(t.id) }, func(ctx context.Context) (err error) {
		commit, err = start(ctx)
		return err
	})
	if err != nil {
		return Info{}, err
	}
	if commit.Same {
		err = t.settleURL(ctx, sames)
	} else {
		err = t.load(ctx, commit.Document, wait.phase())
	}
	if err != nil {
		return Info{}, err
	}
	if !commit.Same && wait.phase() >= driver.PhaseLoad {
		t.awaitBuilt(ctx, wait.phase())
	}
	return t.head.Load().Info, nil
}

// interrupt terminates the script that blocks the page. If that fails, the navigation may still succeed.
func (t navigator) interrupt(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, probeBound)
	defer cancel()
	if err := t.pump.call(ctx, nil, t.page().Interrupt); err != nil {
		t.log.Warn("the page's script could not be terminated", "err", err)
	}
}

// settleURL waits for the event of a same-document navigation, which carries the URL.
func (t navigator) settleURL(ctx context.Context, sames int) error {
	bounded, cancel := context.WithTimeout(ctx, sameDocumentLimit)
	defer cancel()
	err := t.pump.await(bounded, func() (bool, error) {
		_, now := t.nav.Counts()
		return now != sames, nil
	})
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

// load waits until a document, or a document that has replaced it since, has reached a phase.
func (t navigator) load(ctx context.Context, document string, phase driver.Phase) error {
	crashes := t.health.Crashes()
	err := t.pump.await(ctx, func() (bool, error) {
		if t.health.Crashes() != crashes {
			return false, t.crashErr()
		}
		if arrived, err := t.nav.Arrival(document, phase); arrived || err != nil {
			return arrived, err
		}
		return t.nav.Arrived(document) && t.dialogs.Open() != nil, nil
	})
	if ctx.Err() != nil {
		t.prober.suspect()
	}
	return err
}
