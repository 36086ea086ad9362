package testenv

import (
	"testing"

	"github.com/domtap/domtap/actor/tabpool"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/server"
	"github.com/domtap/domtap/internal/server/replay"
)

// Record starts recording all tabs, including tabs that are opened later.
func (d *Daemon) Record() {
	d.t.Helper()
	if _, err := d.Recordings.Record(d.t.Context(), &domtapv1.RecordRequest{}); err != nil {
		d.t.Fatal(err)
	}
}

// StopRecording ends all recordings and returns them. Their files are then complete.
func (d *Daemon) StopRecording() []*domtapv1.Recording {
	d.t.Helper()
	ended, err := d.Recordings.StopRecording(d.t.Context(), &domtapv1.StopRecordingRequest{})
	if err != nil {
		d.t.Fatal(err)
	}
	return ended.GetRecordings()
}

// Replay serves recordings as `domtap replay` does. Its daemon has no browser.
func Replay(t testing.TB, files ...string) *Daemon {
	t.Helper()
	player, err := replay.Open(t.Context(), files...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(player.Close)
	pool := tabpool.New(replay.NewBrowser(), tabpool.Config{})
	s, err := server.New(pool, server.Config{Replay: player})
	if err != nil {
		t.Fatal(err)
	}
	closeAtEnd(t, "the tabs of the recordings", "", pool.Close)
	return onSocket(t, s)
}
