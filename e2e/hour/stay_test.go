package hour

import (
	"fmt"
	"time"
)

// stayBooking is a stay in a cabin.
type stayBooking struct {
	From   string `json:"from"`
	To     string `json:"to"`
	Cabin  string `json:"cabin"`
	Guests int    `json:"guests"`
	Wood   bool   `json:"wood"`
	Boat   bool   `json:"boat"`
	Dog    bool   `json:"dog"`
	At     string `json:"at"`
	Name   string `json:"name"`
	Phone  string `json:"phone"`
}

// nights returns the number of nights, or 0 for invalid dates.
func (b stayBooking) nights() int {
	from, err := time.Parse(time.DateOnly, b.From)
	to, err2 := time.Parse(time.DateOnly, b.To)
	if err != nil || err2 != nil || !to.After(from) {
		return 0
	}
	return int(to.Sub(from).Hours() / 24)
}

// stay books cabins in three steps. Each step is checked: cabins have room for few, are taken on some days, and not all accept dogs.
func stay(s *Site) {
	room := map[string]int{"Gannet": 2, "Puffin": 4, "Tern": 6}
	rate := map[string]int{"Gannet": 70, "Puffin": 95, "Tern": 130}
	answers(s, "POST /api/taken", func(in stayBooking) ([]string, error) {
		return map[string][]string{"Gannet": {"2026-12-12", "2026-12-13"}, "Puffin": {"2026-12-24", "2026-12-25"}, "Tern": {}}[in.Cabin], nil
	})
	answers(s, "POST /api/price", func(in stayBooking) (map[string]any, error) {
		return map[string]any{"nights": in.nights(), "total": fmt.Sprintf("%d.00", in.nights()*rate[in.Cabin])}, nil
	})
	check := func(in stayBooking) error {
		switch {
		case in.nights() == 0:
			return refused("Choose the first and the last day.")
		case in.nights() < 2:
			return refused("A stay has two nights or more.")
		case in.Guests > room[in.Cabin]:
			return refused(fmt.Sprintf("The cabin %s sleeps %d.", in.Cabin, room[in.Cabin]))
		}
		return nil
	}
	answers(s, "POST /api/room", func(in stayBooking) (bool, error) { return true, check(in) })
	extras := func(in stayBooking) error {
		if in.Dog && in.Cabin != "Tern" {
			return refused("Dogs may stay in the cabin Tern only.")
		}
		return nil
	}
	answers(s, "POST /api/extras", func(in stayBooking) (bool, error) { return true, extras(in) })
	answers(s, "POST /api/book", func(in stayBooking) (string, error) {
		if err := check(in); err != nil {
			return "", err
		}
		if err := extras(in); err != nil {
			return "", err
		}
		if in.Name == "" || len(in.Phone) < 8 {
			return "", refused("We need a name and a phone number.")
		}
		s.saved = in
		return "C-907", nil
	})
}
