package hour

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// weekSeeds lists the initial events: title, room, first day, from, to, and the repetition.
const weekSeeds = `Stand-up|Neap|2026-11-02|09:00|09:30|daily
Tide tables desk|Ebb|2026-11-02|13:00|14:30|weekly
French lesson|Spring|2026-11-03|12:00|13:00|weekly
Design review|Flood|2026-11-04|10:00|11:30|weekly
Choir|Spring|2026-11-05|18:00|19:30|weekly
Stock count|Ebb|2026-11-13|16:00|17:00|weekly
Kick-off|Flood|2026-11-02|10:00|12:00|
Van inspection|Spring|2026-11-04|15:00|16:00|
Phone repair|Spring|2026-11-09|15:00|15:30|
Budget draft|Flood|2026-11-10|10:00|11:00|
Visit from Delft|Neap|2026-11-10|10:00|12:30|
Interview Achterberg|Ebb|2026-11-11|13:30|14:30|
Supplier call|Neap|2026-11-11|13:00|14:00|
Map room move|Flood|2026-11-11|15:00|17:00|
Fire wardens|Ebb|2026-11-13|11:00|12:00|
Dinner plan|Flood|2026-11-13|14:00|15:00|
Lease talk|Flood|2026-11-17|14:00|15:30|
Interviews|Flood|2026-11-18|13:00|14:30|
Photo day|Spring|2026-11-18|13:30|15:00|
Press visit|Neap|2026-11-18|14:00|16:00|
Auditors|Flood|2026-11-18|15:30|17:00|
Auditors, second day|Ebb|2026-11-19|09:00|12:00|
Cake for Noor|Neap|2026-11-20|15:00|15:30|
Year plan|Flood|2026-11-25|13:00|16:00|
Fire drill briefing|Ebb|2026-11-27|14:30|15:30|
Farewell Lindqvist|Flood|2026-11-27|15:00|17:00|`

const (
	weekFirst = "2026-11-02"
	weekLast  = "2026-11-29"
)

// weekPlain is an event as users see it.
type weekPlain struct {
	Title string `json:"title"`
	Room  string `json:"room"`
	Day   string `json:"day"`
	From  string `json:"from"`
	To    string `json:"to"`
}

// weekEvent is an event on one day. Repeated events share the number of a series.
type weekEvent struct {
	ID     int `json:"id"`
	Series int `json:"series"`
	weekPlain
}

// weekChange is a changed event.
type weekChange struct {
	Was weekPlain `json:"was"`
	Now weekPlain `json:"now"`
}

// weekSaved holds the events that were added, changed or removed since the start.
type weekSaved struct {
	Added   []weekPlain  `json:"added,omitempty"`
	Changed []weekChange `json:"changed,omitempty"`
	Removed []weekPlain  `json:"removed,omitempty"`
}

// weekAsked is a request of the page. Scope "all" means the whole series.
type weekAsked struct {
	ID     int    `json:"id"`
	Repeat string `json:"repeat"`
	Scope  string `json:"scope"`
	weekPlain
}

// weekBook holds the current and the initial events.
type weekBook struct {
	events, seeds []weekEvent
	lastID        int
	lastSeries    int
}

// week serves a calendar of four rooms in four weeks. Events are created, moved and deleted; events of a series individually or together. A
// room can have only one event at a time.
func week(s *Site) {
	b := &weekBook{}
	for line := range strings.Lines(weekSeeds) {
		f := strings.Split(strings.TrimSpace(line), "|")
		b.add(weekPlain{Title: f[0], Room: f[1], Day: f[2], From: f[3], To: f[4]}, f[5])
	}
	b.seeds = slices.Clone(b.events)
	answers(s, "GET /api/events", func(struct{}) ([]weekEvent, error) { return b.events, nil })
	answers(s, "POST /api/save", func(in weekAsked) ([]weekEvent, error) {
		if err := b.save(in); err != nil {
			return nil, err
		}
		s.saved = b.diff()
		return b.events, nil
	})
	answers(s, "POST /api/delete", func(in weekAsked) ([]weekEvent, error) {
		if err := b.remove(in); err != nil {
			return nil, err
		}
		s.saved = b.diff()
		return b.events, nil
	})
}

// weekShift returns the day that many days later.
func weekShift(day string, days int) string {
	t, _ := time.Parse(time.DateOnly, day)
	return t.AddDate(0, 0, days).Format(time.DateOnly)
}

// add adds an event with its repetitions, without checks.
func (b *weekBook) add(p weekPlain, repeat string) {
	for _, e := range b.repeated(p, repeat) {
		b.lastID++
		e.ID = b.lastID
		b.events = append(b.events, e)
	}
}

// repeated returns the events of a new series, without IDs.
func (b *weekBook) repeated(p weekPlain, repeat string) []weekEvent {
	if repeat == "" {
		return []weekEvent{{weekPlain: p}}
	}
	step := 1
	if repeat == "weekly" {
		step = 7
	}
	b.lastSeries++
	var made []weekEvent
	for ; p.Day <= weekLast; p.Day = weekShift(p.Day, step) {
		day, _ := time.Parse(time.DateOnly, p.Day)
		if step == 1 && (day.Weekday() == time.Saturday || day.Weekday() == time.Sunday) {
			continue
		}
		made = append(made, weekEvent{Series: b.lastSeries, weekPlain: p})
	}
	return made
}

// weekWrong returns an error if the event itself is invalid.
func weekWrong(p weekPlain) error {
	_, errDay := time.Parse(time.DateOnly, p.Day)
	_, errFrom := time.Parse("15:04", p.From)
	_, errTo := time.Parse("15:04", p.To)
	switch {
	case p.Title == "":
		return refused("Give the event a title.")
	case !slices.Contains([]string{"Ebb", "Flood", "Neap", "Spring"}, p.Room):
		return refused("Choose a room.")
	case errDay != nil || p.Day < weekFirst || p.Day > weekLast:
		return refused("Rooms can be booked from 2 to 29 November 2026.")
	case errFrom != nil || errTo != nil || p.From < "07:00" || p.To > "20:00":
		return refused("The house is open from 07:00 to 20:00.")
	case p.From >= p.To:
		return refused("The event must end after it begins.")
	}
	return nil
}

// clash returns an error that names a conflicting event, ignoring the events with the given IDs.
func (b *weekBook) clash(p weekPlain, except []int) error {
	for _, o := range b.events {
		if o.Room == p.Room && o.Day == p.Day && o.From < p.To && p.From < o.To && !slices.Contains(except, o.ID) {
			day, _ := time.Parse(time.DateOnly, p.Day)
			return refused(fmt.Sprintf("%s is taken on %s from %s to %s: %s.", p.Room, day.Format("2 January"), o.From, o.To, o.Title))
		}
	}
	return nil
}

// chosen returns the indices of the requested events: one event, or all of its series.
func (b *weekBook) chosen(in weekAsked) ([]int, error) {
	at := slices.IndexFunc(b.events, func(e weekEvent) bool { return e.ID == in.ID })
	if at < 0 {
		return nil, refused("This event is no longer there.")
	}
	if in.Scope != "all" || b.events[at].Series == 0 {
		return []int{at}, nil
	}
	var many []int
	for i, e := range b.events {
		if e.Series == b.events[at].Series {
			many = append(many, i)
		}
	}
	return many, nil
}

// save creates an event, or changes one event or a series.
func (b *weekBook) save(in weekAsked) error {
	in.Title = strings.TrimSpace(in.Title)
	if err := weekWrong(in.weekPlain); err != nil {
		return err
	}
	if in.ID == 0 {
		return b.book(in)
	}
	many, err := b.chosen(in)
	if err != nil {
		return err
	}
	return b.change(in, many)
}

// book creates an event and its repetitions, if the room is always free.
func (b *weekBook) book(in weekAsked) error {
	made := b.repeated(in.weekPlain, in.Repeat)
	for _, e := range made {
		if err := b.clash(e.weekPlain, nil); err != nil {
			return err
		}
	}
	for _, e := range made {
		b.lastID++
		e.ID = b.lastID
		b.events = append(b.events, e)
	}
	return nil
}

// change changes the events at the given indices. An event that is changed individually leaves its series.
func (b *weekBook) change(in weekAsked, many []int) error {
	var ids []int
	days := 0
	for _, i := range many {
		ids = append(ids, b.events[i].ID)
		if b.events[i].ID == in.ID {
			was, _ := time.Parse(time.DateOnly, b.events[i].Day)
			now, _ := time.Parse(time.DateOnly, in.Day)
			days = int(now.Sub(was).Hours() / 24)
		}
	}
	changed := slices.Clone(b.events)
	for _, i := range many {
		p := in.weekPlain
		p.Day = weekShift(b.events[i].Day, days)
		if err := weekWrong(p); err != nil {
			return err
		}
		if err := b.clash(p, ids); err != nil {
			return err
		}
		changed[i].weekPlain = p
		if in.Scope != "all" {
			changed[i].Series = 0
		}
	}
	b.events = changed
	return nil
}

// remove deletes one event or a series.
func (b *weekBook) remove(in weekAsked) error {
	many, err := b.chosen(in)
	if err != nil {
		return err
	}
	var left []weekEvent
	for i, e := range b.events {
		if !slices.Contains(many, i) {
			left = append(left, e)
		}
	}
	b.events = left
	return nil
}

// diff compares the current events with the initial ones.
func (b *weekBook) diff() weekSaved {
	var d weekSaved
	now := map[int]weekPlain{}
	for _, e := range b.events {
		now[e.ID] = e.weekPlain
		if !slices.ContainsFunc(b.seeds, func(o weekEvent) bool { return o.ID == e.ID }) {
			d.Added = append(d.Added, e.weekPlain)
		}
	}
	for _, e := range b.seeds {
		if p, there := now[e.ID]; !there {
			d.Removed = append(d.Removed, e.weekPlain)
		} else if p != e.weekPlain {
			d.Changed = append(d.Changed, weekChange{Was: e.weekPlain, Now: p})
		}
	}
	slices.SortFunc(d.Added, weekOrder)
	slices.SortFunc(d.Removed, weekOrder)
	slices.SortFunc(d.Changed, func(x, y weekChange) int { return weekOrder(x.Was, y.Was) })
	return d
}

// weekOrder sorts by day, time and title.
func weekOrder(x, y weekPlain) int {
	return cmp.Or(cmp.Compare(x.Day, y.Day), cmp.Compare(x.From, y.From), cmp.Compare(x.Title, y.Title))
}
