// Package usage keeps count of what a daemon gave to its clients: calls, failures and their reasons, how long they took,
// tokens and bytes, what reading a whole page instead would have cost, how often something lay ready, and how steps of
// actions went. It counts for the daemon, for each session and for each tab.
//
// What it guarantees:
//
//   - Everything that is entered counts for the daemon, and also for the session and the tab as long as these are open. What a
//     tab did stays in its session's account when the tab is closed, and what a session did in the daemon's.
//   - What a client calls counts in its own account, too, for as long as the daemon runs.
//   - Memory is bounded: there are accounts for what is open, at most MaxAccounts, and each holds a fixed number of rows. No
//     single measurement is kept.
//   - To enter something takes well under a microsecond and waits for nothing but others who enter.
//
// It has no goroutine and no clock but the one that says when it began. Its methods may be called from any goroutine.
package usage

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"time"
)

const (
	// MaxAccounts is how many sessions, and how many tabs, have accounts of their own at most.
	MaxAccounts = 1000
	// maxRows is how many rows of one kind an account has at most. There are few methods, kinds of steps, and reasons.
	maxRows = 100
	// Other is the row for what exceeds that.
	Other = "OTHER"
)

// Place says whose account something belongs to. What is empty is not known, or does not apply.
type Place struct {
	// Owner is who calls.
	Owner        string
	Session, Tab string
}

// Open says what is open. Its methods are called with the book's lock held.
type Open interface {
	HasSession(id string) bool
	HasTab(id string) bool
	// Owner says whose an open session is.
	Owner(session string) string
}

// Entry is something to count, for one method.
type Entry struct {
	// Calls is how many calls began; Failure, when it is not empty, why one failed.
	Calls   int64
	Failure string
	// Messages were sent, of so many bytes on the wire before compression.
	Messages, Bytes int64
	// Tokens were counted exactly, Estimated not.
	Tokens, Estimated int64
	// Full is what the whole page would have cost instead of answers that cost Compared.
	Full, Compared int64
	// Took is how long something took. It counts when Timed is set.
	Took  time.Duration
	Timed bool
	// Reads are how the page was read; Steps, how steps of actions went.
	Reads Reads
	Steps []Step
}

// Reads count how pages were read, and what was spared.
type Reads struct {
	// Pages is how many answers showed the elements of a page. HeadHits of them found the page as the read before had left
	// it, and ViewHits the very same view of it.
	Pages, HeadHits, ViewHits int64
	// Texts is how many answers showed a page as text. TextHits of them found it read already.
	Texts, TextHits int64
	// Incremental is how many answers told what changed, and Resyncs how many had to tell everything though they were asked
	// for that.
	Incremental, Resyncs int64
	// Landmarks were folded to a line each, because the caller had got them with the page before; Elements stand in them.
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

// Step is how one step of an action went: Done, or Failed for a reason, or neither when it was skipped.
type Step struct {
	Kind         string
	Done, Healed bool
	Failed       string
}

// Book holds the accounts of one daemon.
type Book struct {
	open  Open
	since time.Time

	mu                     sync.Mutex
	total                  *account
	owners, sessions, tabs map[string]*account
}

// New makes a book that is empty.
func New(open Open) *Book {
	return &Book{open: open, since: time.Now(), total: newAccount(Place{}), owners: map[string]*account{}, sessions: map[string]*account{}, tabs: map[string]*account{}}
}

// account is what was counted for one place.
type account struct {
	place   Place
	methods map[string]*method
	steps   map[string]*steps
	reads   Reads
}

func newAccount(p Place) *account {
	return &account{place: p, methods: map[string]*method{}, steps: map[string]*steps{}}
}

// row finds or makes a row, and takes the one for all others when there are too many.
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

// method is what was counted for one method.
type method struct {
	calls, failed, messages, bytes, tokens, estimated, full, compared int64

	failures map[string]*int64
	times    *Times
}

// steps is what was counted for one kind of step.
type steps struct {
	done, healed, failed, skipped int64

	failures map[string]*int64
}

func count(rows *map[string]*int64, name string) {
	if *rows == nil {
		*rows = map[string]*int64{}
	}
	*row(*rows, name)++
}

// Line is where one method is entered for one place. It is a value, and stays valid when the place is closed.
type Line struct {
	book     *Book
	accounts [4]*account
	methods  [4]*method
}

// Line finds the line of a method.
func (b *Book) Line(p Place, name string) Line {
	b.mu.Lock()
	defer b.mu.Unlock()
	l := Line{book: b, accounts: [4]*account{b.total, b.owner(p.Owner), b.session(p), b.tab(p)}}
	for i, a := range l.accounts {
		if a != nil {
			l.methods[i] = row(a.methods, name)
		}
	}
	return l
}

// owner finds or makes the account of an owner; mu is held.
func (b *Book) owner(name string) *account {
	if a := b.owners[name]; a != nil || name == "" {
		return a
	}
	return created(b.owners, name, Place{Owner: name})
}

// session finds or makes the account of an open session; mu is held.
func (b *Book) session(p Place) *account {
	id := p.Session
	if a := b.sessions[id]; a != nil || id == "" || !b.open.HasSession(id) {
		return a
	}
	sweep(b.sessions, b.open.HasSession)
	return created(b.sessions, id, Place{Session: id})
}

// tab finds or makes the account of an open tab; mu is held.
func (b *Book) tab(p Place) *account {
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

// sweep drops the accounts of what is closed.
func sweep(all map[string]*account, open func(string) bool) {
	maps.DeleteFunc(all, func(id string, _ *account) bool { return !open(id) })
}

// CloseSession drops the account of a session, so that a later one of the same name begins with nothing.
func (b *Book) CloseSession(id string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.sessions, id)
}

// Add enters something.
func (l Line) Add(e Entry) {
	l.book.mu.Lock()
	defer l.book.mu.Unlock()
	for i, a := range l.accounts {
		if a != nil {
			l.methods[i].add(&e)
			a.reads.add(e.Reads)
			a.step(e.Steps)
		}
	}
}

func (m *method) add(e *Entry) {
	m.calls += e.Calls
	m.messages += e.Messages
	m.bytes += e.Bytes
	m.tokens += e.Tokens
	m.estimated += e.Estimated
	m.full += e.Full
	m.compared += e.Compared
	if e.Failure != "" {
		m.failed++
		count(&m.failures, e.Failure)
	}
	if e.Timed {
		if m.times == nil {
			m.times = new(Times)
		}
		m.times.Add(e.Took)
	}
}

func (a *account) step(all []Step) {
	for _, s := range all {
		r := row(a.steps, s.Kind)
		switch {
		case s.Done:
			r.done++
		case s.Failed != "":
			r.failed++
			count(&r.failures, s.Failed)
		default:
			r.skipped++
		}
		if s.Healed {
			r.healed++
		}
	}
}

// Statement is what was counted until now.
type Statement struct {
	Since time.Time
	// Total is the account of the place that was asked for.
	Total Account
	// Sessions and Tabs are those of the sessions and tabs in it that are open and were used, in the order of their names.
	Sessions, Tabs []Account
}

// Account is what was counted for one place.
type Account struct {
	Place
	// Methods and Steps are in the order of their names.
	Methods []Method
	Steps   []Steps
	Reads   Reads
}

// Method is what was counted for one method.
type Method struct {
	Name string
	// Calls began, and Failed ended in an error, for the reasons in Failures.
	Calls, Failed int64
	Failures      map[string]int64
	// Messages and the others are the sums of what was entered.
	Messages, Bytes, Tokens, Estimated, Full, Compared int64
	Times                                              Times
}

// Steps is what was counted for one kind of step.
type Steps struct {
	Kind string
	// Done of them were healed, Healed; Skipped were not tried.
	Done, Healed, Failed, Skipped int64
	Failures                      map[string]int64
}

// Statement reads a place's account and those in it: the daemon's for the zero Place; for an owner alone, what that has
// called, and the accounts of its own sessions and tabs. All are of the same moment.
func (b *Book) Statement(p Place) Statement {
	b.mu.Lock()
	defer b.mu.Unlock()
	sweep(b.sessions, b.open.HasSession)
	sweep(b.tabs, b.open.HasTab)
	st := Statement{Since: b.since, Total: Account{Place: p}}
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

// Total reads the daemon's account alone.
func (b *Book) Total() Account {
	b.mu.Lock()
	defer b.mu.Unlock()
	var a Account
	a.fill(b.total)
	return a
}

// list copies accounts in the order of their names, in which t10 follows t9.
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

// fill copies an account; nil is one without entries.
func (out *Account) fill(a *account) {
	if a == nil {
		return
	}
	out.Reads = a.reads
	for _, name := range slices.Sorted(maps.Keys(a.methods)) {
		m := a.methods[name]
		one := Method{
			Name: name, Calls: m.calls, Failed: m.failed, Failures: counts(m.failures), Messages: m.messages, Bytes: m.bytes,
			Tokens: m.tokens, Estimated: m.estimated, Full: m.full, Compared: m.compared,
		}
		if m.times != nil {
			one.Times = *m.times
		}
		out.Methods = append(out.Methods, one)
	}
	for _, kind := range slices.Sorted(maps.Keys(a.steps)) {
		s := a.steps[kind]
		out.Steps = append(out.Steps, Steps{Kind: kind, Done: s.done, Healed: s.healed, Failed: s.failed, Skipped: s.skipped, Failures: counts(s.failures)})
	}
}

func counts(rows map[string]*int64) map[string]int64 {
	if len(rows) == 0 {
		return nil
	}
	out := make(map[string]int64, len(rows))
	for name, n := range rows {
		out[name] = *n
	}
	return out
}
