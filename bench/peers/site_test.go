//go:build unix

package peers

import (
	"context"
	"errors"
	"fmt"
	"html"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

// names returns the names of the controls of a page with n controls: buttons, links, checkboxes and text fields in turn. No name is part of
// another.
func names(n int) []string {
	kinds := []string{"Archive invoice %05d", "Open contract %05d", "Select parcel %05d", "Comment on order %05d"}
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf(kinds[i%len(kinds)], i)
	}
	return all
}

// list returns a page with n controls, four per row. A click on a button changes the text of a paragraph, which is a live region unless
// plain is set. If live is not empty, it is the id under which the page receives news from the server. News appears in another paragraph,
// which is not a live region.
func list(n int, live string, plain bool) string {
	role := "role=status"
	if plain {
		role = ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<!doctype html><html lang=en><meta charset=utf-8><title>Work list</title><link rel=icon href="data:,"><main><h1>Work list</h1><p id=result %s>Nothing was done yet</p><p id=news>No news yet</p><ul>`, role)
	for i, name := range names(n) {
		name = html.EscapeString(name)
		if i%4 == 0 {
			fmt.Fprintf(&b, "<li>Row %d, due in %d days ", i/4, i%9)
		}
		switch i % 4 {
		case 0:
			fmt.Fprintf(&b, `<button data-n="%05d">%s</button> `, i, name)
		case 1:
			fmt.Fprintf(&b, `<a href="/contract/%d">%s</a> `, i, name)
		case 2:
			fmt.Fprintf(&b, `<label><input type=checkbox> %s</label> `, name)
		default:
			fmt.Fprintf(&b, `<input aria-label="%s"> `, name)
		}
	}
	b.WriteString(`</ul></main><script>let done=0;document.querySelector("ul").addEventListener("click",e=>{const n=e.target.dataset.n;if(n)result.textContent="Archived "+n+", which makes "+ ++done})</script>`)
	if live != "" {
		fmt.Fprintf(&b, `<script>new EventSource("/events?id=%[1]s").onmessage=e=>{news.textContent=e.data;fetch("/seen?id=%[1]s",{method:"POST"})}</script>`, live)
	}
	return b.String()
}

const (
	alertText = "Card 4711 was refused"
	// hangFor is how long the page hangs. It exceeds the limit of every call.
	hangFor = 150 * time.Second
)

// special holds the pages with failures.
var special = map[string]string{
	"alert": `<button onclick="alert('` + alertText + `');this.textContent='Pay again'">Pay</button>`,
	"hang":  fmt.Sprintf(`<button onclick="const end=Date.now()+%d;while(Date.now()<end);">Compute</button>`, hangFor.Milliseconds()),
	"stale": `<div id=box><button onclick="const b=document.createElement('button');b.textContent='Delete everything';b.onclick=()=>fetch('/clicked?what=delete',{method:'POST'});document.getElementById('box').replaceChildren(b)">Next</button></div>`,
}

// site serves the pages of this package, the applications of e2e/tasks, and the built applications of e2e/apps.
type site struct {
	base   string
	server *http.Server
	served chan error

	mu sync.Mutex
	// streams maps the ids of pages to their streams.
	streams map[string]stream
	// clicks counts clicks on wrong elements.
	clicks int
}

// stream carries news to a page, and the page's confirmation that it shows them.
type stream struct {
	news chan string
	seen chan struct{}
}

// startSite starts a server on a free port of the loopback interface. root is the directory of the repository.
func startSite(ctx context.Context, root string) (*site, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &site{base: "http://" + listener.Addr().String(), served: make(chan error, 1), streams: map[string]stream{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /list", func(w http.ResponseWriter, r *http.Request) {
		n, _ := strconv.Atoi(r.FormValue("n")) // the runner sends a valid number
		write(w, list(n, r.FormValue("id"), r.FormValue("plain") != ""))
	})
	for name, body := range special {
		mux.HandleFunc("GET /"+name, func(w http.ResponseWriter, _ *http.Request) {
			write(w, `<!doctype html><html lang=en><meta charset=utf-8><title>`+name+`</title><link rel=icon href="data:,"><main>`+body+`</main>`)
		})
	}
	mux.HandleFunc("GET /events", s.events)
	mux.HandleFunc("POST /seen", func(_ http.ResponseWriter, r *http.Request) {
		select {
		case s.stream(r.FormValue("id")).seen <- struct{}{}:
		default: // no reader waits
		}
	})
	mux.HandleFunc("POST /clicked", func(http.ResponseWriter, *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.clicks++
	})
	mux.Handle("GET /", http.FileServer(http.Dir(filepath.Join(root, "e2e", "tasks", "apps")))) // the applications expect to be at the root
	bundles := filepath.Join(root, ".cache", "apps", "dist")
	mux.Handle("GET /bundles/", http.StripPrefix("/bundles/", http.FileServer(http.Dir(bundles))))
	mux.HandleFunc("GET /apps/{name}", func(w http.ResponseWriter, r *http.Request) {
		name := r.PathValue("name")
		styles := ""
		if _, err := os.Stat(filepath.Join(bundles, name+".css")); err == nil {
			styles = `<link rel=stylesheet href="/bundles/` + name + `.css">`
		}
		write(w, `<!doctype html><html lang=en><meta charset=utf-8><title>`+name+`</title><link rel=icon href="data:,">`+styles+`<div id=app></div><script type=module src="/bundles/`+name+`.js"></script>`)
	})
	s.server = &http.Server{Handler: mux, ReadHeaderTimeout: time.Minute}
	go func() { s.served <- s.server.Serve(listener) }()
	return s, nil
}

// write sends a page.
func write(w http.ResponseWriter, page string) {
	w.Header().Set("content-type", "text/html; charset=utf-8")
	_, _ = w.Write([]byte(page)) // a browser that disconnects is not an error
}

// stop stops the server and its streams.
func (s *site) stop() error {
	err := s.server.Close()
	if served := <-s.served; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	return err
}

// stream returns the stream of the page with an id.
func (s *site) stream(id string) stream {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.streams[id].news == nil {
		s.streams[id] = stream{make(chan string), make(chan struct{}, 1)}
	}
	return s.streams[id]
}

// events sends news to a page until the page closes.
func (s *site) events(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("content-type", "text/event-stream")
	flush := http.NewResponseController(w).Flush
	if flush() != nil {
		return
	}
	for {
		select {
		case text := <-s.stream(r.FormValue("id")).news:
			if _, err := fmt.Fprintf(w, "data: %s\n\n", text); err != nil || flush() != nil {
				return
			}
		case <-r.Context().Done():
			return
		}
	}
}

// tell sends news to the page with an id. If shown is set, it waits until the page shows them.
func (s *site) tell(ctx context.Context, id, text string, shown bool) error {
	to := s.stream(id)
	select {
	case to.news <- text:
	case <-ctx.Done():
		return ctx.Err()
	}
	if !shown {
		return nil
	}
	select {
	case <-to.seen:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// wrongClicks returns the number of clicks on wrong elements.
func (s *site) wrongClicks() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.clicks
}
