package replay

import (
	"encoding/json"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

func TestHARHasEachRequestOnce(t *testing.T) {
	at := timestamppb.New(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	network := func(url string, status int32, ms float64) *domtapv1.LogEntry {
		return &domtapv1.LogEntry{Kind: domtapv1.LogKind_LOG_KIND_NETWORK, At: at, Level: "GET", Url: url, HttpStatus: status, DurationMs: ms, Bytes: 12}
	}
	p := &Player{tracks: []*track{{logs: []*domtapv1.LogEntry{
		network("https://shop.example/slow", 0, 0),
		{Kind: domtapv1.LogKind_LOG_KIND_CONSOLE, At: at, Level: "log", Text: "hello"},
		network("https://shop.example/", 200, 30),
		network("https://shop.example/slow", 204, 900),
	}}}}
	b, err := p.HAR("test")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Log struct {
			Entries []struct {
				Time     float64
				Request  struct{ URL string }
				Response struct{ Status int }
			}
		}
	}
	if err := json.Unmarshal(b, &file); err != nil {
		t.Fatal(err)
	}
	if e := file.Log.Entries; len(e) != 2 || e[0].Response.Status+e[1].Response.Status != 404 {
		t.Errorf("the archive is %s", b)
	}
}
