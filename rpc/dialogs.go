package rpc

import (
	"context"

	"github.com/domtap/domtap/actor"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/rpc/convert"
)

// AnswerDialog answers the dialog that is open.
func (s *tabService) AnswerDialog(ctx context.Context, r *domtapv1.AnswerDialogRequest) (*domtapv1.AnswerDialogResponse, error) {
	tab, err := s.server.gate.Tab(ctx, r.GetTabId())
	if err != nil {
		return nil, err
	}
	answered, err := tab.AnswerDialog(ctx, actor.DialogAnswer{ID: r.GetDialogId(), Accept: r.GetAccept(), Text: r.PromptText})
	if err != nil {
		return nil, err
	}
	return &domtapv1.AnswerDialogResponse{Dialog: convert.Dialog(&answered), Tab: convert.Tab(tab.Info())}, nil
}
