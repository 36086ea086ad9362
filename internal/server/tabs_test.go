package server

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/domtap/domtap/actor/actortest"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/actor/tabpool"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/server/rpc/identity"
)

// TestADaemonNamesItself checks the daemon's ID. Clients that remember a tab use it to check that the daemon is still the same.
func TestADaemonNamesItself(t *testing.T) {
	known := map[string]bool{}
	for range 2 {
		inBubble(t, Config{}, func(t *testing.T, b *bench) {
			var ids [2]string
			for i := range ids {
				list, err := b.tabs.ListTabs(t.Context(), &domtapv1.ListTabsRequest{})
				if err != nil {
					t.Fatal(err)
				}
				ids[i] = list.GetDaemonId()
			}
			if ids[0] != ids[1] || len(ids[0]) < 16 || known[ids[0]] {
				t.Errorf("it is %q, then %q; earlier ones are %v", ids[0], ids[1], known)
			}
			known[ids[0]] = true
		})
	}
}

func TestTabsOpenListAndClose(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		first, _ := b.shop()
		second, _ := b.open("")
		if first.GetUrl() != shopURL || first.GetTitle() != "Shop" || first.GetHttpStatus() != 200 ||
			first.GetStatus() != domtapv1.TabStatus_TAB_STATUS_READY || first.GetSessionId() != "default" ||
			second.GetUrl() != "about:blank" || first.GetId() == second.GetId() {
			t.Errorf("opened %v and %v", first, second)
		}
		list, err := b.tabs.ListTabs(t.Context(), &domtapv1.ListTabsRequest{SessionId: "default"})
		if err != nil || len(list.GetTabs()) != 2 || list.GetTabs()[0].GetId() != first.GetId() {
			t.Errorf("listed %v, %v", list, err)
		}
		got, err := b.tabs.GetTab(t.Context(), &domtapv1.GetTabRequest{TabId: second.GetId()})
		if err != nil || got.GetTab().GetId() != second.GetId() {
			t.Errorf("got %v, %v", got, err)
		}
		if _, err := b.tabs.CloseTab(t.Context(), &domtapv1.CloseTabRequest{TabId: first.GetId()}); err != nil {
			t.Error(err)
		}
		_, err = b.tabs.GetTab(t.Context(), &domtapv1.GetTabRequest{TabId: first.GetId()})
		wantCode(t, err, codes.NotFound, "NOT_FOUND")
	})
}

func TestTabsTravel(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		tab, _ := b.shop()
		b.browser.Serve(shopURL+"2", func() actortest.Screen { return actortest.Screen{Title: "Two", Status: 404} })
		id, ctx := tab.GetId(), t.Context()
		gone, err := b.tabs.Navigate(ctx, &domtapv1.NavigateRequest{TabId: id, Url: shopURL + "2"})
		if err != nil || gone.GetTab().GetTitle() != "Two" || gone.GetTab().GetHttpStatus() != 404 {
			t.Errorf("navigated to %v, %v", gone, err)
		}
		back, err := b.tabs.GoBack(ctx, &domtapv1.GoBackRequest{TabId: id})
		if err != nil || back.GetTab().GetUrl() != shopURL {
			t.Errorf("back to %v, %v", back, err)
		}
		_, err = b.tabs.GoBack(ctx, &domtapv1.GoBackRequest{TabId: id})
		wantCode(t, err, codes.FailedPrecondition, "NO_HISTORY")
		forward, err := b.tabs.GoForward(ctx, &domtapv1.GoForwardRequest{TabId: id})
		if err != nil || forward.GetTab().GetUrl() != shopURL+"2" {
			t.Errorf("forward to %v, %v", forward, err)
		}
		again, err := b.tabs.Reload(ctx, &domtapv1.ReloadRequest{TabId: id})
		if err != nil || again.GetTab().GetUrl() != shopURL+"2" {
			t.Errorf("reloaded %v, %v", again, err)
		}
		history, err := b.texts.GetHistory(ctx, &domtapv1.GetHistoryRequest{TabId: id})
		if err != nil || len(history.GetEntries()) < 2 || history.GetEntries()[0].GetTitle() != "Shop" {
			t.Errorf("history %v, %v", history, err)
		}
	})
}

func TestTabErrors(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		b.browser.Serve(shopURL+"never", func() actortest.Screen { return actortest.Screen{Hold: true} })
		b.browser.Serve(shopURL+"slow", func() actortest.Screen { return actortest.Screen{Stall: true} })
		open := func(r *domtapv1.OpenTabRequest) error {
			_, err := b.tabs.OpenTab(t.Context(), r)
			return err
		}
		wantCode(t, open(&domtapv1.OpenTabRequest{Url: "file:///etc/passwd"}), codes.PermissionDenied, "URL_POLICY")
		wantCode(t, open(&domtapv1.OpenTabRequest{Url: "not a url"}), codes.InvalidArgument, "")
		wantCode(t, open(&domtapv1.OpenTabRequest{Url: "http://127.0.0.1:1/"}), codes.FailedPrecondition, "NAVIGATION_FAILED")
		wantCode(t, open(&domtapv1.OpenTabRequest{SessionId: "other"}), codes.NotFound, "NOT_FOUND")
		for _, c := range []struct {
			request *domtapv1.OpenTabRequest
			want    time.Duration
		}{
			{&domtapv1.OpenTabRequest{Url: shopURL + "never"}, 30 * time.Second},
			{&domtapv1.OpenTabRequest{Url: shopURL + "slow", Timeout: durationpb.New(2 * time.Second)}, 2 * time.Second},
			{&domtapv1.OpenTabRequest{Url: shopURL + "never", Timeout: durationpb.New(2 * time.Minute)}, 2 * time.Minute},
		} {
			start := time.Now()
			err := open(c.request)
			wantCode(t, err, codes.DeadlineExceeded, "")
			if said := status.Convert(err).Message(); !strings.Contains(said, "its tab was closed") || strings.Contains(said, "usable") || strings.Contains(said, "GetTab") {
				t.Errorf("%v: it says %q", c.request, said)
			}
			if took := time.Since(start); took != c.want {
				t.Errorf("%v: took %v, want %v", c.request, took, c.want)
			}
		}
		list, err := b.tabs.ListTabs(t.Context(), &domtapv1.ListTabsRequest{})
		if err != nil || len(list.GetTabs()) != 0 {
			t.Errorf("tabs that failed to open are left: %v, %v", list, err)
		}
		_, err = b.tabs.ListTabs(t.Context(), &domtapv1.ListTabsRequest{SessionId: "other"})
		wantCode(t, err, codes.NotFound, "NOT_FOUND")
		for _, err := range []error{
			func() error { _, err := b.tabs.Reload(t.Context(), &domtapv1.ReloadRequest{TabId: "t9"}); return err }(),
			func() error {
				_, err := b.tabs.CloseTab(t.Context(), &domtapv1.CloseTabRequest{TabId: "t9"})
				return err
			}(),
		} {
			wantCode(t, err, codes.NotFound, "NOT_FOUND")
		}
	})
}

// reads holds the calls that read the page of a tab and have no timeout.
func reads(b *bench, tab string) map[string]func(context.Context) error {
	return map[string]func(context.Context) error{
		"GetDom": func(ctx context.Context) error {
			_, err := b.dom.GetDom(ctx, &domtapv1.GetDomRequest{TabId: tab})
			return err
		},
		"GetCompact": func(ctx context.Context) error {
			_, err := b.dom.GetCompact(ctx, &domtapv1.GetCompactRequest{TabId: tab})
			return err
		},
		"ReadPage": func(ctx context.Context) error {
			_, err := b.pages.ReadPage(ctx, &domtapv1.ReadPageRequest{TabId: tab})
			return err
		},
		"Extract": func(ctx context.Context) error {
			_, err := b.pages.Extract(ctx, &domtapv1.ExtractRequest{TabId: tab, SchemaJson: `{"n": "h1"}`})
			return err
		},
		"Screenshot": func(ctx context.Context) error {
			_, err := b.pages.Screenshot(ctx, &domtapv1.ScreenshotRequest{TabId: tab})
			return err
		},
		"Pdf": func(ctx context.Context) error {
			_, err := b.pages.Pdf(ctx, &domtapv1.PdfRequest{TabId: tab})
			return err
		},
		"WatchDom": func(ctx context.Context) error {
			stream, err := b.dom.WatchDom(ctx, &domtapv1.WatchDomRequest{TabId: tab})
			if err == nil {
				_, err = stream.Recv()
			}
			return err
		},
	}
}

// A page that hangs makes its own callers wait for their deadlines: at most 30 seconds, or 5 once the tab is known to hang. It affects no
// other caller. The server returns the error.
func TestHangingPage(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		tab, page := b.shop(buttons("B", 1)...)
		other, _ := b.open(shopURL)
		page.Hang()
		for name, read := range reads(b, tab.GetId()) {
			for deadline, want := range map[time.Duration]time.Duration{
				40 * time.Millisecond: 30 * time.Millisecond, time.Second: 900 * time.Millisecond,
				time.Hour: 30 * time.Second, 0: 30 * time.Second,
			} {
				ctx, cancel := context.WithCancel(t.Context())
				if deadline > 0 {
					ctx, cancel = context.WithTimeout(t.Context(), deadline)
				}
				start := time.Now()
				err := read(ctx)
				cancel()
				wantCode(t, err, codes.DeadlineExceeded, "")
				if !strings.Contains(err.Error(), "GetTab") {
					t.Errorf("%s with a deadline of %v: the client's own timer came first: %v", name, deadline, err)
				}
				took := time.Since(start).Round(10 * time.Millisecond)
				if detailReason(err) == "PAGE_UNRESPONSIVE" && took >= 5*time.Second && took < want { // the call was queued until the tab was known to hang
					continue
				}
				if took != want {
					t.Errorf("%s with a deadline of %v took %v, want %v", name, deadline, took, want)
				}
			}
		}
		if _, err := b.tabs.GetTab(t.Context(), &domtapv1.GetTabRequest{TabId: tab.GetId()}); err != nil {
			t.Errorf("GetTab on a page that hangs: %v", err)
		}
		if got := b.getDom(&domtapv1.GetDomRequest{TabId: other.GetId()}); len(got.GetElements()) != 1 {
			t.Errorf("another tab shows %v", got)
		}
	})
}

func TestWatchTabs(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		tab, page := b.shop()
		client, err := b.tabs.WatchTabs(t.Context(), &domtapv1.WatchTabsRequest{})
		if err != nil {
			t.Fatal(err)
		}
		next := func() *domtapv1.WatchTabsResponse {
			t.Helper()
			m, err := client.Recv()
			if err != nil {
				t.Fatal(err)
			}
			return m
		}
		if m := next(); m.GetOpened() == nil || m.GetTab().GetId() != tab.GetId() || m.GetObservedAt() == nil {
			t.Errorf("first came %v", m)
		}
		page.PushState(shopURL + "x")
		if m := next(); !m.GetNavigated().GetSameDocument() || m.GetTab().GetUrl() != shopURL+"x" {
			t.Errorf("a change of URL came as %v", m)
		}
		page.OpenDialog(driver.Dialog{Type: "alert", Message: "Hi"})
		if m := next(); m.GetDialog().GetDialog().GetMessage() != "Hi" {
			t.Errorf("a dialog came as %v", m)
		}
		page.Emit(driver.DownloadProgressed{Download: driver.Download{GUID: "g", State: driver.Fetched}})
		if m := next(); m.GetDownload().GetGuid() != "g" {
			t.Errorf("a download came as %v", m)
		}
		page.Crash("oom")
		for m := next(); m.GetCrashed() == nil; m = next() {
			if m.GetDialog() == nil {
				t.Fatalf("before the crash came %v", m)
			}
		}
		if _, err := b.tabs.CloseTab(t.Context(), &domtapv1.CloseTabRequest{TabId: tab.GetId()}); err != nil {
			t.Fatal(err)
		}
		if m := next(); m.GetClosed() == nil || m.GetTab().GetStatus() != domtapv1.TabStatus_TAB_STATUS_CLOSED {
			t.Errorf("the end came as %v", m)
		}
		b.stop()
		_, err = client.Recv()
		wantCode(t, err, codes.Unavailable, "")
	})
}

func TestWatchTabsEndsAReaderThatFallsBehind(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		_, page := b.shop()
		client, err := b.tabs.WatchTabs(t.Context(), &domtapv1.WatchTabsRequest{})
		if err != nil {
			t.Fatal(err)
		}
		for i := range 3000 {
			page.PushState(fmt.Sprint(shopURL, i))
			synctest.Wait()
		}
		for err == nil {
			_, err = client.Recv()
		}
		wantCode(t, err, codes.ResourceExhausted, "LIMIT_REACHED")
	})
}

// WatchTabs reports every event of tabs, including those opened later.
func TestWatchTabsTellsEverything(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		_, page := b.shop()
		b.browser.Serve(shopURL+"next", func() actortest.Screen { return actortest.Screen{Title: "Next"} })
		client, err := b.tabs.WatchTabs(t.Context(), &domtapv1.WatchTabsRequest{})
		if err != nil {
			t.Fatal(err)
		}
		is := func(what string, ok func(*domtapv1.WatchTabsResponse) bool) {
			t.Helper()
			m, err := client.Recv()
			if err != nil || !ok(m) || m.GetTab().GetId() == "" || m.GetObservedAt() == nil {
				t.Fatalf("%s came as %v, %v", what, m, err)
			}
		}
		is("the tab that was there", func(m *domtapv1.WatchTabsResponse) bool { return m.GetOpened() != nil })
		page.Go(shopURL + "next")
		is("another document", func(m *domtapv1.WatchTabsResponse) bool {
			return m.GetNavigated() != nil && !m.GetNavigated().GetSameDocument() && m.GetTab().GetUrl() == shopURL+"next"
		})
		page.OpenDialog(driver.Dialog{Type: "prompt", Message: "Name?", Default: "Ann"})
		is("a prompt", func(m *domtapv1.WatchTabsResponse) bool {
			return m.GetDialog().GetDialog().GetDefaultPrompt() == "Ann" && m.GetTab().GetDialog() != nil
		})
		if _, err := page.AnswerDialog(t.Context(), driver.DialogAnswer{Accept: true, Text: new("Bea")}); err != nil {
			t.Error(err)
		}
		is("its end", func(m *domtapv1.WatchTabsResponse) bool {
			return m.GetDialog() != nil && m.GetDialog().GetDialog() == nil && m.GetTab().GetDialog() == nil
		})
		for _, state := range []driver.DownloadState{driver.Fetching, driver.NotFetched} {
			page.Emit(driver.DownloadProgressed{Download: driver.Download{GUID: "g", Filename: "a.zip", State: state}})
			is("a download", func(m *domtapv1.WatchTabsResponse) bool {
				return m.GetDownload().GetState() == state.String() && m.GetDownload().GetSuggestedFilename() == "a.zip"
			})
		}
		popup := page.Open(shopURL + "next")
		is("a popup", func(m *domtapv1.WatchTabsResponse) bool {
			return m.GetOpened() != nil && m.GetTab().GetOpenerTabId() == "t1"
		})
		is("where it goes", func(m *domtapv1.WatchTabsResponse) bool {
			return m.GetNavigated() != nil && m.GetTab().GetId() == "t2"
		})
		if err := popup.Close(t.Context()); err != nil {
			t.Error(err)
		}
		is("a popup that closes itself", func(m *domtapv1.WatchTabsResponse) bool {
			return m.GetClosed() != nil && m.GetTab().GetId() == "t2"
		})
		page.Crash("oom")
		is("a crash", func(m *domtapv1.WatchTabsResponse) bool {
			return m.GetCrashed().GetReason() == "oom" && m.GetTab().GetStatus() == domtapv1.TabStatus_TAB_STATUS_CRASHED
		})
	})
}

// When the browser is gone, the stream reports that and ends. A stream that is started afterwards does the same.
func TestWatchTabsEndsWithTheBrowser(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		b.shop()
		watch := func() domtapv1.TabService_WatchTabsClient {
			client, err := b.tabs.WatchTabs(t.Context(), &domtapv1.WatchTabsRequest{})
			if err != nil {
				t.Fatal(err)
			}
			return client
		}
		client := watch()
		if m, err := client.Recv(); err != nil || m.GetOpened() == nil {
			t.Fatalf("first came %v, %v", m, err)
		}
		b.browser.Die()
		if m, err := client.Recv(); err != nil || m.GetClosed() == nil {
			t.Errorf("the end of the tab came as %v, %v", m, err)
		}
		_, err := client.Recv()
		wantCode(t, err, codes.Unavailable, "PAGE_LOST")
		_, err = watch().Recv()
		wantCode(t, err, codes.Unavailable, "PAGE_LOST")
	})
}

// leaving is a browser whose callers leave at the moment when it has created a page.
type leaving struct {
	*actortest.Browser
	leave func()
}

func (l leaving) NewPage(ctx context.Context, o driver.PageOptions) (driver.Page, error) {
	defer l.leave()
	return l.Browser.NewPage(ctx, o)
}

// A tab is closed if its client leaves while it is being opened.
func TestATabWhoseClientHasLeftIsClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, leave := context.WithCancel(identity.With(t.Context(), identity.Operator()))
		pool := tabpool.New(leaving{actortest.NewBrowser(), leave}, tabpool.Config{})
		server, err := New(pool, Config{})
		if err != nil {
			t.Fatal(err)
		}
		tabs := service[domtapv1.TabServiceServer](server, domtapv1.TabService_ServiceDesc.ServiceName)
		if _, err := tabs.OpenTab(ctx, &domtapv1.OpenTabRequest{}); !errors.Is(err, context.Canceled) {
			t.Errorf("the error is %v", err)
		}
		if tabs := pool.Tabs(); len(tabs) > 0 {
			t.Errorf("%d tabs are open", len(tabs))
		}
		if err := pool.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}
