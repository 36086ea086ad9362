package clients

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/domtap/domtap/actor/tabpool"
	"github.com/domtap/domtap/client"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/server"
	"github.com/domtap/domtap/internal/server/rpc/listen"
	"github.com/domtap/domtap/internal/server/rules"
	"github.com/domtap/domtap/internal/streamcheck"
	"github.com/domtap/domtap/internal/testenv"
)

// market is a page that changes constantly from the click on Start until the call of hold: it adds, removes and moves elements, and changes
// their names and states.
const market = `<!doctype html><meta charset=utf-8><title>Market</title><link rel=icon href="data:,">
<button id=start>Start</button><input aria-label="Größe „L“" value=ä><ul id=list></ul>
<script>
let seed = 7, made = 0, timer
const random = n => (seed = (seed * 16807) % 2147483647) % n
const item = () => {
	const li = document.createElement("li"), kind = made % 3
	li.innerHTML = kind == 0 ? "<button></button>" : kind == 1 ? "<a href=#x></a>" : "<input type=checkbox>"
	const e = li.firstChild
	if (kind == 2) e.ariaLabel = "Lot " + made; else e.textContent = "Lot " + made
	if (kind == 1) e.href = "#lot" + made
	made++
	return li
}
const change = () => {
	const all = list.children, any = all[random(all.length)]
	switch (random(5)) {
	case 0: case 1: all.length < 40 ? list.insertBefore(item(), any || null) : all[0].remove(); break
	case 2: if (all.length > 10) any.remove(); break
	case 3: any && list.insertBefore(any, all[random(all.length)]); break
	case 4: if (any) {
		const e = any.firstChild
		if (e.type == "checkbox") e.toggleAttribute("disabled")
		else if (e.localName == "button") e.disabled = !e.disabled
		else e.textContent += "!"
	}}
}
const run = () => { for (let i = 0; i < 20; i++) list.append(item()); timer = setInterval(change, 20) }
const hold = () => { clearInterval(timer); return made }
start.onclick = () => { start.textContent = "Started"; run() }
</script>`

// stage is a daemon and its replacement, which the clients use.
type stage struct {
	daemon *testenv.Daemon
	page   string
	// next is the address of the replacement, which requires the token.
	next  string
	token string
	after *client.Client
}

// newStage starts both daemons on one browser.
func newStage(t *testing.T) *stage {
	t.Helper()
	s := &stage{daemon: testenv.StartDaemon(t), token: strings.Repeat("t", 43)}
	s.page = testenv.Serve(t, testenv.HTML(market)) + "/"
	server, err := server.New(tabpool.New(s.daemon.Browser, tabpool.Config{AllowURL: rules.AllowURL}), server.Config{Token: s.token, AllowEval: true})
	if err != nil {
		t.Fatal(err)
	}
	listener, err := listen.TCP(t.Context(), "127.0.0.1:0", listen.TLS{})
	if err != nil {
		t.Fatal(err)
	}
	s.next = listener.Addr().String()
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	served := make(chan error, 1)
	go func() { served <- server.Serve(ctx, listener) }()
	t.Cleanup(func() {
		stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	if s.after, err = client.Connect(t.Context(), client.Options{Address: s.next, Token: s.token}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.after.Close() })
	return s
}

// built returns the output directory of scripts/install-examples. If it was not run, the test is skipped; in CI it fails.
func built(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("../../.cache/examples")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "stamp")); err != nil {
		text := "the clients of examples/ are not built: run scripts/install-examples, which says what to install when something is missing"
		if os.Getenv("CI") != "" {
			t.Fatal(text)
		}
		t.Skip(text)
	}
	return dir
}

// Clients in three languages follow a constantly changing page while their connection is cut, while they are killed, and while the daemon
// is replaced. At the end, each client's state equals the response of GetDom.
func TestClientsGoOnWhereTheyWere(t *testing.T) {
	examples := built(t)
	follow := filepath.Join(t.TempDir(), "follow")
	if text, err := exec.CommandContext(t.Context(), "go", "build", "-o", follow, "../../examples/go").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	s := newStage(t)
	programs := []string{follow, filepath.Join(examples, "python", "follow"), filepath.Join(examples, "typescript", "follow")}
	for i, name := range []string{"go", "python", "typescript"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s.play(t, name, programs[i], programs[(i+1)%len(programs)])
		})
	}
}

// play runs one client through all disruptions. In one of the disruptions, another client continues from the saved state.
func (s *stage) play(t *testing.T, name, path, other string) {
	wire := newLine(t, "unix", s.daemon.Socket)
	file := filepath.Join(t.TempDir(), "state.json")
	run := func(path string) *program {
		return start(t, name, path, "--addr", wire.addr(), "--token", s.token, "--state", file, "--click", "Start", s.page)
	}

	p := run(path)
	p.await("opened: ", 1)
	p.await("[0] Start (button)", 1)
	if acted := p.await("acted: ", 1); !strings.Contains(acted, "VERDICT_CHANGED, +") {
		t.Errorf("%s: %s", name, acted)
	}
	p.await("snapshot: ", 1)
	p.await("diff: ", 5)
	wire.cut(false)
	p.await("lost: ", 1)
	p.await("diff: ", 5)
	wire.cut(true)
	p.await("lost: ", 3)
	wire.cut(false)
	p.await("diff: ", 5)

	p = again(p, func() *program { return run(path) })
	p.await("diff: ", 5)
	p = again(p, func() *program { return run(other) })
	p.await("diff: ", 1)

	s.prepare(t, p.tab())
	wire.lead("tcp", s.next)
	if resync := p.await("resync: ", 1); !strings.Contains(resync, "because epoch_changed") {
		t.Errorf("%s: the other daemon: %s", name, resync)
	}
	p.await("diff: ", 5)
	p = again(p, func() *program { return run(path) })
	p.await("diff: ", 5)
	want := s.hold(t, p.tab())
	p.await("status: TAB_STATUS_CLOSED", 1)
	if code := p.wait(); code != 0 || p.log[len(p.log)-1] != "closed" {
		p.fail("exit code %d", code)
	}
	same(t, name, read(t, file), want)

	p = run(path)
	if code := p.wait(); code != 1 || !strings.Contains(p.errors.String(), "delete the state file") {
		p.fail("exit code %d, where the tab is gone", code)
	}
}

// again kills a client and restarts it. It must resume from one of the last two revisions that it reported.
func again(p *program, run func() *program) *program {
	p.t.Helper()
	p.kill()
	said := p.revisions
	p = run()
	if at := revisionOf(p.await("following: ", 1)); !slices.Contains(said[max(0, len(said)-2):], at) {
		p.fail("it goes on at revision %d, and had said %v", at, said)
	}
	return p
}

// prepare opens the page in the other daemon until that daemon has a tab with the same ID, and starts its changes.
func (s *stage) prepare(t *testing.T, id string) {
	t.Helper()
	for {
		_, err := s.after.Tabs.GetTab(t.Context(), &domtapv1.GetTabRequest{TabId: id})
		if err == nil {
			break
		}
		if _, err := s.after.Open(t.Context(), s.page); err != nil {
			t.Fatal(err)
		}
	}
	s.evaluate(t, id, "run()")
}

// hold stops the changes of the page, reads it, and closes its tab.
func (s *stage) hold(t *testing.T, id string) *domtapv1.GetDomResponse {
	t.Helper()
	s.evaluate(t, id, "hold()")
	now, err := s.after.Dom.GetDom(t.Context(), &domtapv1.GetDomRequest{TabId: id})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.after.Tab(id).Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	return now
}

func (s *stage) evaluate(t *testing.T, id, script string) {
	t.Helper()
	r, err := s.after.Pages.Evaluate(t.Context(), &domtapv1.EvaluateRequest{TabId: id, Expression: script})
	if err != nil || r.GetException() != "" {
		t.Fatalf("%s: %v, %s", script, err, r.GetException())
	}
}

// read reads the state that a client saved.
func read(t *testing.T, file string) *domtapv1.GetDomResponse {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	state := new(domtapv1.GetDomResponse)
	if err := protojson.Unmarshal(text, state); err != nil {
		t.Fatal(err)
	}
	return state
}

// same compares the state of a client with the response of GetDom.
func same(t *testing.T, name string, got, want *domtapv1.GetDomResponse) {
	t.Helper()
	if got.GetUrl() != want.GetUrl() || got.GetTitle() != want.GetTitle() || got.GetEpoch() != want.GetEpoch() || len(want.GetElements()) < 10 {
		t.Errorf("%s: got %s %q %s, want %s %q %s", name, got.GetUrl(), got.GetTitle(), got.GetEpoch(), want.GetUrl(), want.GetTitle(), want.GetEpoch())
	}
	g, w := streamcheck.Bare(got.GetElements()), streamcheck.Bare(want.GetElements())
	if len(g) != len(w) {
		t.Fatalf("%s: it has %d elements, GetDom %d", name, len(g), len(w))
	}
	for i := range g {
		if !proto.Equal(g[i], w[i]) {
			t.Fatalf("%s: element %d is\n%v, and should be\n%v", name, i, g[i], w[i])
		}
	}
}
