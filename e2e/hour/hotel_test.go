package hour

import (
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// hotelPlace is a place to stay. Amounts are in cents.
type hotelPlace struct {
	ID       int      `json:"id"`
	Name     string   `json:"name"`
	Town     string   `json:"town"`
	Score    int      `json:"score"` // out of 100
	Night    int      `json:"night"` // price of a double room
	Cleaning int      `json:"cleaning"`
	Metres   int      `json:"metres"` // distance to the sea
	Has      []string `json:"has"`
	Total    int      `json:"total"` // price of the stay that was searched for, or 0
	Wished   bool     `json:"wished"`
}

// hotelStay is the time of a stay and the number of guests.
type hotelStay struct {
	Town, From, To string
	Adults         int
	Ages           []int
}

// hotelRoom is a kind of room that every place has.
type hotelRoom struct {
	Name          string
	Beds, Percent int // Percent is relative to the price of a double room
}

// hotelRate is a rate of a room, such as breakfast.
type hotelRate struct {
	Name, Needs string // Needs is a required feature of the place
	Cents       int    // per person and night
}

// hotelGuest holds the fields of the guest form.
type hotelGuest struct {
	Title      string `json:"title"`
	First      string `json:"first"`
	Last       string `json:"last"`
	Email      string `json:"email"`
	Phone      string `json:"phone"`
	Country    string `json:"country"`
	Street     string `json:"street"`
	Postcode   string `json:"postcode"`
	City       string `json:"city"`
	Arrival    string `json:"arrival"`
	Bed        string `json:"bed"`
	Note       string `json:"note"`
	Newsletter bool   `json:"newsletter"`
}

var hotelRooms = []hotelRoom{{"Single", 1, 80}, {"Double", 2, 100}, {"Twin", 2, 100}, {"Family", 4, 150}, {"Suite", 4, 210}}

var hotelRates = []hotelRate{{"Room only", "", 0}, {"Breakfast", "breakfast", 900}, {"Half board", "restaurant", 2900}}

// hotelPlaces lists the places, one per line: name, town, score, price per night, cleaning, metres to the sea, and features.
const hotelPlaces = `Gull House|Saltby|84|6200|6000|350|breakfast pool parking
Low Road Inn|Saltby|71|4900|1500|1200|breakfast parking pets
Harbour Lights|Tarnmouth|88|9600|2000|60|breakfast restaurant sauna
The Salt Pan|Saltby|90|6600|2000|210|breakfast pool sauna
Net Loft Rooms|Saltby|95|11800|2500|90|breakfast sauna
Anchor Yard|Old Quay|79|5800|3000|400|parking pets
Fisher Row 9|Tarnmouth|82|7100|4500|150|parking
Brine & Barrel|Saltby|81|6400|4500|500|breakfast pool restaurant pets
Lantern House|Wick Haven|93|10400|1000|120|breakfast pool restaurant
Mole End|Old Quay|86|6900|2500|80|breakfast
Pilot's Rest|Saltby|87|5600|1000|260|breakfast parking
Dune Walk|Wick Haven|77|5400|3500|40|pets parking
The Blue Door|Tarnmouth|91|8900|3000|220|breakfast pets
Cormorant Court|Saltby|89|7000|1000|300|breakfast pool restaurant parking
Customs House|Old Quay|92|12600|2000|30|breakfast restaurant sauna pool
Signal Hill|Tarnmouth|74|5100|2000|1600|parking pets pool
Rope Walk Flats|Saltby|80|5200|2000|620|pool parking
Tern Cottage|Wick Haven|90|8300|5000|70|pets
Ferryman's|Old Quay|83|6300|1500|20|breakfast restaurant
The Grand Saltby|Saltby|94|16800|4000|50|breakfast pool restaurant sauna parking
Kelp & Co|Tarnmouth|85|7700|1000|310|breakfast sauna
Shingle Street 4|Wick Haven|88|7900|2500|15|parking
The Oar House|Saltby|76|5000|3000|450|pool pets
Chandler's Loft|Old Quay|89|8600|2000|110|breakfast pets
Beacon Farm|Wick Haven|81|6000|2000|2300|breakfast parking pets pool
Mariners Hall|Tarnmouth|80|6600|2500|480|breakfast restaurant parking
Tidewater|Saltby|91|8800|2000|130|breakfast pool parking
Old Lifeboat Station|Wick Haven|96|13900|3000|5|breakfast sauna
Spinnaker|Tarnmouth|87|9200|1500|90|breakfast pool sauna
Quayside Rooms|Old Quay|75|4800|1500|10|pets
Hull 12|Saltby|78|5900|3500|700|restaurant parking
Samphire|Saltby|92|9400|1500|180|breakfast restaurant pets
Weaver's Court|Old Quay|84|7200|3000|350|breakfast parking sauna
The Heron|Wick Haven|85|8100|2000|600|breakfast restaurant pool
Sailmaker's|Tarnmouth|93|10900|2500|140|breakfast restaurant
Pebble Lane 2|Saltby|83|6100|5500|240|pool sauna
Bell Buoy|Tarnmouth|78|5900|2000|270|breakfast
Warehouse 5|Old Quay|90|11200|4000|60|pool sauna parking
Marram House|Wick Haven|79|6500|1500|330|breakfast pets
Hotel Meridian|Tarnmouth|86|9900|1000|700|breakfast pool restaurant parking sauna`

// hotelList parses hotelPlaces. The ID of a place is its index.
func hotelList() (list []hotelPlace) {
	for id, line := range strings.Split(hotelPlaces, "\n") {
		f := strings.Split(line, "|")
		number := func(i int) int { n, _ := strconv.Atoi(f[i]); return n }
		list = append(list, hotelPlace{
			ID: id, Name: f[0], Town: f[1], Score: number(2), Night: number(3), Cleaning: number(4), Metres: number(5), Has: strings.Fields(f[6]),
		})
	}
	return list
}

// hotelAsked returns the stay in a URL query.
func hotelAsked(q url.Values) hotelStay {
	stay := hotelStay{From: q.Get("from"), To: q.Get("to")}
	stay.Adults, _ = strconv.Atoi(q.Get("adults"))
	for age := range strings.SplitSeq(q.Get("ages"), ",") {
		if n, err := strconv.Atoi(age); err == nil {
			stay.Ages = append(stay.Ages, n)
		}
	}
	return stay
}

// persons returns the number of guests.
func (h hotelStay) persons() int { return h.Adults + len(h.Ages) }

// nights returns the number of nights, or an error for an invalid stay.
func (h hotelStay) nights() (int, error) {
	from, err1 := time.Parse(time.DateOnly, h.From)
	to, err2 := time.Parse(time.DateOnly, h.To)
	nights := int(to.Sub(from).Hours() / 24)
	switch {
	case err1 != nil || err2 != nil:
		return 0, refused("Choose the day of arrival and the day of departure.")
	case h.From < "2026-11-09":
		return 0, refused("The day of arrival is past.")
	case nights < 1:
		return 0, refused("The departure must be after the arrival.")
	case nights > 21:
		return 0, refused("We take bookings of up to 21 nights.")
	case h.Adults < 1 || h.persons() > 8:
		return 0, refused("A booking is for one to eight guests, of whom one is an adult.")
	case slices.Contains(h.Ages, -1):
		return 0, refused("Give the age of each child.")
	}
	return nights, nil
}

// hotelCents returns the price of a stay.
func hotelCents(p hotelPlace, room hotelRoom, rate hotelRate, stay hotelStay, nights int) int {
	return nights*p.Night*room.Percent/100 + nights*stay.persons()*rate.Cents + p.Cleaning
}

// hotelLowest returns the price of the cheapest room with a bed for every guest, in cents, or 0 if there is none.
func hotelLowest(p hotelPlace, stay hotelStay, nights int) (low int) {
	for _, room := range hotelRooms {
		if cents := hotelCents(p, room, hotelRates[0], stay, nights); room.Beds >= stay.persons() && (low == 0 || cents < low) {
			low = cents
		}
	}
	return low
}

// hotelFull returns the reason why a room is not available, or an empty string.
func hotelFull(p hotelPlace, room hotelRoom, stay hotelStay) string {
	switch {
	case room.Beds < stay.persons():
		return fmt.Sprintf("The %s room has beds for %d.", strings.ToLower(room.Name), room.Beds)
	case p.Name == "The Salt Pan" && room.Name == "Family" && stay.From <= "2026-12-15" && stay.To > "2026-12-15":
		return "We are sorry: the last family room of The Salt Pan for the night of 15 December has just gone."
	}
	return ""
}

// hotelMoney formats an amount in cents.
func hotelMoney(cents int) string { return fmt.Sprintf("%d.%02d", cents/100, cents%100) }

// hotelOffer is a place, a room and a rate for a stay.
type hotelOffer struct {
	Place  hotelPlace
	Room   hotelRoom
	Rate   hotelRate
	Stay   hotelStay
	Nights int
	Cents  int
}

// hotelFind returns the offer in a URL query.
func hotelFind(list []hotelPlace, q url.Values) (offer hotelOffer, err error) {
	id, err := strconv.Atoi(q.Get("id"))
	if err != nil || id < 0 || id >= len(list) {
		return offer, refused("We do not know this house.")
	}
	offer.Place, offer.Stay = list[id], hotelAsked(q)
	offer.Nights, err = offer.Stay.nights()
	if err != nil {
		return offer, err
	}
	room := slices.IndexFunc(hotelRooms, func(r hotelRoom) bool { return r.Name == q.Get("room") })
	rate := slices.IndexFunc(hotelRates, func(r hotelRate) bool { return r.Name == q.Get("rate") })
	if room >= 0 && rate >= 0 {
		offer.Room, offer.Rate = hotelRooms[room], hotelRates[rate]
		offer.Cents = hotelCents(offer.Place, offer.Room, offer.Rate, offer.Stay, offer.Nights)
	}
	return offer, nil
}

// hotelGuestOf reads the guest form and returns the errors by field.
func hotelGuestOf(r *http.Request) (g hotelGuest, wrong map[string]string) {
	text := func(name string) string { return strings.Join(strings.Fields(r.PostFormValue(name)), " ") }
	g = hotelGuest{
		Title: text("title"), First: text("first"), Last: text("last"), Email: text("email"), Country: text("country"), Street: text("street"),
		Postcode: text("postcode"), City: text("city"), Arrival: text("arrival"), Bed: text("bed"), Note: text("note"),
		Phone:      strings.NewReplacer(" ", "", "-", "", "/", "", "(0)", "").Replace(text("phone")),
		Newsletter: text("newsletter") != "",
	}
	wrong = map[string]string{}
	for _, name := range []string{"title", "first", "last", "email", "phone", "street", "postcode", "city", "arrival"} {
		if text(name) == "" {
			wrong[name] = "Please fill this in."
		}
	}
	if g.Email != "" && (!strings.Contains(g.Email, "@") || !strings.Contains(g.Email, ".")) {
		wrong["email"] = "This is no e-mail address."
	}
	if text("email2") != g.Email {
		wrong["email2"] = "The two e-mail addresses differ."
	}
	if g.Phone != "" && (!strings.HasPrefix(g.Phone, "+") || strings.HasPrefix(g.Phone, "+490")) {
		wrong["phone"] = "Begin with + and the code of the country, such as +49 for Germany, and leave out the 0 after it."
	}
	if digits := strings.Trim(g.Postcode, "0123456789"); g.Country == "Germany" && g.Postcode != "" && (digits != "" || len(g.Postcode) != 5) {
		wrong["postcode"] = "Postcodes of Germany have five digits."
	}
	if text("terms") == "" {
		wrong["terms"] = "Please accept the terms of the house."
	}
	return g, wrong
}

// hotel finds places by the sea and books rooms. A family room of the cheapest place with a pool is full in the middle of December. The
// server renders the rooms page and the guest form, and returns the form until it is valid.
func hotel(s *Site) {
	type booking struct {
		Hotel  string     `json:"hotel"`
		From   string     `json:"from"`
		To     string     `json:"to"`
		Adults int        `json:"adults"`
		Ages   []int      `json:"ages,omitempty"`
		Room   string     `json:"room"`
		Rate   string     `json:"rate"`
		Cents  int        `json:"cents"`
		Guest  hotelGuest `json:"guest"`
	}
	type record struct {
		Wish     []string  `json:"wish"`
		Bookings []booking `json:"bookings"`
	}
	list, kept := hotelList(), record{Wish: []string{}, Bookings: []booking{}}
	answers(s, "POST /api/search", func(stay hotelStay) ([]hotelPlace, error) {
		nights, err := stay.nights()
		if stay.From != "" && err != nil {
			return nil, err
		}
		found := []hotelPlace{}
		for _, p := range list {
			p.Wished = slices.Contains(kept.Wish, p.Name)
			if nights > 0 {
				p.Total = hotelLowest(p, stay, nights)
			}
			if (stay.Town == "" || p.Town == stay.Town) && (nights == 0 || p.Total > 0) {
				found = append(found, p)
			}
		}
		return found, nil
	})
	answers(s, "POST /api/wish", func(in struct{ ID int }) ([]string, error) {
		if in.ID < 0 || in.ID >= len(list) {
			return nil, refused("We do not know this house.")
		}
		name := list[in.ID].Name
		if i := slices.Index(kept.Wish, name); i >= 0 {
			kept.Wish = slices.Delete(kept.Wish, i, i+1)
		} else {
			kept.Wish = append(kept.Wish, name)
			slices.Sort(kept.Wish)
		}
		s.saved = kept
		return kept.Wish, nil
	})
	s.handle("GET /rooms", func(w http.ResponseWriter, r *http.Request) {
		offer, err := hotelFind(list, r.URL.Query())
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		hotelShowRooms(w, offer, r.URL.Query(), "")
	})
	s.handle("GET /guest", func(w http.ResponseWriter, r *http.Request) {
		offer, err := hotelFind(list, r.URL.Query())
		switch full := hotelFull(offer.Place, offer.Room, offer.Stay); {
		case err != nil || offer.Cents == 0:
			http.Error(w, "Choose a house, a room and a rate.", http.StatusBadRequest)
		case full != "":
			hotelShowRooms(w, offer, r.URL.Query(), full)
		default:
			hotelShowForm(w, offer, r, hotelGuest{Country: "United Kingdom", Bed: "No bed needed", Newsletter: true}, map[string]string{})
		}
	})
	s.handle("POST /guest", func(w http.ResponseWriter, r *http.Request) {
		offer, err := hotelFind(list, r.URL.Query())
		if err != nil || offer.Cents == 0 || hotelFull(offer.Place, offer.Room, offer.Stay) != "" {
			http.Error(w, "This room cannot be booked.", http.StatusBadRequest)
			return
		}
		guest, wrong := hotelGuestOf(r)
		if len(wrong) > 0 {
			hotelShowForm(w, offer, r, guest, wrong)
			return
		}
		stay := offer.Stay
		kept.Bookings = append(kept.Bookings, booking{
			offer.Place.Name, stay.From, stay.To, stay.Adults, stay.Ages, offer.Room.Name, offer.Rate.Name, offer.Cents, guest,
		})
		s.saved = kept
		http.Redirect(w, r, fmt.Sprintf("/done?n=%d", len(kept.Bookings)), http.StatusSeeOther)
	})
	s.handle("GET /done", func(w http.ResponseWriter, r *http.Request) {
		n, _ := strconv.Atoi(r.URL.Query().Get("n"))
		if n < 1 || n > len(kept.Bookings) {
			http.Redirect(w, r, "/", http.StatusSeeOther)
			return
		}
		_ = hotelPages.ExecuteTemplate(w, "done", map[string]any{"Booking": kept.Bookings[n-1], "Number": 4100 + n})
	})
}

// hotelShowRooms renders the rooms of a place with their prices, and above them the reason why a room is not available.
func hotelShowRooms(w http.ResponseWriter, offer hotelOffer, q url.Values, full string) {
	type row struct {
		Room, Rate, Price, Link string
		Beds, Span              int
	}
	rates := slices.DeleteFunc(slices.Clone(hotelRates), func(r hotelRate) bool {
		return r.Needs != "" && !slices.Contains(offer.Place.Has, r.Needs)
	})
	var rows []row
	for _, room := range hotelRooms {
		for i, rate := range rates {
			line := row{Room: room.Name, Rate: rate.Name, Beds: room.Beds}
			line.Price = hotelMoney(hotelCents(offer.Place, room, rate, offer.Stay, offer.Nights))
			if i == 0 {
				line.Span = len(rates)
			}
			if room.Beds >= offer.Stay.persons() {
				q.Set("room", room.Name)
				q.Set("rate", rate.Name)
				line.Link = "/guest?" + q.Encode()
			}
			rows = append(rows, line)
		}
	}
	data := map[string]any{"Offer": offer, "Rows": rows, "Full": full, "Cleaning": hotelMoney(offer.Place.Cleaning), "Persons": offer.Stay.persons()}
	_ = hotelPages.ExecuteTemplate(w, "rooms", data)
}

// hotelShowForm renders the guest form, with the errors beside the fields.
func hotelShowForm(w http.ResponseWriter, offer hotelOffer, r *http.Request, g hotelGuest, wrong map[string]string) {
	if len(wrong) > 0 {
		w.WriteHeader(http.StatusUnprocessableEntity)
	}
	_ = hotelPages.ExecuteTemplate(w, "guest", map[string]any{
		"Offer": offer, "Guest": g, "Phone": r.PostFormValue("phone"), "Email2": r.PostFormValue("email2"), "Wrong": wrong, "Total": hotelMoney(offer.Cents),
		"Action":    r.URL.RequestURI(),
		"Titles":    []string{"Ms", "Mr", "Mx", "Dr"},
		"Countries": []string{"Austria", "Denmark", "France", "Germany", "Ireland", "Netherlands", "Norway", "Sweden", "United Kingdom"},
		"Hours":     []string{"15:00 to 18:00", "18:00 to 20:00", "20:00 to 22:00", "after 22:00 (key box)"},
		"Beds":      []string{"No bed needed", "Baby cot", "Extra bed"},
	})
}

// hotelPages holds the templates of the pages that the server renders.
var hotelPages = template.Must(template.New("").Option("missingkey=zero").Parse(`
{{define "head"}}<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>{{.}} · Seaboard Stays</title>
<link rel="icon" href="data:,">
<style>
  body { font: 15px/1.5 Georgia, serif; max-width: 860px; margin: 24px auto; color: #222 }
  a.btn, button { background: #0a6b5d; color: #fff; padding: 6px 14px; border: 0; border-radius: 3px; text-decoration: none; font: inherit }
  table { border-collapse: collapse; width: 100% }
  td, th { border: 1px solid #ccc; padding: 6px 10px; text-align: left }
  .full { background: #fdd; border: 1px solid #c00; padding: 10px; margin: 12px 0 }
  .f { margin: 8px 0; display: flex; gap: 12px; align-items: flex-start }
  .f > .l { width: 190px }
  .e { color: #b00 }
  .small { color: #777 }
</style>
<p><a href="/">Seaboard Stays</a></p>{{end}}

{{define "rooms"}}{{template "head" .Offer.Place.Name}}
<h1>{{.Offer.Place.Name}}</h1>
<p>{{.Offer.Place.Town}} · {{.Offer.Stay.From}} to {{.Offer.Stay.To}} · {{.Offer.Nights}} nights · {{.Persons}} guests</p>
{{with .Full}}<div class="full">{{.}} Please choose another room, or another house.</div>{{end}}
<table>
<tr><th rowspan="2">Room<th rowspan="2">Rate<th colspan="2">Whole stay
<tr><th>Total, with {{.Cleaning}} for cleaning<th>
{{range .Rows}}<tr>{{if .Span}}<td rowspan="{{.Span}}"><b>{{.Room}}</b><br><span class="small">sleeps {{.Beds}}</span>{{end}}
<td>{{.Rate}}<td>{{.Price}}<td>{{if .Link}}<a class="btn" href="{{.Link}}">Reserve</a>{{else}}<span class="small">too small</span>{{end}}
{{end}}</table>
<p><a href="/">Back to the search</a></p>
</html>{{end}}

{{define "guest"}}{{template "head" "Your details"}}
<h1>Your details</h1>
<p>{{.Offer.Place.Name}}, {{.Offer.Place.Town}} · {{.Offer.Room.Name}} · {{.Offer.Rate.Name}} · {{.Offer.Stay.From}} to {{.Offer.Stay.To}} · <b>{{.Total}}</b></p>
{{if .Wrong}}<div class="full">Not booked yet. Please look at the fields that are marked.</div>{{end}}
<form method="post" action="{{.Action}}" novalidate>
<div class="f"><span class="l">Title</span><select name="title"><option value="">–</option>{{range .Titles}}<option{{if eq . $.Guest.Title}} selected{{end}}>{{.}}</option>{{end}}</select> <span class="e">{{.Wrong.title}}</span></div>
<div class="f"><span class="l">Name</span><input name="first" placeholder="First name" value="{{.Guest.First}}"> <input name="last" placeholder="Last name" value="{{.Guest.Last}}"> <span class="e">{{or .Wrong.first .Wrong.last}}</span></div>
<div class="f"><span class="l">E-mail</span><input name="email" type="email" value="{{.Guest.Email}}"> <span class="e">{{.Wrong.email}}</span></div>
<div class="f"><span class="l">E-mail, once more</span><input name="email2" type="email" value="{{.Email2}}"> <span class="e">{{.Wrong.email2}}</span></div>
<div class="f"><span class="l">Phone</span><input name="phone" type="tel" value="{{.Phone}}"> <span class="e">{{.Wrong.phone}}</span></div>
<div class="f"><span class="l">Street and number</span><input name="street" size="34" value="{{.Guest.Street}}"> <span class="e">{{.Wrong.street}}</span></div>
<div class="f"><span class="l">Town</span><input name="postcode" size="8" placeholder="Postcode" value="{{.Guest.Postcode}}"> <input name="city" placeholder="City" value="{{.Guest.City}}"> <span class="e">{{or .Wrong.postcode .Wrong.city}}</span></div>
<div class="f"><span class="l">Country</span><select name="country">{{range .Countries}}<option{{if eq . $.Guest.Country}} selected{{end}}>{{.}}</option>{{end}}</select></div>
<div class="f"><span class="l">When will you arrive?</span><select name="arrival"><option value="">Please choose</option>{{range .Hours}}<option{{if eq . $.Guest.Arrival}} selected{{end}}>{{.}}</option>{{end}}</select> <span class="e">{{.Wrong.arrival}}</span></div>
<div class="f"><span class="l">Bed for a child</span><span>{{range .Beds}}<label><input type="radio" name="bed" value="{{.}}"{{if eq . $.Guest.Bed}} checked{{end}}> {{.}}</label> {{end}}</span></div>
<div class="f"><span class="l">Wishes</span><textarea name="note" rows="3" cols="40">{{.Guest.Note}}</textarea></div>
<div class="f"><span class="l"></span><label><input type="checkbox" name="newsletter" value="1"{{if .Guest.Newsletter}} checked{{end}}> Send me offers by e-mail every week</label></div>
<div class="f"><span class="l"></span><label><input type="checkbox" name="terms" value="1"> I accept the terms of the house</label> <span class="e">{{.Wrong.terms}}</span></div>
<div class="f"><span class="l"></span><button>Book now</button></div>
</form>
</html>{{end}}

{{define "done"}}{{template "head" "Booked"}}
<h1>Thank you, {{.Booking.Guest.First}}!</h1>
<p>Your booking {{.Number}} of {{.Booking.Hotel}} from {{.Booking.From}} to {{.Booking.To}} is confirmed.</p>
</html>{{end}}
`))
