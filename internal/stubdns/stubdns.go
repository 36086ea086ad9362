// Package stubdns implements a name server for tests within the test process. It answers as configured and makes no other queries.
package stubdns

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"net/netip"
	"strings"
	"sync"

	"golang.org/x/net/dns/dnsmessage"
)

// Server answers address queries. The zero value knows no names.
type Server struct {
	mu    sync.Mutex
	names map[string][][]netip.Addr
	asked map[string]int
}

// Set sets the addresses of a name. With several sets, each lookup gets the next one; after the last set, all lookups get the last one.
func (s *Server) Set(name string, sets ...[]netip.Addr) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.names == nil {
		s.names, s.asked = map[string][][]netip.Addr{}, map[string]int{}
	}
	s.names[name], s.asked[name] = sets, 0
}

// Asked returns how often a name was looked up since it was set.
func (s *Server) Asked(name string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked[name]
}

// At parses addresses for Set.
func At(addresses ...string) []netip.Addr {
	var all []netip.Addr
	for _, a := range addresses {
		all = append(all, netip.MustParseAddr(a))
	}
	return all
}

// Resolver returns a resolver that queries the server.
func (s *Server) Resolver() *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		ours, theirs := net.Pipe()
		go s.answer(theirs)
		return ours, nil
	}}
}

// answer answers one query in TCP format and closes the connection.
func (s *Server) answer(conn net.Conn) {
	defer func() { _ = conn.Close() }()
	var length [2]byte
	if _, err := io.ReadFull(conn, length[:]); err != nil {
		return
	}
	question := make([]byte, binary.BigEndian.Uint16(length[:]))
	if _, err := io.ReadFull(conn, question); err != nil {
		return
	}
	var m dnsmessage.Message
	if err := m.Unpack(question); err != nil || len(m.Questions) != 1 {
		return
	}
	q := m.Questions[0]
	m.Response, m.Additionals = true, nil
	known, addresses := s.lookUp(strings.TrimSuffix(strings.ToLower(q.Name.String()), "."), q.Type)
	if !known {
		m.RCode = dnsmessage.RCodeNameError
	}
	for _, ip := range addresses {
		head := dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class}
		var body dnsmessage.ResourceBody = &dnsmessage.AAAAResource{AAAA: ip.As16()}
		if q.Type == dnsmessage.TypeA {
			body = &dnsmessage.AResource{A: ip.As4()}
		}
		m.Answers = append(m.Answers, dnsmessage.Resource{Header: head, Body: body})
	}
	answer, err := m.Pack()
	if err != nil {
		return
	}
	_, _ = conn.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(answer))), answer...))
}

// lookUp returns the addresses of one family. A lookup queries both families; only the query for A counts.
func (s *Server) lookUp(name string, family dnsmessage.Type) (known bool, found []netip.Addr) {
	s.mu.Lock()
	defer s.mu.Unlock()
	sets := s.names[name]
	if len(sets) == 0 {
		return false, nil
	}
	n := s.asked[name]
	if family == dnsmessage.TypeA {
		s.asked[name]++
	}
	for _, ip := range sets[min(n, len(sets)-1)] {
		if ip.Is4() == (family == dnsmessage.TypeA) {
			found = append(found, ip)
		}
	}
	return true, found
}
