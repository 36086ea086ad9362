package actor

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/dom"
)

const (
	// followBound is how long the page may take to be read for those who follow it.
	followBound = 10 * time.Second
	// maxSelectors is how many selectors a page evaluates at once.
	maxSelectors = 64
)

// Network is what is known of a page's requests, while somebody asks.
type Network struct {
	// Known says that the browser tells of them; Busy, that some are under way.
	Known, Busy bool
	// Since is when the last one ended, when the browser began to tell, or when the document was committed.
	Since time.Time
}

// attention is what a head tells beside the DOM.
type attention struct {
	// caught is the number of the last Following that the head was brought up to date for.
	caught   uint64
	network  Network
	selected *selections
}

// selections is what the selectors match in the whole page, immutable.
type selections struct {
	found map[dom.Selector]dom.Selection
}

// Network returns what is known of the page's requests.
func (h *Head) Network() Network { return h.attention.network }

// Selected returns what a selector matches in the whole page; false when the main document has not told yet.
func (h *Head) Selected(s dom.Selector) (dom.Selection, bool) {
	if h.attention.selected == nil {
		return dom.Selection{}, false
	}
	found, known := h.attention.selected.found[s]
	return found, known
}

// Following is one Follow.
type Following struct {
	tab    *Tab
	watch  *watch
	number uint64
}

// Follow is Watch without a turn of its own: it returns at once, and the tab's goroutine lets the page push and
// reads it when it is idle, once for all that asked by then; so any number may begin at the same time. While the
// page cannot be read, because of a dialog or a script that does not end, that is put off. The caller follows
// the heads and owes a Release. It fails with an *Error of kind Exhausted when the page evaluates too many
// selectors already.
func (t *Tab) Follow(o WatchOptions) (*Following, error) {
	one := &watch{options: o.clone()}
	number, ok := t.watches.follow(one)
	if !ok {
		return nil, apierr.Exceeded("selectors", maxSelectors, "tab %s has %d selectors that somebody waits for: wait for one to be met, then try again", t.id, maxSelectors)
	}
	return &Following{tab: t, watch: one, number: number}, nil
}

// Caught reports whether a head was published after the page was read for this Following.
func (f *Following) Caught(h *Head) bool { return h.attention.caught >= f.number }

// Release ends it. It may be called more than once and never blocks.
func (f *Following) Release() { f.tab.watches.release(f.watch) }

// clone copies what belongs to the caller.
func (o WatchOptions) clone() WatchOptions {
	o.Attributes, o.Selectors = slices.Clone(o.Attributes), slices.Clone(o.Selectors)
	return o
}

// heed returns what the page is to tell for a union of options.
func (o WatchOptions) heed() driver.ObserveOptions {
	selectors := slices.Clone(o.Selectors)
	slices.SortFunc(selectors, func(a, b dom.Selector) int {
		if n := strings.Compare(a.CSS, b.CSS); n != 0 || a.Shown == b.Shown {
			return n
		}
		if b.Shown {
			return -1
		}
		return 1
	})
	return driver.ObserveOptions{
		Structural: o.Structural, Network: o.Network, Selectors: slices.Compact(selectors),
		Attributes: slices.Compact(slices.Sorted(slices.Values(o.Attributes))),
	}
}

// follow holds a watch and gives it a number; false when that would be too many selectors.
func (w *watches) follow(one *watch) (number uint64, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(one.options.Selectors) > 0 {
		all := slices.Clone(one.options.Selectors)
		for other := range w.held {
			all = append(all, other.options.Selectors...)
		}
		if len((WatchOptions{Selectors: all}).heed().Selectors) > maxSelectors {
			return 0, false
		}
	}
	w.held[one] = struct{}{}
	w.asked++
	w.nudge()
	return w.asked, true
}

// nudge lets the tab look at its watches when it is idle.
func (w *watches) nudge() {
	select {
	case w.changed <- struct{}{}:
	default:
	}
}

// last is the number of the newest Following.
func (w *watches) last() uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.asked
}

// attend brings the head up to date for those who follow, or lowers the observation when nobody is new. When the
// page cannot be read, its next sign of life brings the tab here again.
func (t *Tab) attend() {
	asked := t.watches.last()
	if asked == t.caught {
		t.relax()
		return
	}
	if t.crashed || t.probed != nil || t.info.Dialog != nil {
		return
	}
	ctx, cancel := context.WithTimeout(t.ctx, followBound)
	defer cancel()
	err := t.observe(ctx)
	if err == nil {
		_, err = t.read(ctx, ReadOptions{})
	}
	if err != nil {
		t.log.Debug("the page could not be read for those who follow it", "err", err)
		return
	}
	t.caught = asked
}

// catchUp looks at the watches again when somebody still waits for a read. It is called after signs of life.
func (t *Tab) catchUp() {
	if t.caught != t.watches.last() {
		t.watches.nudge()
	}
}

// heed tells the page what is waited for, when that is something else than before.
func (t *Tab) heed(ctx context.Context, want driver.ObserveOptions) error {
	if t.heeded.Equal(want) {
		return nil
	}
	t.network = Network{Known: want.Network, Busy: t.network.Busy && t.heeded.Network, Since: t.network.Since}
	if !t.heeded.Network {
		t.network.Since = time.Now()
	}
	t.unchosen("") // the documents tell anew
	err := t.query(ctx, func(ctx context.Context) error { return t.page().Heed(ctx, want) })
	if err != nil {
		t.known = false
		return err
	}
	if t.heeded.Structural || want.Structural {
		t.structural = t.document
	}
	t.heeded = want
	return nil
}

// chosen takes over what a document told of selectors.
func (t *Tab) chosen(e driver.Selected) {
	if t.model.Document(e.Frame) != e.Document {
		return
	}
	t.selected[e.Frame] = e
	t.merged = nil
}

// unchosen forgets what a frame's document told; that of the main frame goes with all others.
func (t *Tab) unchosen(frame dom.FrameID) {
	delete(t.selected, frame)
	if frame == "" {
		clear(t.selected)
	}
	t.merged = nil
}

// attention makes what the next head tells beside the DOM. Until the main document has told of a selector,
// nothing is known of it.
func (t *Tab) attention() attention {
	if t.merged == nil {
		t.merged = &selections{found: map[dom.Selector]dom.Selection{}}
		for s, found := range t.selected[""].Found {
			for frame, in := range t.selected {
				if frame != "" {
					found = found.With(in.Found[s])
				}
			}
			t.merged.found[s] = found
		}
	}
	return attention{caught: t.caught, network: t.network, selected: t.merged}
}
