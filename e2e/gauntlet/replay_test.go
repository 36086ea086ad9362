package gauntlet

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
	"google.golang.org/protobuf/proto"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/testenv"
	"github.com/domtap/domtap/internal/testenv/script"
)

// recordedPages lists the pages that make test records: a login, an application with routes, frames, a tree, a popup, a dialog, and a page
// that re-renders repeatedly.
var recordedPages = []string{"login", "spa", "iframe", "tree", "popup", "confirm", "rerender"}

// answer holds the responses about a tab at one revision.
type answer struct {
	tab     string
	dom     *domtapv1.GetDomResponse
	compact map[domtapv1.Format]*domtapv1.GetCompactResponse
}

// read reads a tab, now or at a moment of a recording. It removes the fields that are read together with a box.
func read(ctx context.Context, d *testenv.Daemon, tab string, at *domtapv1.Moment) (a answer, err error) {
	a = answer{tab: tab, compact: map[domtapv1.Format]*domtapv1.GetCompactResponse{}}
	no, all := false, proto.Int32(0)
	a.dom, err = d.Dom.GetDom(ctx, &domtapv1.GetDomRequest{TabId: tab, At: at, InteractiveOnly: &no, MaxElements: all, MaxTokens: all, ClientId: "witness"})
	if err != nil {
		return a, err
	}
	a.dom.Elements = testenv.WithoutBoxes(a.dom.GetElements())
	for _, f := range []domtapv1.Format{domtapv1.Format_FORMAT_LINES, domtapv1.Format_FORMAT_DENSE} {
		a.compact[f], err = d.Dom.GetCompact(ctx, &domtapv1.GetCompactRequest{TabId: tab, At: at, Format: f, ClientId: "witness"})
		if err != nil {
			return a, err
		}
		a.compact[f].Text = uncovered.Replace(a.compact[f].Text)
	}
	return a, nil
}

// uncovered removes the state covered from a text, because it is read together with boxes.
var uncovered = strings.NewReplacer(" covered", "")

// recordedFor returns how long the gauntlet is repeated, to simulate the recording of a long session: $DOMTAP_RECORDED, such as 10m. Zero
// means once.
func recordedFor(t *testing.T) time.Duration {
	t.Helper()
	text := os.Getenv("DOMTAP_RECORDED")
	if text == "" {
		return 0
	}
	long, err := time.ParseDuration(text)
	if err != nil {
		t.Fatalf("DOMTAP_RECORDED: %v", err)
	}
	return long
}

// TestReplayAnswersAsTheGauntletWasAnswered records some pages of the gauntlet once, all pages in make test-long, or repeats them for the
// time in DOMTAP_RECORDED. It stores the responses of GetDom and GetCompact whenever the agent read or acted, and the state of a stream of
// all elements at each revision of each tab. Afterwards, the replay must return the same at each of these revisions.
func TestReplayAnswersAsTheGauntletWasAnswered(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	limit := recordedFor(t)
	if limit == 0 && !testenv.Long() {
		files = nil
		for _, name := range recordedPages {
			files = append(files, name+".txtar")
		}
	}
	site, d := gauntlet(t)
	d.Record()
	var kept []answer
	seen := newHistories(t, d)
	begun := time.Now()
	witness := func(tab string) {
		seen.watch(tab)
		a, err := read(testenv.Within(t, script.Limit), d, tab, nil)
		if err == nil { // calls fail while a dialog is open
			kept = append(kept, a)
		}
	}
	tab, pages := "", 0
	for pages == 0 || time.Since(begun) < limit {
		for _, file := range files {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			site.archive = archive
			r := newRunner(d, tab, new(weights))
			r.T, r.witness = t, witness
			r.solve(section(archive, "steps"))
			tab = r.first
			pages++
		}
	}
	took := time.Since(begun)
	seen.stop()
	var paths []string
	var bytes, states int64
	for _, one := range recordings(t, d) {
		paths = append(paths, one.GetFile())
		bytes += one.GetBytes()
		states += one.GetStates()
	}
	t.Logf("%d pages in %v: %d states in %d files with %d bytes: %.2f MB a minute", pages, took.Round(time.Second), states, len(paths), bytes,
		float64(bytes)/1e6/took.Minutes())
	replayed := testenv.Replay(t, paths...)
	compare(t, replayed, kept)
	seen.compare(t, replayed, paths)
}

// recordings ends the recordings and returns all of them, including recordings of closed popups.
func recordings(t *testing.T, d *testenv.Daemon) []*domtapv1.Recording {
	t.Helper()
	d.StopRecording()
	all, err := d.Recordings.ListRecordings(t.Context(), &domtapv1.ListRecordingsRequest{})
	if err != nil {
		t.Fatal(err)
	}
	return all.GetRecordings()
}

// compare compares the stored responses with a replay.
func compare(t *testing.T, replayed *testenv.Daemon, kept []answer) {
	t.Helper()
	differences, revisions := 0, map[string]bool{}
	for _, want := range kept {
		at := &domtapv1.Moment{When: &domtapv1.Moment_Revision{Revision: want.dom.GetRevision()}, Epoch: want.dom.GetEpoch()}
		got, err := read(testenv.Within(t, script.Limit), replayed, want.tab, at)
		if err != nil {
			t.Errorf("revision %d: %v", want.dom.GetRevision(), err)
			continue
		}
		revisions[want.tab+at.String()] = true
		if difference := testenv.Diff(got.dom.GetElements(), want.dom.GetElements()); difference != "" || !proto.Equal(got.dom, want.dom) {
			differences++
			t.Errorf("revision %d: GetDom differs: %s\n got %v\nwant %v", want.dom.GetRevision(), difference, header(got.dom), header(want.dom))
		}
		for f, text := range want.compact {
			if text.GetRevision() == want.dom.GetRevision() && got.compact[f].GetText() != text.GetText() { // the page may have changed between the two calls
				differences++
				t.Errorf("revision %d: %v has\n%s\nand had\n%s", want.dom.GetRevision(), f, got.compact[f].GetText(), text.GetText())
			}
		}
	}
	if len(revisions) < 20 {
		t.Errorf("only %d revisions were compared", len(revisions))
	}
	t.Logf("%d answers at %d revisions: %d differences", len(kept), len(revisions), differences)
}

// header returns a response without its elements.
func header(r *domtapv1.GetDomResponse) *domtapv1.GetDomResponse {
	r = proto.CloneOf(r)
	r.Elements = nil
	return r
}
