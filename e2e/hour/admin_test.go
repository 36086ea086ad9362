package hour

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// adminCustomer is a row of the table.
type adminCustomer struct {
	ID     string `json:"id"`
	Name   string `json:"name"`
	City   string `json:"city"`
	Plan   string `json:"plan"`
	Status string `json:"status"`
	Seats  int    `json:"seats"`
	Cents  int    `json:"cents"` // the customer's debt
}

// adminQuery is a request of the page. An empty list does not filter.
type adminQuery struct {
	Text                 string
	City, Plan, Status   []string
	Sort                 string
	Down                 bool
	Page                 int
	IDs                  []string
	ID, Field, New, Name string
}

// adminPerPage is the number of rows per page.
const adminPerPage = 12

// admin serves a table of customers. Only overdue customers can be reminded, and only customers without debt can be deleted.
func admin(s *Site) {
	type page struct {
		Rows  []adminCustomer `json:"rows"`
		Total int             `json:"total"`
	}
	type saved struct {
		Changed  []adminCustomer `json:"changed"`
		Deleted  []string        `json:"deleted"`
		Reminded []string        `json:"reminded"`
	}
	start, now := adminStart(), adminStart()
	reminded := []string{}
	save := func() {
		out := saved{Changed: []adminCustomer{}, Deleted: []string{}, Reminded: reminded}
		for _, was := range start {
			if i := adminFind(now, was.ID); i < 0 {
				out.Deleted = append(out.Deleted, was.ID)
			} else if now[i] != was {
				out.Changed = append(out.Changed, now[i])
			}
		}
		s.saved = out
	}
	answers(s, "POST /api/list", func(in adminQuery) (page, error) {
		found := adminMatching(now, in)
		adminSort(found, in.Sort, in.Down)
		from := min(max(in.Page, 0)*adminPerPage, len(found))
		return page{Rows: found[from:min(from+adminPerPage, len(found))], Total: len(found)}, nil
	})
	answers(s, "POST /api/ids", func(in adminQuery) ([]string, error) {
		ids := []string{}
		for _, c := range adminMatching(now, in) {
			ids = append(ids, c.ID)
		}
		return ids, nil
	})
	answers(s, "POST /api/edit", func(in adminQuery) (bool, error) {
		i := adminFind(now, in.ID)
		if i < 0 {
			return false, refused("This customer is not there any more.")
		}
		if err := now[i].edit(in.Field, strings.TrimSpace(in.New)); err != nil {
			return false, err
		}
		save()
		return true, nil
	})
	answers(s, "POST /api/remind", func(in adminQuery) (string, error) {
		wrong := []string{}
		for _, id := range in.IDs {
			if i := adminFind(now, id); i < 0 || now[i].Status != "overdue" {
				wrong = append(wrong, id)
			}
		}
		if len(wrong) > 0 {
			return "", refused("Only who is overdue can be reminded. Nobody was reminded; not overdue: " + strings.Join(wrong, ", ") + ".")
		}
		reminded = append(reminded, in.IDs...)
		slices.Sort(reminded)
		save()
		return fmt.Sprintf("Reminded %d customers.", len(in.IDs)), nil
	})
	answers(s, "POST /api/pause", func(in adminQuery) (string, error) {
		for _, id := range in.IDs {
			if i := adminFind(now, id); i >= 0 {
				now[i].Status = "paused"
			}
		}
		save()
		return fmt.Sprintf("Paused %d customers.", len(in.IDs)), nil
	})
	answers(s, "POST /api/writeoff", func(in adminQuery) (string, error) {
		i := adminFind(now, in.ID)
		if i < 0 || now[i].Cents == 0 {
			return "", refused("This customer owes nothing.")
		}
		now[i].Cents = 0
		save()
		return now[i].Name + " owes nothing any more.", nil
	})
	answers(s, "POST /api/delete", func(in adminQuery) (string, error) {
		i := adminFind(now, in.ID)
		switch {
		case i < 0:
			return "", refused("This customer is not there any more.")
		case in.Name != now[i].Name:
			return "", refused("The name is not the same.")
		case now[i].Cents != 0:
			return "", refused(fmt.Sprintf("%s still owes %d.%02d. Write it off first.", in.Name, now[i].Cents/100, now[i].Cents%100))
		}
		now = slices.Delete(now, i, i+1)
		save()
		return in.Name + " is deleted.", nil
	})
}

// adminStart returns the initial customers.
func adminStart() []adminCustomer {
	first := []string{"Agnes", "Bo", "Carla", "Dario", "Elif", "Farid", "Greta", "Hugo", "Ingrid", "Jonas", "Kavita", "Lena", "Milan", "Nora", "Omar", "Petra", "Rosa", "Sven", "Tomás", "Zoë"}
	last := []string{"Abel", "Brandt", "Costa", "Duval", "Eriksen", "Fontana", "Grieg", "Hansen", "Ibarra", "Jansen", "Kowal", "Lindqvist", "Moreau", "Nowak", "Okafor", "Prado", "Quist", "Rossi", "Sato", "Tamm", "Ueda", "Varga", "Weber", "Yilmaz"}
	cities := []string{"Bergen", "Cadiz", "Ghent", "Hamburg", "Izmir", "Marseille", "Porto", "Tallinn"}
	plans := []string{"Free", "Basic", "Pro", "Team"}
	states := []string{"active", "active", "overdue", "active", "paused", "overdue", "active"}
	all := make([]adminCustomer, 240)
	for i := range all {
		c := adminCustomer{ID: fmt.Sprintf("C-%d", 1001+i), Name: first[i%20] + " " + last[(i/20+2*(i%20))%24]}
		c.City = cities[(i*7+i/9)%8]
		c.Plan = plans[(i*5+i/4)%4]
		c.Status = states[(i*11+i/7)%7]
		c.Seats = 1 + (i*13)%120
		if c.Plan == "Free" {
			c.Seats = 1 + i%5
		}
		if c.Status == "overdue" {
			c.Cents = 4000 + (i*977)%60000
		}
		all[i] = c
	}
	all[163].Name = all[85].Name // two customers have the same name
	return all
}

// adminFind returns the index of a customer, or -1.
func adminFind(list []adminCustomer, id string) int {
	return slices.IndexFunc(list, func(c adminCustomer) bool { return c.ID == id })
}

// adminMatching returns the customers that match the filters.
func adminMatching(list []adminCustomer, q adminQuery) []adminCustomer {
	in := func(wanted []string, has string) bool { return len(wanted) == 0 || slices.Contains(wanted, has) }
	found := []adminCustomer{}
	for _, c := range list {
		named := strings.Contains(strings.ToLower(c.ID+" "+c.Name), strings.ToLower(strings.TrimSpace(q.Text)))
		if named && in(q.City, c.City) && in(q.Plan, c.Plan) && in(q.Status, c.Status) {
			found = append(found, c)
		}
	}
	return found
}

// adminSort sorts by a column, and rows with equal values by their number.
func adminSort(list []adminCustomer, by string, down bool) {
	slices.SortStableFunc(list, func(x, y adminCustomer) int {
		order := 0
		switch by {
		case "id":
			order = strings.Compare(x.ID, y.ID)
		case "name":
			order = strings.Compare(x.Name, y.Name)
		case "city":
			order = strings.Compare(x.City, y.City)
		case "plan":
			order = strings.Compare(x.Plan, y.Plan)
		case "status":
			order = strings.Compare(x.Status, y.Status)
		case "seats":
			order = cmp.Compare(x.Seats, y.Seats)
		case "cents":
			order = cmp.Compare(x.Cents, y.Cents)
		}
		if order == 0 {
			return strings.Compare(x.ID, y.ID)
		}
		if down {
			return -order
		}
		return order
	})
}

// edit sets the value of a cell.
func (c *adminCustomer) edit(field, text string) error {
	switch field {
	case "name":
		if text == "" {
			return refused("A customer needs a name.")
		}
		c.Name = text
	case "city":
		if text == "" {
			return refused("A customer needs a city.")
		}
		c.City = text
	case "seats":
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > 500 {
			return refused("Seats are a number from 1 to 500.")
		}
		if c.Plan == "Free" && n > 5 {
			return refused("The plan Free has at most 5 seats.")
		}
		c.Seats = n
	default:
		return refused("This cannot be changed here.")
	}
	return nil
}
