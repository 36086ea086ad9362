package restore

import (
	"context"
	"errors"

	"github.com/domtap/domtap/actor/apierr"
)

// Classify evaluates the error of the navigation that restores a tab. It returns why the tab cannot be restored, or that another attempt is
// useful. If it returns neither, the tab is restored. Crashed reports that the page has no renderer. An error page of the browser counts as
// restored, because a reload would show it too.
func Classify(err error, crashed bool) (why string, again bool) {
	switch {
	case apierr.Is(err, apierr.Refused), apierr.Is(err, apierr.IsDownload):
		return err.Error(), false
	case err == nil, apierr.Is(err, apierr.Navigation):
	case errors.Is(err, context.DeadlineExceeded) && !crashed: // a part of the page has loaded
	default: // a timeout without any content may be due to a busy machine, for example after another machine has died
		return "", true
	}
	if crashed {
		return "the browser did not report what it shows", false
	}
	return "", false
}
