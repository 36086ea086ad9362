//go:build cluster

package cluster

import (
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"sync"

	"github.com/domtap/domtap/internal/testenv"
)

// receipts records the input events that the pages of all sessions report to their server. A page sends its report before the event handler
// returns, so an action has its receipt when it is answered.
type receipts struct {
	mu sync.Mutex
	// documents counts the documents of each session. Each document has one owner. A later document has the same owner or a later one.
	documents map[string]int
	// newest maps each session to its newest document that received input.
	newest map[string]int
	// done counts how often each order was placed. inputs counts all input events.
	done   map[string]int
	inputs int
	// stale contains events that reached a document after input to a newer document of its session.
	stale []string
	// strangers contains the documents that were loaded without their session's cookie.
	strangers []string
}

func newReceipts() *receipts {
	return &receipts{documents: map[string]int{}, newest: map[string]int{}, done: map[string]int{}}
}

// receipt is one input event.
type receipt struct {
	Session, Kind, Order string
	Document             int
}

// orders is a page that places orders and reports the events that reach it.
const orders = `<title>%[1]s</title><h1>Orders</h1><button id=b>Hello %[2]s</button><input id=i aria-label=Order><button id=go>Go</button><div id=l></div>
<script>
const tell = (kind, order) => {
	const r = new XMLHttpRequest();
	r.open("POST", "/receipt", false);
	r.send(JSON.stringify({session: %[1]q, document: %[3]d, kind, order}));
};
for (const kind of ["mousedown", "keydown", "input"]) addEventListener(kind, e => e.isTrusted && tell(kind, ""), true);
let n = 0;
document.querySelector("#go").onclick = () => {
	const order = document.querySelector("#i").value;
	tell("click", order);
	const b = document.createElement("button");
	b.textContent = "Order " + ++n + " is " + order;
	const l = document.querySelector("#l");
	l.append(b);
	if (l.children.length > 5) l.firstChild.remove();
};
</script>`

// pages returns the pages of the sessions, by path.
func (r *receipts) pages() map[string]http.HandlerFunc {
	return map[string]http.HandlerFunc{
		"/login": func(w http.ResponseWriter, q *http.Request) {
			http.SetCookie(w, &http.Cookie{Name: "id", Value: q.FormValue("as"), Path: "/"})
			testenv.HTML(`<title>In</title><button>Out</button>`)(w, q)
		},
		"/orders/{session}": func(w http.ResponseWriter, q *http.Request) {
			session, who := q.PathValue("session"), "stranger"
			if c, err := q.Cookie("id"); err == nil {
				who = c.Value
			}
			n := r.loaded(session, who)
			testenv.HTML(fmt.Sprintf(orders, html.EscapeString(session), html.EscapeString(who), n))(w, q)
		},
		"/receipt": func(w http.ResponseWriter, q *http.Request) {
			var one receipt
			if err := json.NewDecoder(q.Body).Decode(&one); err != nil {
				http.Error(w, err.Error(), http.StatusBadRequest)
				return
			}
			r.got(one)
		},
	}
}

// loaded counts the next document of a session and returns its number.
func (r *receipts) loaded(session, who string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.documents[session]++
	if who != session {
		r.strangers = append(r.strangers, fmt.Sprintf("document %d of %s", r.documents[session], session))
	}
	return r.documents[session]
}

// got records a receipt.
func (r *receipts) got(one receipt) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.inputs++
	if newest := r.newest[one.Session]; one.Document < newest {
		r.stale = append(r.stale, fmt.Sprintf("%s (order %q) reached document %d of %s after one reached document %d", one.Kind, one.Order, one.Document, one.Session, newest))
	}
	r.newest[one.Session] = max(r.newest[one.Session], one.Document)
	if one.Kind == "click" {
		r.done[one.Order]++
	}
}

// times returns how often an order was placed.
func (r *receipts) times(order string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.done[order]
}

// twice returns the orders that were placed more than once.
func (r *receipts) twice() (all []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for order, n := range r.done {
		if n > 1 {
			all = append(all, fmt.Sprintf("%s: %d times", order, n))
		}
	}
	return all
}

// wrong returns the violations since the last call.
func (r *receipts) wrong() (all []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.stale {
		all = append(all, "two owners: "+s)
	}
	for _, s := range r.strangers {
		all = append(all, "lost: the cookie of "+s)
	}
	r.stale, r.strangers = nil, nil
	return all
}
