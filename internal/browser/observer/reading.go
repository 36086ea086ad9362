package observer

import "time"

// Reading is what the reader of a page knows of one agent, which is the observer in one document.
type Reading struct {
	// Broken says that the agent sent something malformed, or that its last answer is not known: its next patch is to be a
	// full one.
	Broken bool
	// Late says that the agent did not answer in time, and has not answered since.
	Late  bool
	Probe Probe
	Acks  Acks
	// Sheets is the version of the style sheets that could not be loaded, of which the agent was told; -1: it may not know them.
	Sheets int
	// URL and Title are those of the last patch that had them.
	URL, Title string
}

// Complete gives a patch with a brief header the URL and the title of the patches before, and remembers those of other
// patches.
func (r *Reading) Complete(m *Message) {
	if m.Brief {
		m.Patch.URL, m.Patch.Title = r.URL, r.Title
		return
	}
	r.URL, r.Title = m.Patch.URL, m.Patch.Title
}

// InDoubt notes whether a read left unknown what the agent was told, and whether the agent waits.
func (r *Reading) InDoubt(doubt bool) {
	r.Broken = doubt
	if doubt {
		r.Sheets = -1
		r.Acks = Acks{Awaited: true}
	}
}

// Acks saves acknowledgements, each of which takes time of the page's main thread and as many bytes as a patch: several
// patches are acknowledged together, unless the agent waits.
type Acks struct {
	sent, owed uint64
	// Awaited says that the agent sends nothing before its last patch is acknowledged.
	Awaited bool
}

// Due reports whether to acknowledge a patch now. If not, the next acknowledgement, or the next read, will do.
func (k *Acks) Due(sequence uint64, additions bool) bool {
	if !additions && !k.Awaited && sequence-k.sent < Window/2 {
		k.owed = sequence
		return false
	}
	k.sent, k.owed, k.Awaited = sequence, 0, false
	return true
}

// Taken returns the acknowledgement that a read takes along: the given one, or one that is owed, or nil.
func (k *Acks) Taken(ack *Ack) *Ack {
	switch {
	case ack != nil:
		k.sent = ack.Sequence
	case k.owed > 0:
		k.sent, ack = k.owed, &Ack{Sequence: k.owed, Refs: []int{}}
	}
	k.owed, k.Awaited = 0, false
	return ack
}

// Probe says when an agent was probed last, and whether it is time for another probe. A document into which elements came
// that may have listeners is always probed before it is read; other probes come now and then, and take no more than a fifth
// of the time (docs/adr/0008).
type Probe struct {
	// Busy says that a probe is under way; Reading, that the agent is being read.
	Busy, Reading bool
	// Failed says that the last probe did not end: what it was to find out is not known.
	Failed bool
	// Ended is when the last probe ended, and Took is how long it took.
	Ended time.Time
	Took  time.Duration
	// Grown says that elements came since the last probe that may have listeners.
	Grown bool
	// More says that the last probe left nodes for the next one.
	More bool
	// Document is the id of the document as an object of the page's own world.
	Document string
	// Known are the elements that the agent was told to have listeners, by the browser's ids.
	Known map[int64]bool
	// Internals are those of the document's custom elements.
	Internals HeldInternals
}

// HeldInternals are the internals of custom elements, which the browser holds for the probes of an agent.
type HeldInternals struct {
	// Hosts are the elements that the agent asked about, by the browser's ids.
	Hosts []int64
	// Array is the id of an array, in the page's own world, with the internals of each of Hosts, or null.
	Array string
	// Told is what the agent was told of them.
	Told string
}

const (
	// probeEvery is how long after a probe the listeners of a document that did not grow are worth another.
	probeEvery = 2 * time.Second
	// failedSoon is how short a probe that failed was when the next read tries again at once.
	failedSoon = time.Second
)

// Due reports whether a document may be probed that has not grown, by what the last probe cost.
func (p *Probe) Due(now time.Time) bool {
	since := now.Sub(p.Ended)
	switch {
	case p.Ended.IsZero() || p.Grown:
		return true
	case p.Failed:
		return since >= p.Took || p.Took < failedSoon
	case p.More:
		return since >= 4*p.Took
	}
	return since >= max(probeEvery, 50*p.Took)
}

// BeginIfDue makes a probe busy that is due, and reports whether it did.
func (p *Probe) BeginIfDue(now time.Time) bool {
	due := !p.Busy && p.Due(now)
	p.Busy = p.Busy || due
	return due
}

// BeginUnread makes a probe busy of a document that has grown although nobody reads it, and reports whether it did. No
// probe begins while the agent is read: to the agent nothing has grown from the beginning of a probe, and the read would
// miss what that finds.
func (p *Probe) BeginUnread(now time.Time) bool {
	due := !p.Busy && !p.Reading && (p.Ended.IsZero() || now.Sub(p.Ended) >= 4*p.Took)
	p.Busy = p.Busy || due
	return due
}

// End notes how a probe ended that began at a time.
func (p *Probe) End(began, now time.Time, failed bool) {
	p.Busy, p.Grown, p.Failed, p.Ended, p.Took = false, false, failed, now, now.Sub(began)
}
