package identity

import (
	"bytes"
	"context"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestCallsWithoutPrincipalSeeNothing(t *testing.T) {
	who := From(t.Context())
	if who != (Principal{}) || who.Rights() != None || who.Owns("default") || who.Owns("alice.default") || who.SessionName("default") != "" {
		t.Errorf("a context without a principal has %+v", who)
	}
}

func TestOwnersAreDistinguished(t *testing.T) {
	alice := ClientPrincipal("alice", All)
	for session, want := range map[string]bool{
		"alice.default": true, "alice.work": true, "default": false, "alice": false, "alice.": true, "alicex.default": false, "al.default": false, "": false,
	} {
		if got := alice.Owns(session); got != want {
			t.Errorf("alice owns %q: %v", session, got)
		}
		if !Operator().Owns(session) {
			t.Errorf("the operator does not see %q", session)
		}
	}
	if got := OwnerOf("alice.work") + OwnerOf("work"); got != "aliceoperator" {
		t.Errorf("got the owners %q", got)
	}
	if alice.SessionName("work") != "alice.work" || Operator().SessionName("alice.work") != "alice.work" {
		t.Error("the names of sessions are not as they should be")
	}
	for _, name := range []string{"", "operator", "a.b", "a b", strings.Repeat("a", 33), "ä", "../x"} {
		if who := ClientPrincipal(name, All); who != (Principal{}) {
			t.Errorf("%q is a client: %+v", name, who)
		}
	}
}

func TestBadListsAreRefusedByLine(t *testing.T) {
	good := Entry{Principal: ClientPrincipal("alice", Read), Sum: TokenSum("x")}.Line() + "# a comment\n\n" + Entry{Principal: ClientPrincipal("bob", All), Cert: true}.Line()
	list, err := Parse([]byte(good))
	if err != nil || len(list) != 2 || list[0].Line()+"# a comment\n\n"+list[1].Line() != good {
		t.Fatalf("got %v, %v", list, err)
	}
	for _, bad := range []string{
		"alice all", "alice all x y", "a.b all cert", "alice some cert", "alice all sha256:12", "alice all sha1:00", "alice all " + strings.Repeat("0", 64),
	} {
		list, err := Parse([]byte(good + bad + "\n"))
		if err == nil || list != nil || !strings.HasPrefix(err.Error(), "line 5: ") {
			t.Errorf("%q: %v, %v", bad, list, err)
		}
	}
}

// FuzzListsAreAllOrNothing parses any bytes. An accepted list can be written and parsed again, and names only clients and the operator.
func FuzzListsAreAllOrNothing(f *testing.F) {
	f.Add([]byte(Entry{Principal: ClientPrincipal("alice", All), Sum: TokenSum("x")}.Line()))
	f.Add([]byte("# nothing\n\noperator read cert\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		list, err := Parse(text)
		if err != nil && list != nil {
			t.Errorf("an error and %v", list)
		}
		for _, e := range list {
			again, err := Parse([]byte(e.Line()))
			if err != nil || len(again) != 1 || again[0] != e || e.Principal.Rights() == None || e.Principal.Name() == "" {
				t.Errorf("%v is read again as %v, %v", e, again, err)
			}
		}
	})
}

func TestTokensAndTheirEnd(t *testing.T) {
	c := New(t.Context(), "main")
	alice, bob := Entry{Principal: ClientPrincipal("alice", All), Sum: TokenSum("a")}, Entry{Principal: ClientPrincipal("bob", Read), Sum: TokenSum("b")}
	c.Set([]Entry{alice, bob, {Principal: ClientPrincipal("carol", All), Cert: true}})
	grants := map[string]Grant{}
	for token, name := range map[string]string{"main": "operator", "a": "alice", "b": "bob"} {
		g, ok := c.ByToken(token)
		if !ok || g.Principal.Name() != name {
			t.Errorf("%s: %v, %v", token, g, ok)
		}
		grants[token] = g
	}
	for _, token := range []string{"", "c", "A", "aa", string(make([]byte, 32))} {
		if g, ok := c.ByToken(token); ok {
			t.Errorf("%q is granted %v", token, g)
		}
	}
	c.Set([]Entry{bob})
	if _, ok := c.ByToken("a"); ok || !errors.Is(context.Cause(grants["a"].While), ErrRevoked) {
		t.Error("a revoked token is good")
	}
	if grants["b"].While.Err() != nil || grants["main"].While.Err() != nil {
		t.Error("what stays was ended")
	}
}

func TestCertificatesNameClients(t *testing.T) {
	uri := func(s string) *url.URL { u, _ := url.Parse(s); return u }
	cert := func(common string, uris ...*url.URL) *x509.Certificate {
		return &x509.Certificate{Subject: pkix.Name{CommonName: common}, URIs: uris}
	}
	free, listed := New(t.Context(), "main"), New(t.Context(), "main")
	listed.Set([]Entry{{Principal: ClientPrincipal("alice", Read), Cert: true}, {Principal: ClientPrincipal("bob", All), Sum: TokenSum("b")}, {Principal: Operator(), Cert: true}})
	for _, c := range []struct {
		cert         *x509.Certificate
		free, listed string
	}{
		{cert("alice"), "alice", "alice"},
		{cert("x", uri("urn:domtap:client:alice"), uri("spiffe://x/y")), "alice", "alice"},
		{cert("alice", uri("urn:domtap:client:alice"), uri("urn:domtap:client:bob")), "", ""},
		{cert("bob"), "bob", ""}, // the list has only a token for bob
		{cert("carol"), "carol", ""},
		{cert("operator"), "", "operator"},
		{cert(""), "", ""},
		{cert("a.default"), "", ""},
	} {
		a, _ := free.ByCertificate(c.cert)
		b, _ := listed.ByCertificate(c.cert)
		if a.Principal.Name() != c.free || b.Principal.Name() != c.listed {
			t.Errorf("%v %v: got %q and %q, want %q and %q", c.cert.Subject, c.cert.URIs, a.Principal.Name(), b.Principal.Name(), c.free, c.listed)
		}
	}
}

// An invalid list, or one that other users can access, leaves the previous list in force.
func TestInvalidClientListKeepsThePreviousOne(t *testing.T) {
	path := filepath.Join(t.TempDir(), "clients")
	write := func(text string, mode os.FileMode) {
		t.Helper()
		if err := errors.Join(os.WriteFile(path, []byte(text), mode), os.Chmod(path, mode)); err != nil {
			t.Fatal(err)
		}
	}
	alice := Entry{Principal: ClientPrincipal("alice", All), Sum: TokenSum("a")}.Line()
	var log bytes.Buffer
	logger := slog.New(slog.NewTextHandler(&log, nil))
	c := New(t.Context(), "main")
	write(alice, 0o644)
	if _, err := Load(path, c, logger); err == nil || !strings.Contains(err.Error(), "chmod 600") {
		t.Errorf("a list that others may read: %v", err)
	}
	write(alice, 0o600)
	file, err := Load(path, c, logger)
	if err != nil {
		t.Fatal(err)
	}
	known := func(token string) bool { _, ok := c.ByToken(token); return ok }
	for _, step := range []struct {
		text string
		mode os.FileMode
		says string
		a, b bool
	}{
		{alice + "bob all nonsense\n", 0o600, "line 2", true, false},
		{alice + "bob all sha256:3e23e8160039594a33894f6564e1b1348bbd7a0088d42c4acb73eeaed59c009d\n", 0o604, "chmod 600", true, false},
		{"bob all sha256:3e23e8160039594a33894f6564e1b1348bbd7a0088d42c4acb73eeaed59c009d\n", 0o600, "read the list", false, true},
	} {
		log.Reset()
		write(step.text, step.mode)
		file.Reload(t.Context())
		if known("a") != step.a || known("b") != step.b || !known("main") || !strings.Contains(log.String(), step.says) {
			t.Errorf("after %q: alice %v, bob %v, log %s", step.text, known("a"), known("b"), log.String())
		}
		if strings.Contains(log.String(), "nonsense") {
			t.Error("the log quotes the list")
		}
	}
}
