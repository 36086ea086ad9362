package reading

import (
	"context"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/server/messages"
	"github.com/domtap/domtap/internal/server/rpc/metering"
)

// Dom returns the answer of GetDom: the elements, and the changes if the request wants them. The snapshot must have been read with boxes.
func (s *Snapshot) Dom(ctx context.Context, r *domtapv1.GetDomRequest) *domtapv1.GetDomResponse {
	metering.FromContext(ctx).Changed(s.change != nil, s.resync)
	history := r.IncludeHistory == nil || r.GetIncludeHistory()
	page := s.View.Snapshot
	resp := &domtapv1.GetDomResponse{
		TabId: s.tab.ID(), Url: page.URL, Title: page.Title, Revision: page.Revision, Epoch: page.Epoch,
		Elements: s.boxes.Messages,
		Metadata: s.Metadata(s.View.Settled(history)),
		Diff:     s.diff(r.GetIncludeGeometry()),
		Resync:   s.resyncMessage(),
	}
	if history {
		resp.History = messages.History(page.History)
	}
	return resp
}
