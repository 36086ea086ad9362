package testenv

import (
	"context"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// InSessions runs a test in the default session and in a named session of the same browser, to check that the result does not depend on the
// session. For each feature that the browser implements per context, a few tests are enough.
func InSessions(t *testing.T, d *Daemon, test func(t *testing.T, d *Daemon)) {
	t.Helper()
	for _, session := range []string{"default", "named"} {
		t.Run(session, func(t *testing.T) { test(t, d.In(t, session)) })
	}
}

// InOneSession is for tests that take long. In make test-long it runs the test in both sessions, like InSessions. In make test it runs the
// test only in the named session.
func InOneSession(t *testing.T, d *Daemon, test func(t *testing.T, d *Daemon)) {
	t.Helper()
	if Long() {
		InSessions(t, d, test)
		return
	}
	t.Run("named", func(t *testing.T) { test(t, d.In(t, "named")) })
}

// In returns a client of the same daemon that adds the session to requests without one. It creates the session if it does not exist. Errors
// fail t.
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

// inSession adds the session to requests without one.
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

// named returns a copy of a request with the session in its field session_id, if it has such a field and the field is empty.
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
