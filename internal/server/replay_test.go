package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/test/bufconn"
	"google.golang.org/protobuf/proto"

	"github.com/domtap/domtap/actor/actortest"
	"github.com/domtap/domtap/actor/tabpool"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/server/recording"
	"github.com/domtap/domtap/internal/server/replay"
)

// onReplay runs a test with a server that replays a recording.
func onReplay(t *testing.T, file string, test func(b *bench)) {
	t.Helper()
	player, err := replay.Open(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	defer player.Close()
	b := &bench{t: t, browser: actortest.NewBrowser(), served: make(chan error, 1)}
	b.pool = tabpool.New(replay.NewBrowser(), tabpool.Config{})
	if b.server, err = New(b.pool, Config{Replay: player}); err != nil {
		t.Fatal(err)
	}
	listener := pipe{bufconn.Listen(1 << 16), "unix"}
	ctx, stop := context.WithCancel(t.Context())
	b.stop, b.memory = stop, listener.Listener
	go func() { b.served <- b.server.Serve(ctx, listener) }()
	b.conn = b.redial()
	b.tabs, b.dom = domtapv1.NewTabServiceClient(b.conn), domtapv1.NewDomServiceClient(b.conn)
	b.act, b.pages = domtapv1.NewActionServiceClient(b.conn), domtapv1.NewPageServiceClient(b.conn)
	defer b.close()
	test(b)
}

// answered holds the answers about one revision.
type answered struct {
	revision uint64
	epoch    string
	dom      *domtapv1.GetDomResponse
	texts    map[domtapv1.Format]string
	found    string
}

// readAll reads the tab like clients do, now or at a moment.
func (b *bench) readAll(tab string, at *domtapv1.Moment) answered {
	b.t.Helper()
	a := answered{dom: b.getDom(&domtapv1.GetDomRequest{TabId: tab, At: at, InteractiveOnly: proto.Bool(false), ClientId: "c"}), texts: map[domtapv1.Format]string{}}
	a.revision, a.epoch = a.dom.GetRevision(), a.dom.GetEpoch()
	for _, e := range a.dom.GetElements() {
		e.Rect = nil // boxes are not recorded
	}
	for _, f := range []domtapv1.Format{domtapv1.Format_FORMAT_LINES, domtapv1.Format_FORMAT_TREE, domtapv1.Format_FORMAT_DENSE} {
		r := b.compact(&domtapv1.GetCompactRequest{TabId: tab, At: at, Format: f, ClientId: "c"})
		a.texts[f] = fmt.Sprint(r.GetRevision(), r.GetText())
	}
	found, err := b.dom.Find(b.t.Context(), &domtapv1.FindRequest{TabId: tab, At: at, Query: "Item", ClientId: "c"})
	if err != nil {
		b.t.Fatal(err)
	}
	a.found = found.GetText()
	return a
}

// record drives a page at random while recording it, and returns the answers given during that time.
func (b *bench) record(steps int) (file, tab string, all []answered) {
	b.t.Helper()
	records := domtapv1.NewRecordingServiceClient(b.conn)
	random := rand.New(rand.NewPCG(4, 2))
	b.browser.Serve(shopURL+"other", func() actortest.Screen {
		return actortest.Screen{Title: "Other", Body: []*actortest.Node{actortest.Heading(1, "Else"), actortest.Button("Item of another page")}}
	})
	opened, page := b.shop(actortest.Button("Pay"), actortest.Heading(2, "Items"))
	tab = opened.GetId()
	begun, err := records.Record(b.t.Context(), &domtapv1.RecordRequest{TabId: tab})
	if err != nil {
		b.t.Fatal(err)
	}
	for i := range steps {
		page.Update(func(main *actortest.Frame) {
			at := random.IntN(len(main.Body) + 1)
			switch k := random.IntN(4); {
			case k == 0 && len(main.Body) > 3 && at < len(main.Body):
				main.Body = append(main.Body[:at:at], main.Body[at+1:]...)
			case k == 1 && at < len(main.Body):
				main.Body[at].Text = fmt.Sprint("Item number ", i)
			default:
				main.Body = append(main.Body, actortest.Textbox(fmt.Sprint("Item ", i), "value"))
			}
		})
		if i%20 == 10 {
			url := shopURL + "other"
			if i%40 == 10 {
				url = shopURL
			}
			if _, err := b.tabs.Navigate(b.t.Context(), &domtapv1.NavigateRequest{TabId: tab, Url: url}); err != nil {
				b.t.Fatal(err)
			}
		}
		all = append(all, b.readAll(tab, nil))
		time.Sleep(time.Duration(random.IntN(300)) * time.Millisecond)
	}
	if _, err := b.act.Interact(b.t.Context(), &domtapv1.InteractRequest{TabId: tab, Steps: []*domtapv1.Step{{Action: &domtapv1.Step_Press{Press: &domtapv1.PressStep{Key: "Enter"}}}}}); err != nil {
		b.t.Fatal(err)
	}
	if _, err := records.StopRecording(b.t.Context(), new(domtapv1.StopRecordingRequest)); err != nil {
		b.t.Fatal(err)
	}
	return begun.GetRecordings()[0].GetFile(), tab, all
}

// A replay repeats the answers about every revision word for word, in any order.
func TestReplayAnswersAsItWasAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, Config{Recording: recording.Config{Dir: t.TempDir()}})
		file, tab, all := b.record(100)
		b.close()
		onReplay(t, file, func(b *bench) {
			for _, i := range rand.New(rand.NewPCG(1, 1)).Perm(len(all)) {
				want := all[i]
				got := b.readAll(tab, &domtapv1.Moment{When: &domtapv1.Moment_Revision{Revision: want.revision}, Epoch: want.epoch})
				if !proto.Equal(got.dom, want.dom) {
					t.Errorf("revision %d: GetDom has\n%v\nand had\n%v", want.revision, got.dom, want.dom)
				}
				for f, text := range want.texts {
					if got.texts[f] != text {
						t.Errorf("revision %d: %v has\n%s\nand had\n%s", want.revision, f, got.texts[f], text)
					}
				}
				if got.found != want.found {
					t.Errorf("revision %d: Find has\n%s\nand had\n%s", want.revision, got.found, want.found)
				}
				if t.Failed() {
					return
				}
			}
		})
	})
}

func TestReplayIsReadOnlyAndSeeks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, Config{Recording: recording.Config{Dir: t.TempDir()}})
		file, tab, all := b.record(60)
		now := &domtapv1.Moment{When: &domtapv1.Moment_Revision{Revision: 1}}
		_, err := b.dom.GetDom(t.Context(), &domtapv1.GetDomRequest{TabId: tab, At: now})
		wantCode(t, err, codes.FailedPrecondition, "NO_REPLAY")
		b.close()
		onReplay(t, file, func(b *bench) {
			ctx, player := t.Context(), domtapv1.NewReplayServiceClient(b.conn)
			_, err := b.act.Interact(ctx, &domtapv1.InteractRequest{TabId: tab, Steps: []*domtapv1.Step{{Action: &domtapv1.Step_Press{Press: &domtapv1.PressStep{Key: "Enter"}}}}})
			wantCode(t, err, codes.FailedPrecondition, "READ_ONLY_REPLAY")
			_, err = b.tabs.OpenTab(ctx, &domtapv1.OpenTabRequest{Url: shopURL})
			wantCode(t, err, codes.FailedPrecondition, "READ_ONLY_REPLAY")
			_, err = b.pages.Pdf(ctx, &domtapv1.PdfRequest{TabId: tab})
			wantCode(t, err, codes.FailedPrecondition, "READ_ONLY_REPLAY")
			_, err = b.dom.GetDom(ctx, &domtapv1.GetDomRequest{TabId: tab, At: &domtapv1.Moment{When: &domtapv1.Moment_Revision{Revision: 99999}}})
			wantCode(t, err, codes.NotFound, "NOT_FOUND")
			for _, i := range []int{30, 5, 59} {
				at := &domtapv1.Moment{When: &domtapv1.Moment_Revision{Revision: all[i].revision}, Epoch: all[i].epoch}
				if _, err := player.Seek(ctx, &domtapv1.SeekRequest{At: at, TabId: tab}); err != nil {
					t.Fatal(err)
				}
				looked := b.compact(&domtapv1.GetCompactRequest{TabId: tab, At: at, ObserveOnly: true})
				if fmt.Sprint(looked.GetRevision(), looked.GetText()) != all[i].texts[domtapv1.Format_FORMAT_LINES] {
					t.Errorf("who only looks at revision %d sees revision %d", all[i].revision, looked.GetRevision())
				}
				if got := b.readAll(tab, nil); got.texts[domtapv1.Format_FORMAT_LINES] != all[i].texts[domtapv1.Format_FORMAT_LINES] {
					t.Errorf("after a seek to revision %d it shows revision %d", all[i].revision, got.revision)
				}
			}
			about, err := player.GetReplay(ctx, new(domtapv1.GetReplayRequest))
			if err != nil || len(about.GetTabs()) != 1 || len(about.GetTabs()[0].GetMissing()) > 0 || about.GetTabs()[0].GetRecording().GetStates() == 0 {
				t.Errorf("it replays %v %v", about, err)
			}
			entries, err := domtapv1.NewTimelineServiceClient(b.conn).GetTimeline(ctx, &domtapv1.GetTimelineRequest{TabId: tab})
			if err != nil || len(entries.GetEntries()) == 0 {
				t.Fatalf("the timeline is %v %v", entries, err)
			}
			last := entries.GetEntries()[len(entries.GetEntries())-1]
			if last.GetMethod() != "Interact" || last.GetState() != domtapv1.TimelineState_TIMELINE_STATE_DONE {
				t.Errorf("its last entry is %v", last)
			}
		})
	})
}

// A trace contains the page as GetCompact prints it at each of its moments, and the changes of each turn.
func TestATraceHasWhatReplayAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, Config{Recording: recording.Config{Dir: t.TempDir()}})
		file, tab, _ := b.record(60)
		b.close()
		player, err := replay.Open(t.Context(), file)
		if err != nil {
			t.Fatal(err)
		}
		made, _, err := player.Export("test", 8<<20)
		player.Close()
		if err != nil {
			t.Fatal(err)
		}
		_, made, _ = bytes.Cut(made, []byte(`id="data">`))
		made, _, _ = bytes.Cut(made, []byte("</script>"))
		var got struct {
			Tabs []struct {
				Lines  []string
				States []struct {
					Revision    uint64
					First, Last int
					Lines       []int
				}
				Steps []struct {
					Action  string
					Verdict string
				}
			}
		}
		if err := json.Unmarshal(made, &got); err != nil {
			t.Fatal(err)
		}
		one := got.Tabs[0]
		if len(one.States) < 60 || !slices.ContainsFunc(one.Steps, func(s struct{ Action, Verdict string }) bool { return s.Action == "press" && s.Verdict != "" }) {
			t.Errorf("the trace has %d states and the steps %v", len(one.States), one.Steps)
		}
		onReplay(t, file, func(b *bench) {
			var now []int
			for _, s := range one.States {
				now = slices.Concat(now[:s.First], s.Lines, now[len(now)-s.Last:])
				var text strings.Builder
				for _, i := range now {
					text.WriteString(one.Lines[i] + "\n")
				}
				want := b.compact(&domtapv1.GetCompactRequest{
					TabId: tab, At: &domtapv1.Moment{When: &domtapv1.Moment_Revision{Revision: s.Revision}}, Format: domtapv1.Format_FORMAT_DENSE, FullSnapshot: true,
					IncludeHistory: proto.Bool(false),
				})
				if text.String() != want.GetText() {
					t.Fatalf("revision %d: the trace has\n%s\nand replay answers\n%s", s.Revision, text.String(), want.GetText())
				}
			}
		})
	})
}

// A stream plays the recording at a given speed, keeps the guarantees of streams, and ends with the recording.
func TestReplayPlays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, Config{Recording: recording.Config{Dir: t.TempDir()}})
		file, tab, all := b.record(60)
		b.close()
		onReplay(t, file, func(b *bench) {
			begun := time.Now()
			s, err := b.dom.WatchDom(t.Context(), &domtapv1.WatchDomRequest{
				TabId: tab, At: &domtapv1.Moment{When: &domtapv1.Moment_Revision{Revision: all[0].revision}, Epoch: all[0].epoch}, Speed: proto.Float64(2),
			})
			if err != nil {
				t.Fatal(err)
			}
			var last, messages uint64
			var status domtapv1.TabStatus
			for {
				m, err := s.Recv()
				if errors.Is(err, io.EOF) {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
				if messages++; m.GetSequence() != messages || m.GetDiff() != nil && m.GetDiff().GetFromRevision() != last {
					t.Errorf("message %d has sequence %d and leads from %d, after %d", messages, m.GetSequence(), m.GetDiff().GetFromRevision(), last)
				}
				last, status = m.GetRevision(), m.GetTabStatus().GetStatus()
			}
			if last < all[len(all)-1].revision || status != domtapv1.TabStatus_TAB_STATUS_CLOSED || messages < 20 {
				t.Errorf("it ended after %d messages at revision %d of %d with %v", messages, last, all[len(all)-1].revision, status)
			}
			if took := time.Since(begun); took < 3*time.Second || took > 10*time.Second {
				t.Errorf("at twice the speed it took %v", took)
			}
		})
	})
}
