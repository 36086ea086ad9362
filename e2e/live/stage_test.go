package live

import (
	"encoding/json"
	"net"
	"strconv"
	"testing"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/domtap/domtap/actor/tabpool"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/browser"
	"github.com/domtap/domtap/internal/gateway"
	"github.com/domtap/domtap/internal/gateway/ui"
	"github.com/domtap/domtap/internal/server"
	"github.com/domtap/domtap/internal/testenv"
)

const (
	token = "a-token-for-tests-of-forty-three-characters"
	limit = testenv.Patience
)

// stage is a daemon with its live page, behind a connection that can be cut.
type stage struct {
	t    *testing.T
	d    *testenv.Daemon
	wire *testenv.Link
	// page is the URL of the live page, without the token.
	page string
	// shop is the tab that changes, and live is the tab that shows it.
	shop, live string
}

const shopPage = `<!doctype html><title>Shop</title><h1>Shop</h1><button>Pay now</button>`

// newStage starts a daemon. If change is not nil, it modifies the configuration.
func newStage(t *testing.T, change func(*server.Config)) *stage {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	st := &stage{t: t, wire: testenv.NewLink(t, l.Addr().String())}
	st.page = "http://" + st.wire.Address() + "/"
	cfg := server.Config{AllowEval: true, Token: token}
	if change != nil {
		change(&cfg)
	}
	st.d = testenv.StartWithFronts(t, tabpool.Config{}, cfg, browser.Config{}, func(server *server.Server) {
		front, err := gateway.New(server, gateway.Config{Listener: l, Page: ui.Handler("test")})
		if err != nil {
			t.Fatal(err)
		}
		server.AddFront(front)
	})
	st.shop = st.d.Open(testenv.Serve(t, testenv.HTML(shopPage)))
	st.live = st.d.Open(st.page + "#token=" + token)
	return st
}

// shows waits until the live page contains a text.
func (st *stage) shows(text string) {
	st.t.Helper()
	st.until(&domtapv1.WaitCondition{Text: text}, text)
}

func (st *stage) until(c *domtapv1.WaitCondition, what string) {
	st.t.Helper()
	_, err := st.d.Dom.WaitFor(testenv.Within(st.t, limit), &domtapv1.WaitForRequest{TabId: st.live, Until: c, Timeout: durationpb.New(limit)})
	if err == nil {
		return
	}
	text, readErr := st.d.Dom.GetCompact(testenv.Within(st.t, limit), &domtapv1.GetCompactRequest{TabId: st.live, FullSnapshot: true})
	st.t.Fatalf("the live page does not show %s: %v\n%s%v", what, err, text.GetText(), readErr)
}

// in evaluates an expression in a tab and awaits its promise.
func in[T any](st *stage, tab, expression string) (value T) {
	st.t.Helper()
	r, err := st.d.Pages.Evaluate(testenv.Within(st.t, limit), &domtapv1.EvaluateRequest{TabId: tab, Expression: expression})
	if err != nil || r.GetException() != "" {
		st.t.Fatalf("%s: %v %s", expression, err, r.GetException())
	}
	if err := json.Unmarshal([]byte(r.GetResultJson()), &value); err != nil {
		st.t.Fatalf("%s: %v in %s", expression, err, r.GetResultJson())
	}
	return value
}

// add adds a button to the shop.
func (st *stage) add(text string) {
	st.t.Helper()
	in[bool](st, st.shop, `(b => { b.textContent = `+strconv.Quote(text)+`; document.body.append(b); return true })(document.createElement('button'))`)
}

// do performs steps in the live page.
func (st *stage) do(steps ...*domtapv1.Step) {
	st.t.Helper()
	r, err := st.d.Actions.Interact(testenv.Within(st.t, limit), &domtapv1.InteractRequest{TabId: st.live, Steps: steps})
	if err != nil {
		st.t.Fatal(err)
	}
	for _, result := range r.GetResults() {
		if result.GetError() != "" {
			st.t.Fatal(result.GetError())
		}
	}
}

func click(role, name string) *domtapv1.Step {
	return &domtapv1.Step{Action: &domtapv1.Step_Click{Click: &domtapv1.ClickStep{Target: &domtapv1.Target{Role: role, Name: name}}}}
}

func press(key string) *domtapv1.Step {
	return &domtapv1.Step{Action: &domtapv1.Step_Press{Press: &domtapv1.PressStep{Key: key}}}
}

func fill(label, text string) *domtapv1.Step {
	return &domtapv1.Step{Action: &domtapv1.Step_Fill{Fill: &domtapv1.FillStep{Target: &domtapv1.Target{Label: label}, Text: text}}}
}
