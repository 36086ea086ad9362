package hour

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// surveyForm holds the answers so far. The pages are 1 to 4; page 5 says thank you.
type surveyForm struct {
	Reached int        `json:"reached"`
	Values  url.Values `json:"values"`
	Wrong   int        `json:"wrong"` // the page with the errors
	Errors  []string   `json:"errors"`
}

// surveyTopics lists the topics to rank, in their initial order.
var surveyTopics = []string{"Price", "Comfort", "Punctuality", "Frequency", "Food on board", "Bicycles"}

// survey serves a questionnaire of four pages about a ferry. Each page is a form. Submitting it lists all its errors, or continues to the
// next page if there are none.
func survey(s *Site) {
	type saved struct {
		Status     string   `json:"status"`
		Name       string   `json:"name"`
		Email      string   `json:"email"`
		Age        string   `json:"age"`
		Often      string   `json:"often"`
		Heard      string   `json:"heard"`
		Routes     []string `json:"routes"`
		Statements []string `json:"statements"`
		Stars      []string `json:"stars"`
		Wait       string   `json:"wait"`
		Fare       string   `json:"fare"`
		Ranking    []string `json:"ranking"`
		Score      string   `json:"score"`
		Ticket     string   `json:"ticket"`
		Remark     string   `json:"remark"`
		News       bool     `json:"news"`
	}
	type declined struct {
		Status string `json:"status"`
		Email  string `json:"email"`
		Reason string `json:"reason"`
		Note   string `json:"note"`
	}
	f := &surveyForm{Reached: 1, Values: url.Values{}, Errors: []string{}}
	save := func() {
		f.Reached = 5
		out := saved{Status: "answered", Name: f.get("name"), Email: f.get("email"), Age: f.get("age"), Often: f.get("often")}
		out.Heard, out.Routes = f.get("heard"), append([]string{}, f.Values["routes"]...)
		if out.Heard == "other" {
			out.Heard += ": " + f.get("heardother")
		}
		for i := range 6 {
			out.Statements = append(out.Statements, f.get(fmt.Sprintf("m%d", i+1)))
		}
		out.Stars = []string{f.get("crew"), f.get("food"), f.get("clean")}
		out.Wait, out.Fare, out.Ranking = f.get("wait"), f.get("fare"), strings.Split(f.get("ranking"), ",")
		out.Score, out.Ticket, out.Remark, out.News = f.get("score"), f.get("ticket"), f.get("remark"), f.get("news") != ""
		s.saved = out
	}
	answers(s, "GET /api/state", func(struct{}) (surveyForm, error) { return *f, nil })
	answers(s, "POST /api/decline", func(in struct{ Email, Reason, Note string }) (bool, error) {
		switch {
		case f.Reached == 5:
			return false, refused("You have taken part already.")
		case !strings.Contains(in.Email, "@"):
			return false, refused("Tell us the address that we wrote to.")
		case in.Reason == "":
			return false, refused("Please choose a reason.")
		}
		s.saved = declined{Status: "declined", Email: strings.TrimSpace(in.Email), Reason: in.Reason, Note: strings.TrimSpace(in.Note)}
		return true, nil
	})
	s.handle("POST /page/{n}", func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		n, _ := strconv.Atoi(r.PathValue("n"))
		if err := r.ParseForm(); err != nil || n < 1 || n > 4 || n > f.Reached || f.Reached == 5 {
			http.Redirect(w, r, fmt.Sprintf("/?page=%d", f.Reached), http.StatusSeeOther)
			return
		}
		f.take(n, r.PostForm)
		switch {
		case len(f.Errors) > 0:
			http.Redirect(w, r, fmt.Sprintf("/?page=%d#problems", n), http.StatusSeeOther)
			return
		case n == 4:
			save()
		default:
			f.Reached = max(f.Reached, n+1)
		}
		http.Redirect(w, r, fmt.Sprintf("/?page=%d", n+1), http.StatusSeeOther)
	})
}

// get returns the answer to a question, without surrounding white space.
func (f *surveyForm) get(name string) string { return strings.TrimSpace(f.Values.Get(name)) }

// take stores the answers of a page and their errors.
func (f *surveyForm) take(page int, form url.Values) {
	fields := map[int][]string{
		1: {"name", "email", "age", "often", "heard", "heardother", "routes"},
		2: {"m1", "m2", "m3", "m4", "m5", "m6", "crew", "food", "clean"},
		3: {"wait", "fare", "ranking"},
		4: {"score", "ticket", "remark", "news", "privacy"},
	}
	for _, name := range fields[page] {
		f.Values[name] = form[name]
	}
	f.Wrong, f.Errors = page, []string{}
	need := func(ok bool, text string) {
		if !ok {
			f.Errors = append(f.Errors, text)
		}
	}
	switch page {
	case 1:
		need(f.get("name") != "", "Question 1: please tell us your name.")
		user, host, _ := strings.Cut(f.get("email"), "@")
		need(user != "" && strings.Contains(host, "."), "Question 2: this is no e-mail address.")
		need(f.get("often") != "", "Question 4: please say how often you travel with us.")
		need(f.get("heard") != "", "Question 5: please say how you heard of us.")
		need(f.get("heard") != "other" || f.get("heardother") != "", "Question 5: please say what “something else” is.")
		need(len(f.Values["routes"]) > 0, "Question 6: please choose one route or more.")
		need(len(f.Values["routes"]) < 4, "Question 6: please choose no more than three routes.")
	case 2:
		for i := range 6 {
			need(f.get(fmt.Sprintf("m%d", i+1)) != "", fmt.Sprintf("Question 7: row %d of the table has no answer.", i+1))
		}
		need(f.get("crew") != "", "Question 8: please rate the crew.")
		need(f.get("food") != "", "Question 9: please rate the food, or say that you had none.")
	case 3:
		need(f.get("fare") != "", "Question 12: please set a fair price with the slider.")
		ranked := strings.Split(f.get("ranking"), ",")
		slices.Sort(ranked)
		need(slices.Equal(ranked, slices.Sorted(slices.Values(surveyTopics))), "Question 13: please rank all topics.")
	case 4:
		need(f.get("score") != "", "Question 14: please choose a number from 0 to 10.")
		need(f.get("ticket") != "", "Question 15: please choose a ticket.")
		need(utf8.RuneCountInString(f.get("remark")) <= 200, "Question 16: please write no more than 200 characters.")
		need(f.get("privacy") != "", "Please agree that we keep your answers.")
	}
}
