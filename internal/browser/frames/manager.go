// Package frames tracks the frames of one page: their documents, the observer in each document (an Agent), and the page's own world.
//
// Tree is the state, a plain value that events change. Manager guards it with the page's monitor. It also holds what the other parts of a
// page share: the monitor, the page's own session, the tree, and the page's lifetime.
//
// A frame runs in the page's process, or in another process with its own session. While a frame moves between processes, both sessions
// report it, in any order. Callers must hold the monitor while they use the Tree, and must not hold it while they call a Manager.
package frames

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/chromedp/cdproto/cdp"
	jsonv2 "github.com/chromedp/cdproto/cdp/jsonv2"
	cdpdom "github.com/chromedp/cdproto/dom"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/dom"
	"github.com/domtap/domtap/internal/browser/devtools"
	"github.com/domtap/domtap/internal/browser/monitor"
	"github.com/domtap/domtap/internal/browser/observer"
)

// Page is the part of a page that a Manager needs.
type Page struct {
	ID   target.ID
	Main devtools.Session
	// AgentWorld is the name of the isolated world of the page's agents. If empty, it is observer.World.
	AgentWorld string
	Logger     *slog.Logger
	// Life ends with the page. Its cause is nil or ErrClosed if the page was closed on purpose.
	Life context.Context
	// Tasks counts goroutines that must end before the page has ended.
	Tasks *sync.WaitGroup
	// Emit sends an event to the actor.
	Emit func(driver.Event)
	// Barrier returns when the page's loop has handled everything that arrived before the call.
	Barrier func(context.Context) error
	// OnAgent is called with each new agent, without the lock.
	OnAgent func(*Agent)
}

// ErrClosed is the cause of Life's end for a page that was closed on purpose.
var ErrClosed = errors.New("the page is closed")

// Manager manages the frames of a page and holds what the parts of a page share.
type Manager struct {
	*monitor.Monitor
	Page
	// Tree is guarded by the monitor.
	Tree *Tree
}

// New returns the Manager of a page, which initially has only its main frame.
func New(p Page) *Manager {
	p.AgentWorld = cmp.Or(p.AgentWorld, observer.World)
	m := &Manager{Page: p, Tree: NewTree(cdp.FrameID(p.ID))}
	m.Monitor = monitor.New(p.Life.Done(), m.Gone)
	return m
}

// Gone returns the error for calls on a page that has ended.
func (m *Manager) Gone() error {
	if cause := context.Cause(m.Life); cause != nil && !errors.Is(cause, ErrClosed) {
		return &apierr.Error{Kind: apierr.Lost, Message: "the page is gone: open a new tab", Err: cause}
	}
	return apierr.Errorf(apierr.Closed, "the page was closed: open a new tab")
}

// Failed converts the error of a call to an *apierr.Error, if there is a matching kind.
func (m *Manager) Failed(err error) error {
	if apierr.Is(err, apierr.Fenced) {
		return err
	}
	if errors.Is(err, devtools.ErrLost) || m.Life.Err() != nil {
		return m.Gone()
	}
	if devtools.IsTargetCrashed(err) {
		// The crash event may arrive after the response.
		return &apierr.Error{Kind: apierr.Lost, Message: "the renderer crashed: navigate or reload the tab to restart it", Err: err}
	}
	if IsGoneContext(err) {
		return &apierr.Error{Kind: apierr.Aborted, Message: "the page navigated during the call: read it again", Err: err}
	}
	return err
}

// IsMain reports whether s is the page's own session.
func (m *Manager) IsMain(s devtools.Session) bool { return s.ID == m.Main.ID }

// AgentOf returns the agent of a frame, or nil if its document has none.
func (m *Manager) AgentOf(key dom.FrameID) *Agent {
	m.Lock()
	defer m.Unlock()
	if f := m.Tree.Lookup(key); f != nil {
		return f.Agent
	}
	return nil
}

// Agent waits until a frame's document has an agent. Between two documents there is none.
func (m *Manager) Agent(ctx context.Context, key dom.FrameID) (a *Agent, err error) {
	there, err := m.awaitFrame(ctx, key, func(f *Frame) bool {
		a = f.Agent
		return a != nil
	})
	if !there {
		return nil, apierr.Unknown("frame", "frame %q is gone: read the page again", key)
	}
	return a, err
}

// World waits for the page's own world in a frame.
func (m *Manager) World(ctx context.Context, key dom.FrameID) (w *World, err error) {
	there, err := m.awaitFrame(ctx, key, func(f *Frame) bool {
		w = f.World
		return w != nil
	})
	if !there {
		return nil, apierr.Unknown("frame", "unknown frame %q: GetDom returns the frames of elements", key)
	}
	return w, err
}

// awaitFrame waits until ready returns true for a frame. there is false if the frame does not exist.
func (m *Manager) awaitFrame(ctx context.Context, key dom.FrameID, ready func(*Frame) bool) (there bool, err error) {
	there = true
	err = m.Await(ctx, func() bool {
		f := m.Tree.Lookup(key)
		there = f != nil
		return !there || ready(f)
	})
	return there, err
}

// Readable returns the frames that have an agent, the main frame first.
func (m *Manager) Readable() []Readable {
	m.Lock()
	defer m.Unlock()
	return m.Tree.Readable()
}

// IsLate reports whether an agent is skipped because it did not respond in time.
func (m *Manager) IsLate(a *Agent) bool {
	m.Lock()
	defer m.Unlock()
	return a.Reading.Late
}

// Change changes the tree and wakes all waiters.
func (m *Manager) Change(change func(*Tree)) {
	m.Lock()
	defer m.Unlock()
	change(m.Tree)
	m.Notify()
}

// contextAux is the auxiliary data that Chromium adds to the description of a context.
type contextAux struct {
	FrameID   cdp.FrameID `json:"frameId"`
	IsDefault bool        `json:"isDefault"`
}

// ContextCreated adds a context that is the page's own world of a document, or its agent.
func (m *Manager) ContextCreated(s devtools.Session, d *runtime.ExecutionContextDescription) {
	if d == nil {
		return
	}
	var about contextAux
	if err := jsonv2.Unmarshal(d.AuxData, &about, chromedp.DefaultUnmarshalOptions); err != nil || about.FrameID == "" {
		return
	}
	if about.IsDefault {
		m.Change(func(t *Tree) { t.Attach(about.FrameID, "").World = &World{Session: s, ID: d.ID, Unique: d.UniqueID} })
		return
	}
	if d.Name == m.AgentWorld {
		m.Add(about.FrameID, &Agent{Session: s, ID: d.ID, Unique: d.UniqueID})
	}
}

// Add adds the agent of a frame's newest document.
func (m *Manager) Add(id cdp.FrameID, a *Agent) {
	m.Change(func(t *Tree) { t.Add(id, a) })
	m.OnAgent(a)
	m.adopt()
}

// ContextGone removes the agent or world of a context.
func (m *Manager) ContextGone(unique string) {
	m.Change(func(t *Tree) {
		t.Drop(func(a *Agent) bool { return a.Unique == unique }, func(w *World) bool { return w.Unique == unique })
	})
}

// ContextsGone removes all agents and worlds of a session.
func (m *Manager) ContextsGone(session target.SessionID) {
	m.Change(func(t *Tree) {
		t.Drop(func(a *Agent) bool { return a.Session.ID == session }, func(w *World) bool { return w.Session.ID == session })
	})
}

// Known records a frame of a document, which may be known already.
func (m *Manager) Known(id, parent cdp.FrameID) {
	m.Change(func(t *Tree) { t.Attach(id, parent) })
}

// Attached records a frame that runs in its own process, with its session.
func (m *Manager) Attached(session target.SessionID, id, parent cdp.FrameID) {
	m.Change(func(t *Tree) {
		t.Attach(id, parent)
		t.Own(session, id)
	})
}

// Detached records that a frame's session has ended.
func (m *Manager) Detached(session target.SessionID) {
	m.Change(func(t *Tree) { t.Own(session, "") })
	m.ContextsGone(session)
}

// Discover records the frames that were in a session's documents before we listened to the session.
func (m *Manager) Discover(ctx context.Context, s devtools.Session) error {
	tree, err := cdp.Call(ctx, s, cdppage.GetFrameTree, cdp.Empty{})
	if err != nil || tree.FrameTree == nil {
		return err
	}
	m.Lock()
	for rest := tree.FrameTree.ChildFrames; len(rest) > 0; {
		one := rest[0]
		rest = append(rest[1:], one.ChildFrames...)
		if one.Frame != nil {
			m.Tree.Attach(one.Frame.ID, one.Frame.ParentID)
		}
	}
	m.Unlock()
	m.adopt()
	return nil
}

const (
	// arrivalGrace is how long reads wait for a new frame before they continue without it.
	arrivalGrace = time.Second
	// arrivalLimit bounds the task that sets up a frame.
	arrivalLimit = 10 * time.Second
)

// Arrive runs the task that sets up a new frame. Reads wait for the task, but at most for arrivalGrace, because a hanging frame in another
// process must not block the page. After that, Tree.Late lists the frame until the task ends. If the task fails, it lists the frame while
// the frame has no agent.
func (m *Manager) Arrive(id cdp.FrameID, task func(ctx context.Context) error) {
	m.Lock()
	a := m.Tree.begin(id)
	m.Unlock()
	m.Tasks.Go(func() {
		ctx, cancel := context.WithTimeout(m.Life, arrivalLimit)
		defer cancel()
		defer time.AfterFunc(arrivalGrace, func() { m.Change(func(t *Tree) { t.pass(a) }) }).Stop()
		err := task(ctx)
		m.Change(func(t *Tree) { t.end(a, err != nil) })
	})
}

// adopt informs the agents of parent documents about the elements that hold their frames.
func (m *Manager) adopt() {
	m.Lock()
	due := m.Tree.adoptions()
	m.Unlock()
	for id, parent := range due {
		m.Arrive(id, func(ctx context.Context) error { sendOwner(ctx, id, parent); return nil })
	}
}

// sendOwner sends the agent of the parent document the element that holds a frame.
func sendOwner(ctx context.Context, id cdp.FrameID, parent *Agent) {
	owner, err := cdp.Call(ctx, parent.Session, cdpdom.GetFrameOwner, cdpdom.GetFrameOwnerParams{FrameID: id})
	if err != nil {
		return // the frame is already gone
	}
	node, err := cdp.Call(ctx, parent.Session, cdpdom.ResolveNode, cdpdom.ResolveNodeParams{
		BackendNodeID: owner.BackendNodeID, ExecutionContextID: parent.ID})
	if err != nil || node.Object == nil {
		return
	}
	silent := true
	arg, err := jsonv2.Marshal(string(id))
	if err != nil {
		return
	}
	_, _ = cdp.Call(ctx, parent.Session, runtime.CallFunctionOn, runtime.CallFunctionOnParams{
		FunctionDeclaration: observer.Adopt, ObjectID: node.Object.ObjectID, Silent: &silent,
		Arguments: []*runtime.CallArgument{{Value: arg}},
	})
}
