// Package wire encodes messages that many readers of a stream receive only once.
//
// A thousand watchers of one view receive the same message, except for a few fields. In protobuf, the concatenated encodings of two parts,
// in any order, encode the merged message. So the common part is encoded once and shared by all sends, and each send adds the rest. Clients
// cannot distinguish the result from a message that was encoded as a whole.
//
// A Frame is a message that another node has encoded and that is forwarded without decoding.
package wire

import (
	"google.golang.org/grpc/encoding"
	_ "google.golang.org/grpc/encoding/proto" // registers the codec for all other messages
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// Shared is a message of WatchDom without its sequence number. It is immutable, and any number of streams may send it concurrently. The
// garbage collector frees it.
type Shared struct {
	// Head is the message without the elements of a snapshot, resync or diff.
	Head *domtapv1.WatchDomResponse

	bytes mem.Buffer
}

// Encode encodes a message. Its sequence must be 0. The message must not be changed afterwards.
func Encode(m *domtapv1.WatchDomResponse) (*Shared, error) {
	bytes, err := proto.Marshal(m)
	if err != nil {
		return nil, err
	}
	return &Shared{Head: head(m), bytes: mem.SliceBuffer(bytes)}, nil
}

// head returns a message without its elements.
func head(m *domtapv1.WatchDomResponse) *domtapv1.WatchDomResponse {
	h := &domtapv1.WatchDomResponse{
		Revision: m.GetRevision(), Epoch: m.GetEpoch(), ObservedAt: m.GetObservedAt(), PageTime: m.GetPageTime(),
		Coalesced: m.GetCoalesced(), Event: m.GetEvent(),
	}
	switch e := m.GetEvent().(type) {
	case *domtapv1.WatchDomResponse_Snapshot:
		h.Event = &domtapv1.WatchDomResponse_Snapshot{Snapshot: new(domtapv1.Snapshot)}
	case *domtapv1.WatchDomResponse_Diff:
		h.Event = &domtapv1.WatchDomResponse_Diff{Diff: new(domtapv1.Diff)}
	case *domtapv1.WatchDomResponse_Resync:
		h.Event = &domtapv1.WatchDomResponse_Resync{Resync: &domtapv1.Resync{Reason: e.Resync.GetReason()}}
	}
	return h
}

// Message is the message of one stream: a Shared with the stream's own sequence number.
type Message struct {
	shared *Shared
	own    [1 + 10]byte
	size   int
}

// sequenceField is the field number of WatchDomResponse.sequence.
const sequenceField protowire.Number = 1

// Number returns the message with the sequence number of a stream.
func (s *Shared) Number(sequence uint64) *Message {
	m := &Message{shared: s}
	own := protowire.AppendTag(m.own[:0], sequenceField, protowire.VarintType)
	m.size = len(protowire.AppendVarint(own, sequence))
	return m
}

// Bytes returns the encoding of the message in one slice, for transports that need that.
func (m *Message) Bytes() []byte {
	shared := m.shared.bytes.ReadOnlyData()
	return append(append(make([]byte, 0, len(shared)+m.size), shared...), m.own[:m.size]...)
}

// Decode returns the message for other encodings.
func (m *Message) Decode() (proto.Message, error) {
	whole := new(domtapv1.WatchDomResponse)
	return whole, proto.Unmarshal(m.Bytes(), whole)
}

// Size returns the size of the encoded message in bytes.
func (m *Message) Size() int { return m.shared.bytes.Len() + m.size }

// Codec returns the codec for a server that sends such messages, and for its connections to other nodes. All other messages use the
// standard codec.
func Codec() encoding.CodecV2 { return codec{encoding.GetCodecV2("proto")} }

type codec struct{ encoding.CodecV2 }

// Marshal implements encoding.CodecV2.
func (c codec) Marshal(v any) (mem.BufferSlice, error) {
	switch m := v.(type) {
	case *Message:
		return mem.BufferSlice{m.shared.bytes, mem.SliceBuffer(m.own[:m.size])}, nil
	case *Frame:
		return m.send()
	}
	return c.CodecV2.Marshal(v)
}

// Unmarshal implements encoding.CodecV2.
func (c codec) Unmarshal(data mem.BufferSlice, v any) error {
	if f, ok := v.(*Frame); ok {
		f.receive(data)
		return nil
	}
	return c.CodecV2.Unmarshal(data, v)
}
