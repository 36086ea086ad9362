package actortest

import (
	"context"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
)

// tools implements driver.Tools.
type tools struct {
	*Page
	call func(driver.ToolCall) driver.ToolClaim
}

// Offers lets the page offer tools, and sets what their calls return. The function must not call methods of the page.
func (p *tools) Offers(call func(driver.ToolCall) driver.ToolClaim, all ...driver.Tool) {
	p.locked(func() {
		p.call = call
		p.emit(driver.ToolsChanged{Tools: all})
	})
}

// CallTool implements driver.Tools.
func (p *tools) CallTool(ctx context.Context, c driver.ToolCall) (driver.ToolClaim, error) {
	if err := p.thread(ctx); err != nil {
		return driver.ToolClaim{}, err
	}
	defer p.mu.Unlock()
	if p.call == nil {
		return driver.ToolClaim{}, apierr.Unknown("tool", "the page offers no tools")
	}
	return p.call(c), nil
}
