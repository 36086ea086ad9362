package actortest

import (
	"context"

	"github.com/domtap/domtap/actor/driver"
)

// capturer takes pictures.
type capturer struct {
	*Page
	picture []byte
}

// Screenshot returns the format's name as the picture, or what Picture was given.
func (p *capturer) Screenshot(ctx context.Context, s driver.Shot) ([]byte, error) {
	p.count("Screenshot")
	if err := p.thread(ctx); err != nil {
		return nil, err
	}
	defer p.mu.Unlock()
	if p.picture != nil {
		return p.picture, nil
	}
	return []byte(s.Format), nil
}

// Picture is what screenshots show from now on.
func (p *capturer) Picture(image []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.picture = image
}
