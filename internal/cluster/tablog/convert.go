package tablog

import (
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/dom"
	clusterv1 "github.com/domtap/domtap/gen/domtap/cluster/v1"
)

// record returns the record that leads from a list to a state. before is 0 for a keyframe.
func record(token, before uint64, from dom.List, now actor.Published) *clusterv1.LogRecord {
	return &clusterv1.LogRecord{Token: token, Before: before, Page: page(now), Splices: splices(from, now.Snapshot.Elements), Noticed: noticeMessages(now.Notices)}
}

func page(now actor.Published) *clusterv1.PageState {
	s, info := now.Snapshot, now.Info
	m := &clusterv1.PageState{
		TabId: info.ID, SessionId: info.Session, Opener: info.Opener, Epoch: s.Epoch, Revision: s.Revision, Document: s.Document,
		Url: s.URL, Title: s.Title, Limited: s.Limited, PageTime: stamp(s.PageTime), ObservedAt: stamp(s.ObservedAt), Refs: uint32(now.Refs),
		Status: uint32(info.Status), HttpStatus: int32(info.HTTPStatus), Restore: info.Restore, Frozen: info.Frozen, Why: info.Why,
	}
	if info.URL != s.URL || info.Title != s.Title {
		m.StatusPage = &clusterv1.Visit{Url: info.URL, Title: info.Title}
	}
	for _, v := range s.History {
		m.History = append(m.History, &clusterv1.Visit{Url: v.URL, Title: v.Title})
	}
	for _, f := range s.Frames {
		m.Frames = append(m.Frames, string(f))
	}
	if d := info.Dialog; d != nil {
		m.Dialog = &clusterv1.Dialog{Id: d.ID, Type: d.Type, Message: d.Message, DefaultText: d.Default}
	}
	return m
}

// stamp converts a time. It returns nil for the zero time.
func stamp(t time.Time) *timestamppb.Timestamp {
	if t.IsZero() {
		return nil
	}
	return timestamppb.New(t)
}

// timeOf converts a timestamp. It returns the zero time for nil.
func timeOf(t *timestamppb.Timestamp) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.AsTime()
}

func noticeMessages(all []actor.ReportedNotice) (out []*clusterv1.Noticed) {
	for _, n := range all {
		m := &clusterv1.Noticed{Document: n.Document, Id: n.ID, Kind: uint32(n.Kind), Text: n.Text, Detail: n.Detail, Gone: n.Gone}
		if n.Ref != dom.NoRef {
			m.Ref = uint64(n.Ref) + 1
		}
		out = append(out, m)
	}
	return out
}

// errRecord reports a record that no Writer can have produced.
var errRecord = errors.New("tablog: a record of no sense")

// published returns the state of a record with its elements.
func published(m *clusterv1.LogRecord, list dom.List) (actor.Published, error) {
	p := m.GetPage()
	if p == nil || p.GetEpoch() == "" || p.GetRevision() == 0 || p.GetRevision() < m.GetBefore() {
		return actor.Published{}, errRecord
	}
	if p.GetStatus() > uint32(actor.StatusRestoring) {
		return actor.Published{}, fmt.Errorf("%w: status %d: upgrade this node", errRecord, p.GetStatus())
	}
	s := &dom.Snapshot{
		Epoch: p.GetEpoch(), Revision: p.GetRevision(), Document: p.GetDocument(), URL: p.GetUrl(), Title: p.GetTitle(), Elements: list,
		Limited: p.GetLimited(), PageTime: timeOf(p.GetPageTime()), ObservedAt: timeOf(p.GetObservedAt()),
	}
	for _, v := range p.GetHistory() {
		s.History = append(s.History, dom.Visit{URL: v.GetUrl(), Title: v.GetTitle()})
	}
	for _, f := range p.GetFrames() {
		s.Frames = append(s.Frames, dom.FrameID(f))
	}
	info := actor.Info{
		ID: p.GetTabId(), Session: p.GetSessionId(), Opener: p.GetOpener(), URL: s.URL, Title: s.Title, Status: actor.Status(p.GetStatus()),
		Revision: s.Revision, Epoch: s.Epoch, HTTPStatus: int(p.GetHttpStatus()), Restore: p.GetRestore(), Frozen: p.GetFrozen(), Why: p.GetWhy(),
	}
	if v := p.GetStatusPage(); v != nil {
		info.URL, info.Title = v.GetUrl(), v.GetTitle()
	}
	if d := p.GetDialog(); d != nil {
		info.Dialog = &driver.Dialog{ID: d.GetId(), Type: d.GetType(), Message: d.GetMessage(), Default: d.GetDefaultText()}
	}
	out := actor.Published{Snapshot: s, Info: info, Refs: dom.Ref(p.GetRefs())}
	for _, n := range m.GetNoticed() {
		one := actor.ReportedNotice{Document: n.GetDocument()}
		one.ID, one.Kind, one.Text, one.Detail, one.Gone = n.GetId(), dom.NoticeKind(n.GetKind()), n.GetText(), n.GetDetail(), n.GetGone()
		one.Ref = ref(n.GetRef())
		out.Notices = append(out.Notices, one)
	}
	return out, nil
}

// ref decodes a ref that is stored plus one; 0 means no ref.
func ref(plusOne uint64) dom.Ref {
	if plusOne == 0 || plusOne > uint64(dom.NoRef) {
		return dom.NoRef
	}
	return dom.Ref(plusOne - 1)
}

func storedElements(all []*dom.Element) []*clusterv1.StoredElement {
	out := make([]*clusterv1.StoredElement, len(all))
	for i, e := range all {
		out[i] = storedElement(e)
	}
	return out
}

func storedElement(e *dom.Element) *clusterv1.StoredElement {
	m := &clusterv1.StoredElement{
		Ref: uint32(e.Ref), Kind: uint32(e.Kind), Depth: uint32(e.Depth), Frame: string(e.Frame), Child: string(e.Child), Tag: e.Tag, Role: e.Role,
		Text: e.Text, Href: e.Href, Name: e.Name, Type: e.Type, Value: e.Value, Placeholder: e.Placeholder, Whole: e.Whole, Left: uint32(e.Left),
		ValueLeft: uint32(e.ValueLeft), Hints: e.Hints, Level: uint32(e.Level), States: packStates(e.States), InViewport: e.InViewport,
		Covered: e.Covered, Attributes: e.Attributes, Join: uint32(e.Join),
	}
	if e.Parent != dom.NoRef {
		m.Parent = uint64(e.Parent) + 1
	}
	return m
}

// Bounds of the numbers of an element. The size of a record bounds its strings.
const (
	maxDepth = 1 << 20
	maxLeft  = 1 << 20
	maxLevel = 1000
)

// element decodes an element. It returns an error for an element that no daemon stores.
func element(m *clusterv1.StoredElement) (*dom.Element, error) {
	switch {
	case m.GetRef() == uint32(dom.NoRef), m.GetKind() > uint32(dom.FrameHost), m.GetDepth() > maxDepth, m.GetLeft() > maxLeft, m.GetValueLeft() > maxLeft,
		m.GetJoin() > maxDepth, m.GetLevel() > maxLevel:
		return nil, errRecord
	case utf8.RuneCountInString(m.GetText()) > dom.MaxText+len("…"):
		return nil, errRecord
	}
	return &dom.Element{
		Ref: dom.Ref(m.GetRef()), Kind: dom.Kind(m.GetKind()), Parent: ref(m.GetParent()), Depth: int(m.GetDepth()), Frame: dom.FrameID(m.GetFrame()),
		Child: dom.FrameID(m.GetChild()), Tag: m.GetTag(), Role: m.GetRole(), Text: m.GetText(), Href: m.GetHref(), Name: m.GetName(),
		Type: m.GetType(), Value: m.GetValue(), Placeholder: m.GetPlaceholder(), Whole: m.GetWhole(), Left: int(m.GetLeft()),
		ValueLeft: int(m.GetValueLeft()), Hints: m.GetHints(), Level: int(m.GetLevel()), States: unpackStates(m.GetStates()),
		InViewport: m.GetInViewport(), Covered: m.GetCovered(), Attributes: m.GetAttributes(), Join: int(m.GetJoin()),
	}, nil
}

// states returns the states in the order of their bits.
func states(s *dom.States) [9]*dom.Tri {
	return [...]*dom.Tri{&s.Checked, &s.Disabled, &s.Expanded, &s.Selected, &s.Pressed, &s.Required, &s.Readonly, &s.Focused, &s.Invalid}
}

func packStates(s dom.States) (bits uint32) {
	for i, one := range states(&s) {
		bits |= uint32(*one&3) << (2 * i)
	}
	return bits
}

func unpackStates(bits uint32) (s dom.States) {
	for i, one := range states(&s) {
		*one = dom.Tri(bits >> (2 * i) & 3)
	}
	return s
}
