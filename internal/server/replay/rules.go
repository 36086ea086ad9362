package replay

import (
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/server/rules"
)

// Rules are the rules of the requests of ReplayService.
var Rules = rules.Of(checkSeek)

func checkSeek(v *rules.Violations, r *domtapv1.SeekRequest) {
	if v.Want(r.GetAt().GetWhen() != nil, "at", "is required: a time, an offset or a revision") {
		v.Moment(r.GetAt())
	}
	_, byRevision := r.GetAt().GetWhen().(*domtapv1.Moment_Revision)
	v.Want(!byRevision || r.GetTabId() != "", "tab_id", "is required with a revision")
}
