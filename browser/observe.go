package browser

import (
	"context"
	"errors"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/chromedp/cdproto/cdp"
	cdpdom "github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/runtime"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/browser/link"
	"github.com/domtap/domtap/browser/page"
	"github.com/domtap/domtap/dom"
)

// agentOf returns the agent of a frame, nil when its document has none.
func (p *Page) agentOf(id dom.FrameID) *agent {
	p.mu.Lock()
	defer p.mu.Unlock()
	if f := p.frames[p.cdpFrame(id)]; f != nil {
		return f.agent
	}
	return nil
}

// waitAgent waits until a frame's document has an agent. Between two documents there is none.
func (p *Page) waitAgent(ctx context.Context, id dom.FrameID) (a *agent, err error) {
	gone := false
	err = p.await(ctx, func() bool {
		f := p.frames[p.cdpFrame(id)]
		if gone = f == nil; gone {
			return true
		}
		a = f.agent
		return a != nil
	})
	if gone {
		return nil, actor.Unknown("frame", "frame %q is gone: read the page again", id)
	}
	return a, err
}

// observed is a frame with its agent at one moment.
type observed struct {
	id    cdp.FrameID
	agent *agent
	// lost says that the agent's answer was not understood, or was not waited for.
	lost bool
	// unprobed says that the agent wants to be probed before it is read; probes is how often that was done.
	unprobed bool
	probes   int
}

// agents lists the frames that can be read, the main frame first.
func (p *Page) agents() []observed {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.agentsLocked()
}

// agentsLocked is agents with mu held.
func (p *Page) agentsLocked() []observed {
	list := make([]observed, 0, len(p.frames))
	for id, f := range p.frames {
		if f.agent != nil {
			list = append(list, observed{id: id, agent: f.agent})
		}
	}
	main := cdp.FrameID(p.id)
	sort.Slice(list, func(i, j int) bool {
		if (list[i].id == main) != (list[j].id == main) {
			return list[i].id == main
		}
		return list[i].id < list[j].id
	})
	return list
}

// maxReads is how often a read starts over because the main document was replaced under it.
const maxReads = 8

// Read implements actor.Observer.
func (p *Page) Read(ctx context.Context, req actor.ReadRequest) (out actor.Readout, err error) {
	err = p.retry(ctx, func() (err error) {
		out, err = p.readAll(ctx, req)
		return err
	})
	return out, err
}

// retry lets f use the agents of the page's documents, once those are there, and again when the main document
// was replaced under it.
func (p *Page) retry(ctx context.Context, f func() error) (err error) {
	for range maxReads {
		if _, err = p.waitAgent(ctx, ""); err != nil {
			return err
		}
		if err = p.await(ctx, func() bool { return p.arriving == 0 }); err != nil {
			return err
		}
		before := p.agents()
		if err = f(); err == nil {
			return nil
		}
		if isUnobserved(err) {
			p.revive(ctx)
			continue
		}
		if !isGoneContext(err) {
			return p.failed(err)
		}
		if err := p.awaitAgents(ctx, before); err != nil {
			return err
		}
	}
	return &actor.Error{Kind: actor.Aborted, Message: "the page navigates again and again; wait until it rests, then read again", Err: err}
}

// replaceGrace is how long retry waits for the event that replaces a document whose context is gone.
const replaceGrace = 2 * time.Second

// awaitAgents waits until the agents are others than before: a call was refused because the context of one of them is
// gone. The event that says so is on its way. On a busy machine, the refusal may be some time ahead of the event, because the
// renderer of the new document answers before the renderer reports its contexts.
func (p *Page) awaitAgents(ctx context.Context, before []observed) error {
	if err := p.barrier(ctx); err != nil {
		return err
	}
	bounded, cancel := context.WithTimeout(ctx, replaceGrace)
	defer cancel()
	err := p.await(bounded, func() bool { return !slices.Equal(before, p.agentsLocked()) })
	if err != nil && ctx.Err() == nil && bounded.Err() != nil {
		return nil // another document than the agents' own was meant
	}
	return err
}

// isUnobserved reports whether an error says that the observer of a document never ran: ending the script of a page that is
// left may end the first script of the document that follows, which is ours.
func isUnobserved(err error) bool {
	return strings.Contains(err.Error(), page.Entry+" is not defined")
}

// revive runs the observer in the documents that have none.
func (p *Page) revive(ctx context.Context) {
	for _, o := range p.agents() {
		if err := o.agent.call(ctx, "about", nil, nil); err == nil || !isUnobserved(err) {
			continue
		}
		silent := true
		_, err := cdp.Call(ctx, o.agent.session, runtime.Evaluate, runtime.EvaluateParams{
			Expression: page.Again + p.context.script(), UniqueContextID: o.agent.unique, Silent: &silent})
		p.logger.Warn("a document had no observer: it was given one", "error", err)
	}
}

// failed gives the errors of calls their kinds.
func (p *Page) failed(err error) error {
	if errors.Is(err, link.ErrLost) || p.ctx.Err() != nil {
		return p.gone()
	}
	if isGoneContext(err) {
		return &actor.Error{Kind: actor.Aborted, Message: "the page navigated in the middle of it; read it again", Err: err}
	}
	return err
}

// frameGrace is how long a read waits for another frame once the main frame, and the frame before it, have
// answered; framesLimit bounds that for all frames together.
const (
	frameGrace  = time.Second
	framesLimit = 5 * time.Second
)

const (
	// probeRounds is how often a read lets a document be probed that has grown: one that builds itself in steps, or in
	// closed shadow trees, goes on meanwhile.
	probeRounds = 2
	// probeOften is how long a probe may take to be done more than once for one read.
	probeOften = 50 * time.Millisecond
)

// readAll reads all agents, after probing those that ask for it.
func (p *Page) readAll(ctx context.Context, req actor.ReadRequest) (out actor.Readout, err error) {
	list := p.agents()
	defer func() { p.settle(list, err != nil) }()
	p.reading(list, true)
	defer p.reading(list, false)
	p.probeDue(ctx, list)
	unread := slices.Clone(list)
	for len(unread) > 0 {
		if err := p.readOnce(ctx, unread, req, &out); err != nil {
			return actor.Readout{}, err
		}
		for _, o := range unread {
			i := slices.IndexFunc(list, func(one observed) bool { return one.id == o.id })
			list[i].lost = o.lost
		}
		unread = unprobed(unread)
		p.probeAll(ctx, unread)
	}
	slices.SortStableFunc(out.Patches, func(a, b dom.Patch) int { return min(1, len(a.Frame)) - min(1, len(b.Frame)) })
	if err := p.barrier(ctx); err != nil {
		return actor.Readout{}, err // which nobody will acknowledge
	}
	return out, nil
}

// unprobed lists the agents that want to be probed before they are read, unless that was done often enough.
func unprobed(list []observed) []observed {
	var out []observed
	for _, o := range list {
		if o.unprobed && o.probes < probeRounds {
			o.unprobed = false
			o.probes++
			out = append(out, o)
		}
	}
	return out
}

// readOnce asks agents at once: one command a frame, all under way together. The main frame comes first and
// has the time that the caller has; those in other processes have little more.
func (p *Page) readOnce(ctx context.Context, list []observed, req actor.ReadRequest, out *actor.Readout) error {
	calls := make([]*link.Call, len(list))
	for i, o := range list {
		if p.isLate(o.agent) {
			continue
		}
		k, err := p.browser.conn.Send(ctx, o.agent.session.ID, runtime.CommandCallFunctionOn, p.request(o, req))
		if err != nil {
			return err
		}
		calls[i] = k
	}
	patience, cancel := context.WithCancel(ctx)
	defer cancel()
	var grace *time.Timer
	var begun time.Time
	for i, k := range calls {
		o := &list[i]
		if k == nil {
			p.lateIn(out, o)
			continue
		}
		// Frames in the main frame's process hang with it or not at all.
		waits, other := ctx, o.agent.session.ID != p.main.ID
		if other {
			waits = patience
			if grace == nil {
				begun, grace = time.Now(), time.AfterFunc(frameGrace, cancel)
				defer grace.Stop()
			}
		}
		err := p.readOne(waits, k, o, out)
		if grace != nil && time.Since(begun) < framesLimit {
			grace.Reset(frameGrace) // frames that answer, though slowly, one after the other
		}
		switch {
		case err == nil:
		case o.id == cdp.FrameID(p.id) || ctx.Err() != nil:
			return err
		case other && patience.Err() != nil:
			p.lateIn(out, o)
			p.awaitAnswer(o.agent)
		}
	}
	return nil
}

// lateIn leaves a frame out of a readout because it does not answer.
func (p *Page) lateIn(out *actor.Readout, o *observed) {
	o.lost = true
	out.Late = append(out.Late, p.frameKey(o.id))
}

func (p *Page) isLate(a *agent) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return a.late
}

// awaitAnswer lets reads pass a frame by until it answers again.
func (p *Page) awaitAnswer(a *agent) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if a.late {
		return
	}
	a.late = true
	p.tasks.Go(func() {
		// No answer comes when the document goes away; the command is asked again then, and refused.
		for answered := false; !answered && p.ctx.Err() == nil; {
			ctx, cancel := context.WithTimeout(p.ctx, latePing)
			err := a.call(ctx, "about", nil, nil)
			answered = err == nil || ctx.Err() == nil
			cancel()
		}
		p.mu.Lock()
		a.late = false
		p.touch()
		p.mu.Unlock()
	})
}

// latePing is how often a frame that does not answer is asked whether it does.
const latePing = 10 * time.Second

// request is the command to read, for one agent.
func (p *Page) request(o observed, req actor.ReadRequest) callParams {
	var acked *page.Ack
	r := page.ReadRequest{Probed: p.wasProbed(o), Structural: req.Structural, Attributes: req.Attributes, Geometry: req.Geometry}
	if r.Attributes == nil {
		r.Attributes = []string{}
	}
	key := p.frameKey(o.id)
	for _, ack := range req.Acks {
		if ack.Frame == key && ack.Document == o.agent.document {
			acked = &page.Ack{Sequence: ack.Sequence, Refs: runs(ack.Refs)}
		}
	}
	p.mu.Lock()
	acked = o.agent.acks.taken(acked)
	r.Full = o.agent.broken || slices.Contains(req.Restart, key)
	p.mu.Unlock()
	return o.agent.paramsWith("read", r, append(page.Mark(req.Mark), acked.Digits()...))
}

// wasProbed reports whether an agent is to be read although its document has grown.
func (p *Page) wasProbed(o observed) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return o.probes == probeRounds || o.probes > 0 && o.agent.probe.took > probeOften
}

// settle notes which agents a read left in doubt: their next patch is to be a full one.
func (p *Page) settle(list []observed, failed bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, o := range list {
		o.agent.broken = failed || o.lost
		if o.agent.broken { // what the agent was told, and whether it waits, is not known
			o.agent.acks = acks{awaited: true}
		}
	}
}

func (p *Page) readOne(ctx context.Context, k *link.Call, o *observed, out *actor.Readout) error {
	text, err := k.Text(ctx)
	if err != nil {
		return err
	}
	m, err := page.Decode(text)
	if err != nil {
		o.lost = true
		return err
	}
	m.Patch.Frame, m.Patch.Document = p.frameKey(o.id), o.agent.document
	switch {
	case m.Unprobed:
		o.unprobed = true
	case m.Unacknowledged:
		p.waits(o.agent)
		out.Unacknowledged = append(out.Unacknowledged, m.Patch.Frame)
	case !m.Empty:
		p.waits(o.agent)
		p.headed(o.agent, &m)
		out.Patches = append(out.Patches, m.Patch)
	}
	return nil
}

// runs shortens refs to pairs of first and length.
func runs(refs []dom.Ref) []int {
	out := []int{}
	for i := 0; i < len(refs); {
		j := i + 1
		for j < len(refs) && refs[j] == refs[j-1]+1 {
			j++
		}
		out = append(out, int(refs[i]), j-i)
		i = j
	}
	return out
}

// Acknowledge implements actor.Observer.
func (p *Page) Acknowledge(ack actor.Ack) {
	a := p.agentOf(ack.Frame)
	if a == nil || a.document != ack.Document {
		return
	}
	p.mu.Lock()
	due := a.acks.due(ack)
	p.mu.Unlock()
	if due {
		params := a.paramsAcking("ack", nil, &page.Ack{Sequence: ack.Sequence, Refs: runs(ack.Refs)})
		a.session.Post(p.ctx, runtime.CommandCallFunctionOn, params)
	}
}

// waits notes that an agent sends nothing before its last patch is acknowledged.
func (p *Page) waits(a *agent) {
	p.mu.Lock()
	defer p.mu.Unlock()
	a.acks.awaited = true
}

// acks saves acknowledgements, each of which takes time of the page's main thread and as many bytes as a patch:
// several patches are acknowledged together, unless the agent waits.
type acks struct {
	sent, owed uint64
	awaited    bool
}

// due reports whether to acknowledge a patch now. If not, the next acknowledgement, or the next read, will do.
func (k *acks) due(ack actor.Ack) bool {
	if len(ack.Refs) == 0 && !k.awaited && ack.Sequence-k.sent < page.Window/2 {
		k.owed = ack.Sequence
		return false
	}
	k.sent, k.owed, k.awaited = ack.Sequence, 0, false
	return true
}

// taken returns the acknowledgement that a read takes along: the given one, or one that is owed, or nil.
func (k *acks) taken(ack *page.Ack) *page.Ack {
	switch {
	case ack != nil:
		k.sent = ack.Sequence
	case k.owed > 0:
		k.sent, ack = k.owed, &page.Ack{Sequence: k.owed, Refs: []int{}}
	}
	k.owed, k.awaited = 0, false
	return ack
}

// Observe implements actor.Observer.
func (p *Page) Observe(ctx context.Context, push, geometry bool) error {
	req := page.ObserveRequest{Push: push, Geometry: geometry}
	p.mu.Lock()
	p.observing = req
	p.mu.Unlock()
	for _, o := range p.agents() {
		o.agent.post(ctx, "observe", req)
	}
	return nil
}

// Audit walks a frame's document from scratch, without the model that Read follows, and returns a line
// for every element: its ref and its fields in the order of dom.Field, separated by tabs. It is the
// oracle that tests hold the model against.
func (p *Page) Audit(ctx context.Context, frame dom.FrameID) (string, error) {
	a, err := p.waitAgent(ctx, frame)
	if err != nil {
		return "", err
	}
	var text string
	if err := a.call(ctx, "fresh", nil, &text); err != nil {
		return "", p.failed(err)
	}
	return text, nil
}

// Nodes lists the browser's own ids of the elements of a frame's stored DOM, in order, so that tests can ask
// the browser what it thinks of each.
func (p *Page) Nodes(ctx context.Context, frame dom.FrameID) ([]cdp.BackendNodeID, error) {
	a, err := p.waitAgent(ctx, frame)
	if err != nil {
		return nil, err
	}
	params := a.params("nodes", nil)
	params.ReturnByValue = false
	var list runtime.CallFunctionOnResult
	if err := a.session.Call(ctx, runtime.CommandCallFunctionOn, params, &list); err != nil {
		return nil, p.failed(err)
	}
	own := true
	props, err := cdp.Call(ctx, a.session, runtime.GetProperties, runtime.GetPropertiesParams{ObjectID: list.Result.ObjectID, OwnProperties: &own})
	if err != nil {
		return nil, p.failed(err)
	}
	var ids []cdp.BackendNodeID
	for _, prop := range props.Result {
		if prop.Value == nil || prop.Value.Subtype != runtime.RemoteObjectSubtypeNode {
			continue
		}
		node, err := cdp.Call(ctx, a.session, cdpdom.DescribeNode, cdpdom.DescribeNodeParams{ObjectID: prop.Value.ObjectID})
		if err != nil {
			return nil, p.failed(err)
		}
		ids = append(ids, node.Node.BackendNodeID)
	}
	return ids, nil
}
