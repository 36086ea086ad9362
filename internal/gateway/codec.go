package gateway

import (
	"bytes"
	"fmt"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

// request is an undecoded message. The method knows the type and decodes it.
type request struct {
	data   []byte
	decode func([]byte, proto.Message) error
}

// into decodes the request.
func (r *request) into(v any) error {
	m, ok := v.(proto.Message)
	if !ok {
		return status.Errorf(codes.Internal, "decode the request: %T is not a protobuf message", v)
	}
	if r.decode == nil { // without a body, the message has no fields
		return nil
	}
	if err := r.decode(r.data, m); err != nil {
		return status.Errorf(codes.InvalidArgument, "the body is not a valid %s: %v", m.ProtoReflect().Descriptor().FullName(), err)
	}
	return nil
}

// answer is a message to send: a proto.Message, or an encoded message.
type answer struct {
	message any
	// encoded is called with the size of the encoding.
	encoded func(size int)
}

// ready is an encoded message, such as wire.Message of the server.
type ready interface {
	// Bytes returns the encoding.
	Bytes() []byte
	// Decode returns the message for other encodings.
	Decode() (proto.Message, error)
}

// keep copies the bytes of a message, because connect reuses the buffer. It also stores the function that decodes them.
func keep(data []byte, v any, decode func([]byte, proto.Message) error) error {
	r, ok := v.(*request)
	if !ok {
		return fmt.Errorf("%T is not a request", v)
	}
	r.data, r.decode = bytes.Clone(data), decode
	return nil
}

// protoCodec is the binary encoding.
type protoCodec struct{}

// Name returns the last part of the content type.
func (protoCodec) Name() string { return "proto" }

// Unmarshal stores a request for its method.
func (protoCodec) Unmarshal(data []byte, v any) error { return keep(data, v, proto.Unmarshal) }

// Marshal encodes an answer, or one of connect's own messages.
func (protoCodec) Marshal(v any) ([]byte, error) {
	return encode(v, func(v any) ([]byte, error) {
		switch m := v.(type) {
		case ready:
			return m.Bytes(), nil
		case proto.Message:
			return proto.Marshal(m)
		}
		return nil, fmt.Errorf("%T is not a protobuf message", v)
	})
}

// encode encodes an answer, and reports its size.
func encode(v any, with func(any) ([]byte, error)) ([]byte, error) {
	a, ok := v.(*answer)
	if !ok {
		return with(v)
	}
	data, err := with(a.message)
	if err == nil {
		a.encoded(len(data))
	}
	return data, err
}

// jsonCodec is the JSON encoding of protobuf, registered under one of its names.
type jsonCodec struct{ name string }

// Name returns the last part of the content type.
func (c jsonCodec) Name() string { return c.name }

// Unmarshal stores a request for its method. Unknown fields are errors, because in a call written by hand they are typos that would
// otherwise be ignored.
func (c jsonCodec) Unmarshal(data []byte, v any) error {
	return keep(data, v, protojson.Unmarshal)
}

// Marshal encodes an answer, or one of connect's own messages.
func (c jsonCodec) Marshal(v any) ([]byte, error) {
	return encode(v, func(v any) ([]byte, error) {
		switch m := v.(type) {
		case ready:
			whole, err := m.Decode()
			if err != nil {
				return nil, err
			}
			return protojson.Marshal(whole)
		case proto.Message:
			return protojson.Marshal(m)
		}
		return nil, fmt.Errorf("%T is not a protobuf message", v)
	})
}
