package actortest

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/dom"
)

// observing is what the page was asked to report beside its changes.
type observing struct {
	driver.ObserveOptions
	// matchers says what selectors match; others are invalid.
	matchers map[string]func(*Node) bool
	busy     bool
}

// Match says which nodes a selector matches from now on, of those that are reported and of those that are Off,
// which count as hidden. A selector that no Match has named is one that the browser does not take. The function
// may not call methods of the page.
func (p *documents) Match(css string, match func(*Node) bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.observing.matchers == nil {
		p.observing.matchers = map[string]func(*Node) bool{}
	}
	p.observing.matchers[css] = match
	p.flush()
}

// Traffic says that requests are under way, or that none is any more.
func (p *documents) Traffic(busy bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.observing.busy = busy
	if p.observing.Network {
		p.emit(driver.Traffic{Busy: busy})
	}
}

// ObserveOptions is what the page was asked to report beside its changes.
func (p *documents) ObserveOptions() driver.ObserveOptions {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.observing.ObserveOptions
}

// SetObserveOptions takes what the page is to report beside its changes.
func (p *documents) SetObserveOptions(ctx context.Context, h driver.ObserveOptions) error {
	p.count("SetObserveOptions")
	if err := ctx.Err(); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	began := h.Network && !p.observing.Network
	p.observing.ObserveOptions = h
	p.options.structural = p.options.structural || h.Structural
	for _, name := range h.Attributes {
		if !slices.Contains(p.options.attributes, name) {
			p.options.attributes = append(p.options.attributes, name)
		}
	}
	for _, f := range p.frames {
		f.told = ""
	}
	if began && p.observing.busy {
		p.emit(driver.Traffic{Busy: true})
	}
	p.flush()
	return nil
}

// tellSelected tells what the selectors match in a document, when that is news; the caller holds the lock.
func (p *documents) tellSelected(f *Frame) {
	if len(p.observing.Selectors) == 0 || f.waiting {
		return
	}
	found := map[dom.Selector]dom.Selection{}
	for _, s := range p.observing.Selectors {
		found[s] = p.choose(f, s)
	}
	told := ""
	for _, s := range p.observing.Selectors {
		told += fmt.Sprintln(s, found[s])
	}
	if told != f.told {
		f.told = told
		p.emit(driver.Selected{Frame: f.ID, Document: f.document, Found: maps.Clone(found)})
	}
}

func (p *documents) choose(f *Frame, s dom.Selector) (found dom.Selection) {
	match := p.observing.matchers[s.CSS]
	if match == nil {
		return dom.Selection{Invalid: true}
	}
	var walk func([]*Node)
	walk = func(nodes []*Node) {
		for _, n := range nodes {
			if match(n) && !(s.Shown && n.Off) {
				found.Count++
				if n.States.Disabled != dom.True {
					found.Enabled++
				}
				if n.known && !n.Off {
					found.Refs = append(found.Refs, n.ref)
				}
			}
			walk(n.Children)
		}
	}
	walk(f.Body)
	return found
}
