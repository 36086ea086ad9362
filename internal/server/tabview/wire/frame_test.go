package wire

import (
	"testing"

	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/proto"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// TestFramesPassUnchanged receives messages as frames and forwards them.
func TestFramesPassUnchanged(t *testing.T) {
	for name, m := range map[string]*domtapv1.GetTabResponse{"a message": {Tab: &domtapv1.Tab{Id: "t1", Title: "Shop"}}, "an empty one": {}} {
		data, err := Codec().Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		frame := &Frame{Kind: m.ProtoReflect().Type()}
		if err := Codec().Unmarshal(data, frame); err != nil {
			t.Fatal(err)
		}
		data.Free() // gRPC does this while the frame still holds the data
		if decoded, err := frame.Decode(); err != nil || !proto.Equal(decoded, m) || frame.Size() != proto.Size(m) {
			t.Errorf("%s: decoded as %v, %v, with %d bytes", name, decoded, err, frame.Size())
		}
		sent, err := Codec().Marshal(frame)
		if err != nil {
			t.Fatal(err)
		}
		got := new(domtapv1.GetTabResponse)
		if err := Codec().Unmarshal(sent, got); err != nil || !proto.Equal(got, m) {
			t.Errorf("%s: sent as %v, %v", name, got, err)
		}
		if _, err := Codec().Marshal(frame); err == nil {
			t.Errorf("%s was sent twice", name)
		}
	}
}

// TestFramesKeepPooledBuffers forwards a message whose buffers come from gRPC's pool.
func TestFramesKeepPooledBuffers(t *testing.T) {
	pool := mem.NewTieredBufferPool(1 << 10)
	buffer := pool.Get(4)
	copy(*buffer, "\x0a\x02\x0a\x00") // a GetTabResponse with a Tab with an empty ID
	data := mem.BufferSlice{mem.NewBuffer(buffer, pool)}
	frame := new(Frame)
	frame.receive(data)
	data.Free()
	if got := string(frame.Bytes()); got != "\x0a\x02\x0a\x00" {
		t.Errorf("the frame has %q", got)
	}
}
