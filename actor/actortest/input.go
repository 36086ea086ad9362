package actortest

import (
	"context"
	"slices"
	"time"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/dom"
)

// input implements driver.Input.
type input struct {
	*Page
	actions []driver.Action
}

// Actions returns the actions on the page so far.
func (p *input) Actions() []driver.Action {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.actions)
}

// Do records the action and calls its node's Act. Like the real page, it waits while a dialog that the action opened is open.
func (p *input) Do(ctx context.Context, a driver.Action) (driver.DoResult, error) {
	p.count("Do")
	if err := p.thread(ctx); err != nil {
		return driver.DoResult{}, err
	}
	n, err := p.target(a)
	if err == nil && p.mayAct != nil {
		err = p.mayAct()
	}
	if err != nil {
		p.mu.Unlock()
		return driver.DoResult{}, err
	}
	if a.Expected != nil && a.Expected.Doubtful { // the fake has no rows
		p.mu.Unlock()
		return driver.DoResult{}, &apierr.Error{Kind: apierr.Stale, Message: "it stands beside something else", Detail: map[string]string{"cause": driver.ContextChanged}}
	}
	p.actions = append(p.actions, a)
	var act func(*Page, driver.Action) error
	if n != nil {
		act = n.Act
	}
	if n != nil && act == nil {
		switch a.Kind {
		case driver.Fill:
			n.Value = a.Text
		case driver.Type:
			n.Value += a.Text
		}
		p.flush()
	}
	p.mu.Unlock()
	if act != nil {
		if err := act(p.Page, a); err != nil {
			return driver.DoResult{}, err
		}
	}
	if err := p.thread(ctx); err != nil {
		return driver.DoResult{}, err
	}
	p.mu.Unlock()
	return driver.DoResult{}, nil
}

// target returns the node of an action. The caller holds the lock.
func (p *input) target(a driver.Action) (*Node, error) {
	if a.Ref == dom.NoRef {
		return nil, nil
	}
	if f := p.frames[a.Frame]; f != nil && f.document == a.Document {
		flat, _ := f.present(p.options)
		for _, n := range flat {
			if n.known && n.ref == a.Ref {
				return n, nil
			}
		}
	}
	return nil, apierr.Errorf(apierr.Stale, "element %d is gone", a.Ref)
}

// ReleaseButton only counts the call.
func (p *input) ReleaseButton(context.Context) { p.count("ReleaseButton") }

// SetActing only counts the call.
func (p *input) SetActing(context.Context, bool) { p.count("SetActing") }

// Settle returns when the main thread is free.
func (p *input) Settle(ctx context.Context, _ dom.FrameID, limit time.Duration, _ bool) error {
	bounded, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err := p.call(bounded, "Settle", func() {})
	if ctx.Err() == nil && bounded.Err() != nil {
		return nil
	}
	return err
}

// AwaitWindows returns when the main thread is free.
func (p *input) AwaitWindows(ctx context.Context) error {
	return p.call(ctx, "AwaitWindows", func() {})
}

// Reveal does nothing.
func (p *input) Reveal(ctx context.Context, _ driver.Element) error {
	return p.call(ctx, "Reveal", func() {})
}
