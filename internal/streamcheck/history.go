// Package streamcheck records the states of a tab and the messages of its streams, and validates them: one
// validator for each guarantee of WatchDom (docs/stream.md). The validators are pure functions of what was
// recorded, so a history may come from a fake browser or a real one, and a broken one can be written by hand to
// see that it is refused.
package streamcheck

import (
	"fmt"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/domtap/domtap/client"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// Point is a state of a tab.
type Point struct {
	Epoch    string
	Revision uint64
}

// State is the state of a tab at one point, apart from its elements.
type State struct {
	Point
	// Document counts the documents of the main frame.
	Document uint64
	URL      string
	// Step is the step of the schedule in which the state was published. Between two steps, every reader that
	// reads had time to take all messages.
	Step int
}

// History is all that was recorded of one tab.
type History struct {
	// States holds every state that was published, in order.
	States []State
	// Elements returns what GetDom with the options of a view answers at a point, without boxes; false when the
	// view was not there (its root or frame is gone), or the point is not among the states.
	Elements func(view string, at Point) ([]*domtapv1.Element, bool)
	Readers  []*Reader
	// Answers are the answers of GetDom, which Elements must agree with.
	Answers []Answer
	// Last is the state in which the tab came to rest, before the end of the living streams.
	Last Point
	// Heartbeat is how long a stream may be silent.
	Heartbeat time.Duration
	// Log is how many revisions of one document a stream can be resumed over.
	Log int
}

// Answer is one answer of GetDom.
type Answer struct {
	View     string
	At       Point
	Elements []*domtapv1.Element
}

// Habit is how a reader reads.
type Habit uint8

// The habits of readers.
const (
	// Prompt readers take every message at once.
	Prompt Habit = iota
	// Slow readers wait between two messages.
	Slow
	// Stalling readers stop for long.
	Stalling
)

// Reader is one stream and its reader.
type Reader struct {
	Name string
	// View names the options of the view.
	View  string
	Habit Habit
	// OmitInitial and MinInterval are those of the request.
	OmitInitial bool
	MinInterval time.Duration
	// From is the point that the stream was resumed from, Base the elements that the reader had then.
	From *Point
	Base []*domtapv1.Element
	// Messages are what it got, in order.
	Messages []Message
	// Start is when it called.
	Start time.Time
	// End is how the stream ended.
	End End
	// Alive says that the stream was open when the tab came to rest, and that the reader had taken all messages.
	Alive bool
}

// Message is a message of a stream, as it was received.
type Message struct {
	*domtapv1.WatchDomResponse
	// At is when the reader took it.
	At time.Time
}

// End is how a stream ended.
type End struct {
	// Code is the gRPC code by its name, such as "OK"; empty: the stream is still open.
	Code string
	// Reason is that of the ErrorInfo.
	Reason string
	// Text is the message of the status.
	Text string
	// Cut says that the reader itself left.
	Cut bool
	At  time.Time
}

// Point is the state that the message leaves its reader in.
func (m Message) Point() Point { return Point{m.GetEpoch(), m.GetRevision()} }

// Whole returns the elements of a message that carries all of them.
func (m Message) Whole() ([]*domtapv1.Element, bool) {
	s := m.GetSnapshot()
	if r := m.GetResync(); r != nil {
		s = r.GetSnapshot()
	}
	return Bare(s.GetElements()), s != nil
}

// content reports whether the message says something about elements.
func (m Message) content() bool {
	_, whole := m.Whole()
	return whole || m.GetDiff() != nil
}

// Bare returns elements as streams guarantee them: without boxes, which a view has only on request, and without contexts, which are
// those of the time when an element was sent.
func Bare(list []*domtapv1.Element) []*domtapv1.Element {
	out := make([]*domtapv1.Element, len(list))
	for i, e := range list {
		e = proto.CloneOf(e)
		e.Rect, e.InViewport, e.Index, e.Context = nil, false, 0, ""
		out[i] = e
	}
	return out
}

// Same reports whether two lists are equal, apart from boxes.
func Same(a, b []*domtapv1.Element) bool {
	if len(a) != len(b) {
		return false
	}
	a, b = Bare(a), Bare(b)
	for i := range a {
		if !proto.Equal(a[i], b[i]) {
			return false
		}
	}
	return true
}

// Replay calls visit after each message with the elements that the reader has then; known is false as long
// as a reader that asked for no snapshot cannot know them. It ends at the first diff that cannot be applied.
func (r *Reader) Replay(visit func(i int, m Message, elements []*domtapv1.Element, known bool)) error {
	elements, known := r.Base, r.From != nil
	for i, m := range r.Messages {
		if whole, ok := m.Whole(); ok {
			elements, known = whole, true
		} else if d := m.GetDiff(); d != nil && known {
			var err error
			if elements, err = client.Apply(elements, d); err != nil {
				return fmt.Errorf("%s, message %d: %w", r.Name, m.GetSequence(), err)
			}
		}
		visit(i, m, elements, known)
	}
	return nil
}
