package testenv

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/browser"
	"github.com/domtap/domtap/internal/server"
)

// shared holds the daemons that the tests of a package share, by their flags.
var shared struct {
	sync.Mutex
	life    *lifetime // set while Main runs the tests
	daemons map[string]*sharedDaemon
}

// sharedDaemon is a daemon, the number of tests and subtests that use it, and the number of sessions that Apart has created.
type sharedDaemon struct {
	*Daemon
	users, apart int
}

// Shared returns the daemon that the tests of this package share, with the settings of StartDaemon. The first test that requests these
// flags starts the daemon, and Main ends it. A browser costs a second of CPU. Therefore a test starts its own only if its subject is the
// browser, the daemon or its settings, or if it leaves pages that do not end.
//
// The end of the test closes all tabs and named sessions. Storage of the default session remains, so tests of storage use separate
// sessions. Tests that share a daemon do not run in parallel.
func Shared(t testing.TB, flags ...string) *Daemon {
	t.Helper()
	shared.Lock()
	defer shared.Unlock()
	one := sharedWith(t, flags)
	one.users++
	d := one.For(t)
	t.Cleanup(func() {
		shared.Lock()
		one.users--
		last := one.users == 0 // a subtest does not close its parent's tabs
		shared.Unlock()
		if last {
			d.clear()
		}
	})
	return d
}

// sharedWith returns the shared daemon with these flags, and starts it if there is none. The caller holds the lock.
func sharedWith(t testing.TB, flags []string) *sharedDaemon {
	t.Helper()
	if shared.life == nil {
		t.Fatal("testenv.Shared: the TestMain of the package does not call testenv.Main")
	}
	key := strings.Join(flags, " ")
	one := shared.daemons[key]
	if one == nil {
		one = &sharedDaemon{Daemon: StartConfigured(shared.life.of(t), server.Config{AllowEval: true}, flags...)}
		shared.daemons[key] = one
	}
	return one
}

// Apart lets the test run in parallel with others, and returns the daemon that Shared returns, in a session that only this test uses. Most
// of the time of a test that acts on a page is waiting. The end of the test closes the session.
//
// Such a test must not read or change what sessions have in common, as the list of all tabs, the default session or the clipboard, and
// must not measure time. It gets its page from Browser.Page(d.Session), because Browser.Newest may return the page of another test.
func Apart(t *testing.T, flags ...string) *Daemon {
	t.Helper()
	t.Parallel()
	shared.Lock()
	one := sharedWith(t, flags)
	one.apart++
	session := fmt.Sprintf("apart-%d", one.apart)
	shared.Unlock()
	d := one.For(t).In(t, session)
	d.apart = true
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), closeLimit)
		defer cancel()
		_, err := d.Sessions.CloseSession(ctx, &domtapv1.CloseSessionRequest{SessionId: session})
		d.cleared(err)
	})
	return d
}

// newest returns the page that was opened last; if the test runs apart, the one that it opened last itself.
func (d *Daemon) newest() *browser.Page {
	if d.apart {
		return d.Browser.Page(d.Session)
	}
	return d.Browser.Newest()
}

// For returns the same daemon, but its helpers fail the test t.
func (d *Daemon) For(t testing.TB) *Daemon {
	other := *d
	other.t = t
	return &other
}

// clear closes all tabs and all named sessions.
func (d *Daemon) clear() {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(d.t.Context()), closeLimit)
	defer cancel()
	sessions, err := d.Sessions.ListSessions(ctx, &domtapv1.ListSessionsRequest{})
	if err != nil {
		d.t.Errorf("clearing the shared daemon: %v", err)
	}
	for _, s := range sessions.GetSessions() {
		if s.GetId() != d.Session {
			_, err := d.Sessions.CloseSession(ctx, &domtapv1.CloseSessionRequest{SessionId: s.GetId()})
			d.cleared(err)
		}
	}
	tabs, err := d.Tabs.ListTabs(ctx, &domtapv1.ListTabsRequest{})
	if err != nil {
		d.t.Errorf("clearing the shared daemon: %v", err)
	}
	for _, tab := range tabs.GetTabs() {
		_, err := d.Tabs.CloseTab(ctx, &domtapv1.CloseTabRequest{TabId: tab.GetId()})
		d.cleared(err)
	}
}

// cleared fails the test if closing failed. NotFound is fine, because a tab or session may have ended by itself.
func (d *Daemon) cleared(err error) {
	if err != nil && status.Code(err) != codes.NotFound {
		d.t.Errorf("clearing the shared daemon: %v", err)
	}
}

// lifetime is the lifetime of a package's tests. Everything started in it is stopped in end.
type lifetime struct {
	cleanups []func()
	failed   bool
}

// of returns a testing.TB that fails t while t runs. Its cleanups run at the end of the package.
func (l *lifetime) of(t testing.TB) testing.TB { return &packageTB{TB: t, life: l} }

// end runs the cleanups in reverse order, and reports whether all of them succeeded.
func (l *lifetime) end() bool {
	for _, f := range slices.Backward(l.cleanups) {
		f()
	}
	return !l.failed
}

// packageTB outlives the test for which it was created.
type packageTB struct {
	testing.TB
	life *lifetime
}

func (p *packageTB) Cleanup(f func()) { p.life.cleanups = append(p.life.cleanups, f) }

func (p *packageTB) Context() context.Context { return context.WithoutCancel(p.TB.Context()) }

func (p *packageTB) Errorf(format string, args ...any) {
	p.life.failed = true
	fmt.Fprintf(os.Stderr, format+"\n", args...)
}

func (p *packageTB) TempDir() string {
	dir, err := os.MkdirTemp("", "domtap-test")
	if err != nil {
		p.Fatal(err)
	}
	p.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			p.Errorf("removing the directory of the shared daemon: %v", err)
		}
	})
	return dir
}
