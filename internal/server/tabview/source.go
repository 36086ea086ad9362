package tabview

import (
	"context"

	"github.com/domtap/domtap/actor"
)

// Source is a tab that can be watched: an *actor.Tab, or a copy of another node's tab.
type Source interface {
	Page
	// Head returns the newest state. Watch makes the following states contain what the options request. See actor.Tab.
	Head() *actor.Head
	Watch(ctx context.Context, o actor.WatchOptions) (release func(), err error)
	// Err returns the reason why the tab ended. It is valid after Done is closed.
	Err() error
}

type sourceKey struct{}

// WithSource returns the context of a call that watches another node's tab through a local copy.
func WithSource(ctx context.Context, s Source) context.Context {
	return context.WithValue(ctx, sourceKey{}, s)
}

// SourceOf returns the local copy that serves a call. It returns false if the tab belongs to this node.
func SourceOf(ctx context.Context) (Source, bool) {
	s, ok := ctx.Value(sourceKey{}).(Source)
	return s, ok
}
