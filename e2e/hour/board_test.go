package hour

import "slices"

// boardCard is a piece of work in a column of the board.
type boardCard struct {
	ID      int    `json:"id"`
	Title   string `json:"title"`
	Column  string `json:"column"`
	Owner   string `json:"owner"`
	Hours   int    `json:"hours"`
	Blocked bool   `json:"blocked"`
}

// board serves a board of cards. Doing holds at most three cards; a blocked card cannot move, and a card in Review needs an owner.
func board(s *Site) {
	cards := []boardCard{
		{1, "Scrape the hull", "Doing", "Ada", 16, false}, {2, "Paint the hull", "To do", "", 12, false}, {3, "New bilge pump", "Doing", "Ben", 3, false},
		{4, "Rewire the lamps", "Doing", "Greta", 8, true}, {5, "Sew the mainsail", "To do", "Greta", 20, false}, {6, "Order anodes", "Review", "Ben", 1, false},
		{7, "Varnish the tiller", "To do", "", 2, false}, {8, "Grease the winches", "Done", "Ada", 2, false},
	}
	find := func(id int) int { return slices.IndexFunc(cards, func(c boardCard) bool { return c.ID == id }) }
	save := func(c boardCard) []boardCard {
		i := find(c.ID)
		cards = append(slices.Delete(slices.Clone(cards), i, i+1), c)
		s.saved = cards
		return cards
	}
	answers(s, "GET /api/cards", func(struct{}) ([]boardCard, error) { return cards, nil })
	answers(s, "POST /api/move", func(in boardCard) ([]boardCard, error) {
		i := find(in.ID)
		if i < 0 {
			return nil, refused("There is no such card.")
		}
		c, doing := cards[i], 0
		for _, other := range cards {
			if other.Column == "Doing" && other.ID != c.ID {
				doing++
			}
		}
		switch {
		case c.Blocked:
			return nil, refused(c.Title + " is blocked.")
		case in.Column == "Doing" && doing >= 3:
			return nil, refused("Doing holds three cards. Finish one first.")
		case in.Column == "Review" && c.Owner == "":
			return nil, refused(c.Title + " needs an owner before its review.")
		}
		c.Column = in.Column
		return save(c), nil
	})
	answers(s, "POST /api/edit", func(in boardCard) ([]boardCard, error) {
		if find(in.ID) < 0 || in.Hours < 1 || in.Hours > 80 {
			return nil, refused("An estimate is between 1 and 80 hours.")
		}
		return save(in), nil
	})
}
