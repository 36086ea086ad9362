package preauth

import (
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"
)

// street is a listener whose connections are pipes.
type street struct {
	net.Listener
	arrivals chan net.Conn
}

func (s street) Accept() (net.Conn, error) { return <-s.arrivals, nil }

// visitor holds both ends of a connection.
type visitor struct{ outside, inside net.Conn }

// arrive connects to a listener.
func arrive(t *testing.T, l *Listener) visitor {
	t.Helper()
	outside, through := net.Pipe()
	l.Listener.(street).arrivals <- through
	inside, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	return visitor{outside, inside}
}

// isClosed reports whether the listener has closed the visitor's connection.
func (v visitor) isClosed() bool {
	if v.outside.SetReadDeadline(time.Now()) != nil {
		return true // the pipe was closed
	}
	_, err := v.outside.Read(make([]byte, 1))
	return err == io.EOF
}

func newDoor() *Listener { return Limit(street{arrivals: make(chan net.Conn, 1)}) }

func TestStrangersAreShownOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newDoor()
		stranger, known := arrive(t, l), arrive(t, l)
		MarkAuthenticated(known.inside.RemoteAddr())
		time.Sleep(Timeout - 1)
		synctest.Wait()
		if stranger.isClosed() {
			t.Error("a stranger's connection ended before its time")
		}
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		if !stranger.isClosed() {
			t.Error("a stranger's connection is still open")
		}
		if known.isClosed() {
			t.Error("the connection of a caller who was admitted ended")
		}
		_ = known.inside.Close()
	})
}

func TestACrowdOfStrangersKeepsNobodyOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newDoor()
		known := arrive(t, l)
		MarkAuthenticated(known.inside.RemoteAddr())
		var crowd []visitor
		for range 3 * MaxConnections {
			crowd = append(crowd, arrive(t, l))
		}
		latest := arrive(t, l)
		MarkAuthenticated(latest.inside.RemoteAddr())
		open := 0
		for _, v := range crowd {
			if !v.isClosed() {
				open++
			}
		}
		if open != MaxConnections-1 {
			t.Errorf("%d strangers are connected, want %d", open, MaxConnections-1)
		}
		if known.isClosed() || latest.isClosed() {
			t.Error("a caller who was admitted lost the connection")
		}
		for _, v := range append(crowd, known, latest) {
			_ = v.inside.Close()
		}
		if n := l.pending.Len(); n != 0 {
			t.Errorf("%d closed connections are remembered", n)
		}
	})
}

func TestAKeptConnectionIsThatOfAStrangerAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newDoor()
		v := arrive(t, l)
		first, second := Exempt(v.inside.RemoteAddr()), Exempt(v.inside.RemoteAddr())
		time.Sleep(time.Hour)
		first()
		time.Sleep(time.Hour)
		synctest.Wait()
		if v.isClosed() {
			t.Fatal("a connection that is exempt was closed")
		}
		second()
		time.Sleep(Timeout)
		synctest.Wait()
		if !v.isClosed() {
			t.Error("nothing is exempt any more, and the connection is open")
		}
		Exempt(v.inside.RemoteAddr())() // a closed connection
		if n := l.pending.Len(); n != 0 {
			t.Errorf("%d closed connections are remembered", n)
		}
	})
}

func TestAddressesOfOtherListenersAreIgnored(t *testing.T) {
	MarkAuthenticated(nil)
	MarkAuthenticated(&net.TCPAddr{})
	Exempt(&net.UnixAddr{})()
}
