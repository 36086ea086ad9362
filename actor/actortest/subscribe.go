package actortest

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/dom"
)

// reports holds what the page reports by itself.
type reports struct {
	driver.Subscription
	// matchers holds the functions of known selectors. All other selectors are invalid.
	matchers map[string]func(*Node) bool
	busy     bool
}

// Match sets which nodes a selector matches, among the reported nodes and those that are Off, which count as hidden. Selectors without a
// Match are invalid. The function must not call methods of the page.
func (p *documents) Match(css string, match func(*Node) bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.reports.matchers == nil {
		p.reports.matchers = map[string]func(*Node) bool{}
	}
	p.reports.matchers[css] = match
	p.flush()
}

// Traffic sets whether requests are in flight.
func (p *documents) Traffic(busy bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.reports.busy = busy
	if p.reports.Network {
		p.emit(driver.Traffic{Busy: busy})
	}
}

// Subscription returns the page's last subscription.
func (p *documents) Subscription() driver.Subscription {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.reports.Subscription
}

// Subscribe implements driver.Observer.
func (p *documents) Subscribe(ctx context.Context, s driver.Subscription) error {
	p.count("Subscribe")
	if err := p.thread(ctx); err != nil {
		return err
	}
	defer p.mu.Unlock()
	if !s.EqualReports(p.reports.Subscription) {
		p.setReports(s)
	}
	p.reports.Subscription = s
	p.syncFrames()
	p.flush()
	return nil
}

// SetNoticeMode implements driver.Observer. A test reports notices by Emit.
func (p *documents) SetNoticeMode(context.Context, driver.NoticeMode) {}

// Prepare implements driver.Observer.
func (p *documents) Prepare() { p.count("Prepare") }

// CollectNotices implements driver.Observer.
func (p *documents) CollectNotices(ctx context.Context, _ bool) error {
	if err := p.thread(ctx); err != nil {
		return err
	}
	p.mu.Unlock()
	return nil
}

// setReports changes the reports other than pushed changes. The caller holds the lock.
func (p *documents) setReports(s driver.Subscription) {
	p.options.structural = p.options.structural || s.Structural
	for _, name := range s.Attributes {
		if !slices.Contains(p.options.attributes, name) {
			p.options.attributes = append(p.options.attributes, name)
		}
	}
	for _, f := range p.frames {
		f.reported = ""
	}
	if s.Network && !p.reports.Network && p.reports.busy {
		p.emit(driver.Traffic{Busy: true})
	}
}

// reportSelected reports the matches of the selectors in a document, if they have changed. The caller holds the lock.
func (p *documents) reportSelected(f *Frame) {
	if len(p.reports.Selectors) == 0 || f.waiting {
		return
	}
	found := map[dom.Selector]dom.Selection{}
	for _, s := range p.reports.Selectors {
		found[s] = p.choose(f, s)
	}
	reported := ""
	for _, s := range p.reports.Selectors {
		reported += fmt.Sprintln(s, found[s])
	}
	if reported != f.reported {
		f.reported = reported
		p.emit(driver.SelectorsMatched{Frame: f.ID, Document: f.document, Found: maps.Clone(found)})
	}
}

func (p *documents) choose(f *Frame, s dom.Selector) (found dom.Selection) {
	match := p.reports.matchers[s.CSS]
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
