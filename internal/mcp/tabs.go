package mcp

import (
	"context"
	"maps"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// scheme is the prefix of resource URIs.
const scheme = "domtap://tab/"

// tabTemplate returns the URI template of tabs.
func tabTemplate() *mcp.ResourceTemplate {
	return &mcp.ResourceTemplate{
		Name: "tab", URITemplate: scheme + "{id}", MIMEType: "text/plain",
		Description: "The page of a tab as compact text. Subscribe to follow it.",
	}
}

// ofTimeline is the suffix of timeline URIs.
const ofTimeline = "/timeline"

// timelineTemplate returns the URI template of timelines.
func timelineTemplate() *mcp.ResourceTemplate {
	return &mcp.ResourceTemplate{
		Name: "timeline", URITemplate: scheme + "{id}" + ofTimeline, MIMEType: "text/plain",
		Description: "The timeline of a tab: what clients and the page did.",
	}
}

// tabList keeps the list of resources in sync with the open tabs. The SDK notifies hosts of changes. tabList follows WatchTabs once the
// daemon is running.
type tabList struct {
	server *Server
	begin  sync.Once
	// wake ends the pause before the next stream.
	wake chan struct{}

	mu sync.Mutex
	// listed maps the listed tabs to their titles.
	listed map[string]string
}

func newTabList(s *Server) *tabList {
	return &tabList{server: s, wake: make(chan struct{}, 1), listed: map[string]string{}}
}

// follow starts to follow the tabs, or ends the pause before the next stream.
func (l *tabList) follow() {
	l.begin.Do(func() { l.server.work.Go(l.run) })
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// restartDelay is the time before a broken stream is restarted, unless a call arrives earlier.
const restartDelay = 5 * time.Second

// run follows the tabs until the server ends.
func (l *tabList) run() {
	ctx := l.server.lives
	for ctx.Err() == nil {
		err := l.stream(ctx)
		l.server.options.Logger.Debug("the stream of tabs ended", "error", err)
		l.drop()
		select {
		case <-l.wake:
		case <-time.After(restartDelay):
		case <-ctx.Done():
		}
	}
}

// stream runs one stream of tabs until it ends.
func (l *tabList) stream(ctx context.Context) error {
	stream, err := l.server.daemon.Tabs.WatchTabs(ctx, &domtapv1.WatchTabsRequest{SessionId: l.server.options.Session})
	if err != nil {
		return err
	}
	for {
		m, err := stream.Recv()
		if err != nil {
			return err
		}
		switch m.GetEvent().(type) {
		case *domtapv1.WatchTabsResponse_Closed:
			l.remove(m.GetTab().GetId())
		case *domtapv1.WatchTabsResponse_Opened, *domtapv1.WatchTabsResponse_Navigated:
			l.put(m.GetTab())
		}
	}
}

// put adds a tab to the list or updates it.
func (l *tabList) put(tab *domtapv1.Tab) {
	l.mu.Lock()
	defer l.mu.Unlock()
	id, title := tab.GetId(), titleOf(tab)
	if known, listed := l.listed[id]; listed && known == title {
		return
	}
	l.listed[id] = title
	l.server.sdk.AddResource(&mcp.Resource{URI: scheme + id, Name: id, Title: title, MIMEType: "text/plain"}, l.server.readResource)
}

// titleOf returns a title without text of the page, because hosts may show titles to models without a fence.
func titleOf(tab *domtapv1.Tab) string {
	at, err := url.Parse(tab.GetUrl())
	if err != nil || at.Hostname() == "" {
		return "Tab " + tab.GetId()
	}
	return "Tab " + tab.GetId() + ": " + at.Hostname()
}

// remove removes a tab from the list.
func (l *tabList) remove(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, listed := l.listed[id]; listed {
		delete(l.listed, id)
		l.server.sdk.RemoveResources(scheme + id)
	}
}

// drop removes all tabs from the list.
func (l *tabList) drop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for id := range l.listed {
		l.server.sdk.RemoveResources(scheme + id)
	}
	clear(l.listed)
}

// refresh updates the list. It does not start a daemon.
func (l *tabList) refresh(ctx context.Context) {
	if !l.server.running(ctx) {
		return
	}
	l.mu.Lock()
	before := slices.Collect(maps.Keys(l.listed))
	l.mu.Unlock()
	answer, err := l.server.daemon.Tabs.ListTabs(ctx, &domtapv1.ListTabsRequest{SessionId: l.server.options.Session})
	if err != nil {
		return // the list stays unchanged
	}
	l.follow()
	open := map[string]bool{}
	for _, tab := range answer.GetTabs() {
		open[tab.GetId()] = true
		l.put(tab)
	}
	for _, id := range before {
		if !open[id] {
			l.remove(id)
		}
	}
}
