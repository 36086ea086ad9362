package sideeffects

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/status"

	"github.com/domtap/domtap/actor/tabpool"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/browser"
	"github.com/domtap/domtap/internal/server"
	"github.com/domtap/domtap/internal/testenv"
)

// attachment serves a file of zeros.
func attachment(name string, bytes int64) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("content-type", "application/octet-stream")
		w.Header().Set("content-disposition", "attachment; filename=\""+name+"\"")
		w.Header().Set("content-length", fmt.Sprint(bytes))
		_, _ = io.CopyN(w, zeros{}, bytes)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// endless serves an endless file until the client disconnects.
func endless(gone chan<- struct{}) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("content-disposition", "attachment; filename=endless.bin")
		w.Header().Set("content-length", "1000000")
		_, _ = w.Write(make([]byte, 1000))
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		gone <- struct{}{}
	}
}

// watchDownloads returns a function that waits for the next event of a download that meets a condition.
func watchDownloads(t testing.TB, d *testenv.Daemon) func(is func(*domtapv1.TabDownload) bool) *domtapv1.WatchTabsResponse {
	t.Helper()
	stream, err := d.Tabs.WatchTabs(testenv.Within(t, testenv.Patience), &domtapv1.WatchTabsRequest{})
	if err == nil {
		_, err = stream.Recv() // the stream has started
	}
	if err != nil {
		t.Fatal(err)
	}
	return func(is func(*domtapv1.TabDownload) bool) *domtapv1.WatchTabsResponse {
		t.Helper()
		for {
			m, err := stream.Recv()
			if err != nil {
				t.Fatalf("waiting for a download: %v", err)
			}
			if m.GetDownload() != nil && is(m.GetDownload()) {
				return m
			}
		}
	}
}

func ended(d *domtapv1.TabDownload) bool { return d.GetState() != "in_progress" }

// metadata returns the metadata of an error.
func metadata(err error) map[string]string {
	for _, detail := range status.Convert(err).Details() {
		if info, ok := detail.(*errdetails.ErrorInfo); ok {
			return info.GetMetadata()
		}
	}
	return nil
}

func TestDownloads(t *testing.T) {
	t.Parallel()
	gone := make(chan struct{}, 10)
	var other string
	url := testenv.Pages(t, map[string]http.HandlerFunc{
		"/ok":    testenv.HTML(testenv.SomeButtons),
		"/link":  testenv.HTML(`<a href="/file">Get</a>`),
		"/blank": testenv.HTML(`<a href="/file" target=_blank>Get</a>`),
		"/data":  testenv.HTML(`<a href="data:text/plain,hello" download="../../.profile">Get</a>`),
		"/blob":  bigButton(`const a = document.createElement("a"); a.href = window.URL.createObjectURL(new Blob(["hello"])); a.download = "con.txt"; a.click()`),
		"/form":  testenv.HTML(`<form action="/file"><button>Get</button></form>`),
		"/frame": func(w http.ResponseWriter, r *http.Request) {
			testenv.HTML(`<button>Get</button><iframe src="`+other+`/auto"></iframe>`)(w, r)
		},
		"/auto":    testenv.HTML(`<script>location = "/file"</script>`),
		"/file":    attachment("report.pdf", 1000),
		"/written": bigButton(`window.open("").document.write('<a href="data:text/plain,hello" download="note.txt">Get</a>')`),
		"/empty":   attachment("empty.bin", 0),
		"/endless": endless(gone),
		"/get":     testenv.HTML(`<a href="/endless">Get</a>`),
	})
	other = strings.Replace(url, "127.0.0.1", "localhost", 1)
	all := testenv.StartDaemon(t, "site-per-process")
	testenv.InOneSession(t, all, func(t *testing.T, d *testenv.Daemon) { downloads(t, d, url, gone) })
	t.Run("of nobody", func(t *testing.T) { downloadsOfNobody(t, all, url, gone) })
}

// downloadsOfNobody downloads in pages that the daemon does not know, for example because a tab was closed at that moment.
func downloadsOfNobody(t *testing.T, d *testenv.Daemon, url string, gone <-chan struct{}) {
	d.In(t, "named")
	for _, context := range append(d.Browser.Contexts(t.Context()), "") {
		params := map[string]string{"url": url + "/endless"}
		if context != "" {
			params["browserContextId"] = context
		}
		var made struct{ TargetID string }
		if err := d.Browser.Call(t.Context(), "", "Target.createTarget", params, &made); err != nil {
			t.Fatal(err)
		}
		select {
		case <-gone:
		case <-time.After(testenv.Patience):
			t.Errorf("in the context %q the download goes on", context)
		}
	}
}

// noWindow waits until all tabs opened by another tab are closed.
func noWindow(t *testing.T, d *testenv.Daemon, opener string) {
	t.Helper()
	ctx := testenv.Within(t, testenv.Patience)
	for {
		list, err := d.Tabs.ListTabs(ctx, &domtapv1.ListTabsRequest{})
		if err != nil {
			t.Fatalf("the window of a download stays: %v", err)
		}
		if !slices.ContainsFunc(list.GetTabs(), func(tab *domtapv1.Tab) bool { return tab.GetOpenerTabId() == opener }) {
			return
		}
	}
}

// downloads downloads files in every way that a page can, in the session of d.
func downloads(t *testing.T, d *testenv.Daemon, url string, gone <-chan struct{}) {
	beside := d.Open(url + "/ok")
	next := watchDownloads(t, d)
	tab := ""
	for path, name := range map[string]string{
		"/link": "report", "/blank": "report", "/data": "profile", "/blob": "con", "/form": "report", "/frame": "report",
	} {
		t.Run(path[1:], func(t *testing.T) {
			tab = d.Show(tab, url+path)
			summary := ""
			if path != "/frame" {
				r := pressFirst(t, d, tab)
				summary = r.GetResults()[0].GetSummary()
				if path == "/link" && !strings.Contains(summary, `the download of "report.pdf"`) {
					t.Errorf("the step says %s", summary)
				}
			}
			m := next(ended)
			got := m.GetDownload()
			if m.GetTab().GetId() != tab || got.GetState() != "completed" || !strings.Contains(filepath.Base(got.GetPath()), name) {
				t.Errorf("%s: got %v", summary, m)
			}
			if info, err := os.Stat(got.GetPath()); err != nil || info.Size() != got.GetReceivedBytes() || info.Mode().Perm() != 0o600 ||
				strings.HasPrefix(info.Name(), ".") || filepath.Base(filepath.Dir(got.GetPath())) != d.Session {
				t.Errorf("the file is %v, %v", info, err)
			}
			if !strings.Contains(summary, "began") && summary != "" && !strings.Contains(summary, "is complete: "+got.GetPath()) {
				t.Errorf("the step says %s, and the file is %s", summary, got.GetPath())
			}
			noWindow(t, d, tab)
			stillUsable(t, d, tab, url+"/ok")
		})
	}
	t.Run("by navigation", func(t *testing.T) {
		tab = d.Show(tab, url+"/ok")
		_, err := d.Tabs.Navigate(testenv.Within(t, testenv.Patience), &domtapv1.NavigateRequest{TabId: tab, Url: url + "/file"})
		if testenv.Reason(err) != "DOWNLOAD" || metadata(err)["filename"] != "report.pdf" || !strings.Contains(err.Error(), "stays where it was") {
			t.Errorf("navigated: %v", err)
		}
		if m := next(ended); m.GetDownload().GetGuid() != metadata(err)["guid"] || m.GetDownload().GetState() != "completed" {
			t.Errorf("%v ended with %v", metadata(err), m)
		}
		if got := tabOf(t, d, tab).GetUrl(); got != url+"/ok" {
			t.Errorf("the tab is at %s", got)
		}
		stillUsable(t, d, tab, url+"/ok")
		_, err = d.Tabs.OpenTab(testenv.Within(t, testenv.Patience), &domtapv1.OpenTabRequest{Url: url + "/empty"})
		if testenv.Reason(err) != "DOWNLOAD" || metadata(err)["tab_id"] == "" {
			t.Fatalf("opened: %v", err)
		}
		if m := next(ended); m.GetDownload().GetState() != "completed" || m.GetTab().GetId() != metadata(err)["tab_id"] {
			t.Errorf("ended with %v", m)
		}
		stillUsable(t, d, metadata(err)["tab_id"], url+"/ok")
	})
	t.Run("in a window that its opener wrote", func(t *testing.T) {
		tab := d.Open(url + "/written")
		window := pressFirst(t, d, tab).GetNewTabId()
		pressFirst(t, d, window)
		if m := next(ended); m.GetTab().GetId() != window || m.GetDownload().GetState() != "completed" {
			t.Errorf("ended with %v", m)
		}
		if n := len(d.All(window).GetElements()); n != 1 {
			t.Errorf("the window has %d elements", n)
		}
	})
	t.Run("ended by closing the tab", func(t *testing.T) {
		tab := d.Open(url + "/get")
		pressFirst(t, d, tab)
		next(func(*domtapv1.TabDownload) bool { return true })
		if _, err := d.Tabs.CloseTab(testenv.Within(t, testenv.Patience), &domtapv1.CloseTabRequest{TabId: tab}); err != nil {
			t.Fatal(err)
		}
		select {
		case <-gone:
		case <-time.After(testenv.Patience):
			t.Error("the download goes on without its tab")
		}
	})
	t.Run("refused", func(t *testing.T) {
		tab := d.Open(url + "/link")
		for _, deny := range []bool{true, false} {
			if _, err := d.Sessions.UpdateSession(t.Context(), &domtapv1.UpdateSessionRequest{Settings: &domtapv1.SessionSettings{DenyDownloads: deny}}); err != nil {
				t.Fatal(err)
			}
			pressFirst(t, d, tab)
			if got := next(ended).GetDownload(); (got.GetState() == "canceled") != deny || deny && got.GetReason() != "the session refuses downloads" {
				t.Errorf("refused %v: %v", deny, got)
			}
		}
	})
	list, err := d.Sessions.ListDownloads(t.Context(), &domtapv1.ListDownloadsRequest{})
	if err != nil || len(list.GetDownloads()) != 12 {
		t.Fatalf("listed %v, %v", list, err)
	}
	first := list.GetDownloads()[2]
	if first.GetState() != domtapv1.DownloadState_DOWNLOAD_STATE_CANCELED || !strings.Contains(first.GetReason(), "closed") || first.GetSuggestedFilename() != "endless.bin" {
		t.Errorf("the one before those is %v", first)
	}
	if n := len(d.All(beside).GetElements()); n != 3 {
		t.Errorf("the tab beside has %d elements", n)
	}
}

// TestALargeDownload downloads 100 MB while other tabs work.
func TestALargeDownload(t *testing.T) {
	const size = 100 << 20
	url := testenv.Pages(t, map[string]http.HandlerFunc{"/ok": testenv.HTML(testenv.SomeButtons), "/get": testenv.HTML(`<a href="/file">Get</a>`), "/file": attachment("large.bin", size)})
	d := testenv.Shared(t)
	tab, beside := d.Open(url+"/get"), d.Open(url+"/ok")
	next := watchDownloads(t, d)
	pressFirst(t, d, tab)
	reads := make(chan int)
	ctx, stop := context.WithCancel(t.Context())
	go func() {
		n := 0
		for ctx.Err() == nil {
			if r, err := d.Dom.GetDom(ctx, &domtapv1.GetDomRequest{TabId: beside}); err == nil && len(r.GetElements()) == 3 {
				n++
			}
		}
		reads <- n
	}()
	events := 0
	m := next(func(got *domtapv1.TabDownload) bool {
		events++
		return ended(got)
	})
	stop()
	if n := <-reads; n == 0 {
		t.Error("the tab beside was not read once meanwhile")
	}
	if got := m.GetDownload(); got.GetState() != "completed" || got.GetReceivedBytes() != size {
		t.Fatalf("got %v", got)
	}
	if info, err := os.Stat(m.GetDownload().GetPath()); err != nil || info.Size() != size {
		t.Errorf("the file is %v, %v", info, err)
	}
	stillUsable(t, d, tab, url+"/ok")
}

// TestDownloadsAreBounded fills the space for downloads.
func TestDownloadsAreBounded(t *testing.T) {
	t.Parallel()
	url := testenv.Pages(t, map[string]http.HandlerFunc{
		"/ok": testenv.HTML(testenv.SomeButtons), "/get": testenv.HTML(`<a href="/file">Get</a>`), "/file": attachment("a.bin", 400_000),
		"/unknown": testenv.HTML(`<a href="/stream">Get</a>`),
		"/stream": func(w http.ResponseWriter, r *http.Request) { // of unknown length
			w.Header().Set("content-disposition", "attachment; filename=stream.bin")
			for {
				if _, err := w.Write(make([]byte, 64<<10)); err != nil {
					return
				}
			}
		},
	})
	state := t.TempDir()
	all := testenv.StartWith(t, tabpool.Config{}, server.Config{}, browser.Config{MaxDownloadBytes: 1_000_000, DownloadDir: state})
	for _, session := range []string{"named", "default"} { // one after the other, because they share the space for downloads
		t.Run(session, func(t *testing.T) { boundedDownloads(t, all.In(t, session), url, filepath.Join(state, session)) })
		if session == "named" {
			if _, err := all.Sessions.CloseSession(t.Context(), &domtapv1.CloseSessionRequest{SessionId: session}); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// boundedDownloads fills the space for downloads from one session.
func boundedDownloads(t *testing.T, d *testenv.Daemon, url, dir string) {
	tab := d.Open(url + "/get")
	next := watchDownloads(t, d)
	for i, want := range []string{"completed", "completed", "canceled"} {
		pressFirst(t, d, tab)
		if got := next(ended).GetDownload(); got.GetState() != want || (want == "canceled") != strings.Contains(got.GetReason(), "--max-downloads-bytes") {
			t.Errorf("download %d: %v", i, got)
		}
	}
	tab = d.Open(url + "/unknown")
	pressFirst(t, d, tab)
	if got := next(ended).GetDownload(); got.GetState() != "canceled" || !strings.Contains(got.GetReason(), "--max-downloads-bytes") {
		t.Errorf("a file without end: %v", got)
	}
	stillUsable(t, d, tab, url+"/ok")
	files, err := filepath.Glob(filepath.Join(dir, "[^.]*"))
	if err != nil || len(files) != 2 {
		t.Errorf("%v are kept, %v", files, err)
	}
}
