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

// claimSteps lists the pages of the form, in order.
var claimSteps = []string{"policy", "event", "items", "payout", "review"}

var claimTitles = map[string]string{
	"policy": "Policy", "event": "What happened", "items": "Items", "payout": "Payment and visit", "review": "Check and send",
	"done": "Thank you", "none": "Not found", "status": "Your claim",
}

// claimItem is an entry in the list of lost items.
type claimItem struct {
	What    string `json:"what"`
	Bought  string `json:"bought"`
	Pence   int    `json:"pence"`
	Receipt string `json:"receipt,omitempty"`
}

// Price returns the price as the page shows it.
func (i claimItem) Price() string { return fmt.Sprintf("£%d.%02d", i.Pence/100, i.Pence%100) }

// claimFiled is a submitted claim.
type claimFiled struct {
	Policy  string      `json:"policy"`
	Kind    string      `json:"kind"`
	Date    string      `json:"date"`
	Place   string      `json:"place"`
	Address string      `json:"address,omitempty"`
	Cause   string      `json:"cause,omitempty"`
	Forced  string      `json:"forced,omitempty"`
	Station string      `json:"station,omitempty"`
	Report  string      `json:"report,omitempty"`
	Items   []claimItem `json:"items"`
	IBAN    string      `json:"iban,omitempty"`
	Visit   string      `json:"visit"`
}

// claimOnFile is an older claim whose status can be followed.
type claimOnFile struct {
	Number  string `json:"number"`
	Surname string `json:"-"`
	Kind    string `json:"-"`
	State   string `json:"-"`
	Phone   string `json:"phone"`
	Paper   bool   `json:"paper"`
}

type claimBook struct {
	OnFile []claimOnFile `json:"onFile"`
	Filed  []claimFiled  `json:"filed,omitempty"`
}

// claimDesk stores the entries so far. Passed counts the accepted steps.
type claimDesk struct {
	site   *Site
	page   *template.Template
	book   claimBook
	fields map[string]string
	items  []claimItem
	passed int
	taken  []string
}

// claimMark is a label in the line of steps.
type claimMark struct {
	Text string
	Now  bool
}

// claimSlot is a possible time of the adjuster's visit.
type claimSlot struct {
	Value, Text string
	On, Taken   bool
}

// claimDay holds the times of a day.
type claimDay struct {
	Text  string
	Slots []claimSlot
}

type claimPair struct{ Name, Text string }

// claimPart is the part of the summary with the answers of one page.
type claimPart struct {
	Title, Link string
	Rows        []claimPair
}

// claimView is the data of the template.
type claimView struct {
	Step, Title           string
	Fields, Errors        map[string]string
	Steps                 []claimMark
	Kinds, Places, Causes []string
	Items                 []claimItem
	Days                  []claimDay
	Review                []claimPart
	Claim                 *claimOnFile
}

// claim serves a home insurer. A damage is reported on five pages that the server checks in turn, and an older claim can be followed.
// Expensive items need a receipt, and one time for the adjuster's visit turns out to be taken.
func claim(s *Site) {
	d := &claimDesk{
		site:   s,
		page:   template.Must(template.ParseFS(pages, "claim_form.html")).Option("missingkey=zero"),
		fields: map[string]string{},
		taken:  []string{"11-09", "12-10", "12-16", "13-11"},
		book: claimBook{OnFile: []claimOnFile{
			{Number: "MM-2026-00287", Surname: "Brandt", Kind: "Water", State: "Waiting for the plumber's invoice", Phone: "0205550118"},
			{Number: "MM-2026-00311", Surname: "Oduya", Kind: "Storm", State: "With the adjuster", Phone: "0205550132", Paper: true},
		}},
	}
	s.handle("GET /claim/{step}", d.show)
	s.handle("POST /claim/{step}", d.take)
	s.handle("POST /claim/items/add", d.addItem)
	s.handle("POST /claim/items/remove", d.removeItem)
	s.handle("POST /status", d.find)
	s.handle("GET /status/{number}", d.status)
	s.handle("POST /status/{number}/{what}", d.change)
}

// allowed reports whether a step may be shown now. If not, it has redirected the visitor.
func (d *claimDesk) allowed(w http.ResponseWriter, r *http.Request, step string) bool {
	at := slices.Index(claimSteps, step)
	switch {
	case at < 0:
		http.NotFound(w, r)
		return false
	case at > d.passed:
		http.Redirect(w, r, "/claim/"+claimSteps[d.passed], http.StatusSeeOther)
		return false
	}
	return true
}

func (d *claimDesk) show(w http.ResponseWriter, r *http.Request) {
	step := r.PathValue("step")
	if step == "done" && len(d.book.Filed) > 0 {
		d.render(w, claimView{Step: "done"})
		return
	}
	if d.allowed(w, r, step) {
		d.render(w, claimView{Step: step})
	}
}

// take checks one page of the form and continues to the next.
func (d *claimDesk) take(w http.ResponseWriter, r *http.Request) {
	step := r.PathValue("step")
	if !d.allowed(w, r, step) {
		return
	}
	delete(d.fields, "confirm")
	d.read(r)
	if wrong := d.check(step); len(wrong) > 0 {
		d.render(w, claimView{Step: step, Errors: wrong})
		return
	}
	if step == "review" {
		d.file()
		http.Redirect(w, r, "/claim/done", http.StatusSeeOther)
		return
	}
	d.passed = slices.Index(claimSteps, step) + 1
	http.Redirect(w, r, "/claim/"+claimSteps[d.passed], http.StatusSeeOther)
}

// read stores the posted fields.
func (d *claimDesk) read(r *http.Request) {
	_ = r.ParseForm()
	for name := range r.PostForm {
		d.fields[name] = strings.TrimSpace(r.PostForm.Get(name))
	}
}

// check returns the errors of a page, by field.
func (d *claimDesk) check(step string) map[string]string {
	wrong := map[string]string{}
	switch step {
	case "policy":
		d.checkPolicy(wrong)
	case "event":
		d.checkEvent(wrong)
	case "items":
		if len(d.items) == 0 {
			wrong["items"] = "Add at least one item."
		}
	case "payout":
		d.checkPayout(wrong)
	case "review":
		if d.fields["confirm"] == "" {
			wrong["confirm"] = "Please confirm this."
		}
	}
	return wrong
}

func (d *claimDesk) checkPolicy(wrong map[string]string) {
	holder := map[string]string{"HH-204518-7": "Oduya", "HH-731902-4": "Brandt"}[d.fields["policy"]]
	switch {
	case holder == "":
		wrong["policy"] = "We have no policy with this number."
	case !strings.EqualFold(holder, d.fields["surname"]):
		wrong["surname"] = "This is not the name of the policy."
	}
	switch d.fields["kind"] {
	case "":
		wrong["kind"] = "Please choose."
	case "Glass":
		wrong["kind"] = "Glass is not part of this policy."
	}
}

func (d *claimDesk) checkEvent(wrong map[string]string) {
	day, err := time.Parse("02/01/2006", d.fields["date"])
	switch {
	case err != nil:
		wrong["date"] = "Enter a day as DD/MM/YYYY."
	case day.Format(time.DateOnly) > "2026-11-09":
		wrong["date"] = "This day is in the future."
	case day.Format(time.DateOnly) < "2024-03-01":
		wrong["date"] = "Your policy begins on 01/03/2024."
	}
	d.need(wrong, "place")
	if d.fields["place"] == "Elsewhere" {
		d.need(wrong, "address")
	}
	switch d.fields["kind"] {
	case "Water":
		d.need(wrong, "cause")
	case "Burglary or theft":
		d.need(wrong, "forced", "police")
		switch d.fields["police"] {
		case "no":
			wrong["police"] = "Report a theft to the police before you report it to us."
		case "yes":
			d.need(wrong, "station", "report")
		}
	}
}

// need adds an error for each empty field.
func (d *claimDesk) need(wrong map[string]string, names ...string) {
	for _, name := range names {
		if d.fields[name] == "" {
			wrong[name] = "This is needed."
		}
	}
}

func (d *claimDesk) checkPayout(wrong map[string]string) {
	if iban := claimIBAN(d.fields["iban"]); d.fields["pay"] == "other" && (len(iban) != 22 || !strings.HasPrefix(iban, "GB")) {
		wrong["iban"] = "Enter a British IBAN of 22 characters."
	}
	visit := d.fields["visit"]
	switch {
	case visit == "":
		wrong["visit"] = "Choose a time."
	case visit == "12-13" || slices.Contains(d.taken, visit):
		wrong["visit"] = "This time has just been given to somebody else. Choose another."
		d.taken = append(d.taken, visit)
		delete(d.fields, "visit")
	}
}

func claimIBAN(text string) string { return strings.ReplaceAll(text, " ", "") }

// addItem adds the entered item to the list.
func (d *claimDesk) addItem(w http.ResponseWriter, r *http.Request) {
	if !d.allowed(w, r, "items") {
		return
	}
	d.read(r)
	wrong := map[string]string{}
	d.need(wrong, "what")
	if month, err := time.Parse("01/2006", d.fields["bought"]); err != nil || month.Format(time.DateOnly) > "2026-11-09" {
		wrong["bought"] = "Enter month and year as MM/YYYY."
	}
	pence, err := strconv.Atoi(strings.NewReplacer(",", "", ".", "").Replace(d.fields["price"]))
	switch {
	case err != nil || pence <= 0:
		wrong["price"] = "Enter what you paid."
	case pence >= 50000 && d.fields["receipt"] == "":
		wrong["receipt"] = "From 500.00 on we need the number of the receipt."
	}
	if len(wrong) > 0 {
		d.render(w, claimView{Step: "items", Errors: wrong})
		return
	}
	d.items = append(d.items, claimItem{What: d.fields["what"], Bought: d.fields["bought"], Pence: pence, Receipt: d.fields["receipt"]})
	for _, name := range []string{"what", "bought", "price", "receipt"} {
		delete(d.fields, name)
	}
	d.passed = 2
	http.Redirect(w, r, "/claim/items", http.StatusSeeOther)
}

// removeItem removes an item from the list.
func (d *claimDesk) removeItem(w http.ResponseWriter, r *http.Request) {
	if !d.allowed(w, r, "items") {
		return
	}
	if at, err := strconv.Atoi(r.PostFormValue("at")); err == nil && at >= 0 && at < len(d.items) {
		d.items = slices.Delete(d.items, at, at+1)
	}
	d.passed = 2
	http.Redirect(w, r, "/claim/items", http.StatusSeeOther)
}

// file submits the claim and clears the form.
func (d *claimDesk) file() {
	f := d.fields
	day, _ := time.Parse("02/01/2006", f["date"])
	filed := claimFiled{Policy: f["policy"], Kind: f["kind"], Date: day.Format(time.DateOnly), Place: f["place"], Items: d.items,
		Visit: "2026-11-" + strings.Replace(f["visit"], "-", " ", 1) + ":00"}
	if f["place"] == "Elsewhere" {
		filed.Address = f["address"]
	}
	switch f["kind"] {
	case "Water":
		filed.Cause = f["cause"]
	case "Burglary or theft":
		filed.Forced, filed.Station, filed.Report = f["forced"], f["station"], f["report"]
	}
	if f["pay"] == "other" {
		filed.IBAN = claimIBAN(f["iban"])
	}
	d.book.Filed = append(d.book.Filed, filed)
	d.site.saved = d.book
	d.fields, d.items, d.passed = map[string]string{}, nil, 0
}

// onFile returns the older claim with a number, or nil.
func (d *claimDesk) onFile(number string) *claimOnFile {
	for i := range d.book.OnFile {
		if d.book.OnFile[i].Number == number {
			return &d.book.OnFile[i]
		}
	}
	return nil
}

func (d *claimDesk) find(w http.ResponseWriter, r *http.Request) {
	c := d.onFile(strings.ToUpper(strings.TrimSpace(r.PostFormValue("number"))))
	if c == nil || !strings.EqualFold(c.Surname, strings.TrimSpace(r.PostFormValue("surname"))) {
		d.render(w, claimView{Step: "none"})
		return
	}
	http.Redirect(w, r, "/status/"+c.Number, http.StatusSeeOther)
}

func (d *claimDesk) status(w http.ResponseWriter, r *http.Request) {
	c := d.onFile(r.PathValue("number"))
	if c == nil {
		http.NotFound(w, r)
		return
	}
	d.render(w, claimView{Step: "status", Claim: c})
}

// change changes the contact details of the insured person.
func (d *claimDesk) change(w http.ResponseWriter, r *http.Request) {
	c := d.onFile(r.PathValue("number"))
	if c == nil {
		http.NotFound(w, r)
		return
	}
	switch r.PathValue("what") {
	case "paper":
		c.Paper = !c.Paper
	case "phone":
		phone := strings.NewReplacer(" ", "", "-", "").Replace(r.PostFormValue("phone"))
		if _, err := strconv.Atoi(phone); err != nil || len(phone) != 10 {
			d.render(w, claimView{Step: "status", Claim: c, Errors: map[string]string{"phone": "Enter ten digits, such as 020 5550 100."}})
			return
		}
		c.Phone = phone
	}
	d.site.saved = d.book
	http.Redirect(w, r, "/status/"+c.Number, http.StatusSeeOther)
}

// render writes a page.
func (d *claimDesk) render(w http.ResponseWriter, v claimView) {
	v.Title, v.Fields, v.Items = claimTitles[v.Step], d.fields, d.items
	v.Kinds = []string{"Burglary or theft", "Fire", "Glass", "Storm", "Water"}
	v.Places = []string{"Dwelling", "Cellar", "Attic", "Garage", "Garden", "Elsewhere"}
	v.Causes = []string{"Burst pipe", "Washing machine or dishwasher", "Neighbour above", "Roof or gutter"}
	v.Days, v.Review = d.days(), d.review()
	if slices.Contains(claimSteps, v.Step) {
		for _, step := range claimSteps {
			v.Steps = append(v.Steps, claimMark{Text: claimTitles[step], Now: step == v.Step})
		}
	}
	w.Header().Set("content-type", "text/html; charset=utf-8")
	_ = d.page.Execute(w, v)
}

// days returns the possible times for a visit.
func (d *claimDesk) days() []claimDay {
	var days []claimDay
	for _, day := range []claimPair{{"11", "Wednesday 11 November"}, {"12", "Thursday 12 November"}, {"13", "Friday 13 November"}} {
		one := claimDay{Text: day.Text}
		for _, hour := range []string{"09", "10", "11", "13", "14", "15", "16"} {
			value := day.Name + "-" + hour
			one.Slots = append(one.Slots, claimSlot{Value: value, Text: hour + ":00", On: d.fields["visit"] == value, Taken: slices.Contains(d.taken, value)})
		}
		days = append(days, one)
	}
	return days
}

// review returns the summary of the entries.
func (d *claimDesk) review() []claimPart {
	f := d.fields
	event := []claimPair{{"Date", f["date"]}, {"Where", f["place"]}}
	switch f["kind"] {
	case "Water":
		event = append(event, claimPair{"Cause", f["cause"]})
	case "Burglary or theft":
		event = append(event, claimPair{"Forced entry", f["forced"]}, claimPair{"Police", f["station"] + ", " + f["report"]})
	}
	var items []claimPair
	for _, i := range d.items {
		items = append(items, claimPair{i.What, i.Price() + ", " + i.Bought + ", " + i.Receipt})
	}
	pay := "the account that pays the premium"
	if f["pay"] == "other" {
		pay = f["iban"]
	}
	visit := strings.Replace(f["visit"], "-", " November, ", 1) + ":00"
	return []claimPart{
		{"Policy", "/claim/policy", []claimPair{{"Number", f["policy"]}, {"Insured", f["surname"]}, {"Damage", f["kind"]}}},
		{"What happened", "/claim/event", event},
		{"Items", "/claim/items", items},
		{"Payment and visit", "/claim/payout", []claimPair{{"Pay to", pay}, {"Visit", visit}}},
	}
}
