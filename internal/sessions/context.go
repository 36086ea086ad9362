package sessions

import "context"

// Browser makes browser contexts. Package browserpool implements it; tests use a fake.
type Browser interface {
	// NewContext makes a browser context. actor.Browser.NewPage opens pages in it under the name.
	NewContext(ctx context.Context, name string, s Settings) (Context, error)
	// DefaultContext is the context that always exists, under the name Default.
	DefaultContext() Context
}

// Context is the browser context of one session. Its methods are safe for concurrent use.
type Context interface {
	// Configure replaces the settings, for open pages too. A page that hangs gets the settings when it
	// answers.
	Configure(ctx context.Context, s Settings) error
	// State reads cookies, and the storage of the origins that were visited.
	State(ctx context.Context, o StateOptions) (State, error)
	// SetState adds to cookies and storage; with replace, everything that is stored is forgotten first.
	// The storage of an origin is there before the first script of its next document.
	SetState(ctx context.Context, s State, replace bool) error
	// Stored calls do with what the pages have stored, and returns its error.
	Stored(ctx context.Context, do func(Storage) error) error
	// Downloads is the folder that the pages download into; empty: the browser chooses the folder.
	Downloads() string
	// Close forgets everything, and closes the pages that are left. With keep, the downloads stay.
	Close(ctx context.Context, keep bool) error
}

// Changing is implemented by a Context that knows when what is stored may have changed.
type Changing interface {
	// Changes is another number whenever cookies may have changed, and usually when local storage has: it counts documents and what is
	// sent and received. It does not wait.
	Changes() uint64
}

// Restartable is implemented by a Context whose browser may die and be started again.
type Restartable interface {
	// Process does not wait.
	Process() Process
}

// Process is the state of the browser that a session lives in.
type Process struct {
	// Browser names the browser; empty: the only or first one.
	Browser string
	// Restarts counts how often the browser was started again since the session was made. Each time the
	// session's tabs ended, and the session lost everything that it had stored but the cookies.
	Restarts int
	// Down says that the browser is being started.
	Down bool
}
