package browser

import (
	"context"
	"testing"

	"github.com/chromedp/cdproto"

	"github.com/domtap/domtap/actor"
)

// TestAReadWaitsForTheContextsOfTheNextDocument refuses every call to a document's context until the events come that
// replace the context. On a busy machine, Chromium refuses such calls more often than a read starts over: the renderer of the
// new document answers before the renderer reports its contexts.
func TestAReadWaitsForTheContextsOfTheNextDocument(t *testing.T) {
	b, f, end := newForged(t)
	defer end()
	opened, err := b.NewPage(t.Context(), actor.PageOptions{Session: actor.DefaultSession})
	if err != nil {
		t.Fatal(err)
	}
	p := opened.(*Page)
	created := func(id string) {
		f.say([]byte(`{"method":"Runtime.executionContextCreated","params":{"context":{"id":` + id + `,"origin":"http://a.test","name":"domtap","uniqueId":"u` + id +
			`","auxData":{"isDefault":false,"type":"isolated","frameId":"T1"}}},"sessionId":"S1"}`))
	}
	created("2")
	refused := make(chan struct{}, maxReads+1)
	go func() {
		<-refused
		for range 20 * maxReads {
			if p.barrier(t.Context()) != nil {
				return
			}
		}
		f.say([]byte(`{"method":"Runtime.executionContextsCleared","params":{},"sessionId":"S1"}`))
		created("3")
	}()
	calls := 0
	err = p.retry(t.Context(), func() error {
		calls++
		if a := p.agentOf(""); a != nil && a.unique == "u3" {
			return nil
		}
		refused <- struct{}{}
		return &cdproto.Error{Code: -32602, Message: "uniqueContextId not found"}
	})
	if err != nil {
		t.Fatalf("after %d calls: %v", calls, err)
	}
	if err := p.Close(context.WithoutCancel(t.Context())); err != nil {
		t.Error(err)
	}
}
