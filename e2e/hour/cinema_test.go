package hour

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// cinemaShow is one showing of a film.
type cinemaShow struct {
	ID       int    `json:"id"`
	Film     string `json:"film"`
	Age      int    `json:"age"`
	Minutes  int    `json:"minutes"`
	Genre    string `json:"genre"`
	Day      int    `json:"day"` // 0 is Monday, 9 November 2026
	Time     string `json:"time"`
	Language string `json:"language"`
	Hall     int    `json:"hall"`
}

// cinemaFilms lists the films, one per line: name, minimum age, minutes, genre.
const cinemaFilms = `The Tin Orchard|6|104|Family drama
Low Tide|16|118|Thriller
Paper Astronauts|0|86|Animation
Night Bus to Varna|12|131|Road movie
Miss Pomfret Investigates|12|97|Crime comedy
Glacier|0|92|Documentary
The Understudy|16|109|Drama
Seven Left Shoes|0|78|Children`

// cinemaProgramme lists the showings, one start time of a film per line: film, days of the week, time, language, hall.
const cinemaProgramme = `The Tin Orchard|MTWTFSS|15:00|dubbed|1
The Tin Orchard|MTWTFSS|17:30|dubbed|3
The Tin Orchard|--W-F-S|20:00|OV with subtitles|3
Low Tide|----FSS|17:00|dubbed|3
Low Tide|MTWTFSS|18:15|OV|2
Low Tide|MTWTFSS|20:15|dubbed|1
Low Tide|----FS-|20:45|OV|2
Low Tide|M-W--SS|21:45|OV with subtitles|3
Low Tide|----FS-|22:30|dubbed|1
Paper Astronauts|--W--SS|13:30|dubbed|2
Paper Astronauts|MTWTFSS|15:45|dubbed|2
Paper Astronauts|-----SS|16:00|OV|4
Night Bus to Varna|MTWTFSS|19:30|OV with subtitles|4
Night Bus to Varna|-T-T-S-|16:30|dubbed|4
Night Bus to Varna|----FSS|22:15|OV|4
Miss Pomfret Investigates|MTWTFSS|17:00|dubbed|4
Miss Pomfret Investigates|-T-TFS-|20:00|OV|3
Miss Pomfret Investigates|-----SS|14:15|dubbed|3
Glacier|M-W-F-S|18:00|dubbed|1
Glacier|-T-T-S-|18:00|OV with subtitles|1
The Understudy|MTWTFSS|20:30|OV with subtitles|4
The Understudy|---TFS-|22:00|dubbed|2
Seven Left Shoes|-----SS|11:00|dubbed|1
Seven Left Shoes|--W--SS|14:00|dubbed|4`

// cinemaPlans lists the seats and their state: a line for each row from A at the front to H, with an aisle after the sixth seat. A dot is a
// free seat, w a wheelchair space, x a taken seat.
var cinemaPlans = []string{
	"ww.......... ....xx...... ..xxx...xx.. .xxxx..xxxx. xxxx....xxxx .xx...xxx..x xxxx..xx.... ....xxxx..xx",
	"ww.......... ......xx.... ..xx....xxx. xxxx...xxxx. ..xxxxx..... ...xxxxxxx.. xx..xx..xx.. xxxxxxxx..xx",
	"ww.......... ............ xx.......... ....xxxx.... ..xxxxxxxx.. xxxx....xxxx ..xx....xx.. xx........xx",
	"ww.......... .......xx... ..xx..xx.... xxx......xxx .xxxxxxx..x. .....x....xx xx....x.x..x x..x..xx..x.",
}

// cinemaKinds maps the kinds of tickets to their discount in cents.
var cinemaKinds = map[string]int{"Adult": 0, "Student": 250, "Senior": 200, "Child": 400, "Wheelchair": 400}

// cinemaShows returns all showings of the week. The ID of a showing is its index.
func cinemaShows() (shows []cinemaShow) {
	for line := range strings.SplitSeq(cinemaProgramme, "\n") {
		f := strings.Split(line, "|")
		show := cinemaShow{Film: f[0], Time: f[2], Language: f[3]}
		show.Hall, _ = strconv.Atoi(f[4])
		for film := range strings.SplitSeq(cinemaFilms, "\n") {
			if about := strings.Split(film, "|"); about[0] == show.Film {
				show.Age, _ = strconv.Atoi(about[1])
				show.Minutes, _ = strconv.Atoi(about[2])
				show.Genre = about[3]
			}
		}
		for day, letter := range f[1] {
			if letter != '-' {
				show.ID, show.Day = len(shows), day
				shows = append(shows, show)
			}
		}
	}
	return shows
}

// when returns the day and time of a showing.
func (c cinemaShow) when() string {
	days := []string{"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"}
	return fmt.Sprintf("%s %d Nov, %s", days[c.Day], 9+c.Day, c.Time)
}

// seats returns the initial seats of a showing.
func (c cinemaShow) seats() (rows [][]byte) {
	for row := range strings.FieldsSeq(cinemaPlans[(c.Hall+c.Day)%len(cinemaPlans)]) {
		rows = append(rows, []byte(row))
	}
	return rows
}

// cinemaSeat returns the name of a seat. B7 is the seventh seat in the second row.
func cinemaSeat(row, i int) string { return fmt.Sprintf("%c%d", 'A'+row, i+1) }

// cinemaAt finds a seat by its name.
func cinemaAt(rows [][]byte, seat string) *byte {
	for r, row := range rows {
		for i := range row {
			if cinemaSeat(r, i) == seat {
				return &row[i]
			}
		}
	}
	return nil
}

// cinemaAlone returns a seat that would be left single between the held seats, taken seats, a wall or the aisle.
func cinemaAlone(rows [][]byte, held []string) string {
	free := func(b byte) bool { return b == '.' || b == 'w' }
	for r, row := range rows {
		for block := 0; block < len(row); block += 6 {
			line := []byte("x" + string(row[block:block+6]) + "x")
			for i := range 6 {
				if slices.Contains(held, cinemaSeat(r, block+i)) {
					line[i+1] = 'm'
				}
			}
			for i := 1; i <= 6; i++ {
				before, after := line[i-1], line[i+1]
				if free(line[i]) && !free(before) && !free(after) && (before == 'm' || after == 'm') {
					return cinemaSeat(r, block+i-1)
				}
			}
		}
	}
	return ""
}

// cinemaPrice returns the price of a seat for an adult, in cents. The front is cheaper, and the boxes at the back are more expensive.
func cinemaPrice(seat string) int {
	switch {
	case seat < "C":
		return 900
	case seat >= "G":
		return 1300
	}
	return 1100
}

// cinema sells tickets for the films of a week. A visitor can hold up to six seats. The server refuses one that has just been sold, and a
// choice that leaves a single seat. A visitor who is too young for a film gets no ticket.
func cinema(s *Site) {
	type ticket struct {
		Seat string `json:"seat"`
		Kind string `json:"kind"`
	}
	type order struct {
		Film      string   `json:"film"`
		When      string   `json:"when"`
		Language  string   `json:"language"`
		Hall      int      `json:"hall"`
		Tickets   []ticket `json:"tickets"`
		Email     string   `json:"email"`
		Insurance bool     `json:"insurance"`
		Cents     int      `json:"cents"`
	}
	type plan struct {
		Show cinemaShow `json:"show"`
		When string     `json:"when"`
		Rows []string   `json:"rows"`
	}
	type seat struct {
		Name  string `json:"name"`
		Cents int    `json:"cents"`
	}
	var orders []order
	var show cinemaShow
	var rows [][]byte
	var held []string
	shows, halls := cinemaShows(), map[int][][]byte{}
	answers(s, "POST /api/day", func(in struct{ Day int }) ([]cinemaShow, error) {
		list := slices.DeleteFunc(slices.Clone(shows), func(c cinemaShow) bool { return c.Day != in.Day })
		return list, nil
	})
	answers(s, "POST /api/plan", func(in struct{ Show int }) (plan, error) {
		if in.Show < 0 || in.Show >= len(shows) {
			return plan{}, refused("This showing is over.")
		}
		show, held = shows[in.Show], nil
		if halls[show.ID] == nil {
			halls[show.ID] = show.seats()
		}
		rows = halls[show.ID]
		out := plan{Show: show, When: show.when()}
		for _, row := range rows {
			out.Rows = append(out.Rows, string(row))
		}
		return out, nil
	})
	answers(s, "POST /api/hold", func(in struct {
		Seat string
		On   bool
	}) ([]string, error) {
		at := cinemaAt(rows, in.Seat)
		if at == nil {
			return held, refused("There is no such seat.")
		}
		held = slices.DeleteFunc(held, func(name string) bool { return name == in.Seat })
		if !in.On {
			return held, nil
		}
		if show.Film == "Low Tide" && show.when() == "Sat 14 Nov, 20:45" && in.Seat == "F2" {
			*at = 'x'
		}
		switch {
		case *at == 'x':
			return held, refused("Seat " + in.Seat + " has just been taken by somebody else.")
		case len(held) == 6:
			return held, refused("You can book six seats at most.")
		}
		held = append(held, in.Seat)
		return held, nil
	})
	answers(s, "POST /api/seats", func(struct{}) ([]seat, error) {
		alone := cinemaAlone(rows, held)
		switch {
		case len(held) == 0:
			return nil, refused("Choose your seats first.")
		case alone != "":
			return nil, refused("Seat " + alone + " would be left alone. Please leave no single free seat beside yours.")
		}
		slices.Sort(held)
		var list []seat
		for _, name := range held {
			list = append(list, seat{name, cinemaPrice(name)})
		}
		return list, nil
	})
	check := func(t ticket) error {
		at := cinemaAt(rows, t.Seat)
		_, known := cinemaKinds[t.Kind]
		switch {
		case at == nil || !slices.Contains(held, t.Seat) || !known:
			return refused("Your seats have changed. Please choose them again.")
		case (*at == 'w') != (t.Kind == "Wheelchair"):
			return refused("The places A1 and A2 are for wheelchairs, with a ticket of that kind.")
		case t.Kind == "Child" && show.Age > 12:
			return refused(fmt.Sprintf("%s is for those of %d years and over.", show.Film, show.Age))
		}
		return nil
	}
	answers(s, "POST /api/buy", func(in order) (order, error) {
		if len(held) == 0 || len(in.Tickets) != len(held) {
			return order{}, refused("Your seats have changed. Please choose them again.")
		}
		if name, host, _ := strings.Cut(in.Email, "@"); name == "" || !strings.Contains(host, ".") {
			return order{}, refused("We need your e-mail address to send the tickets to.")
		}
		bought := order{Film: show.Film, When: show.when(), Language: show.Language, Hall: show.Hall, Email: in.Email, Insurance: in.Insurance}
		for _, t := range in.Tickets {
			if err := check(t); err != nil {
				return order{}, err
			}
			bought.Cents += cinemaPrice(t.Seat) - cinemaKinds[t.Kind]
			if in.Insurance {
				bought.Cents += 120
			}
		}
		bought.Tickets = slices.SortedFunc(slices.Values(in.Tickets), func(a, b ticket) int { return cmp.Compare(a.Seat, b.Seat) })
		for _, t := range bought.Tickets {
			*cinemaAt(rows, t.Seat) = 'x'
		}
		held = nil
		orders = append(orders, bought)
		s.saved = struct {
			Orders []order `json:"orders"`
		}{orders}
		return bought, nil
	})
}
