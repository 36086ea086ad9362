package restore

import (
	"context"
	"errors"

	"github.com/domtap/domtap/actor/apierr"
)

// Verdict says by the error of the navigation back why a tab cannot be restored, or that another attempt is worth it; neither:
// the tab is restored. Crashed says that the page has no renderer. What the browser shows instead of a page that cannot be
// loaded is what a reload would show, too.
func Verdict(err error, crashed bool) (why string, again bool) {
	switch {
	case apierr.Is(err, apierr.Refused), apierr.Is(err, apierr.IsDownload):
		return err.Error(), false
	case err == nil, apierr.Is(err, apierr.Navigation):
	case errors.Is(err, context.DeadlineExceeded) && !crashed: // a part of the page has come
	default: // that nothing has come in time may be due to a machine that has much to do, as after the death of another one
		return "", true
	}
	if crashed {
		return "the browser did not say what it shows", false
	}
	return "", false
}
