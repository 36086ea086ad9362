package browser

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/chromedp/cdproto/cdp"
	cdpdom "github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/runtime"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/browser/link"
	"github.com/domtap/domtap/dom"
)

// world is the page's own world in one document.
type world struct {
	session link.Session
	id      runtime.ExecutionContextID
	unique  string
}

// scriptGroup names the objects that Evaluate holds, for each session of its own.
const scriptGroup = "domtap-evaluate"

// bounded is the JavaScript function that runs in the page's world: it takes what an expression gave, calls it if it
// is a function, and makes JSON of what comes of it, unless that is too long.
const bounded = `async function(values, limit, element) {
  let value = await values[0];
  if (typeof value === "function") value = await (arguments.length > 2 ? value(element) : value());
  const text = JSON.stringify(value);
  if (typeof text !== "string") return "null";
  return text.length > limit ? "" : text;
}`

// remote is the answer of a script.
type remote struct {
	Result struct {
		ObjectID runtime.RemoteObjectID `json:"objectId"`
		Value    any                    `json:"value"`
	} `json:"result"`
	Exception *struct {
		Text      string `json:"text"`
		Exception *struct {
			Description string `json:"description"`
			Value       any    `json:"value"`
		} `json:"exception"`
	} `json:"exceptionDetails"`
}

// maxException is how long the text of an exception may be, in characters.
const maxException = 2000

// thrown is what a script threw, or "".
func (r *remote) thrown() string {
	if r.Exception == nil {
		return ""
	}
	text := r.Exception.Text
	if x := r.Exception.Exception; x != nil {
		if text = x.Description; text == "" {
			text = fmt.Sprintf("Uncaught %.*v", maxException, x.Value)
		}
	}
	runes := []rune(strings.ToValidUTF8(text[:min(len(text), 8*maxException)], ""))
	if len(runes) > maxException {
		return string(runes[:maxException]) + "…"
	}
	return string(runes)
}

// expression is what Runtime.evaluate takes.
type expression struct {
	Expression      string `json:"expression"`
	UniqueContextID string `json:"uniqueContextId"`
	ObjectGroup     string `json:"objectGroup"`
	UserGesture     bool   `json:"userGesture"`
}

// Evaluate implements actor.Seer.
func (p *Page) Evaluate(ctx context.Context, s actor.Script) (out actor.Evaluated, err error) {
	if err = p.unmasked("scripts would tell what is masked: read the page, or use a session without --mask"); err != nil {
		return out, err
	}
	p.comeForward(ctx) // scripts may wait for frames
	done, err := p.context.acts(ctx)
	if err != nil {
		return out, err
	}
	defer done()
	w, err := p.worldOf(ctx, s.Frame)
	if err != nil {
		return out, err
	}
	stop := context.AfterFunc(ctx, func() { p.endScript(context.WithoutCancel(ctx), w) })
	defer func() {
		stop()
		w.session.Post(p.ctx, runtime.CommandReleaseObjectGroup, runtime.ReleaseObjectGroupParams{ObjectGroup: scriptGroup})
	}()
	args := []callArgument{{}, {Value: s.Limit}}
	if s.Ref != dom.NoRef {
		id, err := p.resolveIn(ctx, w, s)
		if err != nil {
			return out, err
		}
		args = append(args, callArgument{ObjectID: id})
	}
	var r remote
	// In an array, so that no value of any length travels, and an object literal is no block.
	err = w.session.Call(ctx, runtime.CommandEvaluate, expression{
		Expression: "[(" + strings.TrimRight(s.Expression, "; \t\r\n") + "\n)]", UniqueContextID: w.unique, ObjectGroup: scriptGroup, UserGesture: true}, &r)
	if err != nil {
		return out, p.failed(err)
	}
	if out.Exception = r.thrown(); strings.HasPrefix(out.Exception, "SyntaxError") {
		out.Exception += "\n(what is evaluated is one expression, or a function: put statements in a function, () => { … })"
	}
	if out.Exception != "" {
		return out, nil
	}
	args[0] = callArgument{ObjectID: r.Result.ObjectID}
	return p.finishScript(ctx, w, args, s.Limit)
}

func tooLong(limit int) error {
	return actor.Exceeded("result_bytes", limit, "the result is longer than %d bytes: let the script return a part of it", limit)
}

// finishScript calls the function that a script gave, if it is one, and makes JSON of the result.
func (p *Page) finishScript(ctx context.Context, w *world, args []callArgument, limit int) (out actor.Evaluated, err error) {
	var r remote
	err = w.session.Call(ctx, runtime.CommandCallFunctionOn, callParams{
		FunctionDeclaration: bounded, UniqueContextID: w.unique, Arguments: args, ReturnByValue: true, AwaitPromise: true,
		UserGesture: true, ObjectGroup: scriptGroup}, &r)
	if err != nil {
		return out, p.failed(err)
	}
	if out.Exception = r.thrown(); out.Exception != "" {
		return out, nil
	}
	text, _ := r.Result.Value.(string)
	switch {
	case text == "" || len(text) > limit:
		return out, tooLong(limit)
	case !json.Valid([]byte(text)):
		return out, actor.Errorf(actor.Invalid, "the page replaced JSON.stringify by something that makes no JSON: return a string")
	}
	return actor.Evaluated{JSON: text}, nil
}

// worldOf waits for the page's own world in a frame.
func (p *Page) worldOf(ctx context.Context, id dom.FrameID) (w *world, err error) {
	gone := false
	err = p.await(ctx, func() bool {
		f := p.frames[p.cdpFrame(id)]
		if gone = f == nil; gone {
			return true
		}
		w = f.world
		return w != nil
	})
	if gone {
		return nil, actor.Unknown("frame", "there is no frame %q: GetDom names the frames of elements", id)
	}
	return w, err
}

// resolveIn finds the element of a ref as an object of the page's own world.
func (p *Page) resolveIn(ctx context.Context, w *world, s actor.Script) (runtime.RemoteObjectID, error) {
	agent, err := p.waitAgent(ctx, s.Frame)
	if err != nil {
		return "", err
	}
	stale := actor.Errorf(actor.Stale, "ref %d is gone from the page: read the page again and use a new ref", s.Ref)
	if s.Document != "" && agent.document != s.Document {
		return "", stale
	}
	params := agent.params("node", refArgument{Ref: uint32(s.Ref)})
	params.ReturnByValue, params.ObjectGroup = false, scriptGroup
	var found remote
	if err := agent.session.Call(ctx, runtime.CommandCallFunctionOn, params, &found); err != nil {
		return "", p.failed(err)
	}
	if found.Result.ObjectID == "" {
		return "", stale
	}
	node, err := cdp.Call(ctx, agent.session, cdpdom.DescribeNode, cdpdom.DescribeNodeParams{ObjectID: found.Result.ObjectID})
	if err != nil {
		return "", p.failed(err)
	}
	if node.Node == nil {
		return "", stale
	}
	own, err := cdp.Call(ctx, w.session, cdpdom.ResolveNode, cdpdom.ResolveNodeParams{
		BackendNodeID: node.Node.BackendNodeID, ExecutionContextID: w.id, ObjectGroup: scriptGroup})
	if err != nil {
		return "", p.failed(err)
	}
	if own.Object == nil {
		return "", stale
	}
	return own.Object.ObjectID, nil
}

// refArgument is the argument of the command "node".
type refArgument struct {
	Ref uint32 `json:"ref"`
}

// endScript ends the script that a page runs when it does not answer. One that only waits for a promise answers, and
// is left to wait: ending would hit whatever the page runs next.
func (p *Page) endScript(ctx context.Context, w *world) {
	bounded, cancel := context.WithTimeout(ctx, patience/4)
	defer cancel()
	if _, err := cdp.Call(bounded, w.session, runtime.Evaluate, runtime.EvaluateParams{Expression: "1"}); err == nil {
		return
	}
	again, stop := context.WithTimeout(ctx, time.Second)
	defer stop()
	if _, err := cdp.Call(again, w.session, runtime.TerminateExecution, cdp.Empty{}); err != nil {
		p.logger.Warn("a script that ran out of time could not be ended", "error", err)
	}
}

// worldCreated notes the page's own world of a frame's new document.
func (p *Page) worldCreated(id cdp.FrameID, w *world) {
	f := p.frame(id, "")
	p.mu.Lock()
	defer p.mu.Unlock()
	f.world = w
	p.touch()
}

// dropWorlds forgets the worlds of documents that are gone.
func (p *Page) dropWorlds(gone func(*world) bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, f := range p.frames {
		if f.world != nil && gone(f.world) {
			f.world = nil
		}
	}
}
