package testenv

import (
	"context"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// InSessions runs a test in the default session and in a named one of the same browser, for what must not depend on the
// session. A few tests are enough for each thing that the browser does by context.
func InSessions(t *testing.T, d *Daemon, test func(t *testing.T, d *Daemon)) {
	t.Helper()
	for _, session := range []string{"default", "named"} {
		t.Run(session, func(t *testing.T) { test(t, d.In(t, session)) })
	}
}

// InOneSession is InSessions for tests that take long: make test runs them in a named session alone, make test-long in both.
func InOneSession(t *testing.T, d *Daemon, test func(t *testing.T, d *Daemon)) {
	t.Helper()
	if Long() {
		InSessions(t, d, test)
		return
	}
	t.Run("named", func(t *testing.T) { test(t, d.In(t, "named")) })
}

// In returns a client of the same daemon that adds the session to requests without one. It creates the session if there is none of
// that name. Errors fail t.
func (d *Daemon) In(t testing.TB, session string) *Daemon {
	t.Helper()
	if session != "default" {
		list, err := d.Sessions.ListSessions(t.Context(), &domtapv1.ListSessionsRequest{})
		for _, s := range list.GetSessions() {
			if s.GetId() == session {
				return d.meaning(t, session)
			}
		}
		if err == nil {
			_, err = d.Sessions.CreateSession(t.Context(), &domtapv1.CreateSessionRequest{SessionId: session})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return d.meaning(t, session)
}

func (d *Daemon) meaning(t testing.TB, session string) *Daemon {
	in := *d
	in.t, in.Session = t, session
	in.connect(inSession{d.conn, session})
	return &in
}

// inSession completes the requests that name no session.
type inSession struct {
	grpc.ClientConnInterface
	session string
}

// Invoke implements grpc.ClientConnInterface.
func (c inSession) Invoke(ctx context.Context, method string, request, answer any, opts ...grpc.CallOption) error {
	return c.ClientConnInterface.Invoke(ctx, method, named(request, c.session), answer, opts...)
}

// NewStream implements grpc.ClientConnInterface.
func (c inSession) NewStream(ctx context.Context, desc *grpc.StreamDesc, method string, opts ...grpc.CallOption) (grpc.ClientStream, error) {
	s, err := c.ClientConnInterface.NewStream(ctx, desc, method, opts...)
	if err != nil {
		return nil, err
	}
	return streamInSession{s, c.session}, nil
}

type streamInSession struct {
	grpc.ClientStream
	session string
}

// SendMsg implements grpc.ClientStream.
func (s streamInSession) SendMsg(m any) error { return s.ClientStream.SendMsg(named(m, s.session)) }

// named is a request with the session in its field session_id, where it has one that is empty.
func named(request any, session string) any {
	m, ok := request.(proto.Message)
	if !ok {
		return request
	}
	field := m.ProtoReflect().Descriptor().Fields().ByName("session_id")
	if field == nil || m.ProtoReflect().Get(field).String() != "" {
		return request
	}
	m = proto.Clone(m)
	m.ProtoReflect().Set(field, protoreflect.ValueOfString(session))
	return m
}
