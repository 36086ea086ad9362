package daemon

import (
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/domtap/domtap/internal/browser"
	"github.com/domtap/domtap/internal/search"
)

func TestBrowsersAreOfOneKindAndNotTooMany(t *testing.T) {
	for _, c := range []struct {
		browsers Browsers
		starts   int
		wrong    string
	}{
		{Browsers{Count: 1}, 1, ""},
		{Browsers{Count: 16}, 16, ""},
		{Browsers{Count: 1, Remotes: []string{"http://127.0.0.1:9222"}}, 1, ""},
		{Browsers{Count: 1, Remotes: []string{"http://127.0.0.1:1", "http://127.0.0.1:2"}}, 2, ""},
		{Browsers{Count: 0}, 1, "--browsers 0 is not 1 to 16"},
		{Browsers{Count: 17}, 17, "--browsers 17 is not 1 to 16"},
		{Browsers{Count: 2, Remotes: []string{"http://127.0.0.1:1"}}, 1, "give --remote once for each browser"},
		{Browsers{Count: 1, Remotes: make([]string, 17)}, 17, "too many --remote: 17 of at most 16"},
	} {
		err := c.browsers.Check()
		if (err == nil) != (c.wrong == "") || err != nil && !strings.Contains(err.Error(), c.wrong) {
			t.Errorf("%+v: %v", c.browsers, err)
		}
		all, err := c.browsers.starters(browser.Config{})
		if n := len(all); n != c.starts || err != nil {
			t.Errorf("%+v: %d browsers are started, want %d", c.browsers, n, c.starts)
		}
	}
}

func TestHeadersForRemoteBrowsers(t *testing.T) {
	private := filepath.Join(t.TempDir(), "headers")
	if err := os.WriteFile(private, []byte("# a key\nAuthorization: Bearer hush\n\nx-team:blue\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	shared := filepath.Join(t.TempDir(), "headers")
	if err := os.WriteFile(shared, []byte("A: b"), 0o644); err != nil {
		t.Fatal(err)
	}
	remote := []string{"wss://a.example/"}
	got, err := Browsers{Remotes: remote, RemoteHeaderFile: private}.Header()
	if want := (http.Header{"Authorization": {"Bearer hush"}, "X-Team": {"blue"}}); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, %v", got, err)
	}
	for want, b := range map[string]Browsers{
		"others":                               {Remotes: remote, RemoteHeaderFile: shared},
		"DOMTAP_REMOTE_HEADERS: line 2 is not": {Remotes: remote, RemoteHeaders: search.NewSecret("A: b\nhush")},
		"there is no --remote":                 {RemoteHeaderFile: private},
		"no such file":                         {Remotes: remote, RemoteHeaderFile: private + "x"},
	} {
		if _, err := b.Header(); err == nil || !strings.Contains(strings.ReplaceAll(err.Error(), "other users", "others"), want) || strings.Contains(err.Error(), "hush") {
			t.Errorf("%s: %v", want, err)
		}
	}
	if got, err := (Browsers{}).Header(); got != nil || err != nil {
		t.Errorf("without headers: %v, %v", got, err)
	}
}
