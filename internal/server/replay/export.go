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
	"github.com/domtap/domtap/internal/server/tabview"
)

const (
	// A state that no step needs is omitted if another one follows within sampleEvery, or within 1/maxSamples of the recording if that is
	// longer. For a recording of an hour that is one second.
	sampleEvery = 100 * time.Millisecond
	maxSamples  = 3600
	// maxDiff limits the diff of a step: the listed added elements, and the listed changed ones.
	maxDiff = 100
)

// Export returns one HTML file of at most maxBytes bytes that shows all recordings without domtap. left describes what the file omits.
// version is the version of the program.
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
			out.Left = append(out.Left, fmt.Sprintf("tab %s: %d of %d states between steps, because another state followed within %v", t.tab, skipped, len(t.states), e.every()))
		}
	}
	return trace.Make(out, maxBytes)
}

// exported is a track during an export.
type exported struct {
	*track
	// start is the start of the player. shift is the offset of the track's start.
	start time.Time
	shift time.Duration
	// damaged counts the blocks and states that could not be read.
	damaged int
}

// turnChange is the change of a turn: the indexes of the states before and after it, and of its step.
type turnChange struct{ from, to, step int }

// read reads the whole track, once.
func (e *exported) read() trace.Tab {
	tab := trace.Tab{ID: e.tab, Steps: []trace.Step{}, Pictures: []trace.Picture{}, Log: logOf(e.logs, e.start), Clients: clientsOf(e.entries)}
	var ways []turnChange
	for _, entry := range e.entries {
		step := stepOf(entry, e.start)
		if from, to, ok := e.span(entry); ok {
			// The page is recorded a moment after it changes.
			step.End = max(step.End, e.since(e.states[to].at))
			ways = append(ways, turnChange{from, to, len(tab.Steps)})
		}
		tab.Steps = append(tab.Steps, step)
	}
	e.readStates(&tab, ways)
	slices.SortStableFunc(tab.Steps, func(a, b trace.Step) int { return cmp.Compare(a.At, b.At) })
	return tab
}

// since converts a time of the track to milliseconds since the start of the player.
func (e *exported) since(at time.Duration) int64 { return (e.shift + at).Milliseconds() }

// span finds the states before and after a turn.
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
	if from = find(to, entry.GetEpoch(), entry.GetRevisionFrom()); from < 0 { // a new epoch started
		from = find(to-1, "", entry.GetRevisionFrom())
	}
	return from, to, from >= 0
}

// readStates reads the pictures and the required states, and sets the diffs of the turns.
func (e *exported) readStates(tab *trace.Tab, ways []turnChange) {
	begins, needed := map[int]int{}, map[int]bool{}
	ends := map[int][]turnChange{}
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
		if err != nil { // usually io.EOF
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
			continue // another state follows soon
		}
		sampled = m.At
		tab.States = append(tab.States, trace.State{At: e.since(m.At), Revision: s.Revision, Text: trace.NewText(text(s)), Needed: needed[place]})
	}
	e.damaged = cursor.Damaged()
}

// every returns the interval within which a following state replaces one that no step needs.
func (e *exported) every() time.Duration {
	return max(sampleEvery, e.file.Duration()/maxSamples).Round(sampleEvery)
}

// place returns the index of a state, searching from an index on. It returns -1 if the state is missing.
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

// difference returns the change from one state to another as DENSE_DIFF. It returns "" if the elements are equal.
func difference(from, to *dom.Snapshot) string {
	switch {
	case from == nil || from == to:
		return ""
	case from.Document != to.Document || from.Epoch != to.Epoch:
		return "The page changed to another: " + to.URL + "\n"
	}
	text := tabview.Changes(from, to, tabview.ChangesForm{Listed: func(s *dom.Snapshot) dom.List { return s.Elements }, Limit: maxDiff})
	if text == dense.None {
		return ""
	}
	return text
}

// page implements tabview.Page for the views of an export.
type page struct{}

func (page) ID() string            { return "" }
func (page) Done() <-chan struct{} { return nil }

// texts returns a function that prints a whole state as DENSE. It is faster if the states are passed in their order.
func texts() func(*dom.Snapshot) string {
	tab := tabview.New().Of(page{})
	selection := tabview.SelectionOf(&domtapv1.GetCompactRequest{FullSnapshot: true, Format: domtapv1.Format_FORMAT_DENSE})
	return func(s *dom.Snapshot) string {
		v, err := tab.At(nil, s, selection) // At uses the head only to explain errors of partial views
		if err != nil {
			return "This state cannot be shown: " + err.Error() + "\n"
		}
		return v.Print(v.Header(false), v.Settled(false))
	}
}
