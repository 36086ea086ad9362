package identity

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"sync"
)

const (
	// maxClients limits the lines of a list of clients.
	maxClients = 1000
	// sumPrefix precedes the sum of a token. byCertificate replaces the sum for clients with a certificate.
	sumPrefix     = "sha256:"
	byCertificate = "cert"
)

// ErrRevoked is the cause that ends the context of a revoked Grant.
var ErrRevoked = errors.New("the credential was revoked")

// Entry is one line of a list of clients.
type Entry struct {
	Principal Principal
	// Sum is the sum of the token. It is unset if Cert is set.
	Sum  [sha256.Size]byte
	Cert bool
}

// TokenSum returns the SHA-256 sum of a token. The sum is stored instead of the token.
func TokenSum(token string) [sha256.Size]byte { return sha256.Sum256([]byte(token)) }

// Line formats an entry as a line of a list.
func (e Entry) Line() string {
	credential := byCertificate
	if !e.Cert {
		credential = sumPrefix + hex.EncodeToString(e.Sum[:])
	}
	return fmt.Sprintf("%s %s %s\n", e.Principal.name, e.Principal.rights, credential)
}

// Parse reads a list of clients. Each line has a name, rights ("all" or "read"), and a credential. The credential is the sum of a token
// ("sha256:" and 64 hexadecimal digits), or "cert" for a certificate. A name may have several lines. Empty lines and lines that begin with
// # are ignored. Errors contain the line number, never the content.
func Parse(list []byte) ([]Entry, error) {
	var all []Entry
	lines := bufio.NewScanner(bytes.NewReader(list))
	for n := 1; lines.Scan(); n++ {
		fields := strings.Fields(lines.Text())
		if len(fields) == 0 || strings.HasPrefix(fields[0], "#") {
			continue
		}
		e, err := parseLine(fields)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		if all = append(all, e); len(all) > maxClients {
			return nil, fmt.Errorf("there are more than %d lines", maxClients)
		}
	}
	return all, lines.Err()
}

func parseLine(fields []string) (e Entry, err error) {
	if len(fields) != 3 {
		return e, errors.New(`must be "NAME all|read sha256:SUM" or "NAME all|read cert": use "domtap token new" to write such lines`)
	}
	if e.Principal, err = ParsePrincipal(fields[0], fields[1]); err != nil {
		return e, err
	}
	if fields[2] == byCertificate {
		e.Cert = true
		return e, nil
	}
	digits, isSum := strings.CutPrefix(fields[2], sumPrefix)
	sum, err := hex.DecodeString(digits)
	if !isSum || err != nil || len(sum) != sha256.Size {
		return e, errors.New("the last word must be sha256: with 64 hexadecimal digits, or cert")
	}
	e.Sum = [sha256.Size]byte(sum)
	return e, nil
}

// Grant is the permission of an authenticated client to call.
type Grant struct {
	Principal Principal
	// While ends with the cause ErrRevoked when the permission is revoked.
	While context.Context
}

// Clients authenticates callers. Its methods are safe for concurrent use.
type Clients struct {
	ctx context.Context

	mu sync.Mutex
	// granted holds the entries in force. If main is set, it is the first entry.
	granted []*granted
	main    *granted
	// listed reports that a list of clients is in use. Certificates must then be listed, too.
	listed bool
}

type granted struct {
	Entry
	while  context.Context
	revoke context.CancelCauseFunc
}

// New returns Clients with the operator's token, unless token is empty. All grants end with ctx.
func New(ctx context.Context, token string) *Clients {
	c := &Clients{ctx: ctx}
	if token != "" {
		c.main = c.grant(Entry{Principal: Operator(), Sum: TokenSum(token)})
		c.granted = []*granted{c.main}
	}
	return c
}

func (c *Clients) grant(e Entry) *granted {
	g := &granted{Entry: e}
	g.while, g.revoke = context.WithCancelCause(c.ctx)
	return g
}

// Set replaces the list. Grants in both lists continue. Grants that are missing from the new list are revoked.
func (c *Clients) Set(list []Entry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.listed = true
	before := map[Entry]*granted{}
	for _, g := range c.granted {
		if g != c.main {
			before[g.Entry] = g
		}
	}
	c.granted = nil
	if c.main != nil {
		c.granted = append(c.granted, c.main)
	}
	for _, e := range list {
		g := before[e]
		if g == nil {
			g = c.grant(e)
		}
		before[e] = g
		c.granted = append(c.granted, g)
	}
	kept := map[*granted]bool{}
	for _, g := range c.granted {
		kept[g] = true
	}
	for _, g := range before {
		if !kept[g] {
			g.revoke(ErrRevoked)
		}
	}
}

// ByToken returns the grant of a token. It compares the token to all sums in constant time.
func (c *Clients) ByToken(token string) (Grant, bool) {
	sum := TokenSum(token)
	c.mu.Lock()
	defer c.mu.Unlock()
	found := -1
	for i, g := range c.granted {
		same := subtle.ConstantTimeCompare(sum[:], g.Sum[:])
		if g.Cert {
			same = 0
		}
		found = subtle.ConstantTimeSelect(same, i, found)
	}
	if found < 0 || token == "" {
		return Grant{}, false
	}
	return Grant{c.granted[found].Principal, c.granted[found].while}, true
}

// ByCertificate returns the grant of a certificate that an authority of --tls-client-ca has signed. If there is a list of clients, it must
// contain the certificate's name with cert. Without a list, every name except the operator's has all rights, in its own sessions.
func (c *Clients) ByCertificate(cert *x509.Certificate) (Grant, bool) {
	name := CertificateName(cert)
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, g := range c.granted {
		if g.Cert && g.Principal.name == name {
			return Grant{g.Principal, g.while}, true
		}
	}
	if c.listed || !IsName(name) {
		return Grant{}, false
	}
	return Grant{ClientPrincipal(name, All), c.ctx}, true
}

// namePath is the prefix of the URI that contains the client's name in a certificate.
const namePath = "urn:domtap:client:"

// CertificateName returns the name of a client in its certificate. That is the part after urn:domtap:client: of a URI among its alternative
// names, or else its common name. It returns "" if the certificate has neither, or more than one such URI.
func CertificateName(cert *x509.Certificate) string {
	var names []string
	for _, uri := range cert.URIs {
		if name, ok := strings.CutPrefix(uri.String(), namePath); ok {
			names = append(names, name)
		}
	}
	switch len(names) {
	case 0:
		return cert.Subject.CommonName
	case 1:
		return names[0]
	}
	return ""
}
