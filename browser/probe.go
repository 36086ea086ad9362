package browser

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/chromedp/cdproto/cdp"
	cdpdom "github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/domdebugger"
	"github.com/chromedp/cdproto/runtime"

	"github.com/domtap/domtap/browser/link"
	"github.com/domtap/domtap/browser/page"
)

// A probe finds what no script can see: the listeners of the page's own scripts, and closed shadow roots.
// The browser lists all listeners of a document in one answer, and serialises elements with their roots in
// another; nodes that the agent was not told of yet are resolved in its world, all under way together. It
// leaves no trace that the page could see. A probe takes three round trips, some 0.1 ms a listener that is
// new and 5 µs one that is known. A document into which elements came that may listen is always probed before it
// is read. Other probes come now and then, and take no more than a fifth of the time (docs/adr/0008).
type probe struct {
	// busy says that one is under way; reading, that the agent is being read.
	busy, reading bool
	// failed says that the last one did not end: what it was to find out is not known.
	failed bool
	// ended is when the last one ended and took how long it took.
	ended time.Time
	took  time.Duration
	// more says that the last one left nodes for the next.
	more bool
	// document is the document as an object of the page's own world.
	document runtime.RemoteObjectID
	// known are the elements that the agent was told to have listeners.
	known map[cdp.BackendNodeID]struct{}
}

const (
	// probeNodes is how many nodes a probe resolves at once. It goes on with the next ones probeTimes, and then for as long as
	// it took no more than probeSpan; the rest is left to the next probe.
	probeNodes = 512
	probeTimes = 4
	probeSpan  = time.Second
	// probeEvery is how long after a probe the listeners of a document that did not grow are worth another.
	probeEvery = 2 * time.Second
	// probeLimit bounds a probe.
	probeLimit = 10 * time.Second
	// failedSoon is how short a probe that failed was when the next read tries again at once.
	failedSoon = time.Second
)

// due reports whether a document may be probed that has not grown, by what the last probe cost.
func (r *probe) due(now time.Time) bool {
	since := now.Sub(r.ended)
	switch {
	case r.ended.IsZero():
		return true
	case r.failed:
		return since >= r.took || r.took < failedSoon
	case r.more:
		return since >= 4*r.took
	}
	return since >= max(probeEvery, 50*r.took)
}

// mayNudge reports whether a document that has grown may be probed although nobody reads it.
func (r *probe) mayNudge(now time.Time) bool { return r.ended.IsZero() || now.Sub(r.ended) >= 4*r.took }

// clicks are the events that make an element something to click.
var clicks = []string{
	"click", "dblclick", "mousedown", "mouseup", "pointerdown", "pointerup", "touchstart", "touchend",
}

// probeDue waits for the probes that are under way, and probes the agents that it is time for.
func (p *Page) probeDue(ctx context.Context, list []observed) {
	p.forEach(ctx, list, func(ctx context.Context, a *agent) {
		due := false
		err := p.await(ctx, func() bool {
			due = !a.probe.busy && a.probe.due(time.Now())
			a.probe.busy = a.probe.busy || due
			return due || !a.probe.busy
		})
		if err == nil && due {
			p.runProbe(ctx, a)
		}
	})
}

// probeAll probes agents, after the probes that are under way: those may have begun before what is looked for was there.
func (p *Page) probeAll(ctx context.Context, list []observed) {
	p.forEach(ctx, list, func(ctx context.Context, a *agent) {
		err := p.await(ctx, func() bool {
			free := !a.probe.busy
			a.probe.busy = true
			return free
		})
		if err == nil {
			p.runProbe(ctx, a)
		}
	})
}

// forEach probes agents in some way, all together. A frame that does not answer is not waited for.
func (p *Page) forEach(ctx context.Context, list []observed, do func(ctx context.Context, a *agent)) {
	var probes sync.WaitGroup
	for _, o := range list {
		a := o.agent
		if p.isLate(a) {
			continue
		}
		limit := probeLimit
		if a.session.ID != p.main.ID {
			limit = frameGrace
		}
		probes.Go(func() {
			ctx, cancel := context.WithTimeout(ctx, limit)
			defer cancel()
			do(ctx, a)
		})
	}
	probes.Wait()
}

// runProbe probes an agent that the caller has made busy.
func (p *Page) runProbe(ctx context.Context, a *agent) {
	ctx, cancel := context.WithTimeout(ctx, probeLimit)
	defer cancel()
	start := time.Now()
	err := p.probeOnce(ctx, a)
	if err != nil {
		p.logger.Debug("a document was not probed", "error", err)
	}
	p.mu.Lock()
	a.probe.busy, a.probe.failed = false, err != nil
	a.probe.ended = time.Now()
	a.probe.took = a.probe.ended.Sub(start)
	p.touch()
	p.mu.Unlock()
}

// nudged starts a probe that an agent asked for by itself, because it is watched. None begins while the agent is read: to
// the agent nothing has grown from the beginning of a probe, and the read would miss what that finds.
func (p *Page) nudged(a *agent) {
	p.mu.Lock()
	due := !a.probe.busy && !a.probe.reading && !a.late && a.probe.mayNudge(time.Now())
	a.probe.busy = a.probe.busy || due
	p.mu.Unlock()
	if due {
		p.tasks.Go(func() { p.runProbe(p.ctx, a) })
	}
}

// reading notes whether agents are being read.
func (p *Page) reading(list []observed, on bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, o := range list {
		o.agent.probe.reading = on
	}
}

// group is what the objects of an agent's probes are released by. Agents of one process share a session.
func (a *agent) group() string { return "domtap-probe-" + a.unique }

// probeOnce asks for listeners and closed roots, and tells the agent what is new.
func (p *Page) probeOnce(ctx context.Context, a *agent) error {
	if err := p.holdDocument(ctx, a); err != nil {
		return err
	}
	defer a.session.Post(ctx, runtime.CommandReleaseObjectGroup, runtime.ReleaseObjectGroupParams{ObjectGroup: a.group()})
	params := a.params("suspects", nil)
	params.ReturnByValue, params.SerializationOptions = false, shallow
	params.ObjectGroup = a.group()
	suspects, err := a.session.Conn.Send(ctx, a.session.ID, runtime.CommandCallFunctionOn, params)
	if err != nil {
		return err
	}
	depth, pierce := int64(-1), true
	var heard domdebugger.GetEventListenersResult
	if err := a.session.Call(ctx, domdebugger.CommandGetEventListeners, domdebugger.GetEventListenersParams{
		ObjectID: a.probe.document, Depth: &depth, Pierce: &pierce,
	}, &heard); err != nil {
		return err
	}
	var answer serialised
	if err := suspects.Wait(ctx, &answer); err != nil {
		return err
	}
	nodes, roots := listening(heard.Listeners), answer.closedRoots()
	start := time.Now()
	for times := 1; ; times++ {
		more, err := p.learn(ctx, a, nodes, roots)
		if err != nil {
			return err
		}
		if a.probe.more = more; !more || times >= probeTimes && time.Since(start) >= probeSpan {
			return nil
		}
		roots = nil
	}
}

// holdDocument gets a handle of the agent's document, once: one of the page's own world. Asked for the listeners
// below a handle of another world, Chromium may from then on give that world the page's own objects for the
// elements that listen in it, on which what the agent took from its prototypes fails.
func (p *Page) holdDocument(ctx context.Context, a *agent) error {
	if a.probe.document != "" {
		return nil
	}
	params := a.params("document", nil)
	params.ReturnByValue = false
	var answer runtime.CallFunctionOnResult
	if err := a.session.Call(ctx, runtime.CommandCallFunctionOn, params, &answer); err != nil {
		return err
	}
	if answer.Result == nil {
		return nil
	}
	node, err := cdp.Call(ctx, a.session, cdpdom.DescribeNode, cdpdom.DescribeNodeParams{ObjectID: answer.Result.ObjectID})
	if err != nil || node.Node == nil {
		return err
	}
	own, err := cdp.Call(ctx, a.session, cdpdom.ResolveNode, cdpdom.ResolveNodeParams{BackendNodeID: node.Node.BackendNodeID})
	if err != nil || own.Object == nil {
		return err
	}
	a.probe.document = own.Object.ObjectID
	return nil
}

// listening lists the nodes that listen to clicks.
func listening(all []*domdebugger.EventListener) []cdp.BackendNodeID {
	var ids []cdp.BackendNodeID
	for _, l := range all {
		if l.BackendNodeID != 0 && slices.Contains(clicks, l.Type) {
			ids = append(ids, l.BackendNodeID)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// shallow asks for an array of elements with what each one's shadow root is, and for nothing in them.
var shallow = &serialization{Serialization: "deep", MaxDepth: 1, AdditionalParameters: map[string]any{"maxNodeDepth": 0, "includeShadowTree": "none"}}

type serialization struct {
	Serialization        string         `json:"serialization"`
	MaxDepth             int            `json:"maxDepth"`
	AdditionalParameters map[string]any `json:"additionalParameters"`
}

// serialised is an array of elements, serialised as WebDriver BiDi has it.
type serialised struct {
	Result struct {
		DeepSerializedValue struct {
			Value []struct {
				Value struct {
					ShadowRoot *struct {
						Value struct {
							BackendNodeID cdp.BackendNodeID `json:"backendNodeId"`
							Mode          string            `json:"mode"`
						} `json:"value"`
					} `json:"shadowRoot"`
				} `json:"value"`
			} `json:"value"`
		} `json:"deepSerializedValue"`
	} `json:"result"`
}

func (s *serialised) closedRoots() []cdp.BackendNodeID {
	var ids []cdp.BackendNodeID
	for _, el := range s.Result.DeepSerializedValue.Value {
		if root := el.Value.ShadowRoot; root != nil && root.Value.Mode == "closed" {
			ids = append(ids, root.Value.BackendNodeID)
		}
	}
	return ids
}

// learn tells an agent of the elements that listen now and did not before, of those that do no more, and of
// closed roots; more says that there are too many of the first to be told at once. Nodes of other documents, which a document's list holds when they stand in its frames, are
// no news to their own agents and nothing to this one, which leaves them aside.
func (p *Page) learn(ctx context.Context, a *agent, listening, roots []cdp.BackendNodeID) (more bool, err error) {
	known := make(map[cdp.BackendNodeID]struct{}, len(listening))
	request := page.LearnRequest{On: []int64{}, Off: []int64{}}
	var fresh []cdp.BackendNodeID
	for _, id := range listening {
		_, told := a.probe.known[id]
		if !told && len(fresh) == probeNodes {
			more = true
			continue
		}
		known[id] = struct{}{}
		if !told {
			fresh = append(fresh, id)
		}
	}
	for id := range a.probe.known {
		if _, still := known[id]; !still {
			request.Off = append(request.Off, int64(id))
		}
	}
	arguments, on, err := p.resolve(ctx, a, fresh, roots)
	if err != nil {
		return false, err
	}
	request.On = append(request.On, on...)
	if len(arguments) > 0 || len(request.Off) > 0 {
		params := a.params("", nil)
		params.FunctionDeclaration = page.Learn
		params.Arguments = append([]callArgument{{Value: request}}, arguments...)
		if err := a.session.Call(ctx, runtime.CommandCallFunctionOn, params, nil); err != nil {
			return false, err
		}
	}
	a.probe.known = known
	return more, nil
}

// resolve makes nodes arguments of a call in the agent's world, and returns the numbers of the first ones that
// are still there. Nodes that are gone are left out.
func (p *Page) resolve(ctx context.Context, a *agent, fresh, roots []cdp.BackendNodeID) (arguments []callArgument, on []int64, err error) {
	nodes := slices.Concat(fresh, roots)
	calls := make([]*link.Call, len(nodes))
	for i, id := range nodes {
		calls[i], err = a.session.Conn.Send(ctx, a.session.ID, cdpdom.CommandResolveNode, cdpdom.ResolveNodeParams{
			BackendNodeID: id, ExecutionContextID: a.id, ObjectGroup: a.group(),
		})
		if err != nil {
			return nil, nil, err
		}
	}
	for i, k := range calls {
		var answer cdpdom.ResolveNodeResult
		if err := k.Wait(ctx, &answer); err != nil || answer.Object == nil {
			if ctx.Err() != nil {
				return nil, nil, err
			}
			continue
		}
		arguments = append(arguments, callArgument{ObjectID: answer.Object.ObjectID})
		if i < len(fresh) {
			on = append(on, int64(nodes[i]))
		}
	}
	return arguments, on, nil
}
