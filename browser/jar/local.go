package jar

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/chromedp/cdproto"
	"github.com/chromedp/cdproto/cdp"
	jsonv2 "github.com/chromedp/cdproto/cdp/jsonv2"
	"github.com/chromedp/cdproto/domstorage"
	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/storage"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/actor/sessions"
	"github.com/domtap/domtap/browser/link"
)

// closeBound is how long the browser may take to close the hidden page.
const closeBound = 5 * time.Second

// Local is a hidden page that reaches the local storage of any origin of a context. It serves one goroutine.
type Local struct {
	root link.Session
	page link.Session
	id   target.ID
	// origin is where the page is.
	origin string
	// asked holds the requests that wait for their empty document, which a goroutine gives them until stop is called.
	asked    chan fetch.RequestID
	stop     context.CancelFunc
	answered sync.WaitGroup
}

// OpenLocal opens the hidden page. The caller owes a Close.
func OpenLocal(ctx context.Context, root link.Session, in cdp.BrowserContextID) (*Local, error) {
	yes := true
	made, err := cdp.Call(ctx, root, target.CreateTarget, target.CreateTargetParams{URL: "about:blank", BrowserContextID: in, Hidden: &yes})
	if err != nil { // an older browser hides no pages
		made, err = cdp.Call(ctx, root, target.CreateTarget, target.CreateTargetParams{URL: "about:blank", BrowserContextID: in, Background: &yes})
	}
	if err != nil {
		return nil, fmt.Errorf("opening a hidden page: %w", err)
	}
	l := &Local{root: root, id: made.TargetID, asked: make(chan fetch.RequestID, 64)}
	answering, stop := context.WithCancel(ctx)
	l.stop = stop
	l.answered.Go(func() { l.answer(answering) })
	if l.page, err = root.Attach(ctx, l.id); err == nil {
		root.Conn.Listen(l.page.ID, l.paused)
		err = l.page.Run(ctx,
			link.Step{Method: network.CommandSetBypassServiceWorker, Params: network.SetBypassServiceWorkerParams{Bypass: true}, Optional: true},
			link.Step{Method: fetch.CommandEnable, Params: fetch.EnableParams{Patterns: []*fetch.RequestPattern{{URLPattern: "*"}}}},
			link.Step{Method: domstorage.CommandEnable})
	}
	if err != nil {
		l.Close(ctx)
		return nil, fmt.Errorf("preparing a hidden page: %w", err)
	}
	return l, nil
}

// paused takes a request of the page. It runs on the connection's goroutine and does not wait.
func (l *Local) paused(msg *cdproto.Message) {
	if string(msg.Method) != fetch.RequestPaused.Method {
		return
	}
	var e struct {
		RequestID fetch.RequestID `json:"requestId"`
	}
	if err := jsonv2.Unmarshal(msg.Params, &e, chromedp.DefaultUnmarshalOptions); err != nil {
		return
	}
	select {
	case l.asked <- e.RequestID:
	default: // an empty document asks for nothing, so there are never as many
	}
}

// answer gives every request an empty document.
func (l *Local) answer(ctx context.Context) {
	for {
		select {
		case id := <-l.asked:
			l.page.Post(ctx, fetch.CommandFulfillRequest, fetch.FulfillRequestParams{RequestID: id, ResponseCode: 200,
				ResponseHeaders: []*fetch.HeaderEntry{{Name: "Content-Type", Value: "text/html"}}})
		case <-ctx.Done():
			return
		}
	}
}

// visit goes to an origin.
func (l *Local) visit(ctx context.Context, origin string) error {
	if l.origin == origin {
		return nil
	}
	gone, err := cdp.Call(ctx, l.page, page.Navigate, page.NavigateParams{URL: origin + "/"})
	if err == nil && gone.ErrorText != "" {
		return &actor.Error{
			Kind: actor.Invalid, Field: "storage_state",
			Message: fmt.Sprintf("the browser does not go to the origin %s (%s): check how it is written", origin, gone.ErrorText),
		}
	}
	if err != nil {
		return fmt.Errorf("reaching the storage of %s: %w", origin, err)
	}
	l.origin = origin
	return nil
}

// Read reads the local storage of an origin.
func (l *Local) Read(ctx context.Context, origin string) ([]sessions.Entry, error) {
	if err := l.visit(ctx, origin); err != nil {
		return nil, err
	}
	found, err := cdp.Call(ctx, l.page, domstorage.GetDOMStorageItems, domstorage.GetDOMStorageItemsParams{StorageID: localOf(origin)})
	if err != nil {
		return nil, fmt.Errorf("reading the storage of %s: %w", origin, err)
	}
	var entries []sessions.Entry
	for _, item := range found.Entries {
		if len(item) == 2 {
			entries = append(entries, sessions.Entry{Name: item[0], Value: item[1]})
		}
	}
	return entries, nil
}

// Write adds entries to the local storage of an origin.
func (l *Local) Write(ctx context.Context, o sessions.Origin) error {
	if err := l.visit(ctx, o.Origin); err != nil {
		return err
	}
	steps := make([]link.Step, len(o.Entries))
	for i, e := range o.Entries {
		steps[i] = link.Step{Method: domstorage.CommandSetDOMStorageItem,
			Params: domstorage.SetDOMStorageItemParams{StorageID: localOf(o.Origin), Key: e.Name, Value: e.Value}}
	}
	if err := l.page.Run(ctx, steps...); err != nil {
		return fmt.Errorf("writing the storage of %s (an origin holds about 5 MB): %w", o.Origin, err)
	}
	return nil
}

// Clear forgets all that an origin has stored, of every kind.
func (l *Local) Clear(ctx context.Context, origin string) error {
	_, err := cdp.Call(ctx, l.page, storage.ClearDataForOrigin, storage.ClearDataForOriginParams{Origin: origin, StorageTypes: "all"})
	if err != nil {
		return fmt.Errorf("clearing the storage of %s: %w", origin, err)
	}
	return nil
}

func localOf(origin string) *domstorage.StorageID {
	return &domstorage.StorageID{SecurityOrigin: origin, IsLocalStorage: true}
}

// Close closes the page, also when ctx has ended.
func (l *Local) Close(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeBound)
	defer cancel()
	_, _ = cdp.Call(ctx, l.root, target.CloseTarget, target.CloseTargetParams{TargetID: l.id})
	if l.page.ID != "" {
		l.root.Conn.Listen(l.page.ID, nil)
	}
	l.stop()
	l.answered.Wait()
}
