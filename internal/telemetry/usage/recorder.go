// Package usage counts how clients use the daemon: calls, failures and their reasons, durations of calls, tokens and bytes, the cost of
// reading whole pages instead, cache hits, and outcomes of action steps. It keeps counts for the daemon, for each client, for each session
// and for each tab.
//
// What the package guarantees:
//
//   - Every entry counts for the daemon, and also for the session and the tab while they are open. The usage of a closed tab stays in the
//     account of its session, and the usage of a closed session stays in the daemon's account.
//   - The calls of a client also count in the client's own account while the daemon runs.
//   - Memory is bounded. Only open sessions and tabs have accounts, at most MaxAccounts of each, and an account has a limited number of
//     rows. Individual measurements are not stored.
//   - Adding an entry takes well under a microsecond, and blocks only for other entries.
//
// The package starts no goroutine. Its methods are safe for concurrent use.
package usage

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"time"
)

const (
	// MaxAccounts limits the number of sessions with their own accounts, and the number of tabs.
	MaxAccounts = 1000
	// maxRows limits the rows of one kind in an account. There are few methods, kinds of steps, and reasons.
	maxRows = 100
	// Other is the name of the row for everything beyond maxRows.
	Other = "OTHER"
)

// Place identifies the accounts that an entry belongs to. A field is empty if it is unknown or does not apply.
type Place struct {
	// Owner is the calling client.
	Owner        string
	Session, Tab string
}

// Open reports which sessions and tabs are open. Its methods are called with the recorder's lock held.
type Open interface {
	HasSession(id string) bool
	HasTab(id string) bool
	// Owner returns the client that owns an open session.
	Owner(session string) string
}

// Entry is the contribution of a call, or of a part of it, to the counts of a method.
type Entry struct {
	// Calls counts started calls. Failure, if not empty, is the reason why a call failed.
	Calls   int64
	Failure string
	// Messages counts the sent messages. Bytes is their size on the wire before compression.
	Messages, Bytes int64
	// Tokens is an exact count; Estimated is an estimate.
	Tokens, Estimated int64
	// Full is the cost in tokens of whole pages. Compared is the cost of the answers that were sent instead.
	Full, Compared int64
	// Took is the duration of the call. It counts if Timed is set.
	Took  time.Duration
	Timed bool
	// Reads counts how pages were read. Steps holds the outcomes of the steps of actions.
	Reads Reads
	Steps []Step
}

// Reads counts how pages were read and how caches were used.
type Reads struct {
	// Pages counts answers with the elements of a page. HeadHits counts those for which the page was unchanged since the previous read.
	// ViewHits counts those whose view an earlier answer already contained.
	Pages, HeadHits, ViewHits int64
	// Texts counts answers with a page as text. TextHits counts those that used a cached text.
	Texts, TextHits int64
	// Incremental counts answers with only the changes. Resyncs counts requests for changes that had to return the whole page.
	Incremental, Resyncs int64
	// Landmarks counts landmarks that were folded to one line because the caller received them with the previous page. Elements counts the
	// elements in them.
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

// Step is the outcome of one step of an action. It is Done, or Failed with a reason. A skipped step is neither.
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

// New returns an empty recorder.
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

// row finds or creates a row. If there are too many rows, it returns the row Other.
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

// count increments a row. There are at most maxRows rows and Other.
func count(rows *map[string]int64, name string) {
	if *rows == nil {
		*rows = map[string]int64{}
	}
	if _, known := (*rows)[name]; !known && len(*rows) >= maxRows {
		name = Other
	}
	(*rows)[name]++
}

// Series adds the entries of one method in one place. It is a value, and stays valid after the place is closed.
type Series struct {
	recorder *Recorder
	accounts [4]*account
	methods  [4]*Method
}

// Series returns the series of a method.
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

// owner finds or creates the account of an owner. The caller holds mu.
func (b *Recorder) owner(name string) *account {
	if a := b.owners[name]; a != nil || name == "" {
		return a
	}
	return created(b.owners, name, Place{Owner: name})
}

// session finds or creates the account of an open session. The caller holds mu.
func (b *Recorder) session(p Place) *account {
	id := p.Session
	if a := b.sessions[id]; a != nil || id == "" || !b.open.HasSession(id) {
		return a
	}
	sweep(b.sessions, b.open.HasSession)
	return created(b.sessions, id, Place{Session: id})
}

// tab finds or creates the account of an open tab. The caller holds mu.
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

// sweep removes the accounts of closed sessions or tabs.
func sweep(all map[string]*account, open func(string) bool) {
	maps.DeleteFunc(all, func(id string, _ *account) bool { return !open(id) })
}

// CloseSession removes the account of a session, so that a later session of the same name starts at zero.
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
	// Total is the account of the requested place.
	Total Account
	// Sessions and Tabs are the accounts of the place's open sessions and tabs that were used, by name.
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

// Method holds the counts of one method.
type Method struct {
	Name string
	// Calls counts started calls. Failed counts those that ended in an error, and Failures counts them by reason.
	Calls, Failed int64
	Failures      map[string]int64
	// Messages and the following fields are the sums of the entries.
	Messages, Bytes, Tokens, Estimated, Full, Compared int64
	Times                                              Durations
}

// Steps holds the counts of one kind of step.
type Steps struct {
	Kind string
	// Healed counts the steps in Done that were healed. Skipped counts steps that were not tried.
	Done, Healed, Failed, Skipped int64
	Failures                      map[string]int64
}

// Report copies the account of a place and the accounts in it. The zero Place selects the daemon's account. A Place with only an owner
// selects the owner's calls and the accounts of its sessions and tabs. All counts are from the same moment.
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

// Total copies only the daemon's account.
func (b *Recorder) Total() Account {
	b.mu.Lock()
	defer b.mu.Unlock()
	var a Account
	a.fill(b.total)
	return a
}

// list copies accounts in natural order of their names, so that t10 follows t9.
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

// fill copies an account. A nil account has no entries.
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
