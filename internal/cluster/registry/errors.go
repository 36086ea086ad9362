package registry

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// The kinds of errors. Every error of a Bucket is one of them.
var (
	// ErrConflict: the key has another revision than the write expected. Nothing was stored.
	ErrConflict = errors.New("somebody else changed it")
	// ErrUnknown: nobody answered in time, or another write was under way. Perhaps it was stored: read before the next write.
	ErrUnknown = errors.New("it is not known whether that was stored")
	// ErrUnavailable: NATS cannot be reached, or has no leader. Nothing was stored.
	ErrUnavailable = errors.New("the registry is not available")
	// ErrNotFound: the server that answered has no such key. That does not prove that there is none.
	ErrNotFound = errors.New("it is not in the registry")
)

// inFlight is NATS' answer to a conditional write while another one to the same subject is being replicated. It says nothing about
// which of them is stored in the end.
const inFlight jetstream.ErrorCode = 10164

// explain gives an error of NATS its kind. wrote says that it is that of a write.
func explain(err error, wrote bool, what, key string) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s %q: %w: %w", what, key, Kind(err, wrote), err)
}

// Kind is the one of the kinds above that an error of NATS is. wrote says that it is that of a write.
func Kind(err error, wrote bool) error {
	if api, ok := errors.AsType[*jetstream.APIError](err); ok {
		return apiKind(api, wrote)
	}
	switch {
	case errors.Is(err, ErrConflict):
		return ErrConflict
	case errors.Is(err, jetstream.ErrMsgNotFound):
		return ErrNotFound
	case !wrote || unsent(err):
		return ErrUnavailable
	}
	return ErrUnknown // timeouts above all
}

// apiKind is the kind of what a server answered.
func apiKind(api *jetstream.APIError, wrote bool) error {
	switch {
	case api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence:
		return ErrConflict
	case api.ErrorCode == jetstream.JSErrCodeMessageNotFound:
		return ErrNotFound
	case api.ErrorCode == inFlight:
		return ErrUnknown
	case !wrote || api.Code == 503 || api.Code == 400: // no quorum, no leader, or too large: refused before it was stored
		return ErrUnavailable
	}
	return ErrUnknown
}

// unsent reports whether nothing was sent, or nobody was there to take it.
func unsent(err error) bool {
	for _, sure := range []error{
		jetstream.ErrNoStreamResponse, nats.ErrNoResponders, nats.ErrConnectionClosed, nats.ErrReconnectBufExceeded, nats.ErrMaxPayload, nats.ErrInvalidConnection,
	} {
		if errors.Is(err, sure) {
			return true
		}
	}
	return false
}

// bounded bounds one request.
func bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, callTimeout)
}
