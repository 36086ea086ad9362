package rpc

import (
	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/actor/turn"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/rpc/views"
)

// turnRead makes the reading of a turn from a step that package check let pass.
func (s *Server) turnRead(tab *actor.Tab, step *domtapv1.ReadStep) *turn.ReadStep {
	sel := views.SelectionOf(&domtapv1.GetCompactRequest{
		TabId: tab.ID(), MaxTokens: step.MaxTokens, ViewportOnly: step.GetViewportOnly(),
	})
	return &turn.ReadStep{Options: sel.Read(false), Say: func(r actor.Reading) (string, error) {
		shared := s.views.Of(tab)
		now, err := shared.At(r.Head, r.Head.Snapshot, sel)
		if err != nil {
			return "", err
		}
		header := now.Header(false)
		header.Next = shared.Next(now)
		return now.Print(header, now.Settled(false)), nil
	}}
}

// turnShot makes the picture of a turn from a step that package check let pass.
func (s *Server) turnShot(tab *actor.Tab, step *domtapv1.ScreenshotStep) *turn.ScreenshotStep {
	shot := &turn.ScreenshotStep{Shot: actor.Shot{Format: "png", FullPage: step.GetFullPage()}}
	if !step.GetMarks() {
		return shot
	}
	unlimited := int32(0)
	sel := views.SelectionOf(&domtapv1.GetCompactRequest{TabId: tab.ID(), ViewportOnly: true, MaxTokens: &unlimited})
	shot.Options = sel.Read(true)
	shot.Draw = func(r actor.Reading, picture []byte) ([]byte, error) {
		now, err := s.views.Of(tab).At(r.Head, r.Head.Snapshot, sel)
		if err != nil {
			return nil, err
		}
		marked, err := (&seen{now: now, layout: r.Layout, picture: picture, clip: r.Layout.Viewport}).mark("png", 0)
		if err != nil {
			return nil, err
		}
		return marked.image, nil
	}
	return shot
}
