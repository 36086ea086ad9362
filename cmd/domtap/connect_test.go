package main

import (
	"context"
	"crypto/tls"
	"encoding/pem"
	"errors"
	"net"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/domtap/domtap/cmd/domtap/internal/exit"
	"github.com/domtap/domtap/internal/endpoint"
)

// needToken rejects calls without the token, as the daemon does over TCP.
func needToken(token string) func(context.Context, proto.Message) (proto.Message, error) {
	return func(ctx context.Context, _ proto.Message) (proto.Message, error) {
		if got := metadata.ValueFromIncomingContext(ctx, "authorization"); len(got) != 1 || got[0] != "Bearer "+token {
			return nil, status.Error(codes.Unauthenticated, "no token")
		}
		return nil, nil
	}
}

func TestTheTokenIsSentOverTCPOnly(t *testing.T) {
	token := strings.Repeat("t", 43)
	file := filepath.Join(t.TempDir(), "mytoken")
	if err := os.WriteFile(file, []byte(token+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	daemon := newFakeDaemon(t)
	daemon.answer = needToken(token)
	daemon.start(t)
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	daemon.serve(t, tcp)
	cmd := command{env: map[string]string{"DOMTAP_STATE_DIR": t.TempDir()}}
	for _, test := range []struct {
		args []string
		code int
	}{
		{[]string{"tabs", "--addr", tcp.Addr().String(), "--token-file", file}, exit.OK},
		{[]string{"tabs", "--addr", tcp.Addr().String()}, exit.Denied},
		{[]string{"tabs", "--addr", "unix://" + daemon.socket, "--token-file", file}, exit.Denied},
	} {
		if got := cmd.run(t, test.args...); got.code != test.code {
			t.Errorf("%v: exit code %d, want %d; it said %q", test.args, got.code, test.code, got.errors)
		}
	}
	if err := os.Chmod(file, 0o644); err != nil {
		t.Fatal(err)
	}
	if got := cmd.run(t, "tabs", "--addr", tcp.Addr().String(), "--token-file", file); got.code != exit.Denied || !strings.Contains(got.errors, "chmod 600") {
		t.Errorf("a token that others can read: %+v", got)
	}
}

func TestTLSIsSpokenWhereAnAuthorityIsNamed(t *testing.T) {
	certified := httptest.NewTLSServer(nil) // only its certificate is used
	defer certified.Close()
	listener, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: certified.TLS.Certificates, NextProtos: []string{"h2"}})
	if err != nil {
		t.Fatal(err)
	}
	newFakeDaemon(t).serve(t, listener)
	dir := t.TempDir()
	authority, other := filepath.Join(dir, "ca.pem"), filepath.Join(dir, "other.pem")
	pemText := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certified.Certificate().Raw})
	if err := errors.Join(os.WriteFile(authority, pemText, 0o600), os.WriteFile(other, []byte("no certificate"), 0o600)); err != nil {
		t.Fatal(err)
	}
	cmd := command{env: map[string]string{"DOMTAP_STATE_DIR": dir, "DOMTAP_ADDR": listener.Addr().String()}}
	for ca, want := range map[string]int{authority: exit.OK, other: exit.Usage, filepath.Join(dir, "none"): exit.Failure} {
		if got := cmd.run(t, "tabs", "--tls-ca", ca); got.code != want {
			t.Errorf("%s: exit code %d, want %d; it said %q", ca, got.code, want, got.errors)
		}
	}
	if got := cmd.run(t, "tabs", "--timeout", "5s"); got.code != exit.Unavailable {
		t.Errorf("without TLS: %+v", got)
	}
}

func TestTheDaemonIsStartedOnDemand(t *testing.T) {
	daemon := newFakeDaemon(t)
	starts := 0
	cmd := command{
		env: map[string]string{"DOMTAP_SOCKET": daemon.socket, "DOMTAP_STATE_DIR": t.TempDir()},
		start: func(_ context.Context, at endpoint.Places) error {
			if at.Socket != daemon.socket {
				t.Errorf("started for %s, want %s", at.Socket, daemon.socket)
			}
			starts++
			daemon.start(t)
			return nil
		},
	}
	for range 2 {
		if got := cmd.run(t, "tabs"); got.code != exit.OK {
			t.Fatalf("got %+v", got)
		}
	}
	if starts != 1 {
		t.Errorf("started %d times", starts)
	}
}

func TestADaemonThatCannotStartIsReported(t *testing.T) {
	cmd := command{
		env: map[string]string{"DOMTAP_STATE_DIR": t.TempDir()},
		start: func(context.Context, endpoint.Places) error {
			return exit.Errorf(exit.Unavailable, "do this", "no browser")
		},
	}
	if got := cmd.run(t, "tabs"); got.code != exit.Unavailable || got.errors != "domtap: no browser\nhint: do this\n" {
		t.Errorf("got %+v", got)
	}
}

func TestNoDaemonIsStartedForATCPAddress(t *testing.T) {
	cmd := command{env: map[string]string{"DOMTAP_STATE_DIR": t.TempDir()}}
	cmd.start = func(context.Context, endpoint.Places) error {
		t.Error("a daemon was started")
		return errors.New("started")
	}
	if got := cmd.run(t, "tabs", "--addr", "127.0.0.1:1", "--timeout", "2s"); got.code != exit.Unavailable {
		t.Errorf("got %+v", got)
	}
}
