package hour

import "fmt"

// shop sells mugs. An article has colours, some of which are sold out. A voucher is valid once, for orders of at least 30.00.
func shop(s *Site) {
	type line struct {
		Article string `json:"article"`
		Colour  string `json:"colour"`
		Count   int    `json:"count"`
	}
	type order struct {
		Lines   []line `json:"lines"`
		Voucher string `json:"voucher,omitempty"`
		Cents   int    `json:"cents"`
	}
	price := map[string]int{"Harbour mug": 1250, "Harbour mug, large": 1590, "Lighthouse mug": 1400, "Espresso cup": 790, "Tea bowl": 1100, "Travel mug": 2490}
	left := map[string]int{"Harbour mug/Navy": 0, "Harbour mug, large/Navy": 3, "Travel mug/Red": 1}
	var cart order
	total := func() {
		cart.Cents = 0
		for _, l := range cart.Lines {
			cart.Cents += l.Count * price[l.Article]
		}
		if cart.Voucher != "" {
			cart.Cents -= cart.Cents / 10
		}
	}
	answers(s, "POST /api/add", func(in line) (order, error) {
		if price[in.Article] == 0 || in.Count < 1 {
			return cart, refused("Choose an article.")
		}
		if in.Colour == "" {
			return cart, refused("Choose a colour first.")
		}
		if n, limited := left[in.Article+"/"+in.Colour]; limited && in.Count > n {
			return cart, refused(fmt.Sprintf("%s in %s: only %d left.", in.Article, in.Colour, n))
		}
		cart.Lines = append(cart.Lines, in)
		total()
		return cart, nil
	})
	answers(s, "POST /api/voucher", func(in struct{ Code string }) (order, error) {
		total()
		switch {
		case in.Code != "AHOY10":
			return cart, refused("This voucher is unknown or has ended.")
		case cart.Cents < 3000:
			return cart, refused("AHOY10 counts from 30.00 up.")
		}
		cart.Voucher = in.Code
		total()
		return cart, nil
	})
	answers(s, "POST /api/order", func(struct{}) (order, error) {
		if len(cart.Lines) == 0 {
			return cart, refused("Your cart is empty.")
		}
		s.saved = cart
		return cart, nil
	})
}
