package storagestate

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/runtime"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/internal/browser/devtools"
	"github.com/domtap/domtap/internal/sessions"
)

// Area is the local or session storage of one origin, accessed through a document of that origin. A script accesses it, because the
// browser's own command does not report when an origin's quota is exhausted.
type Area struct {
	Session devtools.Session
	// Context is the unique ID of the execution context, which the page's scripts must not be able to reach. It is empty for an empty
	// document.
	Context string
	Origin  string
	// Local selects local storage instead of session storage.
	Local bool
}

//go:embed webstorage.js
var webStorage string

// areaRequest is the argument of the script.
type areaRequest struct {
	Origin string      `json:"origin"`
	Local  bool        `json:"local"`
	Clear  bool        `json:"clear"`
	Remove []string    `json:"remove"`
	Set    [][2]string `json:"set"`
	Limit  int         `json:"limit"`
}

// Read returns all entries.
func (a Area) Read(ctx context.Context) ([]sessions.Entry, error) {
	return a.Edit(ctx, sessions.Edit{})
}

// Edit changes entries and returns the resulting entries. If a part of the change fails, earlier parts remain. If the document has another
// origin, the error is an *apierr.Error of kind NotFound.
func (a Area) Edit(ctx context.Context, e sessions.Edit) ([]sessions.Entry, error) {
	request := areaRequest{Origin: a.Origin, Local: a.Local, Clear: e.Clear, Remove: append([]string{}, e.Delete...), Set: [][2]string{}, Limit: sessions.MaxStateBytes}
	for _, one := range e.Set {
		request.Set = append(request.Set, [2]string{one.Name, one.Value})
	}
	var answer struct {
		Entries                  [][2]string
		Elsewhere, TooMuch, Full bool
		Failed                   string
	}
	if err := evaluate(ctx, a.Session, a.Context, webStorage, request, &answer); err != nil {
		return nil, fmt.Errorf("reaching the storage of %s: %w", a.Origin, err)
	}
	switch {
	case answer.Elsewhere:
		return nil, apierr.Unknown("origin", "the document of %s is gone: try again", a.Origin)
	case answer.TooMuch:
		return nil, tooLargeError()
	case answer.Full:
		return nil, apierr.Exceeded("origin_storage", 10<<20, "%s has no more space: an origin stores about 5 million characters; delete entries first", a.Origin)
	case answer.Failed != "":
		return nil, apierr.Unknown("origin", "the document of %s has no storage: %s", a.Origin, answer.Failed)
	}
	var entries []sessions.Entry
	for _, one := range answer.Entries {
		entries = append(entries, sessions.Entry{Name: one[0], Value: one[1]})
	}
	return entries, nil
}

// evaluate calls a JavaScript function expression with one argument in an execution context, and decodes the JSON that the function or its
// promise returns. An empty context selects the page's own.
func evaluate(ctx context.Context, s devtools.Session, in, function string, request, answer any) error {
	argument, err := json.Marshal(request)
	if err != nil {
		return err
	}
	literal, err := json.Marshal(string(argument)) // in an object literal, __proto__ would not be an ordinary name
	if err != nil {
		return err
	}
	yes := true
	got, err := cdp.Call(ctx, s, runtime.Evaluate, runtime.EvaluateParams{Expression: fmt.Sprintf("%s(JSON.parse(%s))", strings.TrimSpace(function), literal),
		UniqueContextID: in, AwaitPromise: &yes, ReturnByValue: &yes, Silent: &yes})
	if err != nil {
		return err
	}
	if got.ExceptionDetails != nil {
		return fmt.Errorf("the script failed: %s", got.ExceptionDetails.Text)
	}
	var text string
	if err := json.Unmarshal(got.Result.Value, &text); err != nil {
		return fmt.Errorf("the script answered %s: %w", got.Result.Type, err)
	}
	return json.Unmarshal([]byte(text), answer)
}

// tooLargeError returns the error for a state that is too large to be read.
func tooLargeError() *apierr.Error {
	return apierr.Exceeded("state_bytes", sessions.MaxStateBytes, "the storage of the session has more than %d MiB: delete entries that are not needed, or read fewer origins", sessions.MaxStateBytes>>20)
}
