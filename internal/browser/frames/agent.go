package frames

import (
	"context"
	"errors"
	"strings"

	"github.com/chromedp/cdproto"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/runtime"

	"github.com/domtap/domtap/internal/browser/devtools"
	"github.com/domtap/domtap/internal/browser/observer"
)

// Agent is the observer in one document.
type Agent struct {
	Session devtools.Session
	ID      runtime.ExecutionContextID
	Unique  string
	// Document is the loader's id of the document; it tells documents apart.
	Document string
	// IsOfError says that the document is the browser's own, in place of one that could not be loaded.
	IsOfError bool
	// Reading is what the reader of the page knows of the agent; the monitor guards it.
	Reading observer.Reading
}

// World is the page's own world in one document.
type World struct {
	Session devtools.Session
	ID      runtime.ExecutionContextID
	Unique  string
}

// CallParams are the parameters of Runtime.callFunctionOn.
type CallParams struct {
	FunctionDeclaration string     `json:"functionDeclaration"`
	UniqueContextID     string     `json:"uniqueContextId"`
	Arguments           []Argument `json:"arguments"`
	ReturnByValue       bool       `json:"returnByValue"`
	AwaitPromise        bool       `json:"awaitPromise"`
	Silent              bool       `json:"silent"`
	UserGesture         bool       `json:"userGesture,omitzero"`
	// SerializationOptions replaces ReturnByValue.
	SerializationOptions *Serialization `json:"serializationOptions,omitzero"`
	ObjectGroup          string         `json:"objectGroup,omitzero"`
	// Foreign: the script is not ours, and may do anything.
	Foreign bool `json:"-"`
}

// Argument is a value, or an object that the browser knows by id.
type Argument struct {
	// omitempty would leave out an argument that encodes as {} or "", too, which the script then takes for undefined.
	Value    any                    `json:"value,omitzero"`
	ObjectID runtime.RemoteObjectID `json:"objectId,omitzero"`
}

// Serialization says how deep an answer is serialised.
type Serialization struct {
	Serialization        string         `json:"serialization"`
	MaxDepth             int            `json:"maxDepth"`
	AdditionalParameters map[string]any `json:"additionalParameters"`
}

// Acts implements devtools.Acting. Of the observer's commands, those that input begins with scroll, and set the focus, values and options;
// the others look, or arm what looks.
func (p CallParams) Acts() bool {
	return p.Foreign || len(p.Arguments) > 0 && p.Arguments[0].Value == "waitActionable"
}

// Params are those of a command of the agent.
func (a *Agent) Params(command string, argument any) CallParams {
	return a.ParamsWith(command, argument, nil)
}

// ParamsWith are those of a command with numbers, as observer.Mark and observer.Ack write them.
func (a *Agent) ParamsWith(command string, argument any, digits []any) CallParams {
	arguments := []Argument{{Value: command}, {Value: argument}}
	for _, digit := range digits {
		arguments = append(arguments, Argument{Value: digit})
	}
	return CallParams{
		FunctionDeclaration: observer.Call, UniqueContextID: a.Unique, ReturnByValue: true, Silent: true,
		AwaitPromise: command == "settle" || command == "rest" || command == "restoreScroll" || command == "reveal",
		Arguments:    arguments,
	}
}

// Call runs a command of the agent.
func (a *Agent) Call(ctx context.Context, command string, argument, result any) error {
	var reply devtools.Evaluation
	if err := a.Session.Call(ctx, runtime.CommandCallFunctionOn, a.Params(command, argument), &reply); err != nil {
		return err
	}
	return reply.Decode(result)
}

// Post runs a command of the agent and does not wait for its end.
func (a *Agent) Post(ctx context.Context, command string, argument any) {
	a.Session.Post(ctx, runtime.CommandCallFunctionOn, a.Params(command, argument))
}

// Send begins a call with parameters of the caller's.
func (a *Agent) Send(ctx context.Context, params CallParams) (*devtools.Call, error) {
	return a.Session.Send(ctx, runtime.CommandCallFunctionOn, params)
}

// Asked is a command that an agent was sent, or none.
type Asked struct {
	Agent *Agent
	Call  *devtools.Call
}

// Forget lets the answer be dropped. Whoever does not wait for it owes that.
func (k Asked) Forget() {
	if k.Call != nil {
		k.Call.Forget()
	}
}

// Handle runs a command and returns its answer as an object; the object is empty when the answer is null.
func (a *Agent) Handle(ctx context.Context, command string, argument any, group string) (runtime.RemoteObjectID, error) {
	params := a.Params(command, argument)
	params.ReturnByValue, params.ObjectGroup = false, group
	var answer runtime.CallFunctionOnResult
	if err := a.Session.Call(ctx, runtime.CommandCallFunctionOn, params, &answer); err != nil || answer.Result == nil {
		return "", err
	}
	return answer.Result.ObjectID, nil
}

// Readable is a frame with its agent at one moment.
type Readable struct {
	ID    cdp.FrameID
	Agent *Agent
}

// IsGoneContext reports whether an error says that the document was replaced.
func IsGoneContext(err error) bool {
	var refused *cdproto.Error
	if !errors.As(err, &refused) {
		return false
	}
	for _, text := range []string{"uniqueContextId not found", "Cannot find context", "context was destroyed", "Session with given id", "Inspected target navigated", "Not attached to an active page"} {
		if strings.Contains(refused.Message, text) {
			return true
		}
	}
	return false
}
