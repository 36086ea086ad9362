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

// prober probes the agents of a page. A probe finds what no script can see: the listeners of the page's own scripts, and
// closed shadow roots. The browser lists all listeners of a document in one answer, and serialises elements with their
// roots in another; nodes that the agent does not know yet are resolved in its world, all under way together. The page sees
// nothing of a probe. A probe takes three round trips, some 0.1 ms a listener that is new and 5 µs one that is known.
// observer.Probe says when the next one is due.
type prober struct{ m *frames.Manager }

const (
	// probeNodes is how many nodes a probe resolves at once. It goes on with the next ones probeTimes, and then for as long as
	// it took no more than probeSpan; the rest is left to the next probe.
	probeNodes = 512
	probeTimes = 4
	probeSpan  = time.Second
	// probeLimit bounds a probe.
	probeLimit = 10 * time.Second
)

// clicks are the events that make an element something to click.
var clicks = []string{
	"click", "dblclick", "mousedown", "mouseup", "pointerdown", "pointerup", "touchstart", "touchend",
}

// due waits for the probes that are under way, and probes the agents whose next probe is due.
func (p *prober) due(ctx context.Context, list []frames.Readable) {
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

// all probes agents, after the probes that are under way: those may have begun before what is looked for was there.
func (p *prober) all(ctx context.Context, list []frames.Readable) {
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

// forEach probes agents in some way, all together. A frame that does not answer is not waited for.
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

// run probes an agent whose probe the caller has begun.
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

// unasked starts a probe that an agent asked for by itself, because it is watched.
func (p *prober) unasked(a *frames.Agent) {
	p.m.Lock()
	due := !a.Reading.Late && a.Reading.Probe.BeginUnread(time.Now())
	p.m.Unlock()
	if due {
		p.m.Tasks.Go(func() { p.run(p.m.Life, a) })
	}
}

// group is what the objects of an agent's probes are released by. Agents of one process share a session.
func group(a *frames.Agent) string { return "domtap-probe-" + a.Unique }

// probe asks for listeners and closed roots, and tells the agent what is new.
func (p *prober) probe(ctx context.Context, a *frames.Agent) error {
	if err := p.holdDocument(ctx, a); err != nil {
		return err
	}
	defer a.Session.Post(ctx, runtime.CommandReleaseObjectGroup, runtime.ReleaseObjectGroupParams{ObjectGroup: group(a)})
	params := a.Params("suspects", nil)
	params.ReturnByValue, params.SerializationOptions = false, shallow
	params.ObjectGroup = group(a)
	suspects, err := a.Send(ctx, params)
	if err != nil {
		return err
	}
	depth, pierce := int64(-1), true
	var heard domdebugger.GetEventListenersResult
	if err := a.Session.Call(ctx, domdebugger.CommandGetEventListeners, domdebugger.GetEventListenersParams{
		ObjectID: runtime.RemoteObjectID(a.Reading.Probe.Document), Depth: &depth, Pierce: &pierce,
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
		if a.Reading.Probe.More = more; !more || times >= probeTimes && time.Since(start) >= probeSpan {
			return nil
		}
		roots = nil
	}
}

// holdDocument gets a handle of the agent's document, once: one of the page's own world. Asked for the listeners
// below a handle of another world, Chromium may from then on give that world the page's own objects for the
// elements that listen in it, on which what the agent took from its prototypes fails.
func (p *prober) holdDocument(ctx context.Context, a *frames.Agent) error {
	if a.Reading.Probe.Document != "" {
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
var shallow = &frames.Serialization{Serialization: "deep", MaxDepth: 1, AdditionalParameters: map[string]any{"maxNodeDepth": 0, "includeShadowTree": "none"}}

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

// learn sends an agent the elements that have listeners now and had none before, those that have none any more, and
// closed roots; more says that there are too many of the first to be sent at once. A document's list holds nodes of other
// documents when they stand in its frames: their own agents know them, and this one leaves them aside.
func (p *prober) learn(ctx context.Context, a *frames.Agent, listening, roots []cdp.BackendNodeID) (more bool, err error) {
	known := make(map[int64]struct{}, len(listening))
	request := observer.LearnRequest{On: []int64{}, Off: []int64{}}
	var fresh []cdp.BackendNodeID
	for _, id := range listening {
		_, told := a.Reading.Probe.Known[int64(id)]
		if !told && len(fresh) == probeNodes {
			more = true
			continue
		}
		known[int64(id)] = struct{}{}
		if !told {
			fresh = append(fresh, id)
		}
	}
	for id := range a.Reading.Probe.Known {
		if _, still := known[id]; !still {
			request.Off = append(request.Off, id)
		}
	}
	arguments, on, err := p.resolve(ctx, a, fresh, roots)
	if err != nil {
		return false, err
	}
	request.On = append(request.On, on...)
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

// resolve makes nodes arguments of a call in the agent's world, and returns the numbers of the first ones that
// are still there. Nodes that are gone are left out.
func (p *prober) resolve(ctx context.Context, a *frames.Agent, fresh, roots []cdp.BackendNodeID) (arguments []frames.Argument, on []int64, err error) {
	nodes := slices.Concat(fresh, roots)
	calls := make([]*devtools.Call, len(nodes))
	for i, id := range nodes {
		calls[i], err = a.Session.Conn.Send(ctx, a.Session.ID, cdpdom.CommandResolveNode, cdpdom.ResolveNodeParams{
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
		if i < len(fresh) {
			on = append(on, int64(nodes[i]))
		}
	}
	return arguments, on, nil
}
