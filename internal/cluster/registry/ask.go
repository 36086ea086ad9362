package registry

import (
	"context"
	"fmt"

	"github.com/nats-io/nats.go"
)

// questions prefixes the subjects on which nodes answer questions that the registry cannot.
const questions = "domtap.ask."

// Ask sends a question to the node of the given name and returns the answer. It returns ErrUnavailable if no answer arrives in time.
func (r *Registry) Ask(ctx context.Context, node string, question []byte) ([]byte, error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	m, err := r.conn.RequestWithContext(ctx, questions+encodeKey(node), question)
	if err != nil {
		return nil, explain(err, false, "ask", node)
	}
	return m.Data, nil
}

// Answer answers the questions to the node of the given name, one at a time, until stop is called. The function answer must not block.
func (r *Registry) Answer(node string, answer func(question []byte) []byte) (stop func(), err error) {
	sub, err := r.conn.Subscribe(questions+encodeKey(node), func(m *nats.Msg) {
		_ = m.Respond(answer(m.Data)) // after an error the caller asks again
	})
	if err != nil {
		return nil, fmt.Errorf("answer for node %s: %w", node, err)
	}
	return func() { _ = sub.Unsubscribe() }, nil // the connection may be closed
}
