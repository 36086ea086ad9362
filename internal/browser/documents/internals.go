package documents

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/chromedp/cdproto/cdp"
	jsonv2 "github.com/chromedp/cdproto/cdp/jsonv2"
	cdpdom "github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/runtime"

	"github.com/domtap/domtap/internal/browser/devtools"
	"github.com/domtap/domtap/internal/browser/frames"
	"github.com/domtap/domtap/internal/browser/observer"
)

// This file finds the roles and states that custom elements set through their ElementInternals (docs/adr/0088). These objects belong to the
// page's own world. Nearly all elements keep them in a field, and the browser lists an element's fields, including private ones.

// internalsGroup returns the name of the object group for the internals that an agent's probes found.
func internalsGroup(a *frames.Agent) string { return "domtap-internals-" + a.Unique }

// internalsClass is the class of the objects that attachInternals returns.
const internalsClass = "ElementInternals"

// keepAll returns its arguments as an array. readAll reads the roles and aria-* values of the array's elements, by attribute name. Both run
// in the page's own world and call none of its functions except the getters of ElementInternals.
const (
	keepAll = "function(...all){return all}"
	readAll = `function(){const out=[];for(let k=0;k<this.length;k++){const i=this[k],o=i?{}:null;out[k]=o;if(!i)continue;try{
for(const n in i){const v=n==="role"||/^aria[A-Z]/.test(n)?i[n]:null;if(typeof v==="string")o[n==="role"?n:"aria-"+n.slice(4).toLowerCase()]=v.slice(0,300)}
const l=i.ariaLabelledByElements;if(l&&l.length&&!o["aria-label"])o.labelled=l.slice(0,8).map(e=>e.textContent.slice(0,300)).join(" ").slice(0,300)}catch{}}return out}`
)

// learnInternals sends an agent the internals of the elements that it asked about, if they have changed.
func (p *prober) learnInternals(ctx context.Context, a *frames.Agent, hosts []int64) error {
	if len(hosts) == 0 {
		return nil
	}
	held := &a.Reading.Probe.Internals
	same := slices.Equal(held.Hosts, hosts)
	if !same {
		if err := p.holdInternals(ctx, a, hosts); err != nil {
			return err
		}
	}
	yes := true
	var answer devtools.Evaluation
	if err := a.Session.Call(ctx, runtime.CommandCallFunctionOn, runtime.CallFunctionOnParams{
		FunctionDeclaration: readAll, ObjectID: runtime.RemoteObjectID(held.Array), ReturnByValue: &yes, Silent: &yes,
	}, &answer); err != nil {
		held.Hosts = nil
		return err
	}
	var answers json.RawMessage
	if err := answer.Decode(&answers); err != nil {
		return err
	}
	if same && held.Reported == string(answers) {
		return nil
	}
	if err := a.Call(ctx, "internals", observer.InternalsRequest{Answers: answers}, nil); err != nil {
		return err
	}
	held.Reported = string(answers)
	return nil
}

// holdInternals finds the internals of elements and holds them in an array, with null for an element without internals.
func (p *prober) holdInternals(ctx context.Context, a *frames.Agent, hosts []int64) error {
	found, err := p.findInternals(ctx, a, hosts)
	if err != nil {
		return err
	}
	a.Session.Post(ctx, runtime.CommandReleaseObjectGroup, runtime.ReleaseObjectGroupParams{ObjectGroup: internalsGroup(a)})
	silent := true
	var array runtime.CallFunctionOnResult
	if err := a.Session.Call(ctx, runtime.CommandCallFunctionOn, runtime.CallFunctionOnParams{
		FunctionDeclaration: keepAll, ObjectID: runtime.RemoteObjectID(a.Reading.Probe.Document), Arguments: found, ObjectGroup: internalsGroup(a), Silent: &silent,
	}, &array); err != nil || array.Result == nil {
		return err
	}
	a.Reading.Probe.Internals = observer.HeldInternals{Hosts: hosts, Array: string(array.Result.ObjectID)}
	return nil
}

// findInternals returns the internals of elements as call arguments, with null for an element without internals.
func (p *prober) findInternals(ctx context.Context, a *frames.Agent, hosts []int64) ([]*runtime.CallArgument, error) {
	own := true
	found := make([]*runtime.CallArgument, len(hosts))
	calls := make([]*devtools.Call, len(hosts))
	for i, id := range hosts {
		var err error
		if calls[i], err = a.Session.Send(ctx, cdpdom.CommandResolveNode, cdpdom.ResolveNodeParams{BackendNodeID: cdp.BackendNodeID(id), ObjectGroup: group(a)}); err != nil {
			return nil, err
		}
	}
	for i, k := range calls {
		found[i], calls[i] = &runtime.CallArgument{Value: jsonv2.Value("null")}, nil
		var element cdpdom.ResolveNodeResult
		if err := k.Wait(ctx, &element); err != nil || element.Object == nil {
			if ctx.Err() != nil {
				return nil, err
			}
			continue // the element is gone
		}
		var err error
		if calls[i], err = a.Session.Send(ctx, runtime.CommandGetProperties, runtime.GetPropertiesParams{ObjectID: element.Object.ObjectID, OwnProperties: &own}); err != nil {
			return nil, err
		}
	}
	for i, k := range calls {
		var fields runtime.GetPropertiesResult
		if k == nil || k.Wait(ctx, &fields) != nil {
			continue
		}
		if id := internalsAmong(&fields); id != "" {
			found[i] = &runtime.CallArgument{ObjectID: id}
		}
	}
	return found, ctx.Err()
}

// internalsAmong returns the ID of the internals among an element's fields, or an empty string.
func internalsAmong(fields *runtime.GetPropertiesResult) runtime.RemoteObjectID {
	for _, field := range fields.Result {
		if field.Value != nil && field.Value.ClassName == internalsClass {
			return field.Value.ObjectID
		}
	}
	for _, field := range fields.PrivateProperties {
		if field.Value != nil && field.Value.ClassName == internalsClass {
			return field.Value.ObjectID
		}
	}
	return ""
}
