package sessions

import "context"

// Browser creates browser contexts. Package browserpool implements it; tests use a fake.
type Browser interface {
	// NewContext creates a browser context. actor.Browser.NewPage opens pages in it under the name.
	NewContext(ctx context.Context, name string, s Settings) (Context, error)
	// DefaultContext returns the context that always exists, under the name Default.
	DefaultContext() Context
}

// Context is the browser context of one session. Its methods are safe for concurrent use.
type Context interface {
	// Configure replaces the settings, for open pages too. A hanging page gets the settings when it responds again.
	Configure(ctx context.Context, s Settings) error
	// State reads the cookies and the storage of the visited origins.
	State(ctx context.Context, o StateOptions) (State, error)
	// SetState adds to cookies and storage. With replace, all stored data is deleted first. The storage of an origin is set before the
	// first script of its next document runs.
	SetState(ctx context.Context, s State, replace bool) error
	// Stored calls do with the stored data of the pages, and returns the error of do.
	Stored(ctx context.Context, do func(Storage) error) error
	// Downloads returns the download folder of the pages. If empty, the browser chooses the folder.
	Downloads() string
	// Close deletes all data and closes the remaining pages. With keep, the downloads stay.
	Close(ctx context.Context, keep bool) error
}

// ChangeCounter is implemented by a Context that detects when stored data may have changed.
type ChangeCounter interface {
	// Changes returns a different number whenever cookies may have changed, and usually when local storage has changed. It counts documents
	// and sent and received messages. It does not block.
	Changes() uint64
}

// Restartable is implemented by a Context whose browser may die and be restarted.
type Restartable interface {
	// Process does not block.
	Process() Process
}

// Process is the state of the browser that runs a session.
type Process struct {
	// Browser is the name of the browser. It is empty for the only or first browser.
	Browser string
	// Restarts counts the restarts of the browser since the session was created. Each restart ended the session's tabs and deleted all its
	// stored data except cookies.
	Restarts int
	// Down reports that the browser is starting.
	Down bool
}
