package wire

import (
	"errors"

	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// Frame is an encoded message of another node, which is passed on as it came. It is received once and sent
// once; the codec of this package takes it for both. The zero value, with its Kind set, can be received into.
type Frame struct {
	// Kind is the type of the message, for clients that get another encoding.
	Kind protoreflect.MessageType

	data mem.BufferSlice
	size int
	sent bool
}

// errSent is the error for a Frame that is sent again: its buffers belong to another message by now.
var errSent = errors.New("the frame was sent before: this is a bug in domtap")

// receive keeps the encoding of a message, whose buffers are shared.
func (f *Frame) receive(data mem.BufferSlice) {
	data.Ref()
	f.data, f.size, f.sent = data, data.Len(), false
}

// send gives the encoding away.
func (f *Frame) send() (mem.BufferSlice, error) {
	if f.sent {
		return nil, errSent
	}
	data := f.data
	f.data, f.sent = nil, true
	return data, nil
}

// Bytes returns the encoding in one piece, for transports that need it so; nil after the frame was sent.
func (f *Frame) Bytes() []byte { return f.data.Materialize() }

// Decode returns the message for other encodings.
func (f *Frame) Decode() (proto.Message, error) {
	whole := f.Kind.New().Interface()
	return whole, proto.Unmarshal(f.Bytes(), whole)
}

// Size is how many bytes the message has on the wire.
func (f *Frame) Size() int { return f.size }
