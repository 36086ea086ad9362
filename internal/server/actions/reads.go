package actions

import (
	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/actor/turn"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/server/tabview"
	"github.com/domtap/domtap/internal/server/tabview/capture"
)

// turnRead converts a valid read step to the read of a turn.
func (s *Service) turnRead(tab *actor.Tab, step *domtapv1.ReadStep) *turn.ReadStep {
	sel := tabview.SelectionOf(&domtapv1.GetCompactRequest{
		TabId: tab.ID(), MaxTokens: step.MaxTokens, ViewportOnly: step.GetViewportOnly(), Format: step.GetFormat(),
	})
	options := sel.Read(false)
	if shared, now := s.Views.Of(tab), tab.Head().Snapshot; !shared.Followed.Follows(now) {
		options.Structural = true // the contexts that distinguish elements come from structural elements
	}
	return &turn.ReadStep{Options: options, Format: func(r actor.Reading) (string, error) {
		shared := s.Views.Of(tab)
		now, err := shared.At(r.Head, r.Head.Snapshot, sel)
		if err != nil {
			return "", err
		}
		header := now.Header(false)
		header.Next = shared.Next(now)
		return now.Print(header, now.Settled(false)), nil
	}}
}

// turnShot converts a valid screenshot step to the screenshot of a turn.
func (s *Service) turnShot(tab *actor.Tab, step *domtapv1.ScreenshotStep) *turn.ScreenshotStep {
	shot := &turn.ScreenshotStep{Shot: driver.ScreenshotOptions{Format: "png", FullPage: step.GetFullPage()}}
	if !step.GetMarks() {
		return shot
	}
	unlimited := int32(0)
	sel := tabview.SelectionOf(&domtapv1.GetCompactRequest{TabId: tab.ID(), ViewportOnly: true, MaxTokens: &unlimited})
	shot.Options = sel.Read(true)
	shot.Draw = func(r actor.Reading, picture []byte) ([]byte, error) {
		now, err := s.Views.Of(tab).At(r.Head, r.Head.Snapshot, sel)
		if err != nil {
			return nil, err
		}
		taken := &capture.Capture{View: now, Layout: r.Layout, PNG: picture, Clip: r.Layout.Viewport}
		annotated, err := taken.Annotate("png", 0)
		if err != nil {
			return nil, err
		}
		return annotated.Image, nil
	}
	return shot
}
