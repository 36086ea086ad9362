package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/mcp/fence"
)

// readResource returns the page of a tab, as browser_get_elements_compact does by default. The page does not count as seen by the model.
// Diffs for the model still start from what its tools have shown.
func (s *Server) readResource(ctx context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	id, err := tabOf(r.Params.URI)
	if err != nil {
		return nil, err
	}
	one, err := s.session(r.Session)
	if err != nil {
		return nil, err
	}
	if !s.running(ctx) {
		return nil, mcp.ResourceNotFoundError(r.Params.URI) // without a daemon there are no tabs
	}
	answer, err := s.daemon.Dom.GetCompact(ctx, &domtapv1.GetCompactRequest{TabId: id, ClientId: one.state.ClientID + "/resource", Format: domtapv1.Format_FORMAT_DENSE, Brief: true})
	if status.Code(err) == codes.NotFound {
		return nil, mcp.ResourceNotFoundError(r.Params.URI)
	}
	if err != nil {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: fence.Clean(status.Convert(err).Message())}
	}
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: r.Params.URI, MIMEType: "text/plain", Text: fence.Wrap(answer.GetText())}}}, nil
}

// tabOf returns the ID of the tab that a resource URI names.
func tabOf(uri string) (string, error) {
	id, ours := strings.CutPrefix(uri, scheme)
	if !ours || id == "" || strings.HasSuffix(id, ofTimeline) {
		return "", mcp.ResourceNotFoundError(uri)
	}
	return id, nil
}

// subscribe subscribes a session to the changes of a tab.
func (s *Server) subscribe(ctx context.Context, r *mcp.SubscribeRequest) error {
	id, err := tabOf(r.Params.URI)
	if err != nil {
		return err
	}
	if _, err := s.session(r.Session); err != nil {
		return err
	}
	if !s.running(ctx) {
		return mcp.ResourceNotFoundError(r.Params.URI)
	}
	got, err := s.daemon.Tabs.GetTab(ctx, &domtapv1.GetTabRequest{TabId: id})
	if status.Code(err) == codes.NotFound {
		return mcp.ResourceNotFoundError(r.Params.URI)
	}
	if err != nil {
		return fmt.Errorf("subscribe to %s: %w", r.Params.URI, err)
	}
	select {
	case <-s.watches.join(r.Session, got.GetTab()):
		return nil
	case <-ctx.Done():
		s.watches.leave(r.Session, id)
		return ctx.Err()
	}
}

// unsubscribe ends a subscription.
func (s *Server) unsubscribe(_ context.Context, r *mcp.UnsubscribeRequest) error {
	id, err := tabOf(r.Params.URI)
	if err != nil {
		return err
	}
	s.watches.leave(r.Session, id)
	return nil
}

// watches holds the streams of subscribed tabs, one for each tab.
type watches struct {
	server *Server

	mu  sync.Mutex
	all map[string]*watch
}

// watch is the stream of one tab.
type watch struct {
	readers map[*mcp.ServerSession]bool
	// on is closed when every later change of the tab causes an update.
	on    chan struct{}
	end   context.CancelFunc
	ended chan struct{}
}

func newWatches(s *Server) *watches { return &watches{server: s, all: map[string]*watch{}} }

// join adds a reader to the watch of a tab, and starts the watch for the first reader. The returned channel is closed when the reader no
// longer misses changes.
func (w *watches) join(reader *mcp.ServerSession, tab *domtapv1.Tab) (on <-chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	one := w.all[tab.GetId()]
	if one == nil {
		one = &watch{readers: map[*mcp.ServerSession]bool{}, on: make(chan struct{}), ended: make(chan struct{})}
		ctx, end := context.WithCancel(w.server.lives)
		one.end = end
		w.all[tab.GetId()] = one
		w.server.work.Go(func() {
			defer close(one.ended)
			w.run(ctx, tab, one.on)
			w.drop(tab.GetId(), one)
		})
	}
	one.readers[reader] = true
	return one.on
}

// leave removes a reader from a watch. If it is the last one, leave ends the watch and waits for it.
func (w *watches) leave(reader *mcp.ServerSession, id string) {
	w.mu.Lock()
	one := w.all[id]
	last := false
	if one != nil && one.readers[reader] {
		delete(one.readers, reader)
		if last = len(one.readers) == 0; last {
			delete(w.all, id)
		}
	}
	w.mu.Unlock()
	if last {
		one.end()
		<-one.ended
	}
}

// leaveAll removes a reader from every watch.
func (w *watches) leaveAll(reader *mcp.ServerSession) {
	w.mu.Lock()
	var ids []string
	for id := range w.all {
		ids = append(ids, id)
	}
	w.mu.Unlock()
	for _, id := range ids {
		w.leave(reader, id)
	}
}

// drop removes a watch that has ended by itself.
func (w *watches) drop(id string, one *watch) {
	one.end()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.all[id] == one {
		delete(w.all, id)
	}
}

// run sends updates until the tab is closed or ctx ends. It restarts a stream that breaks, for example after a crash of the renderer. It
// closes ready when the first stream has started or failed. In the latter case the next stream starts with an update.
func (w *watches) run(ctx context.Context, tab *domtapv1.Tab, ready chan<- struct{}) {
	var once sync.Once
	started := func() { once.Do(func() { close(ready) }) }
	defer started()
	for again := false; ctx.Err() == nil; again = true {
		err := w.stream(ctx, tab.GetId(), again, started)
		started()
		if err == nil || status.Code(err) == codes.NotFound {
			w.updated(ctx, tab.GetId()) // so that readers notice that the tab is closed
			return
		}
		w.server.options.Logger.Debug("the stream of a tab ended", "tab", tab.GetId(), "error", err)
		select {
		case <-time.After(time.Second):
		case <-ctx.Done():
		}
	}
}

// stream runs one stream. It returns nil when the tab is closed. A restarted stream begins with an update, for changes since the previous
// stream. It calls started when the daemon has started to watch.
func (w *watches) stream(ctx context.Context, id string, again bool, started func()) error {
	stream, err := w.server.daemon.Dom.WatchDom(ctx, &domtapv1.WatchDomRequest{
		TabId: id, OmitInitial: !again, MinInterval: durationpb.New(w.server.options.UpdateInterval),
	})
	if err != nil {
		return err
	}
	if _, err := stream.Header(); err == nil { // the header arrives when the watch has started
		started()
	}
	for {
		m, err := stream.Recv()
		if err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		if m.GetHeartbeat() == nil {
			w.updated(ctx, id)
		}
	}
}

// updated notifies the subscribers of a tab.
func (w *watches) updated(ctx context.Context, id string) {
	// This fails for hosts that have disconnected. Their subscriptions end with their sessions.
	_ = w.server.sdk.ResourceUpdated(ctx, &mcp.ResourceUpdatedNotificationParams{URI: scheme + id})
}
