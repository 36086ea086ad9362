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
	// Document is the loader ID of the document. It is unique for each document.
	Document string
	// IsOfError reports that the document is the browser's own error page.
	IsOfError bool
	// Reading is the page reader's state for the agent. The monitor guards it.
	Reading observer.Reading
}

// World is the page's own world in one document.
type World struct {
	Session devtools.Session
	ID      runtime.ExecutionContextID
	Unique  string
}

// CallParams holds the parameters of Runtime.callFunctionOn.
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
	// Foreign reports that the script is not ours and may do anything.
	Foreign bool `json:"-"`
}

// Argument is a value, or an object that is identified by its remote ID.
type Argument struct {
	// omitempty would also drop an argument that encodes as {} or "", and the script would receive undefined.
	Value    any                    `json:"value,omitzero"`
	ObjectID runtime.RemoteObjectID `json:"objectId,omitzero"`
}

// Serialization selects how deeply a result is serialized.
type Serialization struct {
	Serialization        string         `json:"serialization"`
	MaxDepth             int            `json:"maxDepth"`
	AdditionalParameters map[string]any `json:"additionalParameters"`
}

// Acts implements devtools.Acting. The only observer command that acts is the one that starts an input action: it scrolls, and sets the
// focus, values and options. All others only read or arm guards.
func (p CallParams) Acts() bool {
	return p.Foreign || len(p.Arguments) > 0 && p.Arguments[0].Value == "waitActionable"
}

// Params returns the parameters for a command of the agent.
func (a *Agent) Params(command string, argument any) CallParams {
	return a.ParamsWith(command, argument, nil)
}

// ParamsWith returns the parameters for a command with additional numbers, as encoded by observer.Mark and observer.Ack.
func (a *Agent) ParamsWith(command string, argument any, digits []any) CallParams {
	arguments := []Argument{{Value: command}, {Value: argument}}
	for _, digit := range digits {
		arguments = append(arguments, Argument{Value: digit})
	}
	return CallParams{
		FunctionDeclaration: observer.Call, UniqueContextID: a.Unique, ReturnByValue: true, Silent: true,
		AwaitPromise: command == "settle" || command == "settled" || command == "restoreScroll" || command == "reveal",
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

// Post starts a command of the agent without waiting for it.
func (a *Agent) Post(ctx context.Context, command string, argument any) {
	a.Session.Post(ctx, runtime.CommandCallFunctionOn, a.Params(command, argument))
}

// Send starts a call with the given parameters.
func (a *Agent) Send(ctx context.Context, params CallParams) (*devtools.Call, error) {
	return a.Session.Send(ctx, runtime.CommandCallFunctionOn, params)
}

// SentCommand is a command that was sent to an agent. The zero value is no command.
type SentCommand struct {
	Agent *Agent
	Call  *devtools.Call
}

// Forget drops the response. It must be called unless the caller waits for the response.
func (k SentCommand) Forget() {
	if k.Call != nil {
		k.Call.Forget()
	}
}

// Handle runs a command and returns its result as an object ID, which is empty if the result is null.
func (a *Agent) Handle(ctx context.Context, command string, argument any, group string) (runtime.RemoteObjectID, error) {
	params := a.Params(command, argument)
	params.ReturnByValue, params.ObjectGroup = false, group
	var answer runtime.CallFunctionOnResult
	if err := a.Session.Call(ctx, runtime.CommandCallFunctionOn, params, &answer); err != nil || answer.Result == nil {
		return "", err
	}
	return answer.Result.ObjectID, nil
}

// Readable is a snapshot of a frame with its agent.
type Readable struct {
	ID    cdp.FrameID
	Agent *Agent
}

// IsGoneContext reports whether an error means that the document was replaced.
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
