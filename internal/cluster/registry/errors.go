package registry

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Kinds of errors. Every error of a Bucket wraps one of them.
var (
	// ErrConflict reports that the key has another revision than the write expected. Nothing was stored.
	ErrConflict = errors.New("another node changed it")
	// ErrUnknown reports that no answer arrived in time or that another write was in progress. The value may have been stored: read it
	// before the next write.
	ErrUnknown = errors.New("it is unknown whether the change was stored")
	// ErrUnavailable reports that NATS cannot be reached or has no leader. Nothing was stored.
	ErrUnavailable = errors.New("the registry is not available")
	// ErrNotFound reports that the server that answered has no such key. This does not prove that the key does not exist.
	ErrNotFound = errors.New("it is not in the registry")
)

// inFlight is NATS' answer to a conditional write while another write to the same subject is being replicated. Either write may be stored
// in the end.
const inFlight jetstream.ErrorCode = 10164

// explain wraps a NATS error in its kind. wrote states that a write caused it.
func explain(err error, wrote bool, what, key string) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s %q: %w: %w", what, key, Kind(err, wrote), err)
}

// Kind returns the kind of a NATS error. wrote states that a write caused it.
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
	return ErrUnknown // mostly timeouts
}

// apiKind returns the kind of a server's error response.
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

// unsent reports whether nothing was sent or no server was there to receive it.
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

// bounded adds the timeout of one request to a context.
func bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, callTimeout)
}
