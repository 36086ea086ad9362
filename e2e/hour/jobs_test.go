package hour

import (
	"cmp"
	"fmt"
	"html/template"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"
)

// jobs serves a job search: 144 ads, found by words, facets and salary, fifteen per page. A user can save an ad, and apply with a form and
// a file unless the ad has closed.
func jobs(s *Site) {
	ads := jobsAds()
	state := jobsSaved{Saved: []string{}, Applications: []jobsApplication{}}
	find := func(id string) int { return slices.IndexFunc(ads, func(a jobsAd) bool { return a.ID == id }) }
	answers(s, "POST /api/search", func(q jobsQuery) (jobsFound, error) { return jobsSearch(ads, q), nil })
	answers(s, "GET /api/saved", func(struct{}) ([]string, error) { return state.Saved, nil })
	answers(s, "POST /api/job", func(in struct{ ID string }) (jobsDetail, error) {
		i := find(in.ID)
		if i < 0 {
			return jobsDetail{}, refused("This ad is gone.")
		}
		return jobsDetail{ads[i], jobsText(ads[i]), jobsDay(ads[i].closes)}, nil
	})
	answers(s, "POST /api/save", func(in struct {
		ID string
		On bool
	}) ([]string, error) {
		i := find(in.ID)
		if i < 0 || ads[i].closes < 0 {
			return state.Saved, refused("This ad has closed and cannot be saved.")
		}
		state.Saved = slices.DeleteFunc(slices.Clone(state.Saved), func(id string) bool { return id == in.ID })
		if in.On {
			state.Saved = append(state.Saved, in.ID)
		}
		slices.Sort(state.Saved)
		s.saved = state
		return state.Saved, nil
	})
	form := template.Must(template.ParseFS(pages, "jobs-apply.html"))
	s.handle("GET /apply/{id}", func(w http.ResponseWriter, r *http.Request) {
		i := find(r.PathValue("id"))
		if i < 0 {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("content-type", "text/html; charset=utf-8")
		_ = form.Execute(w, jobsForm{Ad: ads[i]})
	})
	s.handle("POST /apply/{id}", func(w http.ResponseWriter, r *http.Request) {
		i := find(r.PathValue("id"))
		if i < 0 {
			http.NotFound(w, r)
			return
		}
		in, wrong := jobsRead(r, ads[i])
		if len(wrong) > 0 {
			w.Header().Set("content-type", "text/html; charset=utf-8")
			w.WriteHeader(http.StatusUnprocessableEntity)
			_ = form.Execute(w, jobsForm{Ad: ads[i], In: in, Wrong: wrong})
			return
		}
		state.Applications = append(slices.Clone(state.Applications), in)
		s.saved = state
		http.Redirect(w, r, "/applied/"+ads[i].ID, http.StatusSeeOther)
	})
	s.handle("GET /applied/{id}", func(w http.ResponseWriter, r *http.Request) {
		i := find(r.PathValue("id"))
		if i < 0 {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("content-type", "text/html; charset=utf-8")
		_ = form.Execute(w, jobsForm{Ad: ads[i], Done: true})
	})
}

// jobsAd is a job ad. Its days are relative to Mon 9 Nov 2026.
type jobsAd struct {
	ID       string `json:"id"`
	Title    string `json:"title"`
	Employer string `json:"employer"`
	Field    string `json:"field"`
	City     string `json:"city"`
	Type     string `json:"type"`
	Level    string `json:"level"`
	Place    string `json:"place"`
	Salary   int    `json:"salary"`
	Posted   string `json:"posted"`
	posted   int
	closes   int
	leave    int
}

type jobsDetail struct {
	jobsAd
	Text   []string `json:"text"`
	Closes string   `json:"closes"`
}

// jobsQuery is a search with its filters. Low and High are salaries in thousands.
type jobsQuery struct {
	Words     string
	Facets    map[string][]string
	Low, High int
	Sort      string
	From      int
}

type jobsCount struct {
	Value string `json:"value"`
	Count int    `json:"count"`
}

type jobsFound struct {
	Total  int                    `json:"total"`
	Jobs   []jobsAd               `json:"jobs"`
	Facets map[string][]jobsCount `json:"facets"`
}

// jobsApplication holds the data of the application form.
type jobsApplication struct {
	Job     string `json:"job"`
	First   string `json:"first"`
	Last    string `json:"last"`
	Email   string `json:"email"`
	Phone   string `json:"phone"`
	Town    string `json:"town,omitempty"`
	Link    string `json:"link,omitempty"`
	Start   string `json:"start"`
	Notice  string `json:"notice,omitempty"`
	Salary  string `json:"salary,omitempty"`
	Heard   string `json:"heard,omitempty"`
	Letter  string `json:"letter,omitempty"`
	Permit  string `json:"permit"`
	Licence string `json:"licence,omitempty"`
	Similar string `json:"similar,omitempty"`
	File    string `json:"file"`
	Text    string `json:"text"`
}

type jobsSaved struct {
	Saved        []string          `json:"saved"`
	Applications []jobsApplication `json:"applications"`
}

// jobsForm is the data for the form page.
type jobsForm struct {
	Ad    jobsAd
	In    jobsApplication
	Wrong []string
	Done  bool
}

// Notices returns the possible notice periods.
func (jobsForm) Notices() []string {
	return []string{"None", "Two weeks", "One month", "Two months", "Three months"}
}

// jobsRead reads a form and returns its errors.
func jobsRead(r *http.Request, ad jobsAd) (in jobsApplication, wrong []string) {
	value := func(name string) string { return strings.TrimSpace(r.FormValue(name)) }
	r.Body = http.MaxBytesReader(nil, r.Body, maxBody)
	if err := r.ParseMultipartForm(maxBody); err != nil {
		return in, []string{"The form could not be read: a file may have 1 MB."}
	}
	in = jobsApplication{
		Job: ad.ID, First: value("first"), Last: value("last"), Email: value("email"), Phone: jobsPhone(value("phone")), Town: value("town"),
		Link: value("link"), Start: value("start"), Notice: value("notice"), Salary: value("salary"), Heard: value("heard"), Letter: value("letter"),
		Permit: value("permit"), Licence: value("licence"), Similar: value("similar"),
	}
	check := func(bad bool, text string) {
		if bad {
			wrong = append(wrong, text)
		}
	}
	check(ad.closes < 0, "This ad has closed.")
	check(in.First == "" || in.Last == "", "Tell us your first and last name.")
	check(!strings.Contains(in.Email, "@"), "That is no email address.")
	check(len(in.Phone) < 9 || in.Phone[0] != '+', "Write your phone number with the country code, such as +44 for the United Kingdom.")
	check(in.Start <= "2026-11-09", "Tell us from which day on you could start.")
	check(in.Permit == "", "Tell us whether you may work in this country.")
	check(value("consent") == "", "Agree that we keep your details.")
	file, header, err := r.FormFile("cv")
	if err != nil {
		return in, append(wrong, "Attach your CV.")
	}
	text, _ := io.ReadAll(file)
	_ = file.Close()
	in.File, in.Text = header.Filename, strings.TrimSpace(string(text))
	check(!strings.HasSuffix(in.File, ".txt") && !strings.HasSuffix(in.File, ".pdf"), "We read .pdf and .txt only.")
	check(in.Text == "", "The file that you attached is empty.")
	return in, wrong
}

// jobsPhone returns a phone number without separators.
func jobsPhone(text string) string {
	text = strings.NewReplacer(" ", "", "-", "", "(0)", "", "(", "", ")", "").Replace(text)
	return strings.Replace(text, "+440", "+44", 1)
}

// jobsPick returns the value of an ad in a facet.
func jobsPick(ad jobsAd, facet string) string {
	switch facet {
	case "field":
		return ad.Field
	case "city":
		return ad.City
	case "type":
		return ad.Type
	case "level":
		return ad.Level
	}
	return ad.Place
}

var jobsFacets = map[string][]string{
	"field": {"Data", "Design", "Engineering", "Finance", "Legal", "Logistics", "Marketing", "Nursing", "Research", "Teaching"},
	"city":  {"Aberdour", "Brixham", "Cromer", "Dunbar", "Eyemouth", "Falmouth", "Grimsby", "Harwich"},
	"type":  {"Full-time", "Part-time", "Contract", "Internship"},
	"level": {"Junior", "Mid-level", "Senior", "Lead"},
	"place": {"On site", "Hybrid", "Remote"},
}

// jobsMatch reports whether an ad matches a query, ignoring one of its facets.
func jobsMatch(ad jobsAd, q jobsQuery, aside string) bool {
	for facet, values := range q.Facets {
		if facet != aside && len(values) > 0 && !slices.Contains(values, jobsPick(ad, facet)) {
			return false
		}
	}
	words := strings.ToLower(strings.TrimSpace(q.Words))
	return ad.Salary >= q.Low*1000 && ad.Salary <= q.High*1000 && strings.Contains(strings.ToLower(ad.Title+" "+ad.Employer+" "+ad.City), words)
}

// jobsSearch returns fifteen ads, and the number of ads for each value of each facet.
func jobsSearch(ads []jobsAd, q jobsQuery) jobsFound {
	found := jobsFound{Jobs: []jobsAd{}, Facets: map[string][]jobsCount{}}
	var hits []jobsAd
	for _, ad := range ads {
		if jobsMatch(ad, q, "") {
			hits = append(hits, ad)
		}
	}
	for facet, values := range jobsFacets {
		for _, value := range values {
			n := 0
			for _, ad := range ads {
				if jobsPick(ad, facet) == value && jobsMatch(ad, q, facet) {
					n++
				}
			}
			found.Facets[facet] = append(found.Facets[facet], jobsCount{value, n})
		}
	}
	slices.SortStableFunc(hits, func(a, b jobsAd) int {
		switch q.Sort {
		case "Newest":
			return cmp.Compare(a.posted, b.posted)
		case "Best paid":
			return cmp.Compare(b.Salary, a.Salary)
		case "Closing soon":
			return cmp.Compare(a.closes, b.closes)
		}
		return 0
	})
	found.Total = len(hits)
	if q.From >= 0 && q.From < len(hits) {
		found.Jobs = hits[q.From:min(q.From+15, len(hits))]
	}
	return found
}

// jobsDay returns the day that many days after Mon 9 Nov 2026.
func jobsDay(days int) string {
	return time.Date(2026, time.November, 9+days, 12, 0, 0, 0, time.UTC).Format("2 Jan 2006")
}

// jobsText returns the text of an ad.
func jobsText(ad jobsAd) []string {
	return []string{
		fmt.Sprintf("%s in %s looks for somebody who knows the work of %s and likes to explain it to others.", ad.Employer, ad.City, strings.ToLower(ad.Field)),
		"You will work in a team of " + []string{"four", "six", "nine"}[ad.leave%3] + ", with a week by the sea every summer and no meetings on Fridays.",
		fmt.Sprintf("We offer %d a year, a pension of which we pay two thirds, %d days of leave besides the public holidays, and lunch.", ad.Salary, ad.leave),
		"We read every application and answer within two weeks.",
	}
}

// jobsAds returns the ads.
func jobsAds() (ads []jobsAd) {
	titles := map[string][]string{
		"Data": {"Data analyst", "Data engineer", "Statistician"}, "Design": {"Product designer", "Illustrator", "Type designer"},
		"Engineering": {"Software engineer", "Bridge engineer", "Test engineer"}, "Finance": {"Accountant", "Controller", "Treasury analyst"},
		"Legal": {"Solicitor", "Contracts adviser", "Notary's clerk"}, "Logistics": {"Harbour planner", "Warehouse planner", "Fleet planner"},
		"Marketing": {"Copywriter", "Brand manager", "Campaign analyst"}, "Nursing": {"Ward nurse", "Theatre nurse", "District nurse"},
		"Research": {"Marine biologist", "Field researcher", "Research data steward"}, "Teaching": {"Maths teacher", "Music teacher", "Swimming teacher"},
	}
	employers := []string{"Anchor Mutual", "Bright Shoal", "Cable and Crane", "Driftwood Labs", "Eastern Lights", "Fathom Books", "Gannet Air", "Holm Hospital", "Isle Schools", "Jetty Foods", "Kelp Energy"}
	types := []string{"Full-time", "Full-time", "Part-time", "Full-time", "Contract", "Full-time", "Part-time", "Internship"}
	pay := map[string]int{"Junior": 24000, "Mid-level": 34000, "Senior": 48000, "Lead": 62000}
	for i := range 144 {
		ad := jobsAd{
			ID: fmt.Sprintf("J-%d", 1001+i*3), Employer: employers[i*4%11], Field: jobsFacets["field"][i%10], City: jobsFacets["city"][(i*5+i/8)%8],
			Type: types[(i*3+i/10)%8], Level: jobsFacets["level"][(i/10+i/4)%4], Place: jobsFacets["place"][(i/7+i)%3],
			posted: i * 7 % 30, closes: i*11%40 - 4, leave: 22 + i*5%11,
		}
		if ad.Type == "Internship" {
			ad.Level = "Junior"
		}
		ad.Title = titles[ad.Field][i/10%3]
		ad.Salary = pay[ad.Level] + i*7%13*1500
		if ad.Type == "Part-time" {
			ad.Salary = ad.Salary * 3 / 5
		}
		ad.Posted = jobsDay(-ad.posted)
		ads = append(ads, ad)
	}
	return ads
}
