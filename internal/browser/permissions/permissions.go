// Package permissions grants or denies all permissions that the pages of a session could prompt for, because no person is there to answer.
//
// Set sends commands only if something has changed. Callers must pass a context that ends.
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

// Browser runs commands in the browser. devtools.Session implements it.
type Browser interface {
	Run(ctx context.Context, steps ...devtools.Step) error
}

// Clipboard decides when the permission to read the clipboard is in effect. clipboard.Session implements it.
type Clipboard interface {
	// Grant calls set. set gets the function mayRead, which reports whether the session may read the clipboard immediately.
	Grant(ctx context.Context, read, write bool, set func(mayRead func() bool) error) error
}

// Permissions holds the permissions of one session.
type Permissions struct {
	browser   Browser
	clipboard Clipboard
	context   cdp.BrowserContextID
	// shell reports whether the browser is the headless shell.
	shell bool

	mu sync.Mutex
	// granted and denied were set last. They are nil before the first Set.
	granted, denied []string
}

// New returns the permissions of a session. context is empty for the default session. shell reports whether the browser is the headless
// shell. There, Set also grants what full Chromium grants without a prompt.
func New(b Browser, c Clipboard, context cdp.BrowserContextID, shell bool) *Permissions {
	return &Permissions{browser: b, clipboard: c, context: context, shell: shell}
}

// unasked lists the permissions that Chromium grants to every page without a prompt. The headless shell prompts for them and treats the
// missing answer as a denial. Even with the permission, a page can write to the clipboard only after a user action.
var unasked = []string{
	"accelerometer", "background-fetch", "background-sync", clipboard.Write, "gyroscope", "magnetometer", "payment-handler",
	"pointer-lock", "screen-wake-lock",
}

// Set replaces the granted and denied permissions. It ignores names that the browser does not know.
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

// same reports whether these permissions are already set.
func (p *Permissions) same(granted, denied []string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.denied != nil && slices.Equal(granted, p.granted) && slices.Equal(denied, p.denied)
}

// steps returns the commands that set the permissions.
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
