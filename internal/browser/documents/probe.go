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

// prober probes the agents of a page. A probe finds what scripts cannot see: the event listeners of the page's scripts,
// closed shadow roots, and the internals of custom elements. The browser lists all listeners of a document in one answer, and serializes elements with
// their roots in another. Nodes that the agent does not know yet are resolved in its world, concurrently. The page cannot
// notice a probe. A probe takes three round trips, about 0.1 ms for a new listener and 5 µs for a known one.
// observer.Probe decides when the next one is due.
type prober struct{ m *frames.Manager }

const (
	// probeNodes is how many nodes a probe resolves concurrently. It makes probeTimes rounds, and more until it has
	// taken probeSpan; the rest is left to the next probe.
	probeNodes = 512
	probeTimes = 4
	probeSpan  = time.Second
	// probeLimit bounds a probe.
	probeLimit = 10 * time.Second
)

// clickEvents are the events whose listeners make an element clickable.
var clickEvents = []string{
	"click", "dblclick", "mousedown", "mouseup", "pointerdown", "pointerup", "touchstart", "touchend",
}

// probeDue waits for the probes that are running, and probes the agents whose next probe is due.
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

// probeAll probes agents after the probes that are running, which may have begun before the latest changes.
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

// forEach calls do for agents, concurrently and with a limit. Frames that are known not to answer are left out.
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

// run probes an agent whose probe the caller has marked as begun, and marks its end.
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

// onRequest starts a probe that an agent asked for, which it does while it pushes patches.
func (p *prober) onRequest(a *frames.Agent) {
	p.m.Lock()
	due := !a.Reading.Late && a.Reading.Probe.BeginUnread(time.Now())
	p.m.Unlock()
	if due {
		p.m.Tasks.Go(func() { p.run(p.m.Life, a) })
	}
}

// group names the object group of an agent's probes. Agents of one process share a session, but not a group.
func group(a *frames.Agent) string { return "domtap-probe-" + a.Unique }

// probe asks the browser for listeners and closed roots, and sends the agent those that are new.
func (p *prober) probe(ctx context.Context, a *frames.Agent) error {
	if a.IsOfError { // it has no listeners that matter, and no closed roots
		return nil
	}
	defer a.Session.Post(ctx, runtime.CommandReleaseObjectGroup, runtime.ReleaseObjectGroupParams{ObjectGroup: group(a)})
	params := a.Params("suspects", nil)
	params.ReturnByValue, params.SerializationOptions = false, shallow
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
		return err
	}
	nodes, roots := listening(found.Listeners), answer.closedRoots()
	start := time.Now()
	for times := 1; ; times++ {
		more, err := p.learn(ctx, a, nodes, roots)
		if err != nil {
			return err
		}
		if a.Reading.Probe.More = more; !more || times >= probeTimes && time.Since(start) >= probeSpan {
			return nil
		}
		roots = nil
	}
}

// holdDocument gets a handle of the agent's document, once, from the page's own world. When Chromium is asked for the
// listeners below a handle of another world, it may expose the page's own objects of the elements with listeners to that
// world, and the getters that the agent took from its prototypes fail on those.
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

// ownDocument asks the page's own world for its document, in one round trip. No page can put another object in its place.
// Empty: the world is not known.
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

// hoverEvents are the events whose listeners make an element structural: something happens when the pointer is over it.
var hoverEvents = []string{"mouseenter", "mouseover", "pointerenter", "pointerover"}

// listeners are the nodes with listeners that matter, each once and in one list only.
type listeners struct {
	// clicks have click listeners, hovers only hover listeners.
	clicks, hovers []cdp.BackendNodeID
}

// maxHovers is how many nodes with hover listeners alone a document may have. Pages that have more, such as one for
// each cell of a table, would make each probe dearer.
const maxHovers = 256

// maxTypes is how many types of events an element listens to at most that listens for itself. A framework's root listens
// to all types there are, for the elements in it.
const maxTypes = 24

// delegates lists the nodes that listen to more than maxTypes types of events.
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

// listening lists the nodes that have listeners that matter.
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

// shallow asks for an array of elements with the mode of each shadow root, and without their content.
var shallow = &frames.Serialization{Serialization: "deep", MaxDepth: 1, AdditionalParameters: map[string]any{"maxNodeDepth": 0, "includeShadowTree": "none"}}

// serializedHosts is an array of elements, serialized as in WebDriver BiDi.
type serializedHosts struct {
	Result struct {
		DeepSerializedValue struct {
			Value []struct {
				Type string `json:"type"`
				// Reference is that of an element that is more than once in the array, whose value is at the first place only.
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

// closedRoots lists the closed shadow roots of the elements.
func (s *serializedHosts) closedRoots() []cdp.BackendNodeID {
	var ids []cdp.BackendNodeID
	for _, el := range s.Result.DeepSerializedValue.Value {
		if root := el.Value.ShadowRoot; root != nil && root.Value.Mode == "closed" {
			ids = append(ids, root.Value.BackendNodeID)
		}
	}
	return ids
}

// mayHaveInternals lists the elements behind null, which may have internals.
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

// news returns the nodes that an agent does not know yet as what they are, at most probeNodes, and what it knows after it has
// learned these: which nodes have listeners, and whether those are click listeners. More reports that there are more.
func (l listeners) news(before map[int64]bool) (gained []cdp.BackendNodeID, known map[int64]bool, more bool) {
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

// learn sends an agent the elements that gained listeners, those that lost them, and closed roots. More reports that more
// gained some than one call sends. The list of a document includes nodes of the frames in it; the agent ignores
// those, because they belong to other agents.
func (p *prober) learn(ctx context.Context, a *frames.Agent, now listeners, roots []cdp.BackendNodeID) (more bool, err error) {
	gained, known, more := now.news(a.Reading.Probe.Known)
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

// resolve turns nodes into arguments of a call in the agent's world, and returns the ids of the elements among them.
// Nodes that no longer exist are left out.
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
