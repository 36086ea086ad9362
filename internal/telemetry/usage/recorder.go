// Package usage counts what clients use: calls, failures and their reasons, how long calls took, tokens and
// bytes, what reading a whole page instead would have cost, how often a cached answer was used, and how the
// steps of actions went. It counts for the daemon, for each client, for each session and for each tab.
//
// What the package guarantees:
//
//   - Every entry counts for the daemon, and also for the session and the tab while these are open. The
//     usage of a closed tab stays in the account of its session, and that of a closed session in the
//     daemon's account.
//   - The calls of a client also count in the client's own account, for as long as the daemon runs.
//   - Memory is bounded: there are accounts for open sessions and tabs, at most MaxAccounts of each, and an
//     account holds a fixed number of rows. No single measurement is kept.
//   - Adding an entry takes well under a microsecond, and waits only for other entries.
//
// The package starts no goroutine. Its methods may be called from any goroutine.
package usage

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"time"
)

const (
	// MaxAccounts is the limit on sessions, and on tabs, that have accounts of their own.
	MaxAccounts = 1000
	// maxRows is the limit on rows of one kind in an account. There are few methods, kinds of steps, and
	// reasons.
	maxRows = 100
	// Other is the row for everything beyond maxRows.
	Other = "OTHER"
)

// Place says which accounts an entry belongs to. An empty field is not known, or does not apply.
type Place struct {
	// Owner is the client that calls.
	Owner        string
	Session, Tab string
}

// Open reports what is open. Its methods are called with the recorder's lock held.
type Open interface {
	HasSession(id string) bool
	HasTab(id string) bool
	// Owner is the client that an open session belongs to.
	Owner(session string) string
}

// Entry is what one call, or a part of it, adds to the counts of a method.
type Entry struct {
	// Calls is how many calls began; Failure, when it is not empty, is why one failed.
	Calls   int64
	Failure string
	// Messages counts messages that were sent, and Bytes their size on the wire before compression.
	Messages, Bytes int64
	// Tokens were counted exactly, Estimated were estimated.
	Tokens, Estimated int64
	// Full is what whole pages would have cost, in tokens, in place of answers that cost Compared.
	Full, Compared int64
	// Took is how long the call took. It counts when Timed is set.
	Took  time.Duration
	Timed bool
	// Reads says how pages were read, Steps how the steps of actions went.
	Reads Reads
	Steps []Step
}

// Reads counts how pages were read, and what caches saved.
type Reads struct {
	// Pages is how many answers showed the elements of a page. HeadHits of them found the page unchanged
	// since the read before, and ViewHits found the same view of it.
	Pages, HeadHits, ViewHits int64
	// Texts is how many answers showed a page as text. TextHits of them used a text that was cached.
	Texts, TextHits int64
	// Incremental is how many answers showed what changed. Resyncs is how many were asked for changes and
	// had to show everything.
	Incremental, Resyncs int64
	// Landmarks were folded to a line each, because the caller had got them with the page before; Elements
	// are the elements in them.
	Landmarks, Elements int64
}

func (r *Reads) add(o Reads) {
	r.Pages += o.Pages
	r.HeadHits += o.HeadHits
	r.ViewHits += o.ViewHits
	r.Texts += o.Texts
	r.TextHits += o.TextHits
	r.Incremental += o.Incremental
	r.Resyncs += o.Resyncs
	r.Landmarks += o.Landmarks
	r.Elements += o.Elements
}

// Step is the outcome of one step of an action: Done, or Failed for a reason, or neither when it was skipped.
type Step struct {
	Kind         string
	Done, Healed bool
	Failed       string
}

// Recorder holds the accounts of one daemon.
type Recorder struct {
	open  Open
	since time.Time

	mu                     sync.Mutex
	total                  *account
	owners, sessions, tabs map[string]*account
}

// New makes an empty recorder.
func New(open Open) *Recorder {
	return &Recorder{open: open, since: time.Now(), total: newAccount(Place{}), owners: map[string]*account{}, sessions: map[string]*account{}, tabs: map[string]*account{}}
}

// account holds the counts of one place.
type account struct {
	place   Place
	methods map[string]*Method
	steps   map[string]*Steps
	reads   Reads
}

func newAccount(p Place) *account {
	return &account{place: p, methods: map[string]*Method{}, steps: map[string]*Steps{}}
}

// row finds or makes a row; when there are too many rows, it is the row Other.
func row[R any](rows map[string]*R, name string) *R {
	if r := rows[name]; r != nil {
		return r
	}
	if len(rows) >= maxRows {
		name = Other
	}
	if rows[name] == nil {
		rows[name] = new(R)
	}
	return rows[name]
}

// count adds one to a row, of which there are at most maxRows and Other.
func count(rows *map[string]int64, name string) {
	if *rows == nil {
		*rows = map[string]int64{}
	}
	if _, known := (*rows)[name]; !known && len(*rows) >= maxRows {
		name = Other
	}
	(*rows)[name]++
}

// Series takes the entries of one method in one place. It is a value, and stays valid when the place is
// closed.
type Series struct {
	recorder *Recorder
	accounts [4]*account
	methods  [4]*Method
}

// Series finds the series of a method.
func (b *Recorder) Series(p Place, name string) Series {
	b.mu.Lock()
	defer b.mu.Unlock()
	l := Series{recorder: b, accounts: [4]*account{b.total, b.owner(p.Owner), b.session(p), b.tab(p)}}
	for i, a := range l.accounts {
		if a != nil {
			l.methods[i] = row(a.methods, name)
		}
	}
	return l
}

// owner finds or makes the account of an owner; mu is held.
func (b *Recorder) owner(name string) *account {
	if a := b.owners[name]; a != nil || name == "" {
		return a
	}
	return created(b.owners, name, Place{Owner: name})
}

// session finds or makes the account of an open session; mu is held.
func (b *Recorder) session(p Place) *account {
	id := p.Session
	if a := b.sessions[id]; a != nil || id == "" || !b.open.HasSession(id) {
		return a
	}
	sweep(b.sessions, b.open.HasSession)
	return created(b.sessions, id, Place{Session: id})
}

// tab finds or makes the account of an open tab; mu is held.
func (b *Recorder) tab(p Place) *account {
	if a := b.tabs[p.Tab]; a != nil || p.Tab == "" || !b.open.HasTab(p.Tab) {
		return a
	}
	sweep(b.tabs, b.open.HasTab)
	return created(b.tabs, p.Tab, Place{Session: p.Session, Tab: p.Tab})
}

func created(all map[string]*account, id string, p Place) *account {
	if len(all) >= MaxAccounts {
		return nil
	}
	all[id] = newAccount(p)
	return all[id]
}

// sweep drops the accounts of closed sessions or tabs.
func sweep(all map[string]*account, open func(string) bool) {
	maps.DeleteFunc(all, func(id string, _ *account) bool { return !open(id) })
}

// CloseSession drops the account of a session, so that a later session of the same name begins with nothing.
func (b *Recorder) CloseSession(id string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.sessions, id)
}

// Add adds an entry.
func (l Series) Add(e Entry) {
	l.recorder.mu.Lock()
	defer l.recorder.mu.Unlock()
	for i, a := range l.accounts {
		if a != nil {
			l.methods[i].add(&e)
			a.reads.add(e.Reads)
			a.step(e.Steps)
		}
	}
}

func (m *Method) add(e *Entry) {
	m.Calls += e.Calls
	m.Messages += e.Messages
	m.Bytes += e.Bytes
	m.Tokens += e.Tokens
	m.Estimated += e.Estimated
	m.Full += e.Full
	m.Compared += e.Compared
	if e.Failure != "" {
		m.Failed++
		count(&m.Failures, e.Failure)
	}
	if e.Timed {
		m.Times.Add(e.Took)
	}
}

func (a *account) step(all []Step) {
	for _, s := range all {
		r := row(a.steps, s.Kind)
		switch {
		case s.Done:
			r.Done++
		case s.Failed != "":
			r.Failed++
			count(&r.Failures, s.Failed)
		default:
			r.Skipped++
		}
		if s.Healed {
			r.Healed++
		}
	}
}

// Report is a copy of the counts.
type Report struct {
	Since time.Time
	// Total is the account of the place that was asked for.
	Total Account
	// Sessions and Tabs are the accounts of the open sessions and tabs in it that were used, by name.
	Sessions, Tabs []Account
}

// Account is a copy of the counts of one place.
type Account struct {
	Place
	// Methods and Steps are sorted by name.
	Methods []Method
	Steps   []Steps
	Reads   Reads
}

// Method is the counts of one method.
type Method struct {
	Name string
	// Calls is how many calls began, and Failed how many ended in an error, for the reasons in Failures.
	Calls, Failed int64
	Failures      map[string]int64
	// Messages and the following are the sums of the entries.
	Messages, Bytes, Tokens, Estimated, Full, Compared int64
	Times                                              Durations
}

// Steps is the counts of one kind of step.
type Steps struct {
	Kind string
	// Healed of the Done ones were healed; Skipped were not tried.
	Done, Healed, Failed, Skipped int64
	Failures                      map[string]int64
}

// Report copies the account of a place and the accounts in it: the daemon's for the zero Place; for an owner
// alone, the owner's calls, and the accounts of its sessions and tabs. All are of the same moment.
func (b *Recorder) Report(p Place) Report {
	b.mu.Lock()
	defer b.mu.Unlock()
	sweep(b.sessions, b.open.HasSession)
	sweep(b.tabs, b.open.HasTab)
	st := Report{Since: b.since, Total: Account{Place: p}}
	within := func(a *account) bool {
		return (p.Session == "" || a.place.Session == p.Session) && (p.Owner == "" || b.open.Owner(a.place.Session) == p.Owner)
	}
	switch {
	case p.Tab != "":
		st.Total.fill(b.tabs[p.Tab])
		return st
	case p.Session != "":
		st.Total.fill(b.sessions[p.Session])
	case p.Owner != "":
		st.Total.fill(b.owners[p.Owner])
	default:
		st.Total.fill(b.total)
	}
	st.Sessions, st.Tabs = list(b.sessions, within), list(b.tabs, within)
	return st
}

// Total copies the daemon's account alone.
func (b *Recorder) Total() Account {
	b.mu.Lock()
	defer b.mu.Unlock()
	var a Account
	a.fill(b.total)
	return a
}

// list copies accounts in the order of their names, where t10 follows t9.
func list(all map[string]*account, within func(*account) bool) []Account {
	names := slices.SortedFunc(maps.Keys(all), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
	})
	var out []Account
	for _, name := range names {
		if a := all[name]; within(a) {
			one := Account{Place: a.place}
			one.fill(a)
			out = append(out, one)
		}
	}
	return out
}

// fill copies an account; nil is an account without entries.
func (out *Account) fill(a *account) {
	if a == nil {
		return
	}
	out.Reads = a.reads
	for _, name := range slices.Sorted(maps.Keys(a.methods)) {
		one := *a.methods[name]
		one.Name, one.Failures, one.Times = name, maps.Clone(one.Failures), one.Times.clone()
		out.Methods = append(out.Methods, one)
	}
	for _, kind := range slices.Sorted(maps.Keys(a.steps)) {
		one := *a.steps[kind]
		one.Kind, one.Failures = kind, maps.Clone(one.Failures)
		out.Steps = append(out.Steps, one)
	}
}
