package timeline

import domtapv1 "github.com/domtap/domtap/gen/domtap/v1"

// KindOf returns the kind of an entry.
func KindOf(e *Entry) domtapv1.TimelineKind {
	switch e.GetEvent().(type) {
	case *domtapv1.TimelineEntry_Turn:
		return domtapv1.TimelineKind_TIMELINE_KIND_TURN
	case *domtapv1.TimelineEntry_Read:
		return domtapv1.TimelineKind_TIMELINE_KIND_READ
	case *domtapv1.TimelineEntry_Navigation:
		return domtapv1.TimelineKind_TIMELINE_KIND_NAVIGATION
	case *domtapv1.TimelineEntry_Dialog:
		return domtapv1.TimelineKind_TIMELINE_KIND_DIALOG
	case *domtapv1.TimelineEntry_Download:
		return domtapv1.TimelineKind_TIMELINE_KIND_DOWNLOAD
	case *domtapv1.TimelineEntry_Popup:
		return domtapv1.TimelineKind_TIMELINE_KIND_POPUP
	case *domtapv1.TimelineEntry_Problem:
		return domtapv1.TimelineKind_TIMELINE_KIND_PROBLEM
	case *domtapv1.TimelineEntry_Request:
		return domtapv1.TimelineKind_TIMELINE_KIND_REQUEST
	case *domtapv1.TimelineEntry_Status:
		return domtapv1.TimelineKind_TIMELINE_KIND_STATUS
	case *domtapv1.TimelineEntry_Control:
		return domtapv1.TimelineKind_TIMELINE_KIND_CONTROL
	}
	return domtapv1.TimelineKind_TIMELINE_KIND_UNSPECIFIED
}
