package e2e

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/testenv"
)

// TestBadInputIsAnsweredAndHarmsNothing sends invalid requests, and checks after each that another tab still works.
func TestBadInputIsAnsweredAndHarmsNothing(t *testing.T) {
	hung := make(chan struct{})
	url := serve(t, map[string]http.HandlerFunc{
		"/ok": testenv.HTML(testenv.SomeButtons),
		"/slow": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("content-type", "text/html")
			_, _ = w.Write([]byte("<title>Slow</title><button>Early</button>"))
			w.(http.Flusher).Flush()
			select {
			case <-hung:
			case <-r.Context().Done():
			}
		},
	})
	defer close(hung)
	d := testenv.Shared(t)
	beside := d.Open(url + "/ok")
	tab := d.Open(url + "/ok")
	old := d.FirstControl(tab)
	if _, err := d.Tabs.Navigate(t.Context(), &domtapv1.NavigateRequest{TabId: tab, Url: url + "/ok?2"}); err != nil {
		t.Fatal(err)
	}
	click := func(ref uint32) error {
		_, err := d.Actions.Interact(t.Context(), &domtapv1.InteractRequest{TabId: tab, Steps: []*domtapv1.Step{
			{Action: &domtapv1.Step_Click{Click: &domtapv1.ClickStep{Target: &domtapv1.Target{Ref: proto.Uint32(ref)}}}}}})
		return err
	}
	openWithin := func(url string, limit time.Duration) error {
		_, err := d.Tabs.OpenTab(t.Context(), &domtapv1.OpenTabRequest{Url: url, Timeout: durationpb.New(limit)})
		return err
	}
	open := func(url string) error { return openWithin(url, 30*time.Second) }
	for name, c := range map[string]struct {
		call   func() error
		code   codes.Code
		reason string
	}{
		"unknown tab": {func() error {
			_, err := d.Dom.GetDom(t.Context(), &domtapv1.GetDomRequest{TabId: "t999"})
			return err
		}, codes.NotFound, ""},
		"max_elements 1001": {func() error {
			_, err := d.Dom.GetDom(t.Context(), &domtapv1.GetDomRequest{TabId: tab, MaxElements: proto.Int32(1001)})
			return err
		}, codes.InvalidArgument, ""},
		"ref of an earlier page": {func() error { return click(old) }, codes.FailedPrecondition, "STALE_REF"},
		"root_ref of an earlier page": {func() error {
			_, err := d.Dom.GetDom(t.Context(), &domtapv1.GetDomRequest{TabId: tab, RootRef: &old})
			return err
		}, codes.FailedPrecondition, "STALE_REF"},
		"no URL at all":            {func() error { return open("not a url") }, codes.InvalidArgument, ""},
		"a file":                   {func() error { return open("file:///etc/passwd") }, codes.PermissionDenied, ""},
		"the browser's own pages":  {func() error { return open("chrome://version") }, codes.PermissionDenied, ""},
		"a port nobody listens on": {func() error { return open("http://127.0.0.1:9/") }, codes.FailedPrecondition, "NAVIGATION_FAILED"},
		"a name that is not there": {func() error { return open("http://nowhere.invalid/") }, codes.FailedPrecondition, "NAVIGATION_FAILED"},
		"a page that never ends":   {func() error { return openWithin(url+"/slow", time.Second) }, codes.DeadlineExceeded, ""},
		"a session that is unknown": {func() error {
			_, err := d.Tabs.OpenTab(t.Context(), &domtapv1.OpenTabRequest{SessionId: "other"})
			return err
		}, codes.NotFound, ""},
	} {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			err := c.call()
			if status.Code(err) != c.code || (c.reason != "" && testenv.Reason(err) != c.reason) {
				t.Errorf("got %v (reason %q), want %v (reason %q)", err, testenv.Reason(err), c.code, c.reason)
			}
			if took := time.Since(start); took > 30*time.Second {
				t.Errorf("the answer took %v", took)
			}
			if n := len(d.All(beside).GetElements()); n != 3 {
				t.Errorf("the tab beside has %d elements, want 3", n)
			}
		})
	}
	tabs, err := d.Tabs.ListTabs(t.Context(), &domtapv1.ListTabsRequest{})
	if err != nil || len(tabs.GetTabs()) != 2 {
		t.Errorf("tabs that were not opened are left behind: %v, %v", tabs, err)
	}
}

// TestHangingPageIsAnsweredInTime reads a page in an endless loop with a timeout of 50 ms.
func TestHangingPageIsAnsweredInTime(t *testing.T) {
	url := serve(t, map[string]http.HandlerFunc{
		"/ok":   testenv.HTML(testenv.SomeButtons),
		"/hang": testenv.HTML(`<title>Hang</title><button>Here</button><script>addEventListener("message", () => { for (;;); })</script>`),
	})
	d := testenv.Shared(t)
	beside := d.Open(url + "/ok")
	tab := d.Open(url + "/hang")
	d.Browser.Newest().Post("Runtime.evaluate", map[string]string{"expression": "for(;;);"})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := d.Dom.GetDom(ctx, &domtapv1.GetDomRequest{TabId: tab})
	if status.Code(err) != codes.DeadlineExceeded {
		t.Fatalf("got %v, want DEADLINE_EXCEEDED", err)
	}
	if n := len(d.All(beside).GetElements()); n != 3 {
		t.Errorf("the tab beside has %d elements, want 3", n)
	}
	if r, err := d.Tabs.GetTab(testenv.Within(t, time.Second), &domtapv1.GetTabRequest{TabId: tab}); err != nil || r.GetTab().GetTitle() != "Hang" {
		t.Errorf("GetTab on the hanging page: %v, %v", r, err)
	}
	// Navigation makes the tab usable again, also within the same site.
	if _, err := d.Tabs.Navigate(testenv.Within(t, testenv.Patience), &domtapv1.NavigateRequest{TabId: tab, Url: url + "/ok"}); err != nil {
		t.Fatalf("navigating away from the hanging page: %v", err)
	}
	if n := len(d.All(tab).GetElements()); n != 3 {
		t.Errorf("the tab has %d elements after it, want 3", n)
	}
}

// TestHangingPageCloses closes a tab whose page is in an endless loop.
func TestHangingPageCloses(t *testing.T) {
	url := serve(t, map[string]http.HandlerFunc{"/ok": testenv.HTML(testenv.SomeButtons)})
	d := testenv.Shared(t)
	tab := d.Open(url + "/ok")
	d.Browser.Newest().Post("Runtime.evaluate", map[string]string{"expression": "for(;;);"})
	if _, err := d.Tabs.CloseTab(testenv.Within(t, testenv.Patience), &domtapv1.CloseTabRequest{TabId: tab}); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Tabs.GetTab(t.Context(), &domtapv1.GetTabRequest{TabId: tab}); status.Code(err) != codes.NotFound {
		t.Errorf("the closed tab answers: %v", err)
	}
}

// TestDialogIsStateNotHang opens an alert with a click.
func TestDialogIsStateNotHang(t *testing.T) {
	url := serve(t, map[string]http.HandlerFunc{"/alert": testenv.HTML(`<button onclick="alert('Careful')">Alert</button>`)})
	d := testenv.Shared(t)
	tab := d.Open(url + "/alert")
	ref := d.FirstControl(tab)
	r, err := d.Actions.Interact(testenv.Within(t, testenv.Patience), &domtapv1.InteractRequest{TabId: tab, Steps: []*domtapv1.Step{
		{Action: &domtapv1.Step_Click{Click: &domtapv1.ClickStep{Target: &domtapv1.Target{Ref: &ref}}}}}})
	if err != nil {
		t.Fatal(err)
	}
	if r.GetVerdict() != domtapv1.Verdict_VERDICT_DIALOG || r.GetTab().GetDialog().GetMessage() != "Careful" {
		t.Errorf("got %v", r)
	}
	_, err = d.Dom.GetDom(testenv.Within(t, testenv.Patience), &domtapv1.GetDomRequest{TabId: tab})
	if testenv.Reason(err) != "DIALOG_OPEN" || !strings.Contains(err.Error(), "Careful") {
		t.Errorf("reading behind the dialog: %v", err)
	}
}
