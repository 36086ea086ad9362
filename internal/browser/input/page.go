package input

import (
	"context"
	"os"
	"slices"

	"github.com/chromedp/cdproto"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/domdebugger"
	"github.com/chromedp/cdproto/runtime"

	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/dom"
	"github.com/domtap/domtap/internal/browser/devtools"
	"github.com/domtap/domtap/internal/browser/frames"
)

// Input acts on one page of the browser.
type Input struct {
	m   *frames.Manager
	mac bool
	// root is the directory for folders of uploaded files.
	root string
	// expected maps methods to the actions that wait for their events. folders holds uploaded files. The monitor guards both.
	expected map[string]chan *cdproto.Message
	folders  []string
	// settledCall is the request that AskSettled has sent. The monitor guards it.
	settledCall frames.SentCommand
	// dialog is set while a dialog is open. deferred holds the commands to send when it closes. The monitor guards both.
	dialog   bool
	deferred []devtools.Step
	// acts performs the actions, one at a time.
	acts *Dispatcher
}

// NewInput returns the Input of a page. mac reports whether the browser runs on a Mac. root is the directory for folders of uploaded files.
func NewInput(m *frames.Manager, mac bool, root string) *Input {
	i := &Input{m: m, mac: mac, root: root, expected: map[string]chan *cdproto.Message{}}
	i.acts = New(i)
	return i
}

// Do performs one action; see driver.Input.
func (i *Input) Do(ctx context.Context, a driver.Action) (driver.DoResult, error) {
	i.swapSettledCall(frames.SentCommand{}).Forget()
	return i.acts.Do(ctx, a)
}

// ReleaseButton releases the button that is down; see driver.Input.
func (i *Input) ReleaseButton(ctx context.Context) { i.acts.ReleaseButton(ctx) }

// TakeSettledCall returns the request that the last action sent with AskSettled, if any. The caller must wait for its response or call
// Forget.
func (i *Input) TakeSettledCall() frames.SentCommand { return i.swapSettledCall(frames.SentCommand{}) }

// AskSettled implements Page.
func (i *Input) AskSettled(ctx context.Context, a Agent) {
	own, is := a.(inputAgent)
	if !is {
		return
	}
	if k, err := own.a.Send(ctx, own.a.Params("settled", map[string]any{"again": false})); err == nil {
		i.swapSettledCall(frames.SentCommand{Agent: own.a, Call: k}).Forget()
	}
}

func (i *Input) swapSettledCall(now frames.SentCommand) (before frames.SentCommand) {
	i.m.Lock()
	defer i.m.Unlock()
	before, i.settledCall = i.settledCall, now
	return before
}

// Main implements Page.
func (i *Input) Main() devtools.Session { return i.m.Main }

// Failed implements Page.
func (i *Input) Failed(err error) error { return i.m.Failed(err) }

// Mac implements Page.
func (i *Input) Mac() bool { return i.mac }

// Agent implements Page.
func (i *Input) Agent(ctx context.Context, frame dom.FrameID) (Agent, error) {
	a, err := i.m.Agent(ctx, frame)
	if err != nil {
		return nil, err
	}
	return inputAgent{a}, nil
}

// Parent implements Page.
func (i *Input) Parent(frame dom.FrameID) (dom.FrameID, bool) {
	i.m.Lock()
	defer i.m.Unlock()
	return i.m.Tree.ParentOf(frame)
}

// Others implements Page.
func (i *Input) Others(among []dom.FrameID) []Agent {
	var others []Agent
	for _, o := range i.m.Readable() {
		if !slices.Contains(among, i.m.Tree.Key(o.ID)) && !i.m.IsLate(o.Agent) {
			others = append(others, inputAgent{o.Agent})
		}
	}
	return others
}

// keyEvents are the keyboard events.
var keyEvents = []string{"keydown", "keypress", "keyup", "beforeinput"}

// belowBody is the depth of the search for listeners: the document, its root element, and the body.
const belowBody = 3

// HasListeners implements Page.
func (i *Input) HasListeners(ctx context.Context, a Agent, all bool) (bool, error) {
	if own, is := a.(inputAgent); !is || i.worldOf(own) == nil {
		return true, nil // unknown
	}
	for expression, depth := range map[string]int64{"window": 1, "document": belowBody} {
		if all && depth == belowBody {
			depth = -1
		}
		found, err := i.listenersOf(ctx, a, expression, depth, all)
		if err != nil {
			return false, err
		}
		if slices.ContainsFunc(found, func(l *domdebugger.EventListener) bool { return slices.Contains(keyEvents, l.Type) }) {
			return true, nil
		}
	}
	return false, nil
}

// worldOf returns the page's own world beside an agent, or nil if it is unknown.
func (i *Input) worldOf(own inputAgent) *frames.World {
	i.m.Lock()
	defer i.m.Unlock()
	return i.m.Tree.WorldOf(own.a)
}

// listenersOf returns the listeners of the object that an expression returns, down to a depth. It requests them from the page's own world,
// because the browser only reports listeners of the requested world.
func (i *Input) listenersOf(ctx context.Context, a Agent, expression string, depth int64, pierce bool) ([]*domdebugger.EventListener, error) {
	own, is := a.(inputAgent)
	if !is {
		return nil, nil
	}
	w := i.worldOf(own)
	if w == nil {
		return nil, nil
	}
	const group = "domtap-keys"
	silent := true
	defer w.Session.Post(ctx, runtime.CommandReleaseObjectGroup, runtime.ReleaseObjectGroupParams{ObjectGroup: group})
	handle, err := cdp.Call(ctx, w.Session, runtime.Evaluate, runtime.EvaluateParams{Expression: expression, UniqueContextID: w.Unique, Silent: &silent, ObjectGroup: group})
	if err != nil || handle.Result == nil || handle.Result.ObjectID == "" {
		return nil, err
	}
	found, err := cdp.Call(ctx, w.Session, domdebugger.GetEventListeners, domdebugger.GetEventListenersParams{ObjectID: handle.Result.ObjectID, Depth: &depth, Pierce: &pierce})
	if err != nil {
		return nil, err
	}
	return found.Listeners, nil
}

// focusedElement is a script that returns the focused element.
const focusedElement = `(() => {
	let at = document.activeElement
	while (at && at.shadowRoot && at.shadowRoot.activeElement) at = at.shadowRoot.activeElement
	return at
})()`

// EntersCharacters implements Page. Only the field's own listener counts, because others may be for shortcuts.
func (i *Input) EntersCharacters(ctx context.Context, a Agent) (bool, error) {
	found, err := i.listenersOf(ctx, a, focusedElement, 1, false)
	return slices.ContainsFunc(found, func(l *domdebugger.EventListener) bool { return l.Type == "keypress" }), err
}

// Complete implements Page.
func (i *Input) Complete() bool {
	i.m.Lock()
	defer i.m.Unlock()
	return i.m.Tree.Complete()
}

// Expect implements Page.
func (i *Input) Expect(method string) (event <-chan *cdproto.Message, stop func()) {
	ch := make(chan *cdproto.Message, 1)
	i.m.Lock()
	defer i.m.Unlock()
	i.expected[method] = ch
	return ch, func() {
		i.m.Lock()
		defer i.m.Unlock()
		delete(i.expected, method)
	}
}

// Expected passes an event to the action that waits for it. It returns false if no action does. It runs on the page's loop.
func (i *Input) Expected(msg *cdproto.Message) bool {
	i.m.Lock()
	defer i.m.Unlock()
	ch := i.expected[string(msg.Method)]
	if ch == nil {
		return false
	}
	select {
	case ch <- msg:
	default: // only the first event counts
	}
	return true
}

// AfterDialog implements Page.
func (i *Input) AfterDialog(step devtools.Step) bool {
	i.m.Lock()
	defer i.m.Unlock()
	if i.dialog {
		i.deferred = append(i.deferred, step)
	}
	return i.dialog
}

// SetDialog records whether a dialog is open. It runs on the page's loop.
func (i *Input) SetDialog(open bool) {
	i.m.Lock()
	i.dialog = open
	var deferred []devtools.Step
	if !open {
		deferred, i.deferred = i.deferred, nil
	}
	i.m.Unlock()
	i.m.Main.PostAll(i.m.Life, deferred...)
}

// Folder implements Page. Close removes the folder.
func (i *Input) Folder() (string, error) {
	dir, err := os.MkdirTemp(i.root, "domtap-upload-")
	if err != nil {
		return "", err
	}
	i.m.Lock()
	defer i.m.Unlock()
	i.folders = append(i.folders, dir)
	return dir, nil
}

// Close removes the folders of uploaded files.
func (i *Input) Close() {
	i.m.Lock()
	folders := i.folders
	i.folders = nil
	i.m.Unlock()
	for _, dir := range folders {
		if err := os.RemoveAll(dir); err != nil {
			i.m.Logger.Warn("uploaded files are left behind", "error", err)
		}
	}
}

// inputAgent adapts a frames.Agent to Agent.
type inputAgent struct{ a *frames.Agent }

// Document implements Agent.
func (h inputAgent) Document() string { return h.a.Document }

// Session implements Agent.
func (h inputAgent) Session() devtools.Session { return h.a.Session }

// Send implements Agent.
func (h inputAgent) Send(ctx context.Context, command string, argument any) (*devtools.Call, error) {
	params := h.a.Params(command, argument)
	params.AwaitPromise, params.UserGesture = true, true
	return h.a.Send(ctx, params)
}

// Handle implements Agent.
func (h inputAgent) Handle(ctx context.Context, command string, argument any) (runtime.RemoteObjectID, error) {
	return h.a.Handle(ctx, command, argument, "")
}
