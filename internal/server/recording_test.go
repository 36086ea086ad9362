package server

import (
	"errors"
	"fmt"
	"io"
	"os"
	"testing"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/domtap/domtap/actor/actortest"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/recording"
	recorder "github.com/domtap/domtap/internal/server/recording"
)

// moments reads a recording.
func moments(t *testing.T, path string) (f *recording.File, all []recording.Moment) {
	t.Helper()
	f, err := recording.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	c := f.Cursor(0)
	defer c.Close()
	for {
		m, err := c.Next()
		if errors.Is(err, io.EOF) {
			return f, all
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, m)
	}
}

func TestARecordingHasEveryState(t *testing.T) {
	inBubble(t, Config{Recording: recorder.Config{Dir: t.TempDir()}}, func(t *testing.T, b *bench) {
		records := domtapv1.NewRecordingServiceClient(b.conn)
		tab, page := b.shop(actortest.Button("Pay"))
		begun, err := records.Record(t.Context(), &domtapv1.RecordRequest{TabId: tab.GetId()})
		if err != nil {
			t.Fatal(err)
		}
		again, err := records.Record(t.Context(), &domtapv1.RecordRequest{TabId: tab.GetId()})
		if err != nil || len(again.GetRecordings()) != 1 || again.GetRecordings()[0].GetRecordingId() != begun.GetRecordings()[0].GetRecordingId() {
			t.Errorf("a second Record has %v %v", again, err)
		}
		seen := map[uint64]string{}
		for i := range 20 {
			page.Update(func(main *actortest.Frame) { main.Body = append(main.Body, actortest.Button(fmt.Sprint("Item ", i))) })
			answer, err := b.dom.GetCompact(t.Context(), &domtapv1.GetCompactRequest{TabId: tab.GetId(), FullSnapshot: true})
			if err != nil {
				t.Fatal(err)
			}
			seen[answer.GetRevision()] = answer.GetText()
		}
		listed, err := records.ListRecordings(t.Context(), &domtapv1.ListRecordingsRequest{TabId: tab.GetId()})
		if err != nil || len(listed.GetRecordings()) != 1 || listed.GetRecordings()[0].GetState() != domtapv1.RecordingState_RECORDING_STATE_RECORDING {
			t.Errorf("listed %v %v", listed, err)
		}
		ended, err := records.StopRecording(t.Context(), &domtapv1.StopRecordingRequest{TabId: tab.GetId()})
		if err != nil || len(ended.GetRecordings()) != 1 {
			t.Fatal(ended, err)
		}
		one := ended.GetRecordings()[0]
		info, err := os.Stat(one.GetFile())
		if err != nil || info.Mode().Perm() != 0o600 || info.Size() != one.GetBytes() {
			t.Errorf("the file is %v %v, and the answer %v", info, err, one)
		}
		f, all := moments(t, one.GetFile())
		if why, _, _ := f.Ended(); why != recording.ReasonStopped || len(f.Missing()) > 0 || f.Header().Tab != tab.GetId() {
			t.Errorf("it ended with %v, misses %v", why, f.Missing())
		}
		states := map[uint64]int{}
		for _, m := range all {
			if m.State != nil {
				states[m.State.Snapshot.Revision] = m.State.Snapshot.Elements.Len()
			}
		}
		for revision := range seen {
			if states[revision] == 0 {
				t.Errorf("revision %d is not in it", revision)
			}
		}
		_, err = records.StopRecording(t.Context(), &domtapv1.StopRecordingRequest{TabId: tab.GetId()})
		wantCode(t, err, codes.NotFound, "NOT_FOUND")
	})
}

// Tabs that are opened later are recorded too. A recording ends with its tab, at its limits, and with the daemon.
func TestRecordingsEndWithAReason(t *testing.T) {
	dir := t.TempDir()
	inBubble(t, Config{Recording: recorder.Config{Dir: dir}}, func(t *testing.T, b *bench) {
		records := domtapv1.NewRecordingServiceClient(b.conn)
		list := func() []*domtapv1.Recording {
			answer, err := records.ListRecordings(t.Context(), new(domtapv1.ListRecordingsRequest))
			if err != nil {
				t.Fatal(err)
			}
			return answer.GetRecordings()
		}
		if _, err := records.Record(t.Context(), new(domtapv1.RecordRequest)); err != nil {
			t.Fatal(err)
		}
		tab, _ := b.shop(actortest.Button("Pay"))
		time.Sleep(2 * time.Second)
		if all := list(); len(all) != 1 || all[0].GetTabId() != tab.GetId() || all[0].GetStates() == 0 {
			t.Fatalf("a tab that was opened later: %v", all)
		}
		if _, err := b.tabs.CloseTab(t.Context(), &domtapv1.CloseTabRequest{TabId: tab.GetId()}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Second)
		if all := list(); len(all) != 1 || all[0].GetEnd() != domtapv1.RecordingEnd_RECORDING_END_TAB_GONE || all[0].GetEnded() == nil {
			t.Errorf("of a closed tab: %v", all)
		}
		second, _ := b.shop(actortest.Button("Pay"))
		if _, err := records.StopRecording(t.Context(), &domtapv1.StopRecordingRequest{TabId: second.GetId()}); err != nil {
			t.Fatal(err)
		}
		_, err := records.Record(t.Context(), &domtapv1.RecordRequest{TabId: second.GetId(), MaxAge: seconds(10)})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(12 * time.Second)
		if all := list(); all[0].GetEnd() != domtapv1.RecordingEnd_RECORDING_END_LIMIT {
			t.Errorf("after its age: %v", all[0])
		}
		if _, err := records.Record(t.Context(), &domtapv1.RecordRequest{TabId: second.GetId()}); err != nil {
			t.Fatal(err)
		}
	})
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	last := recording.Reason(0)
	for _, e := range entries {
		f, _ := moments(t, dir+"/"+e.Name())
		why, _, ended := f.Ended()
		if !ended {
			t.Errorf("%s has no end", e.Name())
		}
		last = max(last, why)
	}
	if len(entries) != 4 || last != recording.ReasonDaemonStopped {
		t.Errorf("%d files, and the last ended with %v", len(entries), last)
	}
}

func TestRecordingIsOff(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		_, err := domtapv1.NewRecordingServiceClient(b.conn).Record(t.Context(), new(domtapv1.RecordRequest))
		wantCode(t, err, codes.FailedPrecondition, "RECORDING_OFF")
	})
}
