package recording

import (
	"context"

	"google.golang.org/grpc/codes"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/server/messages"
	"github.com/domtap/domtap/internal/server/replay"
	"github.com/domtap/domtap/internal/server/rpc/authz"
	"github.com/domtap/domtap/internal/server/rpc/identity"
	"github.com/domtap/domtap/internal/server/rpc/rpcstatus"
)

// Service implements RecordingService. Its fields must be set, unless they may be nil.
type Service struct {
	domtapv1.UnimplementedRecordingServiceServer
	// Access provides the only access to tabs and sessions.
	Access *authz.Access
	// Recorder records tabs. If nil, recording is off.
	Recorder *Recorder
	// Replay serves recordings instead of live tabs. If nil, the tabs are live.
	Replay *replay.Player
}

// Record starts recordings.
func (s *Service) Record(ctx context.Context, r *domtapv1.RecordRequest) (*domtapv1.RecordResponse, error) {
	scope, err := s.scope(ctx, "", r.GetTabId(), r.GetSessionId())
	if err != nil {
		return nil, err
	}
	if r.GetTabId() != "" {
		if _, err := s.Access.Tab(ctx, r.GetTabId()); err != nil {
			return nil, err
		}
	}
	begun, err := s.Recorder.Record(ctx, scope, identity.From(ctx).Name(), Options{
		MaxBytes: r.GetMaxBytes(), MaxAge: r.GetMaxAge().AsDuration(), OmitPictures: r.GetOmitPictures(),
	})
	if err != nil {
		return nil, err
	}
	return &domtapv1.RecordResponse{Recordings: recordingsFor(ctx, begun)}, nil
}

// StopRecording stops recordings.
func (s *Service) StopRecording(ctx context.Context, r *domtapv1.StopRecordingRequest) (*domtapv1.StopRecordingResponse, error) {
	scope, err := s.scope(ctx, r.GetRecordingId(), r.GetTabId(), r.GetSessionId())
	if err != nil {
		return nil, err
	}
	ended, err := s.Recorder.Stop(ctx, scope, identity.From(ctx).Name())
	if err != nil {
		return nil, err
	}
	return &domtapv1.StopRecordingResponse{Recordings: recordingsFor(ctx, ended)}, nil
}

// ListRecordings lists recordings.
func (s *Service) ListRecordings(ctx context.Context, r *domtapv1.ListRecordingsRequest) (*domtapv1.ListRecordingsResponse, error) {
	if s.Replay != nil {
		return &domtapv1.ListRecordingsResponse{Recordings: s.Replay.Recordings(r.GetTabId(), r.GetSessionId())}, nil
	}
	scope, err := s.scope(ctx, "", r.GetTabId(), r.GetSessionId())
	if err != nil {
		return nil, err
	}
	all := s.Recorder.List(scope)
	if len(all) == 0 && r.GetTabId() != "" {
		if _, err := s.Access.Tab(ctx, r.GetTabId()); err != nil {
			return nil, err
		}
	}
	return &domtapv1.ListRecordingsResponse{Recordings: recordingsFor(ctx, all)}, nil
}

// scope returns the scope of a request, limited to the caller's tabs and sessions.
func (s *Service) scope(ctx context.Context, id, tab, session string) (Scope, error) {
	if s.Recorder == nil {
		return Scope{}, rpcstatus.New(codes.FailedPrecondition, "this daemon does not record: start it with a directory for recordings (domtap serve --record DIR)",
			rpcstatus.Info("RECORDING_OFF", nil))
	}
	session, err := s.Access.Session(ctx, session)
	return Scope{ID: id, Tab: tab, Session: session, Owns: identity.From(ctx).Owns}, err
}

// recordingsFor converts recordings for the caller. Only the operator gets file names.
func recordingsFor(ctx context.Context, all []Info) []*domtapv1.Recording {
	out := make([]*domtapv1.Recording, len(all))
	for i, one := range all {
		out[i] = messages.Recording(one)
		if !identity.From(ctx).IsOperator() {
			out[i].File = ""
		}
	}
	return out
}
