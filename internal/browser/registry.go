package browser

import (
	"sync"

	"github.com/chromedp/cdproto/target"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/internal/browser/downloads"
)

// registry holds the pages and contexts of a browser.
type registry struct {
	mu    sync.Mutex
	pages map[target.ID]*Page
	// contexts maps session names to contexts.
	contexts map[string]*Context
}

func newRegistry() *registry {
	return &registry{pages: map[target.ID]*Page{}, contexts: map[string]*Context{}}
}

// OpenPages returns the number of open pages, including pages of warm sessions.
func (r *registry) OpenPages() int { return len(r.allPages()) }

// addPage adds a page, unless its target already has one.
func (r *registry) addPage(id target.ID, make func() *Page) (p *Page, added bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.pages[id] != nil {
		return nil, false
	}
	p = make()
	r.pages[id] = p
	return p, true
}

func (r *registry) removePage(p *Page) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.pages, p.id)
}

// page returns the page of a target, or nil.
func (r *registry) page(id target.ID) *Page {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.pages[id]
}

func (r *registry) allPages() []*Page {
	return r.pagesThat(func(*Page) bool { return true })
}

func (r *registry) pagesThat(are func(*Page) bool) []*Page {
	r.mu.Lock()
	defer r.mu.Unlock()
	var found []*Page
	for _, p := range r.pages {
		if are(p) {
			found = append(found, p)
		}
	}
	return found
}

// opener returns our page that opened a target, or nil.
func (r *registry) opener(info *target.Info) *Page {
	if info == nil || info.Type != "page" || info.OpenerID == "" {
		return nil
	}
	return r.page(info.OpenerID)
}

// downloaders returns the pages as downloads.Page.
func (r *registry) downloaders() []downloads.Page {
	var all []downloads.Page
	for _, p := range r.allPages() {
		all = append(all, downloader{p})
	}
	return all
}

// context returns the context of a session. An empty name selects the default session.
func (r *registry) context(name string) (*Context, error) {
	if name == "" {
		name = driver.DefaultSession
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if c := r.contexts[name]; c != nil {
		return c, nil
	}
	return nil, apierr.Unknown("session", "unknown session %q: list the sessions, or create it", name)
}

// addContext adds a context, unless its name is in use.
func (r *registry) addContext(c *Context) (added bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.contexts[c.name] != nil {
		return false
	}
	r.contexts[c.name] = c
	return true
}

func (r *registry) removeContext(c *Context) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.contexts[c.name] == c {
		delete(r.contexts, c.name)
	}
}

// contextOf returns the context that a target belongs to, or nil.
func (r *registry) contextOf(info *target.Info) *Context {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.contexts {
		if c.id == info.BrowserContextID {
			return c
		}
	}
	return nil
}

// shared reports whether there is more than one session.
func (r *registry) shared() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.contexts) > 1
}
