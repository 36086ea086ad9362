package pages

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/internal/content/document"
	"github.com/domtap/domtap/internal/server/rpc/rpcstatus"
)

func TestErrorsOfDocumentsHaveTheRightCode(t *testing.T) {
	for err, want := range map[error]codes.Code{
		fmt.Errorf("reading a PDF: %w", context.DeadlineExceeded):            codes.DeadlineExceeded,
		fmt.Errorf("reading a PDF: %w", context.Canceled):                    codes.Canceled,
		fmt.Errorf("%w at $: it is an array of 3", document.ErrNoValue):      codes.NotFound,
		apierr.Unknown("download", "the file is gone"):                       codes.NotFound,
		errors.New("parsing JSON: invalid character 'x' after object value"): codes.InvalidArgument,
	} {
		if got := status.Code(rpcstatus.From(documentError(err))); got != want {
			t.Errorf("%v has the code %v, want %v", err, got, want)
		}
	}
}
