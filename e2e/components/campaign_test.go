package components

import (
	"embed"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/testenv"
	"github.com/domtap/domtap/internal/testenv/script"
)

//go:embed campaign/*.html
var ownPages embed.FS

// campaignRound is the number of steps on a page before the next page is shown.
const campaignRound = 15

// campaign performs random steps on pages, and compares the answers of domtap with the observations of a witness in the page.
type campaign struct {
	t       *testing.T
	d       *testenv.Daemon
	tab     string
	base    string
	witness witness
	// paths lists the pages.
	paths []string
	// path is the current page, and seed is the seed of its steps.
	path string
	seed uint64
	// known holds the controls of the last read. fresh is true until the next action. Options holds the options that the page has shown.
	known   []control
	fresh   bool
	options []string
	tally   map[string]int
	wrong   int
	// told logs every step.
	told bool
}

// TestAnswersAgreeWithTheWitness performs random steps on the pages of the libraries, and on pages of rows and of fields. The seed in the
// first line of a failure repeats it: DOMTAP_SEED=N DOMTAP_STEPS=15.
func TestAnswersAgreeWithTheWitness(t *testing.T) {
	steps := testenv.Steps(45)
	first := uint64(1)
	if n, err := strconv.ParseUint(os.Getenv("DOMTAP_SEED"), 10, 64); err == nil {
		first = n
	}
	c := newCampaign(t)
	c.told = os.Getenv("DOMTAP_SEED") != "" && steps <= campaignRound
	for seed := first; steps > 0; seed++ {
		c.show(seed)
		rng := rand.New(rand.NewPCG(seed, 0))
		for n := range min(steps, campaignRound) {
			c.one(rng, n)
		}
		steps -= campaignRound
	}
	for _, key := range slices.Sorted(maps.Keys(c.tally)) {
		t.Logf("%6d %s", c.tally[key], key)
	}
}

// newCampaign serves the built pages, and opens a tab with a witness.
func newCampaign(t *testing.T) *campaign {
	t.Helper()
	all := scenarios(t)
	mux := http.NewServeMux()
	mux.Handle("/", pages(all))
	mux.Handle("/campaign/", http.FileServerFS(ownPages))
	c := &campaign{t: t, d: testenv.Shared(t), base: testenv.Serve(t, mux), tally: map[string]int{}}
	for _, s := range all {
		if _, err := os.Stat(filepath.Join(built, s.name, "app.js")); err == nil {
			c.paths = append(c.paths, "/"+s.name+"/")
		}
	}
	c.tab = c.d.Open("about:blank")
	c.witness = installWitness(t, c.d)
	return c
}

// show shows the page of a seed: one of the test's own pages, or the next page of the libraries.
func (c *campaign) show(seed uint64) {
	c.t.Helper()
	c.seed, c.options = seed, nil
	switch {
	case seed%4 == 1 || len(c.paths) == 0:
		c.path = fmt.Sprintf("/campaign/rows.html?seed=%d", seed)
	case seed%12 == 3:
		c.path = "/campaign/fields.html"
	default:
		c.path = c.paths[int(seed)%len(c.paths)]
	}
	c.load()
}

// load reloads the page.
func (c *campaign) load() {
	c.t.Helper()
	c.d.Show(c.tab, c.base+c.path)
	if !strings.HasPrefix(c.path, "/campaign/") {
		var failure string
		if c.witness.ask(&failure, "%s", begun); failure != "" {
			c.t.Fatalf("%s: %s", c.path, failure)
		}
	}
	c.read()
}

// read reads the page as a client does.
func (c *campaign) read() {
	c.t.Helper()
	c.witness.ask(nil, "witness.number()")
	r, err := c.d.Dom.GetDom(testenv.Within(c.t, testenv.Patience), &domtapv1.GetDomRequest{TabId: c.tab, ClientId: client,
		MaxTokens: proto.Int32(0), IncludeAttributes: []string{witnessed}})
	if err != nil {
		c.t.Fatalf("%s: %v", c.path, err)
	}
	c.known, c.fresh = nil, true
	for _, e := range r.GetElements() {
		if e.GetRole() == "option" && !slices.Contains(c.options, e.GetText()) {
			c.options = append(c.options, e.GetText())
		}
		if id, err := strconv.Atoi(e.GetAttributes()[witnessed]); err == nil && !e.GetCovered() {
			c.known = append(c.known, control{id, e})
		}
	}
}

// rows returns words that occur in only one row, if the list of controls is up to date.
func (c *campaign) rows() (rows []rowWords) {
	if c.fresh {
		c.witness.ask(&rows, "witness.rows()")
	}
	return rows
}

// one performs one step and compares.
func (c *campaign) one(rng *rand.Rand, n int) {
	c.t.Helper()
	j := &judgement{attempt: c.draw(rng), fresh: c.fresh}
	j.was = c.witness.state(j.on.id)
	c.witness.ask(&j.before, "witness.begin()")
	got, err := c.d.Actions.Interact(testenv.Within(c.t, testenv.Patience), &domtapv1.InteractRequest{TabId: c.tab, ClientId: client,
		Steps: []*domtapv1.Step{j.step}, Format: domtapv1.Format_FORMAT_DENSE_DIFF, Brief: true})
	switch {
	case err == nil:
		j.result, j.answer, j.verdict = got.GetResults()[0], strings.TrimSpace(script.Answer(got)), got.GetVerdict()
	case status.Code(err) == codes.FailedPrecondition: // nothing was done
		j.result, j.answer = &domtapv1.StepResult{Delivered: domtapv1.Delivered_DELIVERED_NONE, Reason: testenv.Reason(err)}, err.Error()
	default:
		c.violation(n, "the call failed", j.attempt, err.Error())
		c.load()
		return
	}
	c.tally[fmt.Sprintf("%-8s%-7s%s %s", j.kind, j.by, strings.TrimPrefix(j.result.GetDelivered().String(), "DELIVERED_"), j.result.GetReason())]++
	if c.told {
		c.t.Logf("seed %d step %d: %v\n%s", c.seed, n, j.attempt, j.answer)
	}
	if c.left(got) {
		return
	}
	c.witness.ask(&j.seen, "witness.end()")
	j.is, j.duplicates = c.witness.state(j.on.id), c.duplicates(j.on)
	if wrong := j.wrong(); wrong != "" {
		c.violation(n, wrong, j.attempt, fmt.Sprintf("domtap said: %s\nthe witness saw:%v\nthe element was %+v\nand is %+v", j.answer, j.seen, j.was, j.is))
	}
	if c.fresh = false; rng.IntN(4) > 0 {
		c.read()
	}
}

// violation fails the test. The first line of the message allows to repeat the case.
func (c *campaign) violation(step int, what string, a attempt, more string) {
	c.t.Helper()
	c.t.Errorf("%s: DOMTAP_SEED=%d step %d: %s: %v\n%s", strings.Trim(c.path, "/"), c.seed, step, what, a, more)
	if c.wrong++; c.wrong == 100 {
		c.t.Fatal("and so on")
	}
}

// duplicates counts the controls with the role and name of the given one.
func (c *campaign) duplicates(on control) (n int) {
	for _, k := range c.known {
		if k.GetRole() == on.GetRole() && k.GetText() == on.GetText() {
			n++
		}
	}
	return n
}

// left reports whether the page was left, or waits for an answer. It answers a dialog, closes the tab that the page opened, and shows the
// page again.
func (c *campaign) left(got *domtapv1.InteractResponse) bool {
	c.t.Helper()
	var err error
	switch got.GetVerdict() {
	case domtapv1.Verdict_VERDICT_NAVIGATED:
	case domtapv1.Verdict_VERDICT_DIALOG:
		_, err = c.d.Tabs.AnswerDialog(testenv.Within(c.t, testenv.Patience), &domtapv1.AnswerDialogRequest{TabId: c.tab, Accept: true})
	case domtapv1.Verdict_VERDICT_NEW_TAB:
		_, err = c.d.Tabs.CloseTab(testenv.Within(c.t, testenv.Patience), &domtapv1.CloseTabRequest{TabId: got.GetNewTabId()})
	default:
		return false
	}
	if err != nil {
		c.t.Fatalf("%s: %v", c.path, err)
	}
	c.load()
	return true
}
