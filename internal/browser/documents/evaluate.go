package documents

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/chromedp/cdproto/cdp"
	cdpdom "github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/runtime"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/dom"
	"github.com/domtap/domtap/internal/browser/frames"
)

// Scripts runs scripts in the page's own world.
type Scripts struct{ m *frames.Manager }

// NewScripts returns the Scripts of a page.
func NewScripts(m *frames.Manager) *Scripts { return &Scripts{m} }

// scriptGroup is the object group of all objects that Evaluate creates in a session; it releases the group at its end.
const scriptGroup = "domtap-evaluate"

// toJSON is a JavaScript function that runs in the page's world. It receives the value of an expression, calls the value if it is a
// function, and returns the result as JSON. If the JSON is too long, it returns an empty string.
const toJSON = `async function(values, limit, element) {
  let value = await values[0];
  if (typeof value === "function") value = await (arguments.length > 2 ? value(element) : value());
  const text = JSON.stringify(value);
  if (typeof text !== "string") return "null";
  return text.length > limit ? "" : text;
}`

// evaluation is the result of Runtime.evaluate and Runtime.callFunctionOn.
type evaluation struct {
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

// maxException limits the text of an exception, in characters.
const maxException = 2000

// thrown returns the text of the exception that a script threw, or "".
func (r *evaluation) thrown() string {
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

// expression holds the parameters of Runtime.evaluate.
type expression struct {
	Expression      string `json:"expression"`
	UniqueContextID string `json:"uniqueContextId"`
	ObjectGroup     string `json:"objectGroup"`
	UserGesture     bool   `json:"userGesture"`
}

// Acts implements devtools.Acting.
func (expression) Acts() bool { return true }

// Evaluate runs a script in a document; see driver.Query.
func (e *Scripts) Evaluate(ctx context.Context, s driver.Script) (out driver.Evaluated, err error) {
	w, err := e.m.World(ctx, s.Frame)
	if err != nil {
		return out, err
	}
	stop := context.AfterFunc(ctx, func() { e.terminate(context.WithoutCancel(ctx), w) })
	defer func() {
		stop()
		w.Session.Post(e.m.Life, runtime.CommandReleaseObjectGroup, runtime.ReleaseObjectGroupParams{ObjectGroup: scriptGroup})
	}()
	args := []frames.Argument{{}, {Value: s.Limit}}
	if s.Ref != dom.NoRef {
		id, err := e.resolve(ctx, w, s)
		if err != nil {
			return out, err
		}
		args = append(args, frames.Argument{ObjectID: id})
	}
	var r evaluation
	// The array keeps a large value in the page, and makes the parser read an object literal as a value.
	err = w.Session.Call(ctx, runtime.CommandEvaluate, expression{
		Expression: "[(" + strings.TrimRight(s.Expression, "; \t\r\n") + "\n)]", UniqueContextID: w.Unique, ObjectGroup: scriptGroup, UserGesture: true}, &r)
	if err != nil {
		return out, e.m.Failed(err)
	}
	if out.Exception = r.thrown(); strings.HasPrefix(out.Exception, "SyntaxError") {
		out.Exception += "\n(the script must be one expression or a function: put statements in a function, () => { … })"
	}
	if out.Exception != "" {
		return out, nil
	}
	args[0] = frames.Argument{ObjectID: r.Result.ObjectID}
	return e.finish(ctx, w, args, s.Limit)
}

func tooLong(limit int) error {
	return apierr.Exceeded("result_bytes", limit, "the result is longer than %d bytes: let the script return a part of it", limit)
}

// finish runs toJSON on the value of a script.
func (e *Scripts) finish(ctx context.Context, w *frames.World, args []frames.Argument, limit int) (out driver.Evaluated, err error) {
	var r evaluation
	err = w.Session.Call(ctx, runtime.CommandCallFunctionOn, frames.CallParams{
		FunctionDeclaration: toJSON, UniqueContextID: w.Unique, Arguments: args, ReturnByValue: true, AwaitPromise: true,
		UserGesture: true, ObjectGroup: scriptGroup, Foreign: true}, &r)
	if err != nil {
		return out, e.m.Failed(err)
	}
	if out.Exception = r.thrown(); out.Exception != "" {
		return out, nil
	}
	text, _ := r.Result.Value.(string)
	switch {
	case text == "" || len(text) > limit:
		return out, tooLong(limit)
	case !json.Valid([]byte(text)):
		return out, apierr.Errorf(apierr.Invalid, "the page replaced JSON.stringify with a function that does not return JSON: return a string")
	}
	return driver.Evaluated{JSON: text}, nil
}

// resolve returns the element of a ref as an object of the page's own world.
func (e *Scripts) resolve(ctx context.Context, w *frames.World, s driver.Script) (runtime.RemoteObjectID, error) {
	agent, err := e.m.Agent(ctx, s.Frame)
	if err != nil {
		return "", err
	}
	if s.Document != "" && agent.Document != s.Document {
		return "", stale(s.Ref)
	}
	found, err := agent.Handle(ctx, "node", refArgument{Ref: uint32(s.Ref)}, scriptGroup)
	if err != nil {
		return "", e.m.Failed(err)
	}
	if found == "" {
		return "", stale(s.Ref)
	}
	node, err := cdp.Call(ctx, agent.Session, cdpdom.DescribeNode, cdpdom.DescribeNodeParams{ObjectID: found})
	if err != nil {
		return "", e.m.Failed(err)
	}
	if node.Node == nil {
		return "", stale(s.Ref)
	}
	own, err := cdp.Call(ctx, w.Session, cdpdom.ResolveNode, cdpdom.ResolveNodeParams{
		BackendNodeID: node.Node.BackendNodeID, ExecutionContextID: w.ID, ObjectGroup: scriptGroup})
	if err != nil {
		return "", e.m.Failed(err)
	}
	if own.Object == nil {
		return "", stale(s.Ref)
	}
	return own.Object.ObjectID, nil
}

// endLimit bounds how long a page may take to respond before its script is terminated.
const endLimit = 250 * time.Millisecond

// terminate ends the script of a page that does not respond. A page whose script waits for a promise does respond. That script is left
// waiting, because termination would end whatever the page runs next.
func (e *Scripts) terminate(ctx context.Context, w *frames.World) {
	bounded, cancel := context.WithTimeout(ctx, endLimit)
	defer cancel()
	if _, err := cdp.Call(bounded, w.Session, runtime.Evaluate, runtime.EvaluateParams{Expression: "1"}); err == nil {
		return
	}
	again, stop := context.WithTimeout(ctx, time.Second)
	defer stop()
	if _, err := cdp.Call(again, w.Session, runtime.TerminateExecution, cdp.Empty{}); err != nil {
		e.m.Logger.Warn("a script that timed out could not be terminated", "error", err)
	}
}
