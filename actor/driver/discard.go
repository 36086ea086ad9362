package driver

import (
	"context"
	"time"
)

// closeBound limits how long the browser may take to close a page.
const closeBound = 5 * time.Second

// Discard closes a page and drains its events until the browser has released it. It ignores the end of ctx.
func Discard(ctx context.Context, page Page) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeBound)
	defer cancel()
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		err = page.Close(ctx)
	}()
	for range page.Events() {
	}
	<-done
	return err
}
