// Package streamcheck records the states of a tab and the messages of its streams, and validates them, with one validator for each
// guarantee of WatchDom (dom.proto). The validators are pure functions of the recorded data. So a history may come from a fake or a
// real browser, and a test can write an invalid history by hand to check that it is rejected.
package streamcheck

import (
	"fmt"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/domtap/domtap/client"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// Point identifies a state of a tab.
type Point struct {
	Epoch    string
	Revision uint64
}

// State is the state of a tab at a point, without its elements.
type State struct {
	Point
	// Document counts the documents of the main frame.
	Document uint64
	URL      string
	// Step is the step of the schedule in which the state was published. Between two steps, every active reader had time to read all
	// messages.
	Step int
}

// History is the recorded data of one tab.
type History struct {
	// States holds every published state, in order.
	States []State
	// Elements returns the elements that GetDom returns at a point with the options of a view, without boxes. It returns false if the view
	// did not exist (its root or frame was gone), or if the point is not in States.
	Elements func(view string, at Point) ([]*domtapv1.Element, bool)
	Readers  []*Reader
	// Answers holds answers of GetDom. Elements must agree with them.
	Answers []Answer
	// Last is the final state of the tab, before the open streams end.
	Last Point
	// Heartbeat limits how long a stream may be silent.
	Heartbeat time.Duration
	// Log is the number of revisions of one document over which a stream can be resumed.
	Log int
}

// Answer is one answer of GetDom.
type Answer struct {
	View     string
	At       Point
	Elements []*domtapv1.Element
}

// Pace is the way in which a reader reads.
type Pace uint8

// The paces of readers.
const (
	// Prompt readers read every message immediately.
	Prompt Pace = iota
	// Slow readers wait between two messages.
	Slow
	// Stalling readers stop reading for long periods.
	Stalling
)

// Reader is a stream and its reader.
type Reader struct {
	Name string
	// View is the name of the view's options.
	View string
	Pace Pace
	// OmitInitial and MinInterval are fields of the request.
	OmitInitial bool
	MinInterval time.Duration
	// From is the point from which the stream was resumed. Base holds the elements that the reader had at that point.
	From *Point
	Base []*domtapv1.Element
	// Messages holds the received messages, in order.
	Messages []Message
	// Start is the time of the call.
	Start time.Time
	// End describes how the stream ended.
	End End
	// Alive reports that the stream was open in the final state of the tab, and that the reader had read all messages.
	Alive bool
}

// Message is a received message of a stream.
type Message struct {
	*domtapv1.WatchDomResponse
	// At is the time at which the reader read it.
	At time.Time
}

// End describes how a stream ended.
type End struct {
	// Code is the name of the gRPC code, such as "OK". It is empty while the stream is open.
	Code string
	// Reason is the reason of the ErrorInfo.
	Reason string
	// Text is the message of the status.
	Text string
	// Cut reports that the reader itself ended the stream.
	Cut bool
	At  time.Time
}

// Point returns the point of the reader's state after the message.
func (m Message) Point() Point { return Point{m.GetEpoch(), m.GetRevision()} }

// Whole returns the elements of a message that contains all of them.
func (m Message) Whole() ([]*domtapv1.Element, bool) {
	s := m.GetSnapshot()
	if r := m.GetResync(); r != nil {
		s = r.GetSnapshot()
	}
	return Bare(s.GetElements()), s != nil
}

// content reports whether the message contains data about elements.
func (m Message) content() bool {
	_, whole := m.Whole()
	return whole || m.GetDiff() != nil
}

// Bare returns elements with only the fields that streams guarantee. It removes boxes, which a view has only on request, and contexts,
// which are current only when an element is sent.
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

// Replay calls visit after each message with the reader's elements. known is false while a reader that requested no snapshot cannot know
// them. Replay ends at the first diff that cannot be applied.
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
