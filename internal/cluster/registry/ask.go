package registry

import (
	"context"
	"fmt"

	"github.com/nats-io/nats.go"
)

// questions are the subjects on which nodes are asked what the registry does not say.
const questions = "domtap.ask."

// Ask asks a node, by its name, and returns its answer. The error is ErrUnavailable: nobody answered in time.
func (r *Registry) Ask(ctx context.Context, node string, question []byte) ([]byte, error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	m, err := r.conn.RequestWithContext(ctx, questions+encodeKey(node), question)
	if err != nil {
		return nil, explain(err, false, "ask", node)
	}
	return m.Data, nil
}

// Answer answers what the node of a name is asked, one question at a time, until stop is called. The answer must not wait.
func (r *Registry) Answer(node string, answer func(question []byte) []byte) (stop func(), err error) {
	sub, err := r.conn.Subscribe(questions+encodeKey(node), func(m *nats.Msg) {
		_ = m.Respond(answer(m.Data)) // who asked asks again
	})
	if err != nil {
		return nil, fmt.Errorf("answer for node %s: %w", node, err)
	}
	return func() { _ = sub.Unsubscribe() }, nil // the connection may be closed
}
