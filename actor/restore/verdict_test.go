package restore_test

import (
	"context"
	"errors"
	"testing"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/restore"
)

func TestVerdict(t *testing.T) {
	refused := apierr.Errorf(apierr.Refused, "the policy refuses it")
	failed := apierr.Errorf(apierr.Navigation, "it cannot be loaded")
	tests := map[string]struct {
		err     error
		crashed bool
		why     string
		again   bool
	}{
		"loaded":                       {nil, false, "", false},
		"an error page is shown":       {failed, false, "", false},
		"refused":                      {refused, false, refused.Error(), false},
		"too slow, but something came": {context.DeadlineExceeded, false, "", false},
		"too slow, and nothing came":   {context.DeadlineExceeded, true, "", true},
		"loaded without a renderer":    {failed, true, "the browser did not report what it shows", false},
		"another error":                {errors.New("the browser hiccuped"), true, "", true},
	}
	for name, test := range tests {
		if why, again := restore.Classify(test.err, test.crashed); why != test.why || again != test.again {
			t.Errorf("%s: the verdict is %q, again %v, want %q, %v", name, why, again, test.why, test.again)
		}
	}
}
