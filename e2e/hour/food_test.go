package hour

import (
	"fmt"
	"slices"
	"strings"
)

// food serves a restaurant with delivery. Some dishes have sizes and groups of extras, with a required number per group. A separate page
// checks a card. One delivery time fills up during the order.
func food(s *Site) {
	f := &foodState{menu: foodMenu(), kinds: foodKinds(), slots: foodSlots(), cards: map[string]string{}, saved: foodSaved{Basket: []foodLine{}}}
	shown := func(err error) (foodShown, error) {
		if err == nil {
			s.saved = f.saved
		}
		return foodShown{Basket: f.saved.Basket, Slots: f.slots, Goods: f.goods()}, err
	}
	s.page("GET /pay", "food-card.html")
	answers(s, "GET /api/menu", func(struct{}) (foodShown, error) {
		return foodShown{Menu: f.menu, Kinds: f.kinds, Basket: f.saved.Basket, Slots: f.slots, Goods: f.goods()}, nil
	})
	answers(s, "POST /api/add", func(in foodWish) (foodShown, error) { return shown(f.add(in)) })
	answers(s, "POST /api/count", func(in struct{ Line, More int }) (foodShown, error) { return shown(f.change(in.Line, in.More)) })
	answers(s, "POST /api/card", f.card)
	answers(s, "POST /api/order", func(in foodOrder) (foodShown, error) { return shown(f.order(in)) })
}

type foodOption struct {
	Name  string `json:"name"`
	Cents int    `json:"cents"`
}

type foodGroup struct {
	Name    string       `json:"name"`
	Min     int          `json:"min"`
	Max     int          `json:"max"`
	Options []foodOption `json:"options"`
}

// foodKind holds the sizes and extras of one kind of dish.
type foodKind struct {
	Sizes  []foodOption `json:"sizes"`
	Groups []foodGroup  `json:"groups"`
}

type foodDish struct {
	Section string `json:"section"`
	Name    string `json:"name"`
	Text    string `json:"text"`
	Cents   int    `json:"cents"`
	Kind    string `json:"kind"`
}

type foodSlot struct {
	At   string `json:"at"`
	Full bool   `json:"full"`
}

// foodWish is an item to add to the basket. Its extras are counted by "GROUP/NAME".
type foodWish struct {
	Dish, Size, Note string
	Extras           map[string]int
	Count            int
}

type foodLine struct {
	Dish   string   `json:"dish"`
	Size   string   `json:"size,omitempty"`
	Extras []string `json:"extras,omitempty"`
	Note   string   `json:"note,omitempty"`
	Count  int      `json:"count"`
	Cents  int      `json:"cents"`
}

type foodOrder struct {
	Lines    []foodLine `json:"lines"`
	Name     string     `json:"name"`
	Phone    string     `json:"phone"`
	Street   string     `json:"street"`
	Flat     string     `json:"flat,omitempty"`
	Postcode string     `json:"postcode"`
	Message  string     `json:"message,omitempty"`
	Cutlery  bool       `json:"cutlery,omitempty"`
	Slot     string     `json:"slot"`
	Tip      int        `json:"tip"`
	Card     string     `json:"card"`
	Cents    int        `json:"cents"`
}

type foodSaved struct {
	Basket []foodLine `json:"basket"`
	Order  *foodOrder `json:"order,omitempty"`
}

// foodShown is the data for the page.
type foodShown struct {
	Menu   []foodDish          `json:"menu,omitempty"`
	Kinds  map[string]foodKind `json:"kinds,omitempty"`
	Basket []foodLine          `json:"basket"`
	Slots  []foodSlot          `json:"slots"`
	Goods  int                 `json:"goods"`
}

// foodState is the state of the backend. cards maps tokens to the last digits of a card.
type foodState struct {
	menu  []foodDish
	kinds map[string]foodKind
	slots []foodSlot
	cards map[string]string
	saved foodSaved
}

// goods returns the price of the basket, in cents.
func (f *foodState) goods() (cents int) {
	for _, l := range f.saved.Basket {
		cents += l.Cents
	}
	return cents
}

// add adds a dish to the basket.
func (f *foodState) add(in foodWish) error {
	i := slices.IndexFunc(f.menu, func(d foodDish) bool { return d.Name == in.Dish })
	if i < 0 || in.Count < 1 {
		return refused("Choose a dish.")
	}
	kind, each := f.kinds[f.menu[i].Kind], f.menu[i].Cents
	line := foodLine{Dish: in.Dish, Size: in.Size, Note: strings.TrimSpace(in.Note), Count: in.Count}
	if len(kind.Sizes) > 0 {
		size := slices.IndexFunc(kind.Sizes, func(o foodOption) bool { return o.Name == in.Size })
		if size < 0 {
			return refused("Choose a size.")
		}
		each += kind.Sizes[size].Cents
	}
	for _, g := range kind.Groups {
		extras, n, cents := g.chosen(in.Extras)
		if n < g.Min {
			return refused(fmt.Sprintf("%s: choose at least %d.", g.Name, g.Min))
		}
		if n > g.Max {
			return refused(fmt.Sprintf("%s: choose no more than %d.", g.Name, g.Max))
		}
		line.Extras = append(line.Extras, extras...)
		each += cents
	}
	line.Cents = each * in.Count
	f.saved.Basket = append(slices.Clone(f.saved.Basket), line)
	return nil
}

// chosen returns the chosen extras of a group as text, their number and their price.
func (g foodGroup) chosen(counts map[string]int) (words []string, n, cents int) {
	for _, o := range g.Options {
		if count := counts[g.Name+"/"+o.Name]; count > 0 {
			words = append(words, fmt.Sprintf("%d %s", count, o.Name))
			n += count
			cents += count * o.Cents
		}
	}
	return words, n, cents
}

// change adds more to the quantity of a line. A line with quantity 0 is removed.
func (f *foodState) change(line, more int) error {
	if line < 0 || line >= len(f.saved.Basket) {
		return refused("That line is gone already.")
	}
	basket := slices.Clone(f.saved.Basket)
	l := &basket[line]
	each := l.Cents / l.Count
	l.Count += more
	l.Cents = each * l.Count
	f.saved.Basket = slices.DeleteFunc(basket, func(l foodLine) bool { return l.Count < 1 })
	return nil
}

// card checks a card and returns a token for it.
func (f *foodState) card(in struct{ Number, Ends, Code string }) (string, error) {
	number := foodFigures(in.Number)
	var month, year int
	_, err := fmt.Sscanf(in.Ends, "%d/%d", &month, &year)
	switch {
	case len(number) != 16 || !foodLuhn(number):
		return "", refused("That is no card number.")
	case number[0] != '4' && number[0] != '5':
		return "", refused("We do not take this kind of card.")
	case err != nil || month < 1 || month > 12:
		return "", refused("Write the end as MM/YY.")
	case year*12+month < 26*12+11:
		return "", refused("This card has ended.")
	case len(foodFigures(in.Code)) != 3:
		return "", refused("The security code has three figures.")
	}
	token := fmt.Sprintf("tok_%d", len(f.cards)+1)
	f.cards[token] = number[12:]
	return token, nil
}

// foodFigures returns the digits in a text.
func foodFigures(text string) string {
	return strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, text)
}

func foodLuhn(number string) bool {
	sum := 0
	for i, r := range number {
		n := int(r - '0')
		if i%2 == len(number)%2 {
			n *= 2
		}
		sum += n/10 + n%10
	}
	return sum%10 == 0
}

// order orders the contents of the basket.
func (f *foodState) order(in foodOrder) error {
	in.Name, in.Street, in.Message = strings.TrimSpace(in.Name), strings.TrimSpace(in.Street), strings.TrimSpace(in.Message)
	in.Phone, in.Postcode = foodFigures(in.Phone), strings.ToUpper(strings.TrimSpace(in.Postcode))
	in.Flat = strings.TrimSpace(strings.TrimPrefix(strings.ToLower(strings.TrimSpace(in.Flat)), "flat"))
	goods, last := f.goods(), f.cards[in.Card]
	switch {
	case goods < 1500:
		return refused("We deliver from 15.00 up.")
	case in.Name == "" || in.Street == "":
		return refused("Tell us your name and street.")
	case len(in.Phone) < 8:
		return refused("The rider needs your phone number.")
	case !strings.HasPrefix(in.Postcode, "HB1") && !strings.HasPrefix(in.Postcode, "HB2"):
		return refused("We deliver to HB1 and HB2 only.")
	case last == "":
		return refused("The card was not accepted.")
	}
	if err := f.take(in.Slot); err != nil {
		return err
	}
	in.Lines, in.Card = f.saved.Basket, last
	in.Cents = goods + 250 + goods*in.Tip/100
	f.saved = foodSaved{Basket: []foodLine{}, Order: &in}
	return nil
}

// take reserves a delivery time that is not full. The one at 18:45 fills up at the first attempt.
func (f *foodState) take(at string) error {
	i := slices.IndexFunc(f.slots, func(slot foodSlot) bool { return slot.At == at })
	if i < 0 {
		return refused("Choose a delivery time.")
	}
	if at == "18:45" && !f.slots[i].Full {
		f.slots[i].Full = true
		return refused("The last place at 18:45 went while you were ordering. Please choose another time.")
	}
	if f.slots[i].Full {
		return refused("There is no place left at " + at + ".")
	}
	return nil
}

func foodSlots() (slots []foodSlot) {
	full := []string{"17:30", "18:00", "18:15", "19:00", "19:45", "20:00"}
	for minutes := 17*60 + 30; minutes <= 21*60+45; minutes += 15 {
		at := fmt.Sprintf("%02d:%02d", minutes/60, minutes%60)
		slots = append(slots, foodSlot{at, slices.Contains(full, at)})
	}
	return slots
}

func foodKinds() map[string]foodKind {
	return map[string]foodKind{
		"plain": {},
		"drink": {Sizes: []foodOption{{"33 cl", 0}, {"50 cl", 120}}},
		"bowl": {
			Sizes: []foodOption{{"Small", 0}, {"Regular", 200}, {"Large", 400}},
			Groups: []foodGroup{
				{"Base", 1, 1, []foodOption{{"White rice", 0}, {"Brown rice", 0}, {"Bulgur", 0}, {"Leaves", 0}, {"Buckwheat noodles", 80}}},
				{"Toppings", 0, 4, []foodOption{{"Pickled onion", 60}, {"Pickled chilli", 60}, {"Feta", 120}, {"Soft egg", 150}, {"Roast chickpeas", 90}, {"Avocado", 180}}},
				{"Sauce", 1, 2, []foodOption{{"Green chilli", 0}, {"Peanut", 0}, {"Tahini", 0}, {"Yoghurt and dill", 0}}},
			},
		},
		"flat": {
			Sizes: []foodOption{{"Half", 0}, {"Whole", 350}},
			Groups: []foodGroup{
				{"Extras", 0, 3, []foodOption{{"Feta", 120}, {"Olives", 80}, {"Pickled chilli", 60}, {"Merguez", 220}}},
				{"Dip", 0, 1, []foodOption{{"Garlic", 90}, {"Harissa", 90}, {"Hummus", 150}}},
			},
		},
		"grill": {
			Sizes:  []foodOption{{"One skewer", 0}, {"Two skewers", 480}, {"Three skewers", 900}},
			Groups: []foodGroup{{"Heat", 1, 1, []foodOption{{"Mild", 0}, {"Warm", 0}, {"Fierce", 0}}}, {"Beside it", 1, 2, []foodOption{{"Slaw", 0}, {"Chips", 150}, {"Grilled corn", 120}}}},
		},
	}
}

func foodMenu() []foodDish {
	return []foodDish{
		{"Small plates", "Charred halloumi", "With honey and sesame.", 690, "plain"},
		{"Small plates", "Smoky aubergine", "Mashed with garlic, eaten with a spoon.", 580, "plain"},
		{"Small plates", "Lentil soup", "Red lentils, lemon, cumin.", 520, "plain"},
		{"Small plates", "Beetroot fritters", "Three of them, with dill.", 640, "plain"},
		{"Small plates", "Olives and almonds", "Warm.", 410, "plain"},
		{"Small plates", "Crisp squid", "With pepper and lime.", 820, "plain"},
		{"Bowls", "Harvest bowl", "Squash, kale, mushrooms, seeds.", 990, "bowl"},
		{"Bowls", "Harbour bowl", "Smoked mackerel, cucumber, radish.", 1150, "bowl"},
		{"Bowls", "Ember bowl", "Chicken from the coals, peppers.", 1120, "bowl"},
		{"Bowls", "Garden bowl", "Peas, broad beans, mint.", 960, "bowl"},
		{"Bowls", "Shepherd bowl", "Slow lamb, apricots, carrots.", 1240, "bowl"},
		{"Bowls", "Midnight bowl", "Black beans, sweet potato, cocoa.", 1010, "bowl"},
		{"Flatbreads", "Smoky aubergine flatbread", "Aubergine, tomato, parsley.", 780, "flat"},
		{"Flatbreads", "Lamb flatbread", "Minced lamb, pine nuts, onion.", 890, "flat"},
		{"Flatbreads", "Three cheese flatbread", "Feta, halloumi and a mild one.", 820, "flat"},
		{"Flatbreads", "Mushroom flatbread", "Mushrooms, thyme, cream.", 800, "flat"},
		{"Flatbreads", "Spinach flatbread", "Spinach, egg, nutmeg.", 770, "flat"},
		{"Flatbreads", "Prawn flatbread", "Prawns, garlic, chilli.", 960, "flat"},
		{"Grill", "Chicken thigh", "Two days in yoghurt.", 760, "grill"},
		{"Grill", "Lamb kofta", "Cinnamon and mint.", 820, "grill"},
		{"Grill", "Swordfish", "Bay and lemon.", 980, "grill"},
		{"Grill", "Halloumi and peppers", "For those without meat.", 720, "grill"},
		{"Grill", "King oyster mushroom", "With miso.", 690, "grill"},
		{"Salads", "Harvest salad", "Squash, kale, apple.", 840, "plain"},
		{"Salads", "Torn bread salad", "Tomato, sumac, crisp bread.", 760, "plain"},
		{"Salads", "Carrot and orange", "With coriander seed.", 590, "plain"},
		{"Salads", "White cabbage", "Finely cut, with caraway.", 480, "plain"},
		{"Sides", "Chips", "Twice fried.", 380, "plain"},
		{"Sides", "Saffron rice", "With barberries.", 390, "plain"},
		{"Sides", "Grilled corn", "Butter and chilli.", 420, "plain"},
		{"Sides", "Pickles", "Of the week.", 310, "plain"},
		{"Sides", "Warm bread", "Two pieces.", 260, "plain"},
		{"Sweets", "Pistachio cake", "With cream.", 590, "plain"},
		{"Sweets", "Baked figs", "With honey.", 560, "plain"},
		{"Sweets", "Rice pudding", "Rose and cardamom.", 480, "plain"},
		{"Sweets", "Chocolate pot", "Dark, with salt.", 540, "plain"},
		{"Drinks", "Mint lemonade", "Made in the morning.", 320, "drink"},
		{"Drinks", "Ginger lemonade", "With a bite.", 320, "drink"},
		{"Drinks", "Mint tea", "Hot, in a flask.", 280, "plain"},
		{"Drinks", "Tamarind soda", "Sour and cold.", 340, "drink"},
		{"Drinks", "Pomegranate juice", "Pressed.", 450, "drink"},
		{"Drinks", "Salted yoghurt", "To drink.", 290, "drink"},
	}
}
