package streams

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/domtap/domtap/dom"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	api "github.com/domtap/domtap/internal/server/messages"
	"github.com/domtap/domtap/internal/testenv"
	"github.com/domtap/domtap/view"
)

// appPatience limits how long a stream may take to show the effect of a step without reads. It is many times the one-second interval at
// which changes without mutations are detected.
const appPatience = time.Minute

// TestStreamsConvergeOnApplications drives single-page applications, each with a different framework, by the steps of users: through the
// page's own events, and through Interact. After every step, the first snapshot with the diffs applied must equal a fresh walk, for a
// stream of all elements, one of the viewport and one of 50 elements. GetDom must return the same.
func TestStreamsConvergeOnApplications(t *testing.T) {
	url := testenv.Serve(t, testenv.Apps(t, ""))
	d := testenv.Shared(t)
	for _, name := range []string{"react", "vue", "svelte", "lit", "preact", "solid", "virtual", "grid", "plain"} {
		t.Run(name, func(t *testing.T) {
			a := openApp(t, d, url+"/"+name)
			for seed := range testenv.Size(3, 12) {
				a.step(seed)
				a.converges()
			}
		})
	}
}

// appView is a view of an application: the client's request and its meaning.
type appView struct {
	name    string
	request *domtapv1.WatchDomRequest
	options view.Options
}

var appViews = []appView{
	{"full", &domtapv1.WatchDomRequest{FullSnapshot: true}, view.Options{}},
	{
		"viewport", &domtapv1.WatchDomRequest{ViewportOnly: true, MaxElements: proto.Int32(0), MaxTokens: proto.Int32(0)},
		view.Options{InteractiveOnly: true, ViewportOnly: true},
	},
	{
		"50 elements", &domtapv1.WatchDomRequest{MaxElements: proto.Int32(50), MaxTokens: proto.Int32(0)},
		view.Options{InteractiveOnly: true, MaxElements: 50},
	},
}

// drivenApp is an application in a tab with a stream of each view.
type drivenApp struct {
	t         *testing.T
	d         *testenv.Daemon
	tab       string
	followers []*testenv.Follower
	// did lists the steps so far.
	did []string
}

func openApp(t *testing.T, d *testenv.Daemon, url string) *drivenApp {
	a := &drivenApp{t: t, d: d, tab: d.Open(url)}
	for _, v := range appViews {
		request := proto.CloneOf(v.request)
		request.TabId = a.tab
		a.followers = append(a.followers, testenv.Follow(t, d, request))
	}
	a.call("new Promise((built) => { const look = () => window.step ? built(0) : requestAnimationFrame(look); look() })")
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		if _, err := d.Tabs.CloseTab(ctx, &domtapv1.CloseTabRequest{TabId: a.tab}); err != nil {
			t.Error(err)
		}
	})
	return a
}

// call evaluates an expression in the page's main world and awaits its promise.
func (a *drivenApp) call(expression string) any {
	a.t.Helper()
	params := map[string]any{"expression": expression, "returnByValue": true, "awaitPromise": true}
	var out struct {
		Result struct {
			Value any `json:"value"`
		} `json:"result"`
		Exception *struct {
			Exception struct {
				Description string `json:"description"`
			} `json:"exception"`
		} `json:"exceptionDetails"`
	}
	// A renderer that crashed never answers.
	ctx, cancel := context.WithTimeout(a.t.Context(), appPatience)
	defer cancel()
	if err := a.d.Browser.Newest().Call(ctx, "Runtime.evaluate", params, &out); err != nil {
		a.t.Fatalf("after %q, %s: %v", a.did, expression, err)
	}
	if out.Exception != nil {
		a.t.Fatalf("after %q, %s: %s", a.did, expression, out.Exception.Exception.Description)
	}
	return out.Result.Value
}

// step performs one random step. Every fourth one uses Interact, as an agent would.
func (a *drivenApp) step(seed int) {
	a.t.Helper()
	if seed%4 != 3 {
		a.did = append(a.did, fmt.Sprint(a.call(fmt.Sprintf("step(%d)", seed))))
		return
	}
	rnd := rand.New(rand.NewPCG(1, uint64(seed)))
	elements := testenv.GetDom(a.t, a.d, a.tab).GetElements()
	e := elements[rnd.IntN(len(elements))]
	step := useOf(e, rnd)
	_, err := a.d.Actions.Interact(a.t.Context(), &domtapv1.InteractRequest{TabId: a.tab, Steps: []*domtapv1.Step{step}})
	// A dialog may cover the element, or the page may have replaced it.
	if err != nil && status.Code(err) != codes.FailedPrecondition {
		a.t.Fatalf("after %q, %v: %v", a.did, step, err)
	}
	a.did = append(a.did, fmt.Sprintf("%s %v", e.GetTag(), step))
	a.call("settled()")
}

// useOf returns a typical user action on an element.
func useOf(e *domtapv1.Element, rnd *rand.Rand) *domtapv1.Step {
	target := &domtapv1.Target{Ref: &e.Ref}
	typed := fmt.Sprintf("Typed %d", rnd.IntN(100))
	switch {
	case e.GetTag() == "select":
		// In a closed list, a letter selects the option that begins with it.
		key := []string{"l", "n", "h", "ArrowDown"}[rnd.IntN(4)]
		return &domtapv1.Step{Action: &domtapv1.Step_Press{Press: &domtapv1.PressStep{Target: target, Key: key}}}
	case e.GetRole() == "textbox" && rnd.IntN(2) == 0:
		return &domtapv1.Step{Action: &domtapv1.Step_Type{Type: &domtapv1.TypeStep{Target: target, Text: typed, Submit: true}}}
	case e.GetRole() == "textbox" || e.GetRole() == "searchbox":
		return &domtapv1.Step{Action: &domtapv1.Step_Fill{Fill: &domtapv1.FillStep{Target: target, Text: typed}}}
	case rnd.IntN(8) == 0:
		return &domtapv1.Step{Action: &domtapv1.Step_Press{Press: &domtapv1.PressStep{Target: target, Key: "Tab"}}}
	case rnd.IntN(8) == 0:
		return &domtapv1.Step{Action: &domtapv1.Step_DoubleClick{DoubleClick: &domtapv1.DoubleClickStep{Target: target}}}
	}
	return &domtapv1.Step{Action: &domtapv1.Step_Click{Click: &domtapv1.ClickStep{Target: target}}}
}

// converges compares the streams with the page: first using only what was pushed, then with the response of GetDom.
func (a *drivenApp) converges() {
	a.t.Helper()
	ctx := testenv.Within(a.t, appPatience)
	a.eventually(ctx, "the full stream and a fresh walk", a.pushedAll)
	a.eventually(ctx, "the viewport stream and the page's own list", a.pushedViewport)
	a.eventually(ctx, "the streams and a fresh walk with the boxes that GetDom read", a.readAll)
	for i, v := range appViews {
		r := v.request
		get := &domtapv1.GetDomRequest{TabId: a.tab, FullSnapshot: r.FullSnapshot, ViewportOnly: r.ViewportOnly, MaxElements: r.MaxElements, MaxTokens: r.MaxTokens}
		if err := agree(a.t, a.d, a.followers[i], get); err != nil {
			a.fail("the "+v.name+" stream and GetDom", err)
		}
	}
}

// eventually waits until a comparison succeeds. The page may change by itself, for example when an animation ends, so each attempt reads it
// again.
func (a *drivenApp) eventually(ctx context.Context, what string, compare func() error) {
	a.t.Helper()
	for {
		err := compare()
		if err == nil {
			return
		}
		if ctx.Err() != nil {
			a.fail(what, err)
		}
	}
}

func (a *drivenApp) fail(what string, err error) {
	a.t.Helper()
	a.t.Fatalf("step %d, after %q: %s differ: %v", len(a.did)-1, a.did[max(0, len(a.did)-5):], what, err)
}

// pushedAll compares the stream of all elements with a fresh walk.
func (a *drivenApp) pushedAll() error {
	fresh, err := a.freshWalk(nil)
	if err != nil {
		return err
	}
	return a.compare(0, fresh)
}

// pushedViewport compares the stream of the viewport with the elements that the page's script finds there.
func (a *drivenApp) pushedViewport() error {
	want := fmt.Sprint(a.call("visible()"))
	elements, _, err := a.followers[1].State()
	if err != nil {
		return err
	}
	if got := usableTags(elements); got != want {
		return fmt.Errorf("\n got %s\nwant %s", got, want)
	}
	return nil
}

// usableTags lists the sorted tags of the elements that visible() of e2e/apps/shared/driver.js recognizes.
func usableTags(elements []*domtapv1.Element) string {
	var tags []string
	for _, e := range elements {
		switch e.GetTag() {
		case "a", "button", "input", "select", "textarea", "summary":
			tags = append(tags, e.GetTag())
		}
	}
	slices.Sort(tags)
	return strings.Join(tags, " ")
}

// readAll compares all streams with their views of a fresh walk, with the boxes that GetDom reads.
func (a *drivenApp) readAll() error {
	all := a.d.All(a.tab)
	inViewport := map[dom.Ref]bool{}
	for _, e := range all.GetElements() {
		inViewport[dom.Ref(e.GetRef())] = e.GetInViewport()
	}
	fresh, err := a.freshWalk(inViewport)
	if err != nil {
		return err
	}
	for i, v := range appViews {
		if err := a.compare(i, fresh); err != nil {
			return fmt.Errorf("%s: %w", v.name, err)
		}
	}
	return nil
}

// compare compares a stream with its view of a fresh walk.
func (a *drivenApp) compare(i int, fresh *dom.Snapshot) error {
	want, err := view.Of(fresh, appViews[i].options)
	if err != nil {
		return err
	}
	got, _, err := a.followers[i].State()
	if err != nil {
		return err
	}
	if difference := testenv.Diff(got, testenv.WithoutBoxes(api.Elements(want.Elements.Slice(), nil))); difference != "" {
		return fmt.Errorf("%s", difference)
	}
	return nil
}

// freshWalk returns the result of a fresh walk of the page, with the refs of its elements. Elements without a ref have NoRef.
func (a *drivenApp) freshWalk(inViewport map[dom.Ref]bool) (*dom.Snapshot, error) {
	text, err := a.d.Browser.Newest().Audit(a.t.Context(), "")
	if err != nil || text == "" {
		return &dom.Snapshot{}, err
	}
	var elements []*dom.Element
	depths := map[dom.Ref]int{}
	for line := range strings.SplitSeq(text, "\n") {
		e, err := parseLine(line)
		if err != nil {
			return nil, err
		}
		if e.Parent != dom.NoRef {
			e.Depth = depths[e.Parent] + 1
		}
		depths[e.Ref] = e.Depth
		e.InViewport = inViewport[e.Ref]
		elements = append(elements, e)
	}
	return &dom.Snapshot{Elements: dom.ListOf(elements)}, nil
}

// parseLine parses a line of browser.Page.Audit. line writes such a line.
func parseLine(line string) (*dom.Element, error) {
	f := strings.Split(line, "\t")
	if len(f) != 18 {
		return nil, fmt.Errorf("a line of the fresh walk has %d fields: %q", len(f), line)
	}
	numbers := map[int]int{}
	for _, i := range []int{0, 1, 2, 11, 12, 17} {
		n, err := strconv.Atoi(f[i])
		if err != nil && !slices.Contains([]string{"", "^"}, f[i]) {
			return nil, fmt.Errorf("field %d: %w", i, err)
		}
		numbers[i] = n
	}
	value, left, _ := strings.Cut(f[9], "\x1f")
	valueLeft, _ := strconv.Atoi(left) // 0 means that nothing is left
	e := &dom.Element{
		Ref: refOf(f[0], numbers[0]), Kind: dom.Kind(numbers[1]), Parent: refOf(f[2], numbers[2]), Tag: f[3], Role: f[4], Text: f[5], Href: f[6],
		Name: f[7], Type: f[8], Value: value, ValueLeft: valueLeft, Placeholder: f[10], Level: numbers[11], Child: dom.FrameID(f[13]),
		Whole: f[15], Left: max(0, utf8.RuneCountInString(f[15])-dom.MaxText), Hints: f[16], Join: numbers[17],
	}
	s := &e.States
	for i, state := range []*dom.Tri{&s.Checked, &s.Disabled, &s.Expanded, &s.Selected, &s.Pressed, &s.Required, &s.Readonly, &s.Focused, &s.Invalid} {
		*state = dom.Tri(numbers[12] >> (2 * i) & 3)
	}
	return e, nil
}

// refOf parses a ref of the fresh walk. "^" and -1 stand for no ref.
func refOf(text string, n int) dom.Ref {
	if text == "^" || n < 0 {
		return dom.NoRef
	}
	return dom.Ref(n)
}
