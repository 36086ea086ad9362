package hour

import (
	"fmt"
	"html/template"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// trainsStations lists the stations with their position in kilometres.
const trainsStations = `Abbotsvik 318|Alder Cross 96|Birkholm 141|Birkholm South 138|Breda Quay 267|Cold Ford 183|Dovemark 58|Elmstad 74|Elmstad East 77|Elmstad University 71|
Falun Bridge 214|Falun Central 209|Falun Hill 222|Gullrock 301|Hallby 33|Hallby Market 31|Ironmouth 246|Kestrel Bay 355|Larkby 119|Lindhaven 390|
Lindhaven Port 394|Marrow Lake 164|Norrby Airport 26|Norrby Central 8|Norrby Harbour 12|Norrby North 3|Oakum 197|Penny Mill 232|Quarrel 281|Rosendal 152|
Saltersund 338|Stonebeck 106|Tarnwick 327|Ulver Heath 173|Westerlund 372|Yarrow 49`

// trainsRow is a train of the day. Its fares are in percent of the standard fares; 0 means sold out.
type trainsRow struct {
	Name        string
	Departs     int // minutes since midnight
	Changes     int
	Saver, Flex int
}

// trainsDay lists the trains of each day, between any two stations.
var trainsDay = []trainsRow{
	{"R 2104", 5*60 + 14, 0, 70, 72}, {"IC 301", 5*60 + 52, 0, 92, 84}, {"IC 303", 6*60 + 38, 1, 78, 80}, {"R 2108", 7*60 + 5, 0, 64, 66},
	{"IC 305", 7*60 + 31, 0, 118, 101}, {"IC 307", 7*60 + 58, 2, 71, 77}, {"IC 309", 8*60 + 22, 0, 92, 99}, {"R 2112", 8*60 + 47, 1, 58, 63},
	{"IC 311", 9*60 + 16, 0, 104, 94}, {"IC 313", 9*60 + 40, 1, 83, 79}, {"IC 315", 10*60 + 8, 0, 0, 97}, {"R 2116", 10*60 + 33, 0, 66, 68},
	{"IC 317", 10*60 + 51, 0, 88, 0}, {"IC 319", 11*60 + 20, 0, 74, 81}, {"IC 321", 12*60 + 4, 0, 88, 90}, {"R 2120", 13*60 + 11, 0, 62, 64},
	{"IC 323", 13*60 + 45, 1, 90, 92}, {"IC 325", 15*60 + 10, 0, 112, 108}, {"IC 327", 16*60 + 36, 0, 125, 120}, {"IC 329", 17*60 + 2, 1, 99, 103},
	{"R 2124", 18*60 + 20, 0, 66, 70}, {"IC 331", 19*60 + 44, 0, 80, 85}, {"IC 333", 21*60 + 5, 0, 60, 74},
}

// trainsTraveller is one traveller.
type trainsTraveller struct {
	Age  int    `json:"age"`
	Card string `json:"card"`
}

// trainsTrip is a trip to search for or book.
type trainsTrip struct {
	From       string            `json:"from"`
	To         string            `json:"to"`
	Date       string            `json:"date"`
	Time       string            `json:"time"`
	Train      string            `json:"train"`
	Class      int               `json:"class"`
	Fare       string            `json:"fare"`
	Reserve    bool              `json:"reserve"`
	Travellers []trainsTraveller `json:"travellers"`
	Cents      int               `json:"cents"`
}

// trains sells tickets. Stations must be chosen from the list, regional trains accept no reservations, and a trip is paid at the checkout.
func trains(s *Site) {
	type booking struct {
		trainsTrip
		Name  string `json:"name"`
		Mail  string `json:"mail"`
		Phone string `json:"phone"`
		Pay   string `json:"pay"`
		News  bool   `json:"news"`
	}
	type regular struct {
		Name string `json:"name"`
		From string `json:"from"`
		To   string `json:"to"`
	}
	type state struct {
		Regular  []regular `json:"regular"`
		Bookings []booking `json:"bookings"`
	}
	type fares struct {
		Train      string `json:"train"`
		Departs    string `json:"departs"`
		Arrives    string `json:"arrives"`
		Minutes    int    `json:"minutes"`
		Changes    int    `json:"changes"`
		Reservable bool   `json:"reservable"`
		Cents      [4]int `json:"cents"`
	}
	type form struct {
		Trip                   trainsTrip
		Total                  string
		Name, Mail, Phone, Pay string
		Terms, News            bool
		Errors                 []string
	}
	now := state{Regular: []regular{}, Bookings: []booking{}}
	var chosen *trainsTrip
	km := trainsKilometres()
	answers(s, "POST /api/stations", func(in struct{ Text string }) ([]string, error) {
		return trainsMatches(km, in.Text), nil
	})
	answers(s, "POST /api/regular", func(in regular) (regular, error) {
		in.Name = strings.TrimSpace(in.Name)
		if in.Name == "" {
			return in, refused("Give the trip a name.")
		}
		if err := trainsEnds(km, in.From, in.To); err != nil {
			return in, err
		}
		now.Regular = append(now.Regular, in)
		s.saved = now
		return in, nil
	})
	answers(s, "POST /api/search", func(in trainsTrip) ([]fares, error) {
		if err := trainsCheck(km, in); err != nil {
			return nil, err
		}
		found := []fares{}
		for _, r := range trainsDay {
			if trainsClock(r.Departs) < in.Time {
				continue
			}
			length := trainsMinutes(r, trainsDistance(km, in))
			found = append(found, fares{
				r.Name, trainsClock(r.Departs), trainsClock(r.Departs + length), length, r.Changes, r.Name[0] == 'I', trainsPrices(km, in, r),
			})
		}
		return found, nil
	})
	answers(s, "POST /api/choose", func(in trainsTrip) (trainsTrip, error) {
		if err := trainsCheck(km, in); err != nil {
			return in, err
		}
		cents, err := trainsChosen(km, &in)
		if err != nil {
			return in, err
		}
		in.Cents = cents
		chosen = &in
		return in, nil
	})
	show := func(w http.ResponseWriter, f form) {
		f.Trip = *chosen
		f.Total = fmt.Sprintf("%d.%02d", chosen.Cents/100, chosen.Cents%100)
		w.Header().Set("content-type", "text/html; charset=utf-8")
		_ = trainsCheckout.Execute(w, f)
	}
	s.handle("GET /checkout", func(w http.ResponseWriter, r *http.Request) {
		if chosen == nil {
			http.Redirect(w, r, "/", http.StatusSeeOther)
			return
		}
		show(w, form{})
	})
	s.handle("POST /checkout", func(w http.ResponseWriter, r *http.Request) {
		if chosen == nil {
			http.Redirect(w, r, "/", http.StatusSeeOther)
			return
		}
		field := func(name string) string { return strings.TrimSpace(r.PostFormValue(name)) }
		f := form{Name: field("name"), Mail: field("mail"), Phone: field("phone"), Pay: field("pay"), Terms: field("terms") != "", News: field("news") != ""}
		if !strings.Contains(f.Name, " ") {
			f.Errors = append(f.Errors, "Enter the first and the last name.")
		}
		if at := strings.Index(f.Mail, "@"); at < 1 || !strings.Contains(f.Mail[at:], ".") {
			f.Errors = append(f.Errors, "Enter a mail address that tickets can be sent to.")
		}
		if f.Pay != "card" && f.Pay != "invoice" {
			f.Errors = append(f.Errors, "Choose how to pay.")
		}
		if !f.Terms {
			f.Errors = append(f.Errors, "Accept the conditions of carriage.")
		}
		if len(f.Errors) > 0 {
			show(w, f)
			return
		}
		now.Bookings = append(now.Bookings, booking{*chosen, f.Name, f.Mail, f.Phone, f.Pay, f.News})
		s.saved, chosen = now, nil
		http.Redirect(w, r, "/done", http.StatusSeeOther)
	})
	s.handle("GET /done", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("content-type", "text/html; charset=utf-8")
		_, _ = w.Write([]byte(trainsDone))
	})
}

// trainsKilometres maps the stations to their position in kilometres.
func trainsKilometres() map[string]int {
	km := map[string]int{}
	for part := range strings.SplitSeq(strings.ReplaceAll(trainsStations, "\n", ""), "|") {
		i := strings.LastIndex(part, " ")
		n, _ := strconv.Atoi(part[i+1:])
		km[part[:i]] = n
	}
	return km
}

// trainsMatches returns the first stations whose name contains a text.
func trainsMatches(km map[string]int, text string) []string {
	found := []string{}
	text = strings.ToLower(strings.TrimSpace(text))
	for name := range km {
		if text != "" && strings.Contains(strings.ToLower(name), text) {
			found = append(found, name)
		}
	}
	slices.Sort(found)
	return found[:min(len(found), 6)]
}

// trainsClock returns a time of day such as "07:05".
func trainsClock(minutes int) string { return fmt.Sprintf("%02d:%02d", minutes/60%24, minutes%60) }

// trainsDistance returns the distance of a trip in kilometres.
func trainsDistance(km map[string]int, t trainsTrip) int {
	return max(km[t.From]-km[t.To], km[t.To]-km[t.From])
}

// trainsMinutes returns the travel time of a train.
func trainsMinutes(r trainsRow, distance int) int {
	if r.Name[0] == 'R' {
		return 4 + distance*70/100 + 16*r.Changes
	}
	return 4 + distance*45/100 + 16*r.Changes
}

// trainsEnds returns an error for invalid stations of a trip.
func trainsEnds(km map[string]int, from, to string) error {
	switch {
	case km[from] == 0:
		return refused("Choose the station you leave from in the list.")
	case km[to] == 0:
		return refused("Choose the station you go to in the list.")
	case from == to:
		return refused("You leave from where you want to go.")
	}
	return nil
}

// trainsCheck returns an error for an invalid search.
func trainsCheck(km map[string]int, t trainsTrip) error {
	if err := trainsEnds(km, t.From, t.To); err != nil {
		return err
	}
	if t.Date < "2026-11-09" || t.Date > "2027-01-08" {
		return refused("Tickets are sold for the next 60 days.")
	}
	grown := false
	for i, who := range t.Travellers {
		young := who.Age >= 15 && who.Age <= 26
		switch {
		case who.Age < 0 || who.Age > 120:
			return refused(fmt.Sprintf("Enter the age of traveller %d.", i+1))
		case who.Card == "Youth card" && !young:
			return refused("The Youth card is for those from 15 to 26.")
		case who.Card != "" && who.Age < 15:
			return refused("Children need no card.")
		}
		grown = grown || who.Age >= 15
	}
	if !grown {
		return refused("Somebody of 15 or more must travel with the children.")
	}
	return nil
}

// trainsPrices returns the prices of a train for all travellers: second class Saver and Flex, first class Saver and Flex. 0 means sold out.
func trainsPrices(km map[string]int, t trainsTrip, r trainsRow) (cents [4]int) {
	tens := func(n int) int { return (n + 5) / 10 * 10 }
	distance := trainsDistance(km, t)
	saver, flex := tens((400+distance*12)*r.Saver/100), tens((600+distance*19)*r.Flex/100)
	if r.Saver == 0 {
		saver = 0
	}
	if r.Flex == 0 {
		flex = 0
	}
	if day, err := time.Parse(time.DateOnly, t.Date); err == nil && (day.Weekday() == time.Friday || day.Weekday() == time.Sunday) {
		saver, flex = tens(saver*110/100), tens(flex*110/100)
	}
	for i, full := range []int{saver, flex, tens(saver * 15 / 10), tens(flex * 16 / 10)} {
		for _, who := range t.Travellers {
			cents[i] += full * (100 - trainsDiscount(who, i%2 == 1)) / 100
		}
	}
	return cents
}

// trainsDiscount returns the discount of a traveller in percent. The Rail card 50 applies only to Flex.
func trainsDiscount(who trainsTraveller, flex bool) int {
	switch {
	case who.Age < 6:
		return 100
	case who.Age < 15, who.Card == "Rail card 50" && flex:
		return 50
	case who.Card == "Youth card", who.Card == "Rail card 25":
		return 25
	}
	return 0
}

// trainsChosen returns the price of a trip with the chosen train and fare. It sets the time of the trip to the time of the train.
func trainsChosen(km map[string]int, t *trainsTrip) (int, error) {
	i := slices.IndexFunc(trainsDay, func(r trainsRow) bool { return r.Name == t.Train })
	if i < 0 || t.Class < 1 || t.Class > 2 || t.Fare != "Saver" && t.Fare != "Flex" {
		return 0, refused("Choose a fare.")
	}
	r := trainsDay[i]
	at := (2 - t.Class) * 2
	if t.Fare == "Flex" {
		at++
	}
	cents := trainsPrices(km, *t, r)[at]
	switch {
	case cents == 0:
		return 0, refused("This fare is sold out.")
	case t.Reserve && r.Name[0] == 'R':
		return 0, refused(r.Name + " is a regional train, which takes no seat reservations. Switch the reservation off or choose an IC.")
	case t.Reserve && t.Class == 2:
		cents += 450 * len(t.Travellers)
	}
	t.Time = trainsClock(r.Departs)
	return cents, nil
}

var trainsCheckout = template.Must(template.New("checkout").Parse(`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Checkout · Strait Rail</title>
<link rel="icon" href="data:,">
<style>
  body { font: 16px/1.5 sans-serif; max-width: 640px; margin: 24px auto }
  label { display: block; margin: 10px 0 }
  input[type=text] { width: 100%; padding: 6px }
  .errors { border: 2px solid #b00; color: #b00; padding: 8px 30px }
</style>
<h1>Checkout</h1>
<p>{{.Trip.From}} to {{.Trip.To}}, {{.Trip.Date}} at {{.Trip.Time}}, {{.Trip.Train}}<br>
{{if eq .Trip.Class 2}}Second{{else}}First{{end}} class {{.Trip.Fare}}, {{len .Trip.Travellers}} traveller(s), {{if .Trip.Reserve}}seats reserved{{else}}no reservation{{end}}</p>
<p>To pay: <b>{{.Total}}</b></p>
{{if .Errors}}<ul class="errors" role="alert">{{range .Errors}}<li>{{.}}</li>{{end}}</ul>{{end}}
<form method="post" action="/checkout">
  <label>Name on the ticket <input type="text" name="name" value="{{.Name}}"></label>
  <label>Mail address <input type="text" name="mail" value="{{.Mail}}"></label>
  <label>Phone, if you like <input type="text" name="phone" value="{{.Phone}}"></label>
  <fieldset><legend>Payment</legend>
    <label><input type="radio" name="pay" value="card"{{if eq .Pay "card"}} checked{{end}}> Card at the counter</label>
    <label><input type="radio" name="pay" value="invoice"{{if eq .Pay "invoice"}} checked{{end}}> Invoice by mail</label>
  </fieldset>
  <label><input type="checkbox" name="terms" value="1"{{if .Terms}} checked{{end}}> I accept the conditions of carriage</label>
  <label><input type="checkbox" name="news" value="1"{{if .News}} checked{{end}}> Send me offers</label>
  <button>Buy the ticket</button> <a href="/">Start again</a>
</form>
</html>
`))

// trainsDone is the page after a booking.
const trainsDone = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Thank you · Strait Rail</title>
<link rel="icon" href="data:,">
<h1>Have a good trip!</h1>
<p>Your tickets are on their way to your mail address.</p>
<p><a href="/">Another trip</a></p>
</html>
`
