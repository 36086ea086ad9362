// Package clipboard separates the clipboards of a browser's sessions. Chromium has one clipboard for all its browser contexts. A Clipboard
// tracks whose content may be on it. Its Store is a hidden page in a separate context that reads and writes the clipboard and stores a
// copy for each session.
//
// The copied content never leaves that page. Callers report when a session is acted on (Act) and when it is closed (Close).
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

//go:embed store.js
var source string

const (
	// address is the page's URL. Only secure pages have clipboard access, and the host cannot exist.
	address = "https://clipboard.invalid/"
	// maxBytes limits the stored copy of a session.
	maxBytes = 1 << 20
)

// Store is the hidden page. It must be used by one goroutine at a time.
type Store struct {
	root    devtools.Session
	context cdp.BrowserContextID
	page    *hidden.Page
	// command is the function that the page's script returned.
	command runtime.RemoteObjectID
}

// Open opens the page, which lives until Close or the end of the connection.
func Open(ctx context.Context, root devtools.Session) (*Store, error) {
	made, _, err := root.CreateContext(ctx, "", "")
	if err != nil {
		return nil, fmt.Errorf("making a context for the clipboard: %w", err)
	}
	k := &Store{root: root, context: made}
	if err = k.prepare(ctx); err != nil {
		k.Close(ctx)
		return nil, fmt.Errorf("reaching the clipboard: %w", err)
	}
	return k, nil
}

func (k *Store) prepare(ctx context.Context) (err error) {
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

// Save stores the clipboard's content as the session's copy and replaces the previous copy. It reports whether there was content of at most
// 1 MiB. Larger content is not stored.
func (k *Store) Save(ctx context.Context, session string) (saved bool, err error) {
	return k.run(ctx, "save", session)
}

// Load replaces the clipboard's content by the session's copy, or by nothing. It reports whether there was a copy.
func (k *Store) Load(ctx context.Context, session string) (loaded bool, err error) {
	return k.run(ctx, "load", session)
}

// Forget deletes the session's copy.
func (k *Store) Forget(ctx context.Context, session string) error {
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

func (k *Store) run(ctx context.Context, command, session string) (done bool, err error) {
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

// Close closes the page and its context. If ctx ends first, this continues in the background.
func (k *Store) Close(ctx context.Context) {
	if k.page != nil {
		k.page.Close(ctx)
	}
	k.root.Conn.Go(func() { _ = k.root.DisposeContext(context.WithoutCancel(ctx), k.context) }) // fails only with the connection
}
