package actor

import (
	"errors"
	"testing"

	"github.com/domtap/domtap/dom"
)

// publishedAt returns the state of a tab with one button at a revision.
func publishedAt(revision uint64, text string) Published {
	e := &dom.Element{Ref: 4, Parent: dom.NoRef, Tag: "button", Role: "button", Text: text}
	s := &dom.Snapshot{Epoch: "a", Revision: revision, Document: 1, Elements: dom.ListOf([]*dom.Element{e})}
	return Published{Snapshot: s, Info: Info{ID: "t1", Status: StatusReady}, Refs: 5}
}

func TestReplicaHasTheHeadsOfItsTab(t *testing.T) {
	r := NewReplica("t1", publishedAt(7, "Save"), Options{})
	first := r.Head()
	second := publishedAt(9, "Saved")
	second.Notices = []ReportedNotice{{Notice: dom.Notice{ID: 1, Kind: dom.NoticeToast, Text: "Saved"}, Document: "d"}}
	r.Publish(second)
	select {
	case <-first.Next():
	default:
		t.Error("a newer head does not close Next")
	}
	now := r.Head()
	if now.Info.Revision != 9 || now.Info.Epoch != "a" || now.Snapshot != second.Snapshot {
		t.Errorf("the head is %+v", now.Info)
	}
	if old := now.At(7); old == nil || old.Find(4).Text != "Save" {
		t.Errorf("revision 7 is %+v", old)
	}
	if now.At(8) != nil {
		t.Error("it has a revision that was left out")
	}
	if _, err := now.Element(5); err == nil {
		t.Error("it knows a ref that was never given")
	}
	if news := now.Notices().Changed(first.Notices().Last()); len(news) != 1 || news[0].Text != "Saved" {
		t.Errorf("noticed: %+v", news)
	}
	r.Publish(publishedAt(8, "late"))
	if r.Head() != now {
		t.Error("an earlier revision became the head")
	}
}

func TestReplicaEndsOnce(t *testing.T) {
	r := NewReplica("t1", publishedAt(7, "Save"), Options{})
	if r.Err() != nil {
		t.Error("it has ended")
	}
	gone := errors.New("the node is gone")
	before := r.Head()
	r.End(gone)
	r.End(nil)
	<-r.Done()
	<-before.Next()
	<-r.Head().Next()
	if r.Err() != gone || r.Head().Info.Status != StatusClosed {
		t.Errorf("ended with %v and %v", r.Err(), r.Head().Info.Status)
	}
}
