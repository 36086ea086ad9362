package replay

import (
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

func TestLogHasWhatWasLoggedByThen(t *testing.T) {
	const console, failure, network = domtapv1.LogKind_LOG_KIND_CONSOLE, domtapv1.LogKind_LOG_KIND_ERROR, domtapv1.LogKind_LOG_KIND_NETWORK
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	one := &track{tab: "t1", start: start}
	for i, e := range []*domtapv1.LogEntry{
		{Sequence: 1, Kind: network, RequestId: 1, Url: "/slow"},
		{Sequence: 2, Kind: console, Level: "log", Text: "hello"},
		{Sequence: 3, Kind: network, RequestId: 3, Url: "/missing", HttpStatus: 404},
		{Sequence: 4, Kind: network, RequestId: 1, Url: "/slow", HttpStatus: 200},
		{Sequence: 5, Kind: failure, Text: "broken"},
	} {
		one.logs, one.loggedAt = append(one.logs, e), append(one.loggedAt, time.Duration(i)*time.Second)
	}
	p := &Player{tracks: []*track{one}, start: start, until: start.Add(4 * time.Second), position: 4 * time.Second}
	at := func(d time.Duration) *domtapv1.Moment {
		return &domtapv1.Moment{When: &domtapv1.Moment_Offset{Offset: durationpb.New(d)}}
	}
	for name, c := range map[string]struct {
		request *domtapv1.ReadLogRequest
		most    int
		want    []uint64
		dropped uint64
	}{
		"the position":   {&domtapv1.ReadLogRequest{}, 100, []uint64{2, 3, 4, 5}, 0},
		"before the end": {&domtapv1.ReadLogRequest{At: at(2 * time.Second)}, 100, []uint64{1, 2, 3}, 0},
		"requests":       {&domtapv1.ReadLogRequest{Kinds: []domtapv1.LogKind{network}}, 100, []uint64{3, 4}, 0},
		"problems":       {&domtapv1.ReadLogRequest{ProblemsOnly: true}, 100, []uint64{3, 5}, 0},
		"after":          {&domtapv1.ReadLogRequest{After: 3}, 100, []uint64{4, 5}, 0},
		"the newest":     {&domtapv1.ReadLogRequest{}, 1, []uint64{5}, 3},
	} {
		request := proto.Clone(c.request).(*domtapv1.ReadLogRequest)
		request.TabId = "t1"
		got, err := p.Log(request, c.most)
		if err != nil {
			t.Fatal(err)
		}
		var have []uint64
		for _, e := range got.GetEntries() {
			have = append(have, e.GetSequence())
		}
		if len(have) != len(c.want) || got.GetDropped() != c.dropped {
			t.Errorf("%s: the log has %v, %d dropped", name, have, got.GetDropped())
			continue
		}
		for i := range have {
			if have[i] != c.want[i] {
				t.Errorf("%s: the log has %v, not %v", name, have, c.want)
			}
		}
	}
	if _, err := p.Log(&domtapv1.ReadLogRequest{TabId: "t9"}, 100); err == nil {
		t.Error("there is a log of a tab that was not recorded")
	}
}
