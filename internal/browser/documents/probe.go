package documents

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/chromedp/cdproto/cdp"
	cdpdom "github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/domdebugger"
	"github.com/chromedp/cdproto/runtime"

	"github.com/domtap/domtap/internal/browser/devtools"
	"github.com/domtap/domtap/internal/browser/frames"
	"github.com/domtap/domtap/internal/browser/observer"
)

// prober probes the agents of a page. A probe finds what scripts cannot see: the event listeners of the page's scripts, closed shadow
// roots, and the internals of custom elements. The browser lists all listeners of a document in one response and serializes elements with
// their shadow roots in another. Nodes that are new to the agent are resolved in its world, concurrently. The page cannot detect a probe. A
// probe takes three round trips, about 0.1 ms for a new listener and 5 µs for a known one. observer.Probe decides when the next one is due.
type prober struct{ m *frames.Manager }

const (
	// probeNodes limits how many nodes a probe resolves concurrently. While nodes remain, a probe makes at least minProbeRounds rounds and
	// continues until minProbeTime has passed. It leaves the rest to the next probe.
	probeNodes     = 512
	minProbeRounds = 4
	minProbeTime   = time.Second
	// probeLimit bounds a probe.
	probeLimit = 10 * time.Second
)

// clickEvents are the events whose listeners make an element clickable.
var clickEvents = []string{
	"click", "dblclick", "contextmenu", "mousedown", "mouseup", "pointerdown", "pointerup", "touchstart", "touchend",
}

// probeDue waits for running probes and probes the agents whose next probe is due.
func (p *prober) probeDue(ctx context.Context, list []frames.Readable) {
	p.forEach(ctx, list, func(ctx context.Context, a *frames.Agent) {
		due := false
		err := p.m.Await(ctx, func() bool {
			due = a.Reading.Probe.BeginIfDue(time.Now())
			return due || !a.Reading.Probe.Busy
		})
		if err == nil && due {
			p.run(ctx, a)
		}
	})
}

// probeAll waits for running probes, which may have started before the latest changes, and probes the agents again.
func (p *prober) probeAll(ctx context.Context, list []frames.Readable) {
	p.forEach(ctx, list, func(ctx context.Context, a *frames.Agent) {
		err := p.m.Await(ctx, func() bool {
			free := !a.Reading.Probe.Busy
			a.Reading.Probe.Busy = true
			return free
		})
		if err == nil {
			p.run(ctx, a)
		}
	})
}

// forEach calls do for agents, concurrently and with a time limit. It skips late frames.
func (p *prober) forEach(ctx context.Context, list []frames.Readable, do func(ctx context.Context, a *frames.Agent)) {
	var probes sync.WaitGroup
	for _, o := range list {
		a := o.Agent
		if p.m.IsLate(a) {
			continue
		}
		limit := probeLimit
		if !p.m.IsMain(a.Session) {
			limit = FrameGrace
		}
		probes.Go(func() {
			ctx, cancel := context.WithTimeout(ctx, limit)
			defer cancel()
			do(ctx, a)
		})
	}
	probes.Wait()
}

// run probes an agent. The caller has marked the start of the probe, and run marks its end.
func (p *prober) run(ctx context.Context, a *frames.Agent) {
	ctx, cancel := context.WithTimeout(ctx, probeLimit)
	defer cancel()
	start := time.Now()
	err := p.probe(ctx, a)
	if err != nil {
		p.m.Logger.Debug("a document was not probed", "error", err)
	}
	p.m.Change(func(*frames.Tree) { a.Reading.Probe.End(start, time.Now(), err != nil) })
}

// onRequest starts a probe that an agent requested while it pushes patches.
func (p *prober) onRequest(a *frames.Agent) {
	p.m.Lock()
	due := !a.Reading.Late && a.Reading.Probe.BeginUnread(time.Now())
	p.m.Unlock()
	if due {
		p.m.Tasks.Go(func() { p.run(p.m.Life, a) })
	}
}

// group returns the name of the object group for an agent's probes. Agents of one process share a session, but not a group.
func group(a *frames.Agent) string { return "domtap-probe-" + a.Unique }

// probe requests listeners and closed roots from the browser and sends the agent the new ones.
func (p *prober) probe(ctx context.Context, a *frames.Agent) error {
	if a.IsOfError { // an error page has no relevant listeners and no closed roots
		return nil
	}
	defer a.Session.Post(ctx, runtime.CommandReleaseObjectGroup, runtime.ReleaseObjectGroupParams{ObjectGroup: group(a)})
	params := a.Params("suspects", nil)
	params.ReturnByValue, params.SerializationOptions = false, shallowArray
	params.ObjectGroup = group(a)
	suspects, err := a.Send(ctx, params)
	if err != nil {
		return err
	}
	if err := p.holdDocument(ctx, a); err != nil {
		return err
	}
	depth, pierce := int64(-1), true
	var found domdebugger.GetEventListenersResult
	if err := a.Session.Call(ctx, domdebugger.CommandGetEventListeners, domdebugger.GetEventListenersParams{
		ObjectID: runtime.RemoteObjectID(a.Reading.Probe.Document), Depth: &depth, Pierce: &pierce,
	}, &found); err != nil {
		return err
	}
	var answer serializedHosts
	if err := suspects.Wait(ctx, &answer); err != nil {
		return err
	}
	hosts := answer.mayHaveInternals()
	if err := p.learnInternals(ctx, a, hosts); err != nil {
		if ctx.Err() != nil {
			return err
		}
		p.m.Logger.Debug("the internals of custom elements are not known", "error", err) // the listeners are needed anyway
	}
	nodes, roots := listening(found.Listeners), answer.closedRoots()
	start := time.Now()
	for times := 1; ; times++ {
		more, err := p.learn(ctx, a, nodes, roots)
		if err != nil {
			return err
		}
		if a.Reading.Probe.More = more; !more || times >= minProbeRounds && time.Since(start) >= minProbeTime {
			return nil
		}
		roots = nil
	}
}

// holdDocument gets a handle of the agent's document, once, from the page's own world. If listeners were requested through a handle of
// another world, Chromium might expose the page's own objects for elements with listeners to that world. The getters that the agent took
// from its prototypes fail on such objects.
func (p *prober) holdDocument(ctx context.Context, a *frames.Agent) error {
	if a.Reading.Probe.Document != "" {
		return nil
	}
	if own, err := p.ownDocument(ctx, a); err == nil && own != "" {
		a.Reading.Probe.Document = string(own)
		return nil
	}
	handle, err := a.Handle(ctx, "document", nil, "")
	if err != nil || handle == "" {
		return err
	}
	node, err := cdp.Call(ctx, a.Session, cdpdom.DescribeNode, cdpdom.DescribeNodeParams{ObjectID: handle})
	if err != nil || node.Node == nil {
		return err
	}
	own, err := cdp.Call(ctx, a.Session, cdpdom.ResolveNode, cdpdom.ResolveNodeParams{BackendNodeID: node.Node.BackendNodeID})
	if err != nil || own.Object == nil {
		return err
	}
	a.Reading.Probe.Document = string(own.Object.ObjectID)
	return nil
}

// ownDocument returns the document of the page's own world, in one round trip. Pages cannot substitute another object. It returns an empty
// string if the world is unknown.
func (p *prober) ownDocument(ctx context.Context, a *frames.Agent) (runtime.RemoteObjectID, error) {
	p.m.Lock()
	w := p.m.Tree.WorldOf(a)
	p.m.Unlock()
	if w == nil {
		return "", nil
	}
	silent := true
	answer, err := cdp.Call(ctx, w.Session, runtime.Evaluate, runtime.EvaluateParams{Expression: "document", UniqueContextID: w.Unique, Silent: &silent})
	if err != nil || answer.Result == nil {
		return "", err
	}
	return answer.Result.ObjectID, nil
}

// hoverEvents are the events whose listeners make an element structural, because hovering over it has an effect.
var hoverEvents = []string{"mouseenter", "mouseover", "pointerenter", "pointerover"}

// listeners holds the nodes with relevant listeners. Each node is in only one list.
type listeners struct {
	// clicks have click listeners. hovers have only hover listeners.
	clicks, hovers []cdp.BackendNodeID
}

// maxHovers limits how many nodes with only hover listeners a document may have. Pages with more, such as one per table cell, would make
// each probe more expensive.
const maxHovers = 256

// maxTypes limits how many event types an element may listen to for itself. The root of a framework listens to all types, on behalf of the
// elements in it.
const maxTypes = 24

// delegates returns the nodes that listen to more than maxTypes event types.
func delegates(all []*domdebugger.EventListener) map[cdp.BackendNodeID]bool {
	count := map[cdp.BackendNodeID]int{}
	for _, l := range all {
		count[l.BackendNodeID]++
	}
	types := map[cdp.BackendNodeID]map[string]bool{}
	found := map[cdp.BackendNodeID]bool{}
	for _, l := range all {
		if count[l.BackendNodeID] <= maxTypes {
			continue
		}
		if types[l.BackendNodeID] == nil {
			types[l.BackendNodeID] = map[string]bool{}
		}
		types[l.BackendNodeID][l.Type] = true
		found[l.BackendNodeID] = len(types[l.BackendNodeID]) > maxTypes
	}
	return found
}

// listening returns the nodes with relevant listeners.
func listening(all []*domdebugger.EventListener) listeners {
	roots := delegates(all)
	of := func(events []string) (ids []cdp.BackendNodeID) {
		for _, l := range all {
			if l.BackendNodeID != 0 && slices.Contains(events, l.Type) && !roots[l.BackendNodeID] {
				ids = append(ids, l.BackendNodeID)
			}
		}
		slices.Sort(ids)
		return slices.Compact(ids)
	}
	found := listeners{clicks: of(clickEvents), hovers: of(hoverEvents)}
	found.hovers = slices.DeleteFunc(found.hovers, func(id cdp.BackendNodeID) bool {
		_, clicked := slices.BinarySearch(found.clicks, id)
		return clicked
	})
	found.hovers = found.hovers[:min(len(found.hovers), maxHovers)]
	return found
}

// shallowArray requests an array of elements with the mode of each shadow root, but without their content.
var shallowArray = &frames.Serialization{Serialization: "deep", MaxDepth: 1, AdditionalParameters: map[string]any{"maxNodeDepth": 0, "includeShadowTree": "none"}}

// serializedHosts is an array of elements, serialized as in WebDriver BiDi.
type serializedHosts struct {
	Result struct {
		DeepSerializedValue struct {
			Value []struct {
				Type string `json:"type"`
				// Reference identifies an element that occurs several times in the array. Only the first occurrence has a value.
				Reference int `json:"weakLocalObjectReference"`
				Value     struct {
					BackendNodeID cdp.BackendNodeID `json:"backendNodeId"`
					ShadowRoot    *struct {
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

// closedRoots returns the closed shadow roots of the elements.
func (s *serializedHosts) closedRoots() []cdp.BackendNodeID {
	var ids []cdp.BackendNodeID
	for _, el := range s.Result.DeepSerializedValue.Value {
		if root := el.Value.ShadowRoot; root != nil && root.Value.Mode == "closed" {
			ids = append(ids, root.Value.BackendNodeID)
		}
	}
	return ids
}

// mayHaveInternals returns the elements after the null, which may have internals.
func (s *serializedHosts) mayHaveInternals() []int64 {
	var ids []int64
	byReference := map[int]cdp.BackendNodeID{}
	behind := false
	for _, el := range s.Result.DeepSerializedValue.Value {
		id := el.Value.BackendNodeID
		if id == 0 {
			id = byReference[el.Reference]
		} else if el.Reference != 0 {
			byReference[el.Reference] = id
		}
		if behind {
			ids = append(ids, int64(id))
		}
		behind = behind || el.Type == "null"
	}
	return ids
}

// newNodes returns at most probeNodes nodes that are new to an agent or have changed their kind. known is the agent's knowledge after it has
// learned these: it maps each node with listeners to whether it has click listeners. more reports that there are further new nodes.
func (l listeners) newNodes(before map[int64]bool) (gained []cdp.BackendNodeID, known map[int64]bool, more bool) {
	known = make(map[int64]bool, len(l.clicks)+len(l.hovers))
	note := func(ids []cdp.BackendNodeID, clicks bool) {
		for _, id := range ids {
			had, old := before[int64(id)]
			if old = old && had == clicks; !old && len(gained) == probeNodes {
				more = true
				continue
			}
			known[int64(id)] = clicks
			if !old {
				gained = append(gained, id)
			}
		}
	}
	note(l.clicks, true)
	note(l.hovers, false)
	return gained, known, more
}

// learn sends an agent the elements that gained or lost listeners, and closed roots. more reports that further elements gained listeners. A
// document's list includes nodes of the frames in it. The agent ignores them, because they belong to other agents.
func (p *prober) learn(ctx context.Context, a *frames.Agent, now listeners, roots []cdp.BackendNodeID) (more bool, err error) {
	gained, known, more := now.newNodes(a.Reading.Probe.Known)
	request := observer.LearnRequest{On: []int64{}, Off: []int64{}}
	for id := range a.Reading.Probe.Known {
		if _, still := known[id]; !still {
			request.Off = append(request.Off, id)
		}
	}
	arguments, on, err := p.resolve(ctx, a, gained, roots)
	if err != nil {
		return false, err
	}
	clicks := slices.IndexFunc(on, func(id int64) bool { return !known[id] })
	if clicks < 0 {
		clicks = len(on)
	}
	request.On, request.Hovers = append(request.On, on[:clicks]...), on[clicks:]
	if len(arguments) > 0 || len(request.Off) > 0 {
		params := a.Params("", nil)
		params.FunctionDeclaration = observer.Learn
		params.Arguments = append([]frames.Argument{{Value: request}}, arguments...)
		if err := a.Session.Call(ctx, runtime.CommandCallFunctionOn, params, nil); err != nil {
			return false, err
		}
	}
	a.Reading.Probe.Known = known
	return more, nil
}

// resolve turns nodes into call arguments in the agent's world and returns the IDs of the elements among them. It skips nodes that no
// longer exist.
func (p *prober) resolve(ctx context.Context, a *frames.Agent, elements, roots []cdp.BackendNodeID) (arguments []frames.Argument, on []int64, err error) {
	nodes := slices.Concat(elements, roots)
	calls := make([]*devtools.Call, len(nodes))
	for i, id := range nodes {
		calls[i], err = a.Session.Send(ctx, cdpdom.CommandResolveNode, cdpdom.ResolveNodeParams{
			BackendNodeID: id, ExecutionContextID: a.ID, ObjectGroup: group(a),
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
		arguments = append(arguments, frames.Argument{ObjectID: answer.Object.ObjectID})
		if i < len(elements) {
			on = append(on, int64(nodes[i]))
		}
	}
	return arguments, on, nil
}
