package peers

import (
	"fmt"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/server/rpc/intercept"
)

// class determines which node serves the calls of a method.
type class uint8

const (
	// local calls concern neither a tab nor a session. The node that receives them serves them.
	local class = iota
	// byTab calls are served by the node that has the tab.
	byTab
	// bySession calls are served by the node that has the session: the named one, or else the caller's default session.
	bySession
	// newSession calls create a session, on the node that the Directory chooses.
	newSession
	// temporary calls name a session, or create one for themselves on a node that the Directory chooses.
	temporary
	// managed calls are served by the node that has the session, but do not count as use of the session.
	managed
	// byNode calls are served by the node that the request names.
	byNode
	// everywhere calls are about all nodes, unless they name a tab or a session.
	everywhere
)

// classes lists every method of the API. A missing method is served by the node that receives its calls, and fails a test.
var classes = map[string]class{
	domtapv1.TabService_OpenTab_FullMethodName:             bySession,
	domtapv1.TabService_ListTabs_FullMethodName:            everywhere,
	domtapv1.TabService_GetTab_FullMethodName:              byTab,
	domtapv1.TabService_CloseTab_FullMethodName:            byTab,
	domtapv1.TabService_Navigate_FullMethodName:            byTab,
	domtapv1.TabService_GoBack_FullMethodName:              byTab,
	domtapv1.TabService_GoForward_FullMethodName:           byTab,
	domtapv1.TabService_Reload_FullMethodName:              byTab,
	domtapv1.TabService_AnswerDialog_FullMethodName:        byTab,
	domtapv1.TabService_SetRestore_FullMethodName:          byTab,
	domtapv1.TabService_WatchTabs_FullMethodName:           everywhere,
	domtapv1.DomService_GetDom_FullMethodName:              byTab,
	domtapv1.DomService_GetCompact_FullMethodName:          byTab,
	domtapv1.DomService_Find_FullMethodName:                byTab,
	domtapv1.DomService_WatchDom_FullMethodName:            byTab,
	domtapv1.DomService_WaitFor_FullMethodName:             byTab,
	domtapv1.ActionService_Interact_FullMethodName:         byTab,
	domtapv1.ActionService_FillForm_FullMethodName:         byTab,
	domtapv1.ToolService_ListTools_FullMethodName:          byTab,
	domtapv1.ToolService_CallTool_FullMethodName:           byTab,
	domtapv1.ToolService_WatchTools_FullMethodName:         byTab,
	domtapv1.PageService_ReadPage_FullMethodName:           byTab,
	domtapv1.PageService_Screenshot_FullMethodName:         byTab,
	domtapv1.PageService_Pdf_FullMethodName:                byTab,
	domtapv1.PageService_Extract_FullMethodName:            byTab,
	domtapv1.PageService_Batch_FullMethodName:              temporary,
	domtapv1.PageService_Evaluate_FullMethodName:           byTab,
	domtapv1.PageService_ReadLog_FullMethodName:            byTab,
	domtapv1.PageService_GetRequest_FullMethodName:         byTab,
	domtapv1.PageService_ExportHar_FullMethodName:          byTab,
	domtapv1.PageService_Audit_FullMethodName:              byTab,
	domtapv1.PageService_RecordVideo_FullMethodName:        byTab,
	domtapv1.SessionService_CreateSession_FullMethodName:   newSession,
	domtapv1.SessionService_ListSessions_FullMethodName:    everywhere,
	domtapv1.SessionService_UpdateSession_FullMethodName:   bySession,
	domtapv1.SessionService_CloseSession_FullMethodName:    bySession,
	domtapv1.SessionService_GetStorageState_FullMethodName: bySession,
	domtapv1.SessionService_SetStorageState_FullMethodName: bySession,
	domtapv1.SessionService_ListDownloads_FullMethodName:   bySession,
	domtapv1.ContextService_PruneTranscript_FullMethodName: local,
	domtapv1.ContextService_CountTokens_FullMethodName:     local,
	domtapv1.ContextService_GetHistory_FullMethodName:      byTab,
	domtapv1.StatsService_GetStats_FullMethodName:          everywhere,

	domtapv1.StorageService_ListCookies_FullMethodName:        bySession,
	domtapv1.StorageService_SetCookies_FullMethodName:         bySession,
	domtapv1.StorageService_DeleteCookies_FullMethodName:      bySession,
	domtapv1.StorageService_GetLocalStorage_FullMethodName:    bySession,
	domtapv1.StorageService_EditLocalStorage_FullMethodName:   bySession,
	domtapv1.StorageService_GetSessionStorage_FullMethodName:  byTab,
	domtapv1.StorageService_EditSessionStorage_FullMethodName: byTab,

	domtapv1.NetworkService_AddRoute_FullMethodName:     bySession,
	domtapv1.NetworkService_ListRoutes_FullMethodName:   bySession,
	domtapv1.NetworkService_RemoveRoutes_FullMethodName: bySession,

	domtapv1.TimelineService_GetTimeline_FullMethodName:   byTab,
	domtapv1.TimelineService_WatchTimeline_FullMethodName: byTab,
	domtapv1.TimelineService_TakeOver_FullMethodName:      byTab,
	domtapv1.TimelineService_HandBack_FullMethodName:      byTab,
	// These calls name a tab or a session.
	domtapv1.TimelineService_PauseClient_FullMethodName:  byTab,
	domtapv1.TimelineService_ResumeClient_FullMethodName: byTab,
	domtapv1.TimelineService_ListPauses_FullMethodName:   byTab,

	domtapv1.SearchService_Search_FullMethodName:              local,
	domtapv1.SearchService_ListSearchProviders_FullMethodName: local,

	domtapv1.RecordingService_Record_FullMethodName:         everywhere,
	domtapv1.RecordingService_StopRecording_FullMethodName:  everywhere,
	domtapv1.RecordingService_ListRecordings_FullMethodName: everywhere,
	domtapv1.ReplayService_GetReplay_FullMethodName:         local,
	domtapv1.ReplayService_Seek_FullMethodName:              byTab,

	domtapv1.ClusterService_GetCluster_FullMethodName:  local,
	domtapv1.ClusterService_DrainNode_FullMethodName:   byNode,
	domtapv1.ClusterService_MoveSession_FullMethodName: managed,

	domtapv1.DaemonService_StartLivePage_FullMethodName: local,
	domtapv1.DaemonService_StopLivePage_FullMethodName:  local,
}

// method is a method whose calls may be passed on.
type method struct {
	// name is the full name, such as /domtap.v1.TabService/GetTab.
	name  string
	class class
	// tab, session and node are the request's fields that name a tab, session or node. A field is nil if the request does not have it.
	tab, session, node protoreflect.FieldDescriptor
	output             protoreflect.MessageType
	// reads reports that a call changes nothing and may be repeated.
	reads bool
}

// The names of the fields.
const (
	tabField     = "tab_id"
	sessionField = "session_id"
	nodeField    = "node_id"
)

// methodsOf returns the methods that may be passed on, with the fields of their requests.
func methodsOf(classes map[string]class) (map[string]*method, error) {
	all := map[string]*method{}
	for name, class := range classes {
		if class == local {
			continue
		}
		m, err := methodOf(name, class)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		all[name] = m
	}
	return all, nil
}

func methodOf(name string, class class) (*method, error) {
	found, err := protoregistry.GlobalFiles.FindDescriptorByName(fullName(name))
	if err != nil {
		return nil, err
	}
	descriptor, ok := found.(protoreflect.MethodDescriptor)
	if !ok {
		return nil, fmt.Errorf("it is a %T", found)
	}
	output, err := protoregistry.GlobalTypes.FindMessageByName(descriptor.Output().FullName())
	if err != nil {
		return nil, err
	}
	m := &method{name: name, class: class, output: output, reads: intercept.ReadMethods[name]}
	fields := descriptor.Input().Fields()
	m.tab, m.session = fields.ByName(tabField), fields.ByName(sessionField)
	switch class {
	case byTab:
		if m.tab == nil {
			return nil, fmt.Errorf("its request has no field %s", tabField)
		}
	case byNode:
		if m.node = fields.ByName(nodeField); m.node == nil {
			return nil, fmt.Errorf("its request has no field %s", nodeField)
		}
	case bySession, newSession, temporary, managed:
		if m.session == nil {
			return nil, fmt.Errorf("its request has no field %s", sessionField)
		}
	}
	return m, nil
}

// fullName returns the name of a method as in descriptors: domtap.v1.TabService.GetTab.
func fullName(method string) protoreflect.FullName {
	name := []byte(method[1:])
	for i, b := range name {
		if b == '/' {
			name[i] = '.'
		}
	}
	return protoreflect.FullName(name)
}

// subject identifies what a call is about. All names are empty if the call is about everything.
type subject struct {
	tab, session, node string
}

// subject returns the names in a request.
func (m *method) subject(request proto.Message) subject {
	var s subject
	if m.tab != nil {
		s.tab = request.ProtoReflect().Get(m.tab).String()
	}
	if m.session != nil {
		s.session = request.ProtoReflect().Get(m.session).String()
	}
	if m.node != nil {
		s.node = request.ProtoReflect().Get(m.node).String()
	}
	return s
}
