package frames

import (
	"slices"
	"strings"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/target"

	"github.com/domtap/domtap/dom"
)

// Frame is one frame of the page and the contexts of its document.
type Frame struct {
	ID       cdp.FrameID
	Parent   cdp.FrameID
	Document string // loader ID, unique for each document
	URL      string
	// Agent is the agent in use: the newest of agents in the frame's own session, if there is one.
	Agent  *Agent
	agents []*Agent
	// World is the page's own world of the document.
	World *World
	// session is the frame's own session while it runs in its own process. While a frame moves between processes, the events of both
	// sessions arrive in any order.
	session target.SessionID
	// adopter is the parent document's agent that was sent the element that holds the frame.
	adopter *Agent
	// overdue counts the arrivals of the frame that reads no longer wait for. unobserved is set if the last arrival failed.
	overdue    int
	unobserved bool
}

// isLate reports whether reads continue without the frame.
func (f *Frame) isLate() bool { return f.overdue > 0 || f.unobserved && f.Agent == nil }

// arrival is a task that sets up a frame.
type arrival struct {
	id            cdp.FrameID
	overdue, over bool
}

// selectAgent selects the agent in use.
func (f *Frame) selectAgent() {
	f.Agent = nil
	for _, a := range f.agents {
		if f.Agent == nil || a.Session.ID == f.session || f.Agent.Session.ID != f.session {
			f.Agent = a
		}
	}
}

// Tree holds the frames of one page. It is a plain value guarded by the page's monitor.
type Tree struct {
	main   cdp.FrameID
	frames map[cdp.FrameID]*Frame
	// arriving counts the arrivals that reads wait for: tasks that install a frame's agent or look up the frame's element in its parent.
	arriving int
}

// NewTree returns the tree of a page, which initially has only its main frame.
func NewTree(main cdp.FrameID) *Tree {
	return &Tree{main: main, frames: map[cdp.FrameID]*Frame{main: {ID: main}}}
}

// Key returns the name of a frame outside this package. The main frame's name is empty.
func (t *Tree) Key(id cdp.FrameID) dom.FrameID {
	if id == t.main {
		return ""
	}
	return dom.FrameID(id)
}

// Main returns the main frame.
func (t *Tree) Main() *Frame { return t.frames[t.main] }

// IsMain reports whether id denotes the main frame.
func (t *Tree) IsMain(id cdp.FrameID) bool { return id == t.main }

// Lookup returns the frame with a key, or nil.
func (t *Tree) Lookup(key dom.FrameID) *Frame {
	if key == "" {
		return t.Main()
	}
	return t.frames[cdp.FrameID(key)]
}

// Get returns a frame by the browser's ID, or nil.
func (t *Tree) Get(id cdp.FrameID) *Frame { return t.frames[id] }

// Arriving reports whether reads wait for a frame.
func (t *Tree) Arriving() bool { return t.arriving > 0 }

// Late returns the frames that reads skip, because their setup takes too long or failed.
func (t *Tree) Late() []dom.FrameID {
	var late []dom.FrameID
	for id, f := range t.frames {
		if f.isLate() && id != t.main {
			late = append(late, t.Key(id))
		}
	}
	slices.Sort(late)
	return late
}

// begin records an arrival that reads wait for.
func (t *Tree) begin(id cdp.FrameID) *arrival {
	t.arriving++
	return &arrival{id: id}
}

// pass records that reads no longer wait for an arrival, unless it has ended.
func (t *Tree) pass(a *arrival) {
	if a.overdue || a.over {
		return
	}
	a.overdue = true
	t.arriving--
	if f := t.frames[a.id]; f != nil {
		f.overdue++
	}
}

// end records that an arrival has ended.
func (t *Tree) end(a *arrival, failed bool) {
	f := t.frames[a.id]
	switch {
	case !a.overdue:
		t.arriving--
	case f != nil && f.overdue > 0: // otherwise the frame was removed and added again
		f.overdue--
	}
	a.over = true
	if f != nil {
		f.unobserved = failed
	}
}

// Complete reports whether every frame has an agent that responds, as far as is known.
func (t *Tree) Complete() bool {
	for _, f := range t.frames {
		if f.Agent == nil || f.Agent.Reading.Late || f.isLate() {
			return false
		}
	}
	return t.arriving == 0
}

// Attach returns the frame with an ID, and adds it if it is new. An empty parent leaves the parent unchanged.
func (t *Tree) Attach(id, parent cdp.FrameID) *Frame {
	f := t.frames[id]
	if f == nil {
		f = &Frame{ID: id}
		t.frames[id] = f
	}
	if parent != "" {
		f.Parent = parent
	}
	return f
}

// Remove removes a frame. The main frame cannot be removed.
func (t *Tree) Remove(id cdp.FrameID) {
	if id != t.main {
		delete(t.frames, id)
	}
}

// Commit records the new document of a frame, as a session reported it. It drops the agents of the previous document. It returns the agents
// that may remain valid, which must be added again: the window of a frame's initial blank document, and thus its contexts, may be reused by
// the first document of the same origin.
func (t *Tree) Commit(session target.SessionID, id, parent cdp.FrameID, document, url string) (kept []*Agent) {
	f := t.Attach(id, parent)
	first := f.Document == ""
	f.Document, f.URL = document, url
	f.agents = slices.DeleteFunc(f.agents, func(a *Agent) bool {
		if a.Session.ID == session && first {
			kept = append(kept, &Agent{Session: a.Session, ID: a.ID, Unique: a.Unique})
		}
		return a.Session.ID == session
	})
	f.selectAgent()
	return kept
}

// errorPages is the URL prefix of the browser's own error pages. No other page has such a URL.
const errorPages = "chrome-error:"

// Add adds an agent of the frame's newest document.
func (t *Tree) Add(id cdp.FrameID, a *Agent) {
	f := t.Attach(id, "")
	a.Document, a.IsOfError = f.Document, strings.HasPrefix(f.URL, errorPages)
	f.agents = append(f.agents, a)
	f.selectAgent()
}

// Own records the frame that a session belongs to. An empty owner means that the session has ended.
func (t *Tree) Own(session target.SessionID, owner cdp.FrameID) {
	for _, f := range t.frames {
		switch {
		case f.ID == owner:
			f.session = session
		case f.session == session:
			f.session = ""
		default:
			continue
		}
		f.selectAgent()
	}
}

// Drop removes the agents and worlds whose contexts are gone.
func (t *Tree) Drop(agent func(*Agent) bool, world func(*World) bool) {
	for _, f := range t.frames {
		f.agents = slices.DeleteFunc(f.agents, agent)
		f.selectAgent()
		if f.World != nil && world(f.World) {
			f.World = nil
		}
	}
}

// AgentAt returns the matching agent with its frame, or nil if the document is gone.
func (t *Tree) AgentAt(matches func(*Agent) bool) (*Agent, cdp.FrameID) {
	for _, f := range t.frames {
		if f.Agent != nil && matches(f.Agent) {
			return f.Agent, f.ID
		}
	}
	return nil, ""
}

// WorldOf returns the page's own world next to an agent, in the same process. It returns nil if the world is unknown.
func (t *Tree) WorldOf(a *Agent) *World {
	for _, f := range t.frames {
		if f.Agent == a && f.World != nil && f.World.Session.ID == a.Session.ID {
			return f.World
		}
	}
	return nil
}

// adoptions returns the frames whose parent's agent must be sent the element that holds them, each frame once. A frame is due when its
// parent is known and both documents have an agent, in whatever order these arrive.
func (t *Tree) adoptions() map[cdp.FrameID]*Agent {
	due := map[cdp.FrameID]*Agent{}
	for _, f := range t.frames {
		up := t.frames[f.Parent]
		if f.Agent == nil || up == nil || up.Agent == nil || f.adopter == up.Agent {
			continue
		}
		f.adopter = up.Agent
		due[f.ID] = up.Agent
	}
	return due
}

// Readable returns the frames that have an agent, the main frame first.
func (t *Tree) Readable() []Readable {
	list := make([]Readable, 0, len(t.frames))
	for id, f := range t.frames {
		if f.Agent != nil {
			list = append(list, Readable{ID: id, Agent: f.Agent})
		}
	}
	slices.SortFunc(list, func(a, b Readable) int {
		switch {
		case a.ID == t.main:
			return -1
		case b.ID == t.main:
			return 1
		}
		return strings.Compare(string(a.ID), string(b.ID))
	})
	return list
}

// ParentOf returns the parent of a frame. It returns false if the parent no longer exists.
func (t *Tree) ParentOf(key dom.FrameID) (dom.FrameID, bool) {
	f := t.Lookup(key)
	if f == nil || t.frames[f.Parent] == nil {
		return "", false
	}
	return t.Key(f.Parent), true
}
