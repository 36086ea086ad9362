package replay

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/domtap/domtap/compact/dense"
	"github.com/domtap/domtap/dom"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/recording"
	"github.com/domtap/domtap/internal/recording/trace"
	"github.com/domtap/domtap/internal/server/views"
)

const (
	// A state that no step needs is left out when another one follows within sampleEvery, or within a part of maxSamples of the
	// recording where that is longer: a second of an hour.
	sampleEvery = 100 * time.Millisecond
	maxSamples  = 3600
	// maxDiff bounds the diff of a step: how many added and how many changed elements it lists.
	maxDiff = 100
)

// Export makes one HTML file of all recordings, of at most maxBytes bytes, that shows them without domtap; left says what it does
// not have. The version is that of the program.
func (p *Player) Export(version string, maxBytes int) (file []byte, left []string, err error) {
	out := trace.Trace{Program: version, Started: p.start.UnixMilli(), Duration: p.until.Sub(p.start).Milliseconds()}
	for _, t := range p.tracks {
		for _, gap := range t.file.Missing() {
			out.Left = append(out.Left, "tab "+t.tab+": the recording misses a part after "+gap.After.Round(time.Millisecond).String()+": "+gap.Why)
		}
		e := exported{track: t, start: p.start, shift: t.start.Sub(p.start)}
		tab := e.read()
		out.Tabs = append(out.Tabs, tab)
		if e.damaged > 0 {
			out.Left = append(out.Left, "tab "+t.tab+": states that cannot be read")
		}
		if skipped := len(t.states) - len(tab.States); skipped > 0 {
			out.Left = append(out.Left, fmt.Sprintf("tab %s: %d of %d states, between steps, each of which another one followed within %v", t.tab, skipped, len(t.states), e.every()))
		}
	}
	return trace.Make(out, maxBytes)
}

// exported is a track that is being exported.
type exported struct {
	*track
	// start is that of the player, and shift how much later the track begins.
	start time.Time
	shift time.Duration
	// damaged is how many blocks and states could not be read.
	damaged int
}

// way is what a turn changed: from a state of the track to another, by their indexes.
type way struct{ from, to, step int }

// read reads the whole track, once.
func (e *exported) read() trace.Tab {
	tab := trace.Tab{ID: e.tab, Steps: []trace.Step{}, Pictures: []trace.Picture{}, Log: logOf(e.logs, e.start), Clients: clientsOf(e.entries)}
	var ways []way
	for _, entry := range e.entries {
		step := stepOf(entry, e.start)
		if from, to, ok := e.span(entry); ok {
			// The page is seen a moment after it changes.
			step.End = max(step.End, e.since(e.states[to].at))
			ways = append(ways, way{from, to, len(tab.Steps)})
		}
		tab.Steps = append(tab.Steps, step)
	}
	e.readStates(&tab, ways)
	slices.SortStableFunc(tab.Steps, func(a, b trace.Step) int { return cmp.Compare(a.At, b.At) })
	return tab
}

// since is a time of the track, in milliseconds since the start of the player.
func (e *exported) since(at time.Duration) int64 { return (e.shift + at).Milliseconds() }

// span finds the states that a turn leads between.
func (e *exported) span(entry *domtapv1.TimelineEntry) (from, to int, ok bool) {
	if entry.GetTurn() == nil || entry.GetEpoch() == "" {
		return 0, 0, false
	}
	find := func(upTo int, epoch string, revision uint64) int {
		for i := upTo; i >= 0; i-- {
			if s := e.states[i]; (epoch == "" || s.epoch == epoch) && s.revision <= revision {
				return i
			}
		}
		return -1
	}
	if to = find(len(e.states)-1, entry.GetEpoch(), entry.GetRevisionTo()); to < 0 {
		return 0, 0, false
	}
	if from = find(to, entry.GetEpoch(), entry.GetRevisionFrom()); from < 0 { // another epoch began
		from = find(to-1, "", entry.GetRevisionFrom())
	}
	return from, to, from >= 0
}

// readStates reads the states, as far as they are wanted, and the pictures, and writes what the turns changed.
func (e *exported) readStates(tab *trace.Tab, ways []way) {
	begins, needed := map[int]int{}, map[int]bool{}
	ends := map[int][]way{}
	for _, w := range ways {
		begins[w.from]++
		ends[w.to] = append(ends[w.to], w)
		needed[w.from], needed[w.to] = true, true
	}
	text := texts()
	held := map[int]*dom.Snapshot{}
	every := e.every()
	cursor := e.file.Cursor(0)
	defer cursor.Close()
	place, sampled := -1, time.Duration(-1)
	for {
		m, err := cursor.Next()
		if err != nil { // io.EOF: there is nothing more
			break
		}
		if m.Picture != nil {
			tab.Pictures = append(tab.Pictures, e.picture(m))
		}
		if m.State == nil {
			continue
		}
		s := m.State.Snapshot
		if place = e.place(place+1, m.At, s); place < 0 {
			break
		}
		if begins[place] > 0 {
			held[place] = s
		}
		for _, w := range ends[place] {
			tab.Steps[w.step].Diff = difference(held[w.from], s)
			if begins[w.from]--; begins[w.from] == 0 {
				delete(held, w.from)
			}
		}
		if !needed[place] && sampled >= 0 && place+1 < len(e.states) && e.states[place+1].at-sampled < every {
			continue // another one follows soon
		}
		sampled = m.At
		tab.States = append(tab.States, trace.State{At: e.since(m.At), Revision: s.Revision, Text: trace.NewText(text(s)), Needed: needed[place]})
	}
	e.damaged = cursor.Damaged()
}

// every is within which time another state replaces one that no step needs.
func (e *exported) every() time.Duration {
	return max(sampleEvery, e.file.Duration()/maxSamples).Round(sampleEvery)
}

// place finds a state, from an index on; -1: it is not there.
func (e *exported) place(from int, at time.Duration, s *dom.Snapshot) int {
	for i := from; i < len(e.states); i++ {
		if m := e.states[i]; m.at == at && m.revision == s.Revision && m.epoch == s.Epoch {
			return i
		}
	}
	return -1
}

func (e *exported) picture(m recording.Moment) trace.Picture {
	return trace.Picture{
		At: e.since(m.At), Width: m.Picture.GetWidth(), Height: m.Picture.GetHeight(), PageWidth: max(1, m.Picture.GetPageWidth()), Type: "image/jpeg", Data: m.Picture.GetData(),
	}
}

// difference is what leads from a state to another, as DENSE_DIFF; empty: the elements are the same.
func difference(from, to *dom.Snapshot) string {
	switch {
	case from == nil || from == to:
		return ""
	case from.Document != to.Document || from.Epoch != to.Epoch:
		return "The page is another one: " + to.URL + "\n"
	}
	text := views.Changes(from, to, views.ChangesForm{Listed: func(s *dom.Snapshot) dom.List { return s.Elements }, Limit: maxDiff})
	if text == dense.None {
		return ""
	}
	return text
}

// page is what the views of an export are made of.
type page struct{}

func (page) ID() string            { return "" }
func (page) Done() <-chan struct{} { return nil }

// texts returns what writes states as DENSE, whole. It is faster when the states come in their order.
func texts() func(*dom.Snapshot) string {
	tab := views.New().Of(page{})
	selection := views.SelectionOf(&domtapv1.GetCompactRequest{FullSnapshot: true, Format: domtapv1.Format_FORMAT_DENSE})
	return func(s *dom.Snapshot) string {
		v, err := tab.At(nil, s, selection) // the whole page is always there, so that the head is not needed
		if err != nil {
			return "This state cannot be shown: " + err.Error() + "\n"
		}
		return v.Print(v.Header(false), v.Settled(false))
	}
}
