package e2e

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/testenv"
)

// item is a row of the page. Rows of the same name look alike; the ID distinguishes them.
type item struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// staleRig drives pages/stale.html and knows what it shows.
type staleRig struct {
	t     *testing.T
	d     *testenv.Daemon
	rng   *rand.Rand
	tab   string
	url   string
	items []item
	look  int
	ids   int
	// looks maps the IDs of the items to their names.
	looks map[string]string
}

// run runs a script in the page and decodes its result.
func (r *staleRig) run(script string, result any) {
	r.t.Helper()
	var out struct {
		Result struct {
			Value json.RawMessage `json:"value"`
		} `json:"result"`
		ExceptionDetails any `json:"exceptionDetails"`
	}
	params := map[string]any{"expression": script, "returnByValue": true, "awaitPromise": true}
	if err := r.d.Browser.Newest().Call(testenv.Within(r.t, 30*time.Second), "Runtime.evaluate", params, &out); err != nil || out.ExceptionDetails != nil {
		r.t.Fatalf("%s: %v, %v", script, err, out.ExceptionDetails)
	}
	if result == nil {
		return
	}
	if err := json.Unmarshal(out.Result.Value, result); err != nil {
		r.t.Fatal(err)
	}
}

// named returns an item. Items with the same name are duplicates.
func (r *staleRig) named(name string) item {
	r.ids++
	r.looks[fmt.Sprint("i", r.ids)] = name
	return item{ID: fmt.Sprint("i", r.ids), Name: name}
}

var fruits = []string{"Apple", "Pear", "Plum", "Fig", "Cherry", "Lemon", "Date", "Kiwi", "Mango", "Lime"}

// fresh returns n items with different names.
func (r *staleRig) fresh(n int) []item {
	var out []item
	for _, i := range r.rng.Perm(len(fruits))[:n] {
		out = append(out, r.named(fruits[i]))
	}
	return out
}

func (r *staleRig) show(how string) {
	r.t.Helper()
	items, err := json.Marshal(r.items)
	if err != nil {
		r.t.Fatal(err)
	}
	r.run(fmt.Sprintf("show(%s, %q, %d)", items, how, r.look), nil)
}

// disturb changes the page in one of many ways and returns a description.
func (r *staleRig) disturb() string {
	hows := []string{"rewrite", "replace", "wrap", "inner", "keyed", "unkeyed"}
	how := hows[r.rng.IntN(len(hows))]
	what := r.rng.IntN(12)
	was := slices.Clone(r.items)
	pick := r.items[r.rng.IntN(len(r.items))]
	switch what {
	case 0, 1, 2: // the same list, re-rendered
	case 3:
		r.rng.Shuffle(len(r.items), func(i, j int) { r.items[i], r.items[j] = r.items[j], r.items[i] })
	case 4:
		if len(r.items) > 1 {
			i := r.rng.IntN(len(r.items))
			r.items = slices.Delete(slices.Clone(r.items), i, i+1)
		}
	case 5:
		r.items = slices.Insert(slices.Clone(r.items), r.rng.IntN(len(r.items)+1), r.named("Quince"+fmt.Sprint(r.ids)))
	case 6: // completely different items with other names
		used := map[string]bool{}
		for _, one := range was {
			used[one.Name] = true
		}
		r.items = slices.DeleteFunc(r.fresh(len(fruits)), func(i item) bool { return used[i.Name] })[:1+r.rng.IntN(2)]
	case 7: // a virtual list scrolls by one
		r.items, how = append(slices.Clone(r.items[1:]), r.named("Row"+string(rune('A'+r.ids%26))+string(rune('a'+r.ids/26%26)))), "unkeyed"
	case 8, 9: // an item of the same name appears before the first one is removed or hidden
		duplicates := 0
		for _, one := range r.items {
			if one.Name == pick.Name {
				duplicates++
			}
		}
		if duplicates > 1 {
			break
		}
		next := r.named(pick.Name)
		call := []string{"duplicate", "hide"}[what-8]
		r.run(fmt.Sprintf("%s(%q, %q)", call, next.Name, next.ID), nil)
		for i := range r.items {
			if r.items[i].ID == pick.ID {
				r.items[i] = next
			}
		}
		return call
	case 10: // a duplicate that stays
		r.items = append(slices.Clone(r.items), r.named(pick.Name))
	case 11:
		r.navigate()
		return "navigate"
	}
	r.show(how)
	r.run("bar()", nil)
	return fmt.Sprint(how, " ", what)
}

// navigate reloads the page with the same list.
func (r *staleRig) navigate() {
	r.t.Helper()
	if _, err := r.d.Tabs.Navigate(testenv.Within(r.t, 30*time.Second), &domtapv1.NavigateRequest{TabId: r.tab, Url: r.url}); err != nil {
		r.t.Fatal(err)
	}
	r.show("rewrite")
}

// control is a clickable element with its identity in the page.
type control struct {
	ref      uint32
	identity string
}

func (r *staleRig) controls() []control {
	r.t.Helper()
	resp, err := r.d.Dom.GetDom(testenv.Within(r.t, 30*time.Second), &domtapv1.GetDomRequest{TabId: r.tab, IncludeAttributes: []string{"data-id"}})
	if err != nil {
		r.t.Fatal(err)
	}
	var out []control
	for _, e := range resp.GetElements() {
		if id := e.GetAttributes()["data-id"]; id != "" {
			out = append(out, control{e.GetRef(), id})
		}
	}
	return out
}

// alike reports whether two controls are indistinguishable. In a list that reuses its rows, such controls may swap places unnoticed.
func (r *staleRig) alike(a, b string) bool {
	one, what, _ := strings.Cut(a, ":")
	other, also, _ := strings.Cut(b, ":")
	return what == also && r.looks[one] == r.looks[other]
}

// TestNoStaleRefReachesAnotherElement targets elements by refs that were read before the page re-rendered itself in random ways. A step
// must reach either the original element or nothing. make test always runs the same 40 attempts; make test-long runs 200 other ones.
// DOMTAP_SEED repeats the attempts of a failure.
func TestNoStaleRefReachesAnotherElement(t *testing.T) {
	attempts, seed := testenv.Size(40, 200), uint64(1)
	if attempts > 40 {
		seed = rand.Uint64()
	}
	if n, err := strconv.ParseUint(os.Getenv("DOMTAP_SEED"), 10, 64); err == nil {
		seed = n
	}
	t.Logf("DOMTAP_SEED=%d", seed)
	r := &staleRig{t: t, rng: rand.New(rand.NewPCG(seed, 0)), looks: map[string]string{}, d: testenv.Shared(t)}
	r.url = serve(t, nil) + "/pages/stale.html"
	r.tab = r.d.Open(r.url)
	reached, healed, refused := 0, 0, 0
	reasons := map[string]int{}
	for attempt := range attempts {
		if attempt%8 == 0 || len(r.items) == 0 || len(r.items) > 8 {
			r.look, r.items = r.rng.IntN(4), r.fresh(1+r.rng.IntN(4))
			r.show("rewrite")
		}
		known := r.controls()
		named := known[r.rng.IntN(len(known))]
		how := r.disturb()
		if r.rng.IntN(4) == 0 {
			how += ", " + r.disturb()
		}
		r.run("clicks.length = 0", nil)
		answer, err := turn(t, r.d, r.tab, clickAt(&domtapv1.Target{Ref: proto.Uint32(named.ref)}))
		var clicks []string
		r.run("clicks", &clicks)
		switch {
		case err != nil:
			refused++
			reasons[testenv.Reason(err)]++
			if status.Code(err) != codes.FailedPrecondition || len(clicks) > 0 {
				t.Errorf("attempt %d (look %d, %s): ref %d was %s, clicked %q, %v", attempt, r.look, how, named.ref, named.identity, clicks, err)
			}
		case len(clicks) != 1 || clicks[0] != named.identity && !(strings.Contains(how, "unkeyed") && r.alike(clicks[0], named.identity)):
			t.Errorf("attempt %d (look %d, %s): ref %d was %s, clicked %q: %v", attempt, r.look, how, named.ref, named.identity, clicks, answer.GetResults())
		case answer.GetResults()[0].HealedRef != nil:
			healed++
		default:
			reached++
		}
	}
	t.Logf("%d reached, %d healed, %d refused %v", reached, healed, refused, reasons)
	if healed == 0 || refused < attempts/10 || reached < attempts/20 {
		t.Errorf("%d reached, %d healed, %d refused: the test tries too little of one of these", reached, healed, refused)
	}
}
