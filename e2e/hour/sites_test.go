package hour

import (
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"slices"
	"sync"
)

//go:embed sites/*.html
var embedded embed.FS

// pages holds the files of the sites. Sub fails only for an invalid path.
var pages, _ = fs.Sub(embedded, "sites")

// Site is a small web site, such as a shop, a calendar, a form or a board. It has realistic pages, and a backend that decides: it refuses
// invalid requests with a reason, and stores the results. It is created anew for each task, and depends neither on the date nor on
// randomness or a network.
type Site struct {
	mux   *http.ServeMux
	mu    sync.Mutex // held while a handler runs
	saved any
}

// all maps the names of the sites to the functions that set them up.
var all = map[string]func(s *Site){
	"admin":    admin,
	"board":    board,
	"charts":   charts,
	"cinema":   cinema,
	"claim":    claim,
	"files":    files,
	"food":     food,
	"forum":    forum,
	"help":     help,
	"hotel":    hotel,
	"jobs":     jobs,
	"join":     join,
	"mail":     mail,
	"news":     news,
	"notes":    notes,
	"settings": settings,
	"shop":     shop,
	"stay":     stay,
	"stock":    stock,
	"survey":   survey,
	"trains":   trains,
	"week":     week,
	"wiki":     wiki,
}

// newSite creates a site. Its page is at "/".
func newSite(name string) (*Site, error) {
	build := all[name]
	if build == nil {
		return nil, fmt.Errorf("no site is named %q; the sites are %q", name, slices.Sorted(maps.Keys(all)))
	}
	s := &Site{mux: http.NewServeMux()}
	s.page("GET /{$}", name+".html")
	build(s)
	return s, nil
}

// ServeHTTP serves one request at a time.
func (s *Site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mux.ServeHTTP(w, r)
}

// Saved returns the data of the backend as JSON, by which a task is judged. It is null until something is saved.
func (s *Site) Saved() (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	text, err := json.Marshal(s.saved)
	return string(text), err
}

// page serves one of the embedded files.
func (s *Site) page(pattern, file string) {
	s.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		http.ServeFileFS(w, r, pages, file)
	})
}

// handle registers a handler that serves HTML, redirects or files.
func (s *Site) handle(pattern string, serve http.HandlerFunc) { s.mux.HandleFunc(pattern, serve) }

// maxBody limits the size of a request body, in bytes.
const maxBody = 1 << 20

// answers registers a function that answers JSON requests with JSON. An error becomes the response {"error": "…"} with status 422, which
// pages show. For a request without a body, such as a GET, In is the zero value.
func answers[In, Out any](s *Site, pattern string, decide func(In) (Out, error)) {
	s.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		var in In
		if r.ContentLength != 0 {
			if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody)).Decode(&in); err != nil {
				http.Error(w, err.Error(), http.StatusBadRequest)
				return
			}
		}
		w.Header().Set("content-type", "application/json")
		out, err := decide(in)
		if err != nil {
			w.WriteHeader(http.StatusUnprocessableEntity)
			_ = json.NewEncoder(w).Encode(map[string]string{"error": err.Error()})
			return
		}
		_ = json.NewEncoder(w).Encode(out)
	})
}

// refused returns an error that a page shows.
func refused(text string) error { return errors.New(text) }
