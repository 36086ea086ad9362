package components

import (
	"fmt"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/domtap/domtap/compact/dense"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/testenv"
	"github.com/domtap/domtap/internal/testenv/script"
	"github.com/domtap/domtap/internal/tokens"
)

// agent runs a scenario. In addition to the steps of package script it knows
//
//	look             reads the page as DENSE
//	see TEXT         the page contains this text; it is read again if an action followed the last look
//	unseen TEXT      the page does not contain this text
//	says TEXT        the last answer to an action contains this text
//	silent TEXT      the last answer does not contain this text
//	model TEXT       the page's window.model() returns this within the usual limit
//	known: WHY       the next line fails for this reason; if it succeeds, the scenario fails
//	sometimes: WHY   the next line may fail, because it depends on timing
//
// A NAME is ["ROLE"] "NAME" [‹CONTEXT›] [#N] of an element that an answer printed; the latest takes precedence. Or it is text "TEXT", label
// "LABEL", or one of these or ROLE "NAME" followed by within "TEXT", which domtap resolves.
type agent struct {
	player script.Player
	// page is the last read page. fresh is false after an action.
	page  string
	fresh bool
	// known holds the elements that the answers have printed.
	known  []dense.Element
	answer string
	// transcript records actions and answers. It is printed with DOMTAP_TRANSCRIPTS.
	transcript strings.Builder
	losses     []string
}

// client is the client ID of the agent's reads and actions. The calls of the referee use another client ID.
const client = "agent"

func newAgent(d *testenv.Daemon, tab string) *agent {
	a := &agent{player: script.Player{Daemon: d, Tab: tab, Client: client}}
	a.player.Find, a.player.Acted = a.target, a.acted
	return a
}

// begun returns an empty text as soon as the page has its model, or the error.
const begun = `new Promise(done => {
	const until = performance.now() + 10000
	const look = () => window.failure || typeof window.model === "function" || performance.now() > until
		? done(window.failure || (window.model ? "" : "it has no model")) : setTimeout(look, 20)
	look()
})`

// play shows a page and performs the steps.
func (a *agent) play(t *testing.T, url, steps string) {
	t.Helper()
	a.player.T = t
	a.player.Tab = a.player.Daemon.For(t).Show(a.player.Tab, url)
	a.player.Calls++
	if failure := testenv.Evaluate[string](t, a.player.Daemon, begun); failure != "" {
		t.Fatalf("the page: %s", failure)
	}
	transcripts := os.Getenv("DOMTAP_TRANSCRIPTS") != ""
	if transcripts {
		defer func() { t.Logf("%s\n%s", a.transcript.String(), a.now()) }()
	}
	known, always := "", false
	for line := range strings.Lines(steps) {
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if why, ok := strings.CutPrefix(line, "known: "); ok {
			known, always = why, true
			continue
		}
		if why, ok := strings.CutPrefix(line, "sometimes: "); ok {
			known, always = why, false
			continue
		}
		switch failure := a.attempt(t, line); {
		case known != "" && failure == "" && always:
			t.Errorf("%s: this works now; delete the line %q", line, "known: "+known)
		case known != "" && failure != "":
			a.losses = append(a.losses, known)
			t.Logf("%s\nfails, as is known: %s: %s", line, known, failure)
		case failure != "" && transcripts:
			t.Errorf("%s\n%s", line, failure)
		case failure != "":
			t.Fatalf("%s\n%s\nthe last answer:\n%s\nthe page:\n%s", line, failure, a.answer, a.now())
		}
		known = ""
	}
}

// attempt performs the step of a line and returns its failure, if any.
func (a *agent) attempt(t *testing.T, line string) string {
	t.Helper()
	tries := &trial{TB: t}
	a.player.T = tries
	done := make(chan struct{})
	go func() {
		defer close(done)
		a.do(line)
	}()
	<-done
	a.player.T = t
	return tries.failure
}

// trial records a failure instead of failing its test.
type trial struct {
	testing.TB
	failure string
}

func (t *trial) Errorf(format string, args ...any) { t.failure = fmt.Sprintf(format, args...) }
func (t *trial) Fatal(args ...any)                 { t.Fatalf("%s", fmt.Sprint(args...)) }
func (t *trial) Fatalf(format string, args ...any) {
	t.Errorf(format, args...)
	runtime.Goexit()
}

// result returns the entry for the table.
func (a *agent) result(t *testing.T) string {
	switch {
	case t.Failed():
		return "failed"
	case len(a.losses) > 0:
		slices.Sort(a.losses)
		return "known: " + strings.Join(slices.Compact(a.losses), "; ")
	}
	return "ok"
}

func (a *agent) do(line string) {
	a.player.T.Helper()
	fmt.Fprintf(&a.transcript, "> %s\n", line)
	verb, rest, _ := strings.Cut(line, " ")
	switch verb {
	case "look":
		a.look()
	case "see", "unseen":
		if !a.fresh {
			a.look()
		}
		if strings.Contains(a.page+withRoles(a.player.T, a.page), rest) != (verb == "see") {
			a.player.T.Fatalf("the page as DENSE has %q: %v", rest, verb == "unseen")
		}
	case "says", "silent":
		if strings.Contains(a.answer, rest) != (verb == "says") {
			a.player.T.Fatalf("the answer has %q: %v", rest, verb == "silent")
		}
	case "model":
		a.model(rest)
	default:
		a.player.Do(line)
	}
}

// look reads the page.
func (a *agent) look() {
	a.player.T.Helper()
	a.player.Calls++
	a.page = a.read(client)
	fmt.Fprintf(&a.transcript, "look\n%s\n", a.page)
	a.player.Tokens += tokens.Count(a.page)
	a.fresh = true
	all, err := dense.Parse(a.page)
	if err != nil {
		a.player.T.Fatal(err)
	}
	a.known = all
}

func (a *agent) read(who string) string {
	a.player.T.Helper()
	request := &domtapv1.GetCompactRequest{TabId: a.player.Tab, Format: domtapv1.Format_FORMAT_DENSE, ClientId: who}
	for {
		got, err := a.player.Daemon.Dom.GetCompact(testenv.Within(a.player.T, script.Limit), request)
		if err != nil {
			a.player.T.Fatal(err)
		}
		if len(got.GetMetadata().GetLateFrames()) == 0 {
			return got.GetText()
		}
	}
}

// now returns the page for the message of a failure.
func (a *agent) now() string { return a.read("referee") }

// acted updates the known elements from an answer.
func (a *agent) acted(got *domtapv1.InteractResponse) {
	a.player.T.Helper()
	a.answer, a.fresh = script.Answer(got), false
	fmt.Fprintf(&a.transcript, "%s\n", a.answer)
	d, err := dense.ParseDiff(got.GetDiffText())
	if err != nil {
		a.player.T.Fatalf("%v in\n%s", err, got.GetDiffText())
	}
	if d.Page {
		a.known = d.Added
		return
	}
	for _, r := range d.Redrawn {
		for i, e := range a.known {
			if e.Ref >= r.Old && e.Ref < r.Old+r.Count {
				a.known[i].Ref = r.New + e.Ref - r.Old
			}
		}
	}
	gone := func(ref uint32) {
		a.known = slices.DeleteFunc(a.known, func(e dense.Element) bool { return e.Ref == ref })
	}
	for _, e := range d.Removed {
		gone(e.Ref)
	}
	for _, c := range d.Changed {
		gone(c.Now.Ref)
		a.known = append(a.known, c.Now)
	}
	a.known = append(a.known, d.Added...)
}

// model compares the state of the library with an expected state. It calls as the referee.
func (a *agent) model(state string) {
	a.player.T.Helper()
	got := testenv.Evaluate[string](a.player.T, a.player.Daemon, fmt.Sprintf(`new Promise(done => {
		const want = %s, until = performance.now() + 5000
		const look = () => {
			const got = String(window.model())
			got === want || performance.now() > until ? done(got) : setTimeout(look, 20)
		}
		look()
	})`, strconv.Quote(state)))
	if got != state {
		a.player.T.Fatalf("the model is %q, want %q", got, state)
	}
}

var (
	namePattern   = regexp.MustCompile(`^(?:([\w-]+) )?"((?:\\.|[^"\\])*)"(?: ‹([^›]*)›)?(?: #(\d+))?`)
	withinPattern = regexp.MustCompile(`^ within "([^"]*)"`)
)

// target returns the target that a step names.
func (a *agent) target(words string) (target *domtapv1.Target, rest string) {
	a.player.T.Helper()
	m := namePattern.FindStringSubmatch(words)
	if m == nil {
		a.player.T.Fatalf("a step names no target: %s", words)
	}
	rest = words[len(m[0]):]
	role, name := m[1], strings.ReplaceAll(m[2], `\"`, `"`)
	within := withinPattern.FindStringSubmatch(rest)
	if within == nil && role != "text" && role != "label" {
		return a.ref(role, name, m[3], m[4]), rest
	}
	target = &domtapv1.Target{}
	switch role {
	case "text":
		target.Text = name
	case "label":
		target.Label = name
	default:
		target.Role, target.Name = role, name
	}
	if within != nil {
		target.Within, rest = within[1], rest[len(within[0]):]
	}
	return target, rest
}

// ref returns the only matching element in the answers or in the page.
func (a *agent) ref(role, name, context, number string) *domtapv1.Target {
	a.player.T.Helper()
	for {
		var refs []uint32
		for _, e := range a.known {
			if (role == "" || e.Role == role) && e.Name == name && (context == "" || e.Context == context) {
				refs = append(refs, e.Ref)
			}
		}
		n, _ := strconv.Atoi(number)
		if len(refs) == 1 && n < 2 || n > 0 && n <= len(refs) {
			return &domtapv1.Target{Ref: proto.Uint32(refs[max(n, 1)-1])}
		}
		if a.fresh {
			a.player.T.Fatalf("%d elements are %s %q ‹%s› in what the answers print", len(refs), role, name, context)
		}
		a.look()
	}
}

// withRoles returns the elements of a page as DENSE, each with its name and its role, which the page may state once for a line.
func withRoles(t testing.TB, page string) string {
	all, err := dense.Parse(page)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, e := range all {
		fmt.Fprintf(&b, "\n%s (%s", e.Name, e.Role)
	}
	return b.String()
}
