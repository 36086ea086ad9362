package observer

import "time"

// Reading is the state that the reader of a page keeps of an agent. An agent is the observer in one document.
type Reading struct {
	// Broken reports that the agent sent a malformed message, or that its last response is unknown. Its next patch must be full.
	Broken bool
	// Late reports that the agent did not respond in time, and has not responded since.
	Late  bool
	Probe Probe
	Acks  Acks
	// Sheets is the version of the list of failed style sheets that the agent has. It is -1 if the agent may not have the list.
	Sheets int
	// URL and Title are from the last patch that included them.
	URL, Title string
}

// Complete adds the URL and title of the last full header to a patch with a brief header. It stores the URL and title of any other patch.
func (r *Reading) Complete(m *Message) {
	if m.Brief {
		m.Patch.URL, m.Patch.Title = r.URL, r.Title
		return
	}
	r.URL, r.Title = m.Patch.URL, m.Patch.Title
}

// InDoubt records, after a read, whether it is unknown what the agent received and whether the agent waits.
func (r *Reading) InDoubt(doubt bool) {
	r.Broken = doubt
	if doubt {
		r.Sheets = -1
		r.Acks = Acks{Awaited: true}
	}
}

// Acks acknowledges several patches together, unless the agent waits. Each acknowledgement takes time on the page's main thread and as many
// bytes as a patch.
type Acks struct {
	sent, owed uint64
	// Awaited reports that the agent sends nothing until its last patch is acknowledged.
	Awaited bool
}

// Due reports whether to acknowledge a patch now. If not, the next acknowledgement or read covers it.
func (k *Acks) Due(sequence uint64, additions bool) bool {
	if !additions && !k.Awaited && sequence-k.sent < Window/2 {
		k.owed = sequence
		return false
	}
	k.sent, k.owed, k.Awaited = sequence, 0, false
	return true
}

// Taken returns the acknowledgement to send with a read: the given one, a deferred one, or nil.
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

// Probe records the last probe of an agent and schedules the next one. If elements were added that may have listeners, the document is
// probed before each read. Other probes are occasional and take at most a fifth of the time (docs/adr/0008).
type Probe struct {
	// Busy reports that a probe is in progress, and Reading that a read of the agent is.
	Busy, Reading bool
	// Failed reports that the last probe did not complete, so its results are unknown.
	Failed bool
	// Ended is the end of the last probe, and Took its duration.
	Ended time.Time
	Took  time.Duration
	// Grown reports that elements that may have listeners were added since the last probe.
	Grown bool
	// More reports that the last probe left nodes for the next one.
	More bool
	// Document is the ID of the document as an object of the page's main world.
	Document string
	// Known contains the browser's IDs of the elements that were reported to the agent as having listeners.
	Known map[int64]bool
	// Internals holds the ElementInternals of the document's custom elements.
	Internals HeldInternals
}

// HeldInternals identifies the ElementInternals of custom elements that the browser keeps for the probes of an agent.
type HeldInternals struct {
	// Hosts contains the browser's IDs of the elements that the agent asked about.
	Hosts []int64
	// Array is the ID of an array in the page's main world. It contains the internals of each of Hosts, or null.
	Array string
	// Reported is the last report to the agent about them.
	Reported string
}

const (
	// probeEvery is the minimum time between two probes of a document that has not grown.
	probeEvery = 2 * time.Second
	// quickFailure limits the duration of a failed probe that the next read repeats immediately.
	quickFailure = time.Second
)

// Due reports whether a document may be probed, given the duration of the last probe.
func (p *Probe) Due(now time.Time) bool {
	since := now.Sub(p.Ended)
	switch {
	case p.Ended.IsZero() || p.Grown:
		return true
	case p.Failed:
		return since >= p.Took || p.Took < quickFailure
	case p.More:
		return since >= 4*p.Took
	}
	return since >= max(probeEvery, 50*p.Took)
}

// BeginIfDue starts a probe if it is due, and reports whether it did.
func (p *Probe) BeginIfDue(now time.Time) bool {
	due := !p.Busy && p.Due(now)
	p.Busy = p.Busy || due
	return due
}

// BeginUnread starts a probe of a document that has grown but has no reader, and reports whether it did. It starts no probe during a read:
// the start of a probe clears the agent's record of growth, and the read would miss the results of the probe.
func (p *Probe) BeginUnread(now time.Time) bool {
	due := !p.Busy && !p.Reading && (p.Ended.IsZero() || now.Sub(p.Ended) >= 4*p.Took)
	p.Busy = p.Busy || due
	return due
}

// End records the end of a probe that started at began.
func (p *Probe) End(began, now time.Time, failed bool) {
	p.Busy, p.Grown, p.Failed, p.Ended, p.Took = false, false, failed, now, now.Sub(began)
}
