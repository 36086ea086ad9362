package timeline

import (
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// same reports whether an entry can be merged with the previous one.
func same(last, e *Entry) bool {
	if last.Client != e.Client || last.Owner != e.Owner || last.Method != e.Method || last.State != e.State || last.Reason != e.Reason {
		return false
	}
	switch {
	case e.GetRead() != nil:
		return last.GetRead() != nil && isEnded(e.State) && last.GetRead().Format == e.GetRead().Format
	case e.GetProblem() != nil:
		a, b := last.GetProblem(), e.GetProblem()
		return a != nil && a.Kind == b.Kind && a.Level == b.Level && a.Text == b.Text && a.Url == b.Url && a.Line == b.Line
	case e.GetRequest() != nil:
		a, b := last.GetRequest(), e.GetRequest()
		return a != nil && a.Level == b.Level && a.Url == b.Url && a.HttpStatus == b.HttpStatus && a.Failure == b.Failure
	}
	return false
}

// joined returns the entry that represents two equal entries.
func joined(last, e *Entry) *Entry {
	out := proto.CloneOf(last)
	out.Count += e.Count
	out.Tokens += e.Tokens
	out.TokensEstimated = out.TokensEstimated || e.TokensEstimated
	out.Event = e.Event
	if e.Epoch != "" {
		out.RevisionTo, out.Epoch = e.RevisionTo, e.Epoch
	}
	if e.Time != nil {
		out.Duration = durationpb.New(e.Time.AsTime().Add(e.Duration.AsDuration()).Sub(last.Time.AsTime()))
	}
	return out
}

// isEnded reports whether a call has ended.
func isEnded(s domtapv1.TimelineState) bool {
	return s == domtapv1.TimelineState_TIMELINE_STATE_DONE || s == domtapv1.TimelineState_TIMELINE_STATE_FAILED
}

// count adds the cost of an entry to its client. old is the previous version of the entry, or nil for a new entry. The caller holds the
// lock.
func (s *Store) count(old, e *Entry) {
	if e.Method == "" || e.Client == "" || old != nil && isEnded(old.State) {
		return
	}
	i := s.user(e.Client, e.Owner)
	u := proto.CloneOf(s.users[i])
	if old == nil || old.Method == "" { // the opener of a tab is known only after the tab was opened
		if e.GetRead() != nil {
			u.Reads++
		} else {
			u.Turns++
		}
	}
	if isEnded(e.State) {
		u.Tokens += e.Tokens
		u.TokensEstimated = u.TokensEstimated || e.TokensEstimated
		if e.State == domtapv1.TimelineState_TIMELINE_STATE_FAILED {
			u.Failed++
		}
	}
	u.LastSeen = e.Time
	s.users[i] = u
}

// user returns the index of a client.
func (s *Store) user(client, owner string) int {
	for i, u := range s.users {
		if u.Client == client && u.Owner == owner {
			return i
		}
	}
	if len(s.users) >= maxUsers {
		if s.users[0].Client != "" {
			s.users = append([]*domtapv1.TimelineClient{{}}, s.users...)
		}
		return 0
	}
	s.users = append(s.users, &domtapv1.TimelineClient{Client: client, Owner: owner})
	return len(s.users) - 1
}

// Copy returns a copy of an entry. The original's owner may keep modifying the original.
func Copy(e *Entry) *Entry { return proto.CloneOf(e) }

// Assign makes an entry equal to a copy of another one, except for its id and count.
func Assign(to, from *Entry) {
	id, count := to.Id, to.Count
	proto.Reset(to)
	proto.Merge(to, from)
	to.Id, to.Count = id, count
}
