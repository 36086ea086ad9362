package faults

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// mischief holds the probability of each fault for a message of the browser.
type mischief struct {
	name string
	// cut closes the connection, between two messages or within one.
	cut float64
	// delay delays this message and all later ones, by at most longest.
	delay   float64
	longest time.Duration
	// drop drops responses, double sends events twice, and swap sends a message after the next one.
	drop, double, swap float64
	// corrupt changes a message.
	corrupt float64
}

// proxy forwards messages between the daemon and a browser, and injects faults into messages of the browser. All random choices come from
// the seed. Which messages they affect depends on the browser's timing.
type proxy struct {
	t        *testing.T
	target   string
	listener net.Listener
	running  sync.WaitGroup

	mu     sync.Mutex
	random *rand.Rand
	now    mischief
	did    map[string]int
	conns  map[net.Conn]bool
}

// newProxy starts a proxy of a browser, and returns the address of the browser through the proxy.
func newProxy(t *testing.T, address string, seed uint64) (*proxy, string) {
	t.Helper()
	host, path, _ := strings.Cut(strings.TrimPrefix(address, "ws://"), "/")
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{t: t, target: host, listener: listener, random: rand.New(rand.NewPCG(seed, 7)), did: map[string]int{}, conns: map[net.Conn]bool{}}
	p.running.Go(p.accept)
	t.Cleanup(func() {
		_ = listener.Close()
		p.sever()
		p.running.Wait()
	})
	return p, "ws://" + listener.Addr().String() + "/" + path
}

// set sets the faults. The zero value means none.
func (p *proxy) set(m mischief) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.now = m
}

// sever closes all connections.
func (p *proxy) sever() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		_ = c.Close()
	}
}

func (p *proxy) accept() {
	for {
		c, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.running.Go(func() { p.serve(c) })
	}
}

// hold registers a connection for sever until the returned function is called.
func (p *proxy) hold(c net.Conn) func() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.conns[c] = true
	return func() {
		_ = c.Close()
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.conns, c)
	}
}

// serve forwards a connection.
func (p *proxy) serve(client net.Conn) {
	defer p.hold(client)()
	server, err := net.Dial("tcp", p.target)
	if err != nil {
		return
	}
	defer p.hold(server)()
	fromClient, fromServer := bufio.NewReader(client), bufio.NewReader(server)
	if head(fromClient, server) != nil || head(fromServer, client) != nil {
		return
	}
	p.running.Go(func() {
		_, _ = io.Copy(server, fromClient)
		_ = server.Close()
	})
	err = p.relay(fromServer, client)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, net.ErrClosed) && !errors.Is(err, errCut) && !errors.Is(err, syscall.ECONNRESET) && !errors.Is(err, syscall.EPIPE) {
		p.t.Errorf("proxy: %v", err)
	}
}

// head forwards the head of a request or response, without the headers that would enable compression.
func head(from *bufio.Reader, to io.Writer) error {
	var b bytes.Buffer
	for {
		line, err := from.ReadString('\n')
		if err != nil {
			return err
		}
		if !strings.HasPrefix(strings.ToLower(line), "sec-websocket-extensions:") {
			b.WriteString(line)
		}
		if line == "\r\n" {
			_, err := to.Write(b.Bytes())
			return err
		}
	}
}

var errCut = errors.New("the connection was cut")

// relay forwards the browser's messages until one side ends.
func (p *proxy) relay(from *bufio.Reader, to io.Writer) error {
	var waiting []byte
	for {
		op, payload, err := readMessage(from)
		if err != nil {
			return err
		}
		if op != textMessage {
			if err := writeMessage(to, op, payload); err != nil {
				return err
			}
			continue
		}
		out, cut, pause := p.spoil(payload)
		time.Sleep(pause)
		if waiting != nil {
			out, waiting = append(out, waiting), nil
		}
		if len(out) == 1 && p.chance("swapped", p.mischief().swap) {
			waiting = out[0]
			continue
		}
		for _, one := range out {
			if err := writeMessage(to, textMessage, one); err != nil {
				return err
			}
		}
		if cut >= 0 {
			var frame bytes.Buffer
			_ = writeMessage(&frame, textMessage, payload)
			_, _ = to.Write(frame.Bytes()[:min(cut, frame.Len()-1)])
			return errCut
		}
	}
}

func (p *proxy) mischief() mischief {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.now
}

// chance reports whether an event with the given probability happens, and counts it if so.
func (p *proxy) chance(what string, of float64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if of == 0 || p.random.Float64() >= of {
		return false
	}
	p.did[what]++
	return true
}

func (p *proxy) upTo(n int) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.random.IntN(max(n, 1))
}

// spoil applies the faults to a message. out is sent in its place after a pause. If cut is not negative, the connection is closed after
// that many bytes.
func (p *proxy) spoil(m []byte) (out [][]byte, cut int, pause time.Duration) {
	now := p.mischief()
	answer := bytes.HasPrefix(m, []byte(`{"id":`))
	if p.chance("delayed", now.delay) {
		pause = time.Duration(p.upTo(int(now.longest)))
	}
	switch {
	case p.chance("cut between messages", now.cut/2):
		return nil, 0, pause
	case p.chance("cut within a message", now.cut/2):
		return nil, 1 + p.upTo(len(m)), pause
	case answer && p.chance("answers dropped", now.drop):
		return nil, -1, pause
	case !answer && p.chance("events doubled", now.double):
		return [][]byte{m, m}, -1, pause
	case p.chance("corrupted", now.corrupt):
		return [][]byte{p.corrupt(m)}, -1, pause
	}
	return [][]byte{m}, -1, pause
}

// corrupt changes a message in one of many ways.
func (p *proxy) corrupt(m []byte) []byte {
	m = bytes.Clone(m)
	at := p.upTo(len(m))
	switch p.upTo(9) {
	case 0:
		m[at] ^= 1 << p.upTo(7)
	case 1:
		m = m[:at]
	case 2: // another ID, or an unknown method
		m = bytes.Replace(m, []byte(`"id":10737418`), []byte(`"id":10737419`), 1)
		m = bytes.Replace(m, []byte(`"method":"`), []byte(`"method":"X`), 1)
	case 3:
		if i := bytes.Index(m, []byte(`"sessionId":"`)); i >= 0 && i+20 < len(m) {
			copy(m[i+13:], "BADBAD")
		}
	case 4:
		m = insertString(m, at, strings.Repeat("huge ", 200_000))
	case 5:
		m = insertString(m, at, `\ud800 \udc00\ud800`)
	case 6:
		m = bytes.Replace(m, []byte(`:"`), []byte(`:17,"x":"`), 1+p.upTo(2))
	case 7:
		m = bytes.Replace(m, []byte(`{`), []byte(`[{"deep":`+strings.Repeat("[", 5000)+strings.Repeat("]", 5000)+`},`), 1)
	case 8:
		m = insertString(m, at, "\xff\xfe")
	}
	return m
}

// insertString inserts a text after the next quote, so that it often is inside a string.
func insertString(m []byte, at int, what string) []byte {
	if i := bytes.IndexByte(m[at:], '"'); i >= 0 {
		at += i + 1
	}
	return bytes.Join([][]byte{m[:at], []byte(what), m[at:]}, nil)
}

// Constants of WebSocket frames.
const (
	textMessage  = 1
	continuation = 0
)

// readMessage reads a message of a server. It joins the frames of a message, and returns control frames as separate messages.
func readMessage(from *bufio.Reader) (op byte, payload []byte, err error) {
	for {
		var head [2]byte
		if _, err := io.ReadFull(from, head[:]); err != nil {
			return 0, nil, err
		}
		size := uint64(head[1] & 0x7f)
		switch size {
		case 126:
			var n uint16
			err = binary.Read(from, binary.BigEndian, &n)
			size = uint64(n)
		case 127:
			err = binary.Read(from, binary.BigEndian, &size)
		}
		if err != nil {
			return 0, nil, err
		}
		if head[1]&0x80 != 0 || size > 1<<30 {
			return 0, nil, fmt.Errorf("the browser sent a frame of %d bytes, masked: %v", size, head[1]&0x80 != 0)
		}
		part := make([]byte, size)
		if _, err := io.ReadFull(from, part); err != nil {
			return 0, nil, err
		}
		if frame := head[0] & 0x0f; frame != continuation {
			op = frame
		}
		payload = append(payload, part...)
		if head[0]&0x80 != 0 {
			return op, payload, nil
		}
	}
}

// writeMessage writes a message of a server in one frame.
func writeMessage(to io.Writer, op byte, payload []byte) error {
	frame := []byte{0x80 | op}
	switch n := len(payload); {
	case n < 126:
		frame = append(frame, byte(n))
	case n < 1<<16:
		frame = binary.BigEndian.AppendUint16(append(frame, 126), uint16(n))
	default:
		frame = binary.BigEndian.AppendUint64(append(frame, 127), uint64(n))
	}
	_, err := to.Write(append(frame, payload...))
	return err
}
