// Package clipboard keeps the clipboards of the sessions of a browser apart. Chromium has one clipboard for all its browser
// contexts. A Clipboard knows whose content may be there; its Keeper is a hidden page in a context of its own that reads the
// clipboard, writes it, and remembers what it read by session.
//
// What was copied stays in that page. Callers say when a session is acted on (Act) and closed (Close).
package clipboard

import (
	"context"
	_ "embed"
	"fmt"

	cdpbrowser "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/runtime"

	"github.com/domtap/domtap/internal/browser/devtools"
	"github.com/domtap/domtap/internal/browser/hidden"
)

//go:embed keeper.js
var source string

const (
	// address is where the page is: the clipboard is for secure pages, and no such host can be.
	address = "https://clipboard.invalid/"
	// maxBytes is how much is remembered of what one session has copied.
	maxBytes = 1 << 20
)

// Keeper is the hidden page. It serves one goroutine at a time.
type Keeper struct {
	root    devtools.Session
	context cdp.BrowserContextID
	page    *hidden.Page
	// command is the function that the page's script gave.
	command runtime.RemoteObjectID
}

// Open opens the page, which lives as long as the connection.
func Open(ctx context.Context, root devtools.Session) (*Keeper, error) {
	made, _, err := root.CreateContext(ctx, "", "")
	if err != nil {
		return nil, fmt.Errorf("making a context for the clipboard: %w", err)
	}
	k := &Keeper{root: root, context: made}
	if err = k.prepare(ctx); err != nil {
		k.Close(ctx)
		return nil, fmt.Errorf("reaching the clipboard: %w", err)
	}
	return k, nil
}

func (k *Keeper) prepare(ctx context.Context) (err error) {
	for _, p := range []cdpbrowser.PermissionDescriptor{{Name: Read, AllowWithoutSanitization: true}, {Name: Write}} {
		if _, err := cdp.Call(ctx, k.root, cdpbrowser.SetPermission, cdpbrowser.SetPermissionParams{
			Permission: &p, Setting: cdpbrowser.PermissionSettingGranted, BrowserContextID: k.context}); err != nil {
			return err
		}
	}
	if k.page, err = hidden.Open(ctx, k.root, k.context,
		devtools.Step{Method: emulation.CommandSetFocusEmulationEnabled, Params: emulation.SetFocusEmulationEnabledParams{Enabled: true}}); err != nil {
		return err
	}
	refused, err := k.page.Visit(ctx, address)
	if err != nil || refused != "" {
		return fmt.Errorf("opening a page for it: %s: %w", refused, err)
	}
	made, err := cdp.Call(ctx, k.page.Session, runtime.Evaluate, runtime.EvaluateParams{Expression: source})
	if err != nil {
		return err
	}
	if made.ExceptionDetails != nil || made.Result == nil || made.Result.ObjectID == "" {
		return fmt.Errorf("its page's script failed: %v", made.ExceptionDetails)
	}
	k.command = made.Result.ObjectID
	return nil
}

// Save remembers what is on the clipboard as a session's, in place of what was remembered. It reports whether there is
// anything, up to 1 MiB; of more, nothing is remembered.
func (k *Keeper) Save(ctx context.Context, session string) (saved bool, err error) {
	return k.run(ctx, "save", session)
}

// Load puts on the clipboard what is remembered of a session, or nothing, in place of what is there. It reports whether
// there was anything.
func (k *Keeper) Load(ctx context.Context, session string) (loaded bool, err error) {
	return k.run(ctx, "load", session)
}

// Forget forgets what is remembered of a session.
func (k *Keeper) Forget(ctx context.Context, session string) error {
	_, err := k.run(ctx, "forget", session)
	return err
}

// call is a call of the page's function.
type call struct {
	FunctionDeclaration string                 `json:"functionDeclaration"`
	ObjectID            runtime.RemoteObjectID `json:"objectId"`
	Arguments           []argument             `json:"arguments"`
	ReturnByValue       bool                   `json:"returnByValue"`
	AwaitPromise        bool                   `json:"awaitPromise"`
	UserGesture         bool                   `json:"userGesture"`
}

type argument struct {
	Value any `json:"value"`
}

func (k *Keeper) run(ctx context.Context, command, session string) (done bool, err error) {
	var reply devtools.Evaluation
	err = k.page.Session.Call(ctx, runtime.CommandCallFunctionOn, call{
		FunctionDeclaration: "function (command, key, limit) { return this(command, key, limit) }", ObjectID: k.command,
		Arguments:     []argument{{command}, {session}, {maxBytes}},
		ReturnByValue: true, AwaitPromise: true, UserGesture: true}, &reply)
	if err == nil {
		err = reply.Decode(&done)
	}
	if err != nil {
		return false, fmt.Errorf("%s what a session has copied: %w", command, err)
	}
	return done, nil
}

// Close closes the page and its context. When ctx ends first, that goes on without the caller.
func (k *Keeper) Close(ctx context.Context) {
	if k.page != nil {
		k.page.Close(ctx)
	}
	k.root.Conn.Go(func() { _ = k.root.DisposeContext(context.WithoutCancel(ctx), k.context) }) // it fails with the connection only
}
