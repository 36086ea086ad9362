package hands

import (
	"context"

	"github.com/domtap/domtap/actor"
)

// whenClicked asks the document of an element to tell of the click on it before the page's own handlers run, one of which may never
// end. It is asked before the guard is armed, so that it is under way when the mouse is pressed.
func (t *task) whenClicked(ctx context.Context, p *path) {
	switch t.action.Kind {
	case actor.Click, actor.Check, actor.Uncheck, actor.Upload:
	default:
		return
	}
	if k, err := p.leaf().Send(ctx, "whenClicked", map[string]any{"clicks": max(1, t.action.Clicks)}); err == nil {
		p.clicked = k
	}
}

// wasClicked reports whether the click was told of, for when the page has stopped answering.
func (p *path) wasClicked(ctx context.Context) bool {
	var got struct {
		Clicked bool `json:"clicked"`
	}
	return p.clicked != nil && p.clicked.Arrived() && answer(context.WithoutCancel(ctx), p.clicked, &got) == nil && got.Clicked
}

// forget drops the question for the click.
func (p *path) forget() {
	if p.clicked != nil {
		p.clicked.Forget()
	}
}
