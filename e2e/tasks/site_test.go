package tasks

import (
	"embed"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/domtap/domtap/internal/testenv"
)

//go:embed apps
var apps embed.FS

// site serves the applications and is their backend. It stores what they save, by which a task is judged.
type site struct {
	base string

	mu    sync.Mutex
	saved map[string]string // the latest JSON for each path below /api/
	fails map[string]int    // the number of further requests to fail, by path
}

func newSite(t *testing.T) *site {
	t.Helper()
	s := &site{saved: map[string]string{}, fails: map[string]int{"settings": 1}}
	files, err := fs.Sub(apps, "apps")
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("GET /", http.FileServerFS(files))
	mux.HandleFunc("GET /api/people", people)
	mux.HandleFunc("POST /api/{what}", s.save)
	s.base = testenv.Serve(t, mux)
	return s
}

// save stores what an application saves, unless the request must fail.
func (s *site) save(w http.ResponseWriter, r *http.Request) {
	what := r.PathValue("what")
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case what == "sign-in" && string(body) != `{"email":"ada@harbour.example","password":"correct horse"}`:
		http.Error(w, "Wrong e-mail or password", http.StatusForbidden)
	case what == "voucher" && string(body) != `"SPRING"`:
		http.Error(w, "Unknown voucher", http.StatusNotFound)
	case s.fails[what] > 0:
		s.fails[what]--
		http.Error(w, "Could not save, try again", http.StatusServiceUnavailable)
	default:
		s.saved[what] = string(body)
	}
}

// got returns the latest JSON that was saved for a path.
func (s *site) got(what string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.saved[what]
}

type person struct {
	ID   int    `json:"id"`
	Name string `json:"name"`
	City string `json:"city"`
}

// everyone lists the people that a search can find.
var everyone = func() []person {
	first := []string{"Ada", "Alan", "Barbara", "Donald", "Edsger", "Frances", "Grace", "John", "Katherine", "Margaret", "Niklaus", "Tony"}
	last := []string{"Allen", "Hamilton", "Hoare", "Johnson", "Knuth", "Liskov", "Lovelace", "McCarthy", "Perlis", "Turing"}
	cities := []string{"Oslo", "Porto", "Riga", "Turin", "Utrecht"}
	var all []person
	for i := range first {
		for j := range last {
			n := len(all)
			all = append(all, person{ID: 500 + n, Name: first[i] + " " + last[j], City: cities[(i+j)%len(cities)]})
		}
	}
	return all
}()

// people returns one page of the people whose name or city contains the words.
func people(w http.ResponseWriter, r *http.Request) {
	const size = 10
	var found []person
	for _, p := range everyone {
		if strings.Contains(strings.ToLower(p.Name+" "+p.City), strings.ToLower(r.FormValue("q"))) {
			found = append(found, p)
		}
	}
	page, err := strconv.Atoi(r.FormValue("page"))
	if err != nil || page < 1 {
		http.Error(w, "page must be a number", http.StatusBadRequest)
		return
	}
	from, to := min((page-1)*size, len(found)), min(page*size, len(found))
	answer := map[string]any{"total": len(found), "pages": max(1, (len(found)+size-1)/size), "people": append([]person{}, found[from:to]...)}
	w.Header().Set("content-type", "application/json")
	if err := json.NewEncoder(w).Encode(answer); err != nil {
		http.Error(w, fmt.Sprint(err), http.StatusInternalServerError)
	}
}
