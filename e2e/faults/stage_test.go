package faults

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/domtap/domtap/actor/tabpool"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/browser"
	"github.com/domtap/domtap/internal/server"
	"github.com/domtap/domtap/internal/testenv"
)

// tall is a page that scrolls, has a scrollable box in its middle, and grows late.
const tall = `<title>Tall</title><style>body{margin:0} #box{position:fixed;top:100px;left:0;width:900px;height:600px;overflow:auto}</style>
<button>Top</button><div id=box><div style="height:5000px">box</div></div><div id=room></div><button>Bottom</button>
<script>setTimeout(() => { document.querySelector("#room").style.height = "4000px" }, 100)</script>`

// counter is a page that counts clicks and changes several times after each click.
const counter = `<title>Counter</title><button id=count>Count 0</button><button id=tick>Tick 0</button>` + "\n" +
	`<script>for (let i = 0; i < 40; i++) document.body.append(Object.assign(document.createElement("button"), { textContent: "Button " + i }));
let clicks = 0, ticks = 0;
count.onclick = () => { count.textContent = "Count " + ++clicks };
const run = () => { tick.textContent = "Tick " + ++ticks; if (ticks % 5) setTimeout(run, 10) };
count.addEventListener("click", run)</script>`

// site counts the requests for the tall page.
func site(fetched *atomic.Int64) map[string]http.HandlerFunc {
	return map[string]http.HandlerFunc{
		"/tall": func(w http.ResponseWriter, r *http.Request) {
			fetched.Add(1)
			testenv.HTML(tall)(w, r)
		},
		"/counter": testenv.HTML(counter),
		"/form":    testenv.HTML(`<title>Form</title><form method=post action=/answer><input name=q><button>Send</button></form>`),
		"/answer": func(w http.ResponseWriter, r *http.Request) {
			testenv.HTML("<title>Answer to "+r.Method+"</title><button>Again</button>")(w, r)
		},
	}
}

// stage is a daemon whose browsers may die.
type stage struct {
	t *testing.T
	*testenv.RestartingDaemon
	url     string
	fetched atomic.Int64
}

func newStage(t *testing.T, browsers []browser.Config, patience time.Duration) *stage {
	t.Helper()
	st := &stage{t: t}
	st.url = testenv.Pages(t, site(&st.fetched))
	st.RestartingDaemon = testenv.StartRestartingDaemon(t, testenv.RestartingConfig{
		Browsers: browsers, Patience: patience, RPC: server.Config{AllowEval: true}, Tabs: tabpool.Config{Logger: logger(t)}, Logger: logger(t),
	})
	return st
}

// logger returns a logger that writes to the test log if -v is set.
func logger(t testing.TB) *slog.Logger {
	if os.Getenv("DOMTAP_FAULTS_LOG") == "" {
		return nil
	}
	return slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// open opens a tab once the browser runs.
func (st *stage) open(path string, restore bool) string {
	st.t.Helper()
	ctx := testenv.Within(st.t, limit)
	for {
		opened, err := st.Tabs.OpenTab(ctx, &domtapv1.OpenTabRequest{Url: st.url + path, Restore: restore})
		switch {
		case err == nil:
			return opened.GetTab().GetId()
		case status.Code(err) != codes.Unavailable || ctx.Err() != nil:
			st.t.Fatal(err)
		}
		if err := st.BrowserPool.Ready(ctx, ""); err != nil {
			st.t.Fatal(err)
		}
	}
}

func (st *stage) eval(tab, expression string) string {
	st.t.Helper()
	out, err := st.Pages.Evaluate(testenv.Within(st.t, limit), &domtapv1.EvaluateRequest{TabId: tab, Expression: expression})
	if err != nil {
		st.t.Fatal(err)
	}
	return out.GetResultJson()
}

func (st *stage) tab(id string) *domtapv1.Tab {
	st.t.Helper()
	got, err := st.Tabs.GetTab(testenv.Within(st.t, limit), &domtapv1.GetTabRequest{TabId: id})
	if err != nil {
		st.t.Fatal(err)
	}
	return got.GetTab()
}

// watch reads a stream to its end, and delivers its error.
func (st *stage) watch(tab string) <-chan error {
	st.t.Helper()
	stream, err := st.Dom.WatchDom(testenv.Within(st.t, limit), &domtapv1.WatchDomRequest{TabId: tab})
	if err == nil {
		_, err = stream.Recv() // the stream reports every change after this message
	}
	if err != nil {
		st.t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		for {
			if _, err := stream.Recv(); err != nil {
				ended <- err
				return
			}
		}
	}()
	return ended
}

// saw holds what a client saw while a tab was unavailable.
type saw struct {
	// codes counts the responses of GetDom, by code and reason.
	codes map[string]int
	// longest is the duration of the longest call.
	longest time.Duration
	// took is the time until the first response of the restored tab.
	took time.Duration
	dom  *domtapv1.GetDomResponse
}

// untilBack reads a tab until it is restored, with another epoch.
func (st *stage) untilBack(tab, epoch string) saw {
	st.t.Helper()
	out := saw{codes: map[string]int{}}
	began := time.Now()
	pause := time.NewTicker(5 * time.Millisecond)
	defer pause.Stop()
	for time.Since(began) < limit {
		call := time.Now()
		ctx, cancel := context.WithTimeout(st.t.Context(), 20*time.Second)
		answer, err := st.Dom.GetDom(ctx, &domtapv1.GetDomRequest{TabId: tab, FullSnapshot: true})
		cancel()
		out.longest = max(out.longest, time.Since(call))
		if err == nil && answer.GetEpoch() != epoch {
			out.took, out.dom = time.Since(began), answer
			return out
		}
		if err != nil {
			out.codes[strings.TrimSpace(status.Code(err).String()+" "+testenv.Reason(err))]++
			if status.Code(err) != codes.Unavailable {
				st.t.Fatalf("while the tab was away: %v", err)
			}
		}
		<-pause.C
	}
	st.t.Fatalf("the tab does not come back: %v, %+v", st.tab(tab), out)
	return out
}

// kill sends a signal to the browser's processes of a kind.
func (st *stage) kill(kind string, signal syscall.Signal) {
	st.t.Helper()
	var answer struct {
		ProcessInfo []struct {
			Type string `json:"type"`
			ID   int    `json:"id"`
		} `json:"processInfo"`
	}
	if err := st.Newest(0).Call(testenv.Within(st.t, limit), "", "SystemInfo.getProcessInfo", struct{}{}, &answer); err != nil {
		st.t.Fatal(err)
	}
	killed := 0
	for _, p := range answer.ProcessInfo {
		if strings.EqualFold(p.Type, kind) {
			killed++
			if err := syscall.Kill(p.ID, signal); err != nil {
				st.t.Logf("%s %d: %v", kind, p.ID, err)
			}
		}
	}
	if killed == 0 {
		st.t.Fatalf("the browser has no process %s: %v", kind, answer)
	}
}

// scrolled is an expression for the scroll positions of the tall page.
const scrolled = `[Math.round(scrollY), document.querySelector("#box").scrollTop]`

// settle scrolls a tall page, and waits until the tab has noticed.
func (st *stage) settle(tab string, y, box int) string {
	st.t.Helper()
	want := fmt.Sprintf("[%d,%d]", y, box)
	script := fmt.Sprintf(`() => new Promise(done => { const go = () => { scrollTo(0, %d); document.querySelector("#box").scrollTop = %d;
		if (Math.round(scrollY) === %d) done(%s); else requestAnimationFrame(go) }; go() })`, y, box, y, scrolled)
	if got := st.eval(tab, script); got != want {
		st.t.Fatalf("the page is scrolled to %s, want %s", got, want)
	}
	return want
}
