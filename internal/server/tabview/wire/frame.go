package wire

import (
	"errors"

	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// Frame is an encoded message of another node that is forwarded unchanged. It is received once and sent once, by the codec of this package.
// A zero value with its Kind set can be used to receive.
type Frame struct {
	// Kind is the type of the message, for clients that use another encoding.
	Kind protoreflect.MessageType

	data mem.BufferSlice
	size int
	sent bool
}

// errSent is the error for a Frame that is sent twice. Its buffers may already belong to another message.
var errSent = errors.New("the frame was sent before: this is a bug in domtap")

// receive stores the encoding of a message. The buffers are shared.
func (f *Frame) receive(data mem.BufferSlice) {
	data.Ref()
	f.data, f.size, f.sent = data, data.Len(), false
}

// send returns the encoding and gives up its ownership.
func (f *Frame) send() (mem.BufferSlice, error) {
	if f.sent {
		return nil, errSent
	}
	data := f.data
	f.data, f.sent = nil, true
	return data, nil
}

// Bytes returns the encoding in one slice, for transports that need that. It returns nil after the frame was sent.
func (f *Frame) Bytes() []byte { return f.data.Materialize() }

// Decode returns the message for other encodings.
func (f *Frame) Decode() (proto.Message, error) {
	whole := f.Kind.New().Interface()
	return whole, proto.Unmarshal(f.Bytes(), whole)
}

// Size returns the size of the encoded message in bytes.
func (f *Frame) Size() int { return f.size }
