package hour

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// notesSeed lists the initial notes, one per line: title, tags, text. In a text, ¶ ends a line, "# " starts a heading and "- " a list item.
const notesSeed = `Gym timetable|sport|Mondays spin, 18:30¶Thursdays rowing, 19:00¶Sundays open hall
Wifi and door codes|house|Guest wifi: driftwood-77¶Cellar door: 4410
Reading list|books|- The Salt Path¶- Middlemarch¶- A Month by the Sea
Boat licence papers|boat,papers|Form 12b, two photos, eye test¶Office opens at **9:00**
Boiler manual|heating|Pressure between 1.2 and 1.8 bar¶Reset: hold the **red** button for five seconds
Soup for twelve|recipes|# Shopping¶- 3 kg leeks¶- 2 kg potatoes¶- cream
Garden in November|garden|- cut back the roses¶- cover the figs¶- clean the shed
Ideas for Mara|gifts|A good torch, the blue scarf, concert tickets
Tyres|car|Winter tyres are in the cellar of the garage¶Bolt key in the glove box
Choir dates|music|14 November rehearsal¶28 November church¶12 December market
Boiler service|heating,todo|Ring Pelle on 555 0148¶Last service was in October 2024
Tax list|papers,todo|- wage slips¶- rail tickets¶- desk receipt
Language class|school|Unit 7, exercises 3 and 4¶Ask about the **subjunctive**
Bread, the slow one|recipes|500 g flour, 350 g water, 10 g salt¶Fold four times, bake at 240
Paint colours|house|Hall: chalk 02¶Kitchen: moss 11¶Door: tar
Rental agreement|papers|Notice three months, to the end of a quarter
Photo wall|house,todo|Frames 30 x 40, nine of them¶Hooks from Lund
Bike repair|sport|Chain 11 speed, brake pads B01S
Meeting with the bank|papers|Bring the last three statements¶Room 4, second floor
Kite festival|trips|Ferry at 7:40, tickets in the drawer
Mushroom places|garden|Behind the quarry, under the **birches**
Old recipes of Aunt Vera|recipes,family|Plum cake, sour herring, rye pancakes
Dentist|health,todo|Ask for a morning in January
Cellar shelves|house|Two boards of 120, one of 80
Birthday of Jonas|family,gifts|He wants the climbing book
Podcast list|books|- Deep Water¶- Small Talk¶- The Long Now and Then
Packing for the hut|trips|- sleeping bag¶- matches¶- cards¶- coffee
Swimming badge|sport,family|Lina needs 200 m and one ring from the ground
Window quotes|house|Glass Brandt 4,200¶Hansen and Sons 3,950
Insurance numbers|papers|House 77-1029-4¶Boat 81-3347-0
Film night|friends|Bring the beamer, Tove has the screen
Compost rules|garden|No citrus, no bread, turn it once a month
Piano tuner|music,todo|Mr Okafor, afternoons only
Allergy plan|health|Drops at eight, tablet at noon if needed
Minutes of the residents' meeting|house|Shared by Mara: the roof is postponed to spring
Car sharing|car|Key box code on the app, **return full**
School run|family|Mon and Wed: us¶Tue, Thu, Fri: the Lindqvists
Stargazing|trips|New moon on 9 December, hill road is closed`

// notes serves notes with text, tags and pins. It saves during typing. Up to three notes can be pinned, and one note is read-only.
func notes(s *Site) {
	type note struct {
		ID     int      `json:"id"`
		Title  string   `json:"title"`
		Body   string   `json:"body"`
		Tags   []string `json:"tags"`
		Pinned bool     `json:"pinned"`
		Shared bool     `json:"shared"`
	}
	type kept struct {
		Title  string   `json:"title"`
		Body   string   `json:"body"`
		Tags   []string `json:"tags"`
		Pinned bool     `json:"pinned"`
	}
	type differs struct {
		Changed []kept   `json:"changed"`
		Deleted []string `json:"deleted"`
	}
	var first, book []note
	for i, line := range strings.Split(notesSeed, "\n") {
		part := strings.SplitN(line, "|", 3)
		first = append(first, note{
			ID: i + 1, Title: part[0], Tags: strings.Split(part[1], ","), Body: strings.ReplaceAll(part[2], "¶", "\n"),
			Pinned: i < 3, Shared: strings.HasPrefix(part[0], "Minutes"),
		})
	}
	book = slices.Clone(first)
	next := len(book) + 1
	same := func(a, b note) bool {
		return a.Title == b.Title && a.Body == b.Body && a.Pinned == b.Pinned && slices.Equal(a.Tags, b.Tags)
	}
	at := func(id int) int {
		return slices.IndexFunc(book, func(n note) bool { return n.ID == id })
	}
	save := func() {
		out := differs{Changed: []kept{}, Deleted: []string{}}
		for _, n := range book {
			if n.ID <= len(first) && same(n, first[n.ID-1]) {
				continue
			}
			out.Changed = append(out.Changed, kept{n.Title, n.Body, n.Tags, n.Pinned})
		}
		for _, n := range first {
			if at(n.ID) < 0 {
				out.Deleted = append(out.Deleted, n.Title)
			}
		}
		s.saved = out
	}
	// change changes and saves a note unless it is read-only.
	change := func(id int, how func(n *note) error) (note, error) {
		i := at(id)
		if i < 0 {
			return note{}, refused("This note is no longer there.")
		}
		if book[i].Shared {
			return book[i], refused("Mara shared this note with you for reading only.")
		}
		err := how(&book[i])
		if err == nil {
			save()
		}
		return book[i], err
	}
	answers(s, "GET /api/notes", func(struct{}) ([]note, error) { return book, nil })
	answers(s, "POST /api/new", func(struct{}) (note, error) {
		n := note{ID: next, Tags: []string{}}
		next++
		book = append(book, n)
		save()
		return n, nil
	})
	answers(s, "POST /api/text", func(in note) (note, error) {
		return change(in.ID, func(n *note) error {
			n.Title, n.Body = strings.TrimSpace(in.Title), in.Body
			return nil
		})
	})
	answers(s, "POST /api/tags", func(in note) (note, error) {
		return change(in.ID, func(n *note) error {
			tags, err := notesTags(in.Tags)
			if err == nil {
				n.Tags = tags
			}
			return err
		})
	})
	answers(s, "POST /api/pin", func(in note) (note, error) {
		return change(in.ID, func(n *note) error {
			pinned := 0
			for _, other := range book {
				if other.Pinned && other.ID != in.ID {
					pinned++
				}
			}
			if in.Pinned && pinned >= 3 {
				return refused("Three notes are pinned already. Unpin one of them first.")
			}
			n.Pinned = in.Pinned
			return nil
		})
	})
	answers(s, "POST /api/delete", func(in note) ([]note, error) {
		if _, err := change(in.ID, func(*note) error { return nil }); err != nil {
			return book, err
		}
		book = slices.DeleteFunc(book, func(n note) bool { return n.ID == in.ID })
		save()
		return book, nil
	})
}

// notesTag matches a tag.
var notesTag = regexp.MustCompile(`^[a-z0-9-]{2,20}$`)

// notesTags returns sorted tags without duplicates. More than four are an error.
func notesTags(in []string) ([]string, error) {
	tags := []string{}
	for _, tag := range in {
		if !notesTag.MatchString(tag) {
			return nil, refused(fmt.Sprintf("%q is no tag: use lower case letters, digits and dashes.", tag))
		}
		if !slices.Contains(tags, tag) {
			tags = append(tags, tag)
		}
	}
	if len(tags) > 4 {
		return nil, refused("A note has four tags at most.")
	}
	slices.Sort(tags)
	return tags, nil
}
