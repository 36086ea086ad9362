package daemon

import (
	"strings"
	"testing"

	"github.com/domtap/domtap/internal/browser"
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
		if n := len(c.browsers.starters(browser.Config{})); n != c.starts {
			t.Errorf("%+v: %d browsers are started, want %d", c.browsers, n, c.starts)
		}
	}
}
