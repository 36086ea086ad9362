// Package permissions sets what the pages of one session may do without asking a person, who is not there: each permission
// that a page could ask for is granted or denied.
//
// Set sends commands only when something changes. Callers owe a context that ends.
package permissions

import (
	"context"
	"slices"
	"sync"

	cdpbrowser "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"

	"github.com/domtap/domtap/internal/browser/clipboard"
	"github.com/domtap/domtap/internal/browser/devtools"
)

// Browser runs commands in the browser; devtools.Session implements it.
type Browser interface {
	Run(ctx context.Context, steps ...devtools.Step) error
}

// Clipboard decides when the permission to read the clipboard is in force; clipboard.Session implements it.
type Clipboard interface {
	// Grant calls set, which reads from mayRead whether the session may read the clipboard at once.
	Grant(ctx context.Context, read, write bool, set func(mayRead func() bool) error) error
}

// Permissions are those of one session.
type Permissions struct {
	browser   Browser
	clipboard Clipboard
	context   cdp.BrowserContextID
	// shell says that the browser is the headless shell.
	shell bool

	mu sync.Mutex
	// granted and denied were set last; nil: none were.
	granted, denied []string
}

// New makes the permissions of a session; context is empty for the default session. shell says that the browser is the headless
// shell: what Chromium grants without asking is granted there, too.
func New(b Browser, c Clipboard, context cdp.BrowserContextID, shell bool) *Permissions {
	return &Permissions{browser: b, clipboard: c, context: context, shell: shell}
}

// unasked are the permissions that Chromium grants to every page without asking. The headless shell asks for them, and takes the
// answer that does not come for a refusal. A page still writes to the clipboard only when somebody has acted on it.
var unasked = []string{
	"accelerometer", "background-fetch", "background-sync", clipboard.Write, "gyroscope", "magnetometer", "payment-handler",
	"pointer-lock", "screen-wake-lock",
}

// Set grants and denies permissions, in place of what was set before. Names that the browser does not know are left out.
func (p *Permissions) Set(ctx context.Context, granted, denied []string) error {
	if p.same(granted, denied) {
		return nil
	}
	read, write := slices.Contains(granted, clipboard.Read), slices.Contains(granted, clipboard.Write)
	err := p.clipboard.Grant(ctx, read, write, func(mayRead func() bool) error {
		return p.browser.Run(ctx, p.steps(granted, denied, mayRead)...)
	})
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.granted, p.denied = granted, denied
	return nil
}

// same reports whether these permissions are in force already.
func (p *Permissions) same(granted, denied []string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.denied != nil && slices.Equal(granted, p.granted) && slices.Equal(denied, p.denied)
}

// steps are the commands that set the permissions.
func (p *Permissions) steps(granted, denied []string, mayRead func() bool) []devtools.Step {
	reset := cdpbrowser.ResetPermissionsParams{BrowserContextID: p.context}
	steps := []devtools.Step{{Method: cdpbrowser.CommandResetPermissions, Params: reset}}
	for _, name := range denied {
		steps = append(steps, p.step(name, cdpbrowser.PermissionSettingDenied))
	}
	if p.shell {
		for _, name := range unasked {
			steps = append(steps, p.step(name, cdpbrowser.PermissionSettingGranted))
		}
	}
	for _, name := range granted {
		setting := cdpbrowser.PermissionSettingGranted
		if name == clipboard.Read && !mayRead() { // until the session is acted on
			setting = cdpbrowser.PermissionSettingDenied
		}
		steps = append(steps, p.step(name, setting))
	}
	return steps
}

func (p *Permissions) step(name string, setting cdpbrowser.PermissionSetting) devtools.Step {
	return devtools.Step{Method: cdpbrowser.CommandSetPermission, Optional: true, Params: cdpbrowser.SetPermissionParams{
		Permission: &cdpbrowser.PermissionDescriptor{
			Name: name, UserVisibleOnly: name == "push", AllowWithoutSanitization: name == clipboard.Read,
		},
		Setting: setting, BrowserContextID: p.context,
	}}
}
