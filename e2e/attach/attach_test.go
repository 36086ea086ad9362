//go:build unix

// Package attach tests the daemon with a browser that a person uses: a full browser with a profile, a login and tabs.
package attach

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/domtap/domtap/internal/browser"
	"github.com/domtap/domtap/internal/testenv"
)

func TestMain(m *testing.M) { os.Exit(testenv.Main(m)) }

const anyPort = "--remote-debugging-port=0"

// TestARunningBrowserIsFoundByItsProfile attaches by the profile folder, before and after a crash. The crash leaves the file with the old
// port.
func TestARunningBrowserIsFoundByItsProfile(t *testing.T) {
	t.Parallel()
	profile := t.TempDir()
	own := testenv.StartOwnBrowser(t, profile, anyPort, "about:blank")
	start := browser.Starter(browser.Config{Remote: "auto:" + profile})
	for range 2 {
		b, err := start(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(b.Version(), "Chrome/") {
			t.Errorf("the version is %q", b.Version())
		}
		own.End()
		<-b.Done()
		if err := b.Close(testenv.Within(t, testenv.Patience)); err != nil {
			t.Error(err)
		}
		if _, err := start(t.Context()); err == nil || !strings.Contains(err.Error(), "is of a browser that has ended") {
			t.Errorf("after a crash: %v", err)
		}
		own = testenv.StartOwnBrowser(t, profile, anyPort, "about:blank")
	}
}

// TestTheUserIsAskedOnce does not allow the connection that a browser asks about. The next attempt must not ask again, until the browser is
// started again.
func TestTheUserIsAskedOnce(t *testing.T) {
	t.Parallel()
	profile := t.TempDir()
	testenv.AllowByAsking(t, profile)
	own := testenv.StartOwnBrowser(t, profile, "about:blank")
	start := browser.Starter(browser.Config{Remote: "auto:" + profile})
	attempt := func() (err error) {
		short, cancel := context.WithTimeout(t.Context(), 6*time.Second) // long enough to find the browser; nobody allows the connection
		defer cancel()
		_, err = start(short)
		return err
	}
	for _, want := range []string{"nobody chose Allow in time", "is not asked again"} {
		if err := attempt(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	own.End()
	if err := os.Remove(filepath.Join(profile, "DevToolsActivePort")); err != nil {
		t.Fatal(err)
	}
	testenv.StartOwnBrowser(t, profile, "about:blank")
	if err := attempt(); err == nil || !strings.Contains(err.Error(), "nobody chose Allow in time") {
		t.Errorf("after a restart of the browser: %v", err)
	}
}
