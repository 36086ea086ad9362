package documents

import (
	"context"
	"slices"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/runtime"

	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/dom"
	"github.com/domtap/domtap/internal/browser/devtools"
	"github.com/domtap/domtap/internal/browser/frames"
	"github.com/domtap/domtap/internal/browser/observer"
)

// Reader reads the changes in the documents of a page.
type Reader struct {
	documents
	prober prober
	// subscription selects what documents push and report on their own. The monitor guards it.
	subscription driver.Subscription
	// collecting is set while a call collects notices. The monitor guards it.
	collecting bool
	// ended is set when CollectNotices has told all documents that the call ends. The monitor guards it.
	ended  bool
	sheets sheets
}

// sheets provides the URLs of a document's style sheets that failed to load, and a version that increases when they change. Version 0 means
// that nothing is known.
type sheets interface {
	FailedSheets(document string) (urls []string, version int)
}

// NewReader returns the Reader of a page whose documents run the script.
func NewReader(m *frames.Manager, script string, s sheets) *Reader {
	return &Reader{documents: documents{m, script}, prober: prober{m}, sheets: s}
}

// Read reads all documents; see driver.Observer.
func (r *Reader) Read(ctx context.Context, req driver.ReadRequest) (out driver.ReadResult, err error) {
	err = r.withAgents(ctx, func() (err error) {
		out, err = r.readAll(ctx, req)
		return err
	})
	return out, err
}

// Prepare lets documents examine themselves before they are read; see driver.Observer. It probes each document, which then scans itself. If
// a read arrives during the probe, that read waits for the probe and scans instead. The page's loop calls Prepare.
func (r *Reader) Prepare() {
	r.m.Tasks.Go(func() {
		agents := r.m.Readable()
		r.prober.forEach(r.m.Life, agents, func(ctx context.Context, a *frames.Agent) {
			r.m.Lock()
			due := a.Reading.Probe.Ended.IsZero() && a.Reading.Probe.BeginIfDue(time.Now())
			r.m.Unlock()
			if due {
				r.prober.run(ctx, a)
				r.m.Lock()
				read := a.Reading.Probe.Reading
				r.m.Unlock()
				if !read {
					a.Post(r.m.Life, "prepare", observer.PrepareRequest{Contexts: observer.ContextsOf(len(agents)), FailedSheets: r.failedSheets(a)})
				}
			}
		})
	})
}

// failedSheets returns the style sheets of an agent's document that failed to load. It returns nil if the agent already knows them.
func (r *Reader) failedSheets(a *frames.Agent) []string {
	urls, version := r.sheets.FailedSheets(a.Document)
	r.m.Lock()
	defer r.m.Unlock()
	if a.Reading.Sheets == version {
		return nil
	}
	a.Reading.Sheets = version
	return urls
}

// Acknowledge sends a document the refs of a patch; see driver.Observer.
func (r *Reader) Acknowledge(ack driver.Ack) {
	a := r.m.AgentOf(ack.Frame)
	if a == nil || a.Document != ack.Document {
		return
	}
	r.m.Lock()
	due := a.Reading.Acks.Due(ack.Sequence, len(ack.Refs) > 0)
	r.m.Unlock()
	if due {
		digits := (&observer.Ack{Sequence: ack.Sequence, Refs: runs(ack.Refs)}).Digits()
		a.Session.Post(r.m.Life, runtime.CommandCallFunctionOn, a.ParamsWith("ack", nil, digits))
	}
}

// Pushed handles a message that an agent sent on its own. It runs on the page's loop.
func (r *Reader) Pushed(s devtools.Session, e runtime.EventBindingCalled) {
	if e.Name != observer.Binding {
		return
	}
	r.m.Lock()
	a, id := r.m.Tree.AgentAt(func(a *frames.Agent) bool { return a.Session.ID == s.ID && a.ID == e.ExecutionContextID })
	r.m.Unlock()
	if a == nil {
		return // the document is gone
	}
	m, err := observer.Decode(e.Payload)
	switch {
	case err != nil:
		r.m.Logger.Warn("a document sent a malformed patch and is read again", "error", err)
		r.m.Lock()
		a.Reading.Broken = true
		r.m.Unlock()
	case m.Unprobed:
		r.prober.onRequest(a)
	case m.HasNotices:
		r.m.Emit(driver.NoticesReported{Frame: r.m.Tree.Key(id), Document: a.Document, Notices: m.Notices})
	case m.Selected != nil:
		r.m.Emit(driver.SelectorsMatched{Frame: r.m.Tree.Key(id), Document: a.Document, Found: m.Selected})
	default:
		r.m.Emit(driver.Patched{Patch: r.patch(id, a, &m)})
	}
}

// patch adds the frame and document to the patch of a message, and the header fields that the message left out.
func (r *Reader) patch(id cdp.FrameID, a *frames.Agent, m *observer.Message) dom.Patch {
	m.Patch.Frame, m.Patch.Document = r.m.Tree.Key(id), a.Document
	r.m.Lock()
	a.Reading.Complete(m)
	r.m.Unlock()
	return m.Patch
}

// reading is a frame that is being read.
type reading struct {
	frames.Readable
	// lost means that the agent's response was malformed or late, so its patch may be missing.
	lost bool
	// structural means that the agent's response covered all of its document, with structure for contexts.
	structural bool
	// unprobed means that the agent must be probed before it is read. probes counts its probes during this read.
	unprobed bool
	probes   int
	// isFirst means that the document was never read. Callers expect the first read to list all elements that people can use.
	isFirst bool
}

// isProbed reports whether the agent may answer without another probe although its document has grown. The last probe took the time took.
func (o *reading) isProbed(took time.Duration) bool {
	if o.isFirst {
		return o.probes == firstProbeRounds || o.probes > 0 && took > firstReprobeLimit
	}
	return o.probes == probeRounds || o.probes > 0 && took > reprobeLimit
}

const (
	// probeRounds limits how often one read probes a document that keeps growing, and firstProbeRounds how often the first read does.
	probeRounds, firstProbeRounds = 2, 4
	// reprobeLimit is the longest first probe after which the same read may probe again. firstReprobeLimit is the same limit for the first read of a
	// document.
	reprobeLimit, firstReprobeLimit = 50 * time.Millisecond, 500 * time.Millisecond
)

// round holds the parameters of one round of a read.
type round struct {
	driver.ReadRequest
	// structure decides when documents add structure for contexts.
	structure observer.Contexts
	// probe probes agents before they are read.
	probe func(context.Context, []frames.Readable)
}

// readAll reads all agents. It probes agents that request it and reads them again.
func (r *Reader) readAll(ctx context.Context, req driver.ReadRequest) (out driver.ReadResult, err error) {
	agents, late := r.readable()
	out.Late = late
	list := r.begin(agents)
	defer func() { r.markBroken(list, err != nil) }()
	r.setReading(agents, true)
	defer r.setReading(agents, false)
	rd := round{ReadRequest: req, probe: r.prober.probeDue}
	if req.Contexts {
		rd.structure = observer.ContextsOf(len(agents))
	}
	for unread := slices.Clone(list); len(unread) > 0; unread = unprobed(unread) {
		if err := r.readOnce(ctx, unread, rd, &out); err != nil {
			return driver.ReadResult{}, err
		}
		for _, o := range unread {
			i := slices.IndexFunc(list, func(one reading) bool { return one.ID == o.ID })
			list[i].lost, list[i].structural = o.lost, o.structural
		}
		rd.probe = r.prober.probeAll
	}
	out.Structural = !slices.ContainsFunc(list, func(o reading) bool { return !o.structural })
	slices.SortStableFunc(out.Patches, func(a, b dom.Patch) int { return min(1, len(a.Frame)) - min(1, len(b.Frame)) })
	if err := r.m.Barrier(ctx); err != nil {
		return driver.ReadResult{}, err // the patches stay unacknowledged, so the next read starts again
	}
	return out, nil
}

// begin returns the state of a read of some agents.
func (r *Reader) begin(agents []frames.Readable) []reading {
	r.m.Lock()
	defer r.m.Unlock()
	list := make([]reading, len(agents))
	for i, o := range agents {
		list[i].Readable, list[i].isFirst = o, o.Agent.Reading.URL == ""
	}
	return list
}

// readable returns the frames that have an agent, and the late frames.
func (r *Reader) readable() ([]frames.Readable, []dom.FrameID) {
	r.m.Lock()
	defer r.m.Unlock()
	return r.m.Tree.Readable(), r.m.Tree.Late()
}

// unprobed returns the agents that must be probed before they are read again.
func unprobed(list []reading) []reading {
	var out []reading
	for _, o := range list {
		if o.unprobed && !o.isProbed(0) {
			o.unprobed = false
			o.probes++
			out = append(out, o)
		}
	}
	return out
}

// setReading records whether agents are being read.
func (r *Reader) setReading(list []frames.Readable, on bool) {
	r.m.Lock()
	defer r.m.Unlock()
	for _, o := range list {
		o.Agent.Reading.Probe.Reading = on
	}
}

// readOnce probes and reads agents concurrently, with one command per frame. The main frame comes first and may use the caller's time.
// Frames in other processes get little more time.
func (r *Reader) readOnce(ctx context.Context, list []reading, rd round, out *driver.ReadResult) error {
	calls := r.ask(ctx, list, rd)
	defer calls.finish()
	patience := newWaitBudget(ctx)
	defer patience.end()
	for i := range list {
		k, err := calls.of(i)
		if err != nil {
			return err
		}
		o := &list[i]
		if k == nil {
			r.markUnresponsive(out, o)
			continue
		}
		// A frame in the main process responds when the main frame does.
		waits, other := ctx, !r.m.IsMain(o.Agent.Session)
		if other {
			calls.wait() // a probe of another frame must not reduce this frame's time
			waits = patience.begin()
		}
		err = r.readOne(waits, k, o, out)
		patience.renew()
		switch {
		case err == nil:
		case o.ID == cdp.FrameID(r.m.ID) || ctx.Err() != nil:
			return err
		case other && waits.Err() != nil:
			r.markUnresponsive(out, o)
			r.awaitAnswer(o.Agent)
		}
	}
	return nil
}

// waitBudget bounds how long a read waits for frames in other processes: FrameGrace for each in turn, and framesLimit for all together.
type waitBudget struct {
	ctx   context.Context
	end   context.CancelFunc
	grace *time.Timer
	begun time.Time
}

func newWaitBudget(ctx context.Context) *waitBudget {
	ctx, cancel := context.WithCancel(ctx)
	p := &waitBudget{ctx: ctx}
	p.end = func() {
		cancel()
		if p.grace != nil {
			p.grace.Stop()
		}
	}
	return p
}

// begin returns the context for a call to another process. The first call starts the timer.
func (p *waitBudget) begin() context.Context {
	if p.grace == nil {
		p.begun, p.grace = time.Now(), time.AfterFunc(FrameGrace, p.end)
	}
	return p.ctx
}

// renew restarts FrameGrace for the next frame, because slow frames respond one after another.
func (p *waitBudget) renew() {
	if p.grace != nil && time.Since(p.begun) < framesLimit {
		p.grace.Reset(FrameGrace)
	}
}

// markUnresponsive records in a readout that a frame does not respond.
func (r *Reader) markUnresponsive(out *driver.ReadResult, o *reading) {
	o.lost = true
	if key := r.m.Tree.Key(o.ID); !slices.Contains(out.Late, key) {
		out.Late = append(out.Late, key)
	}
}

// request returns the read command for one agent.
func (r *Reader) request(o reading, rd round) frames.CallParams {
	var acked *observer.Ack
	read := observer.ReadRequest{Structural: rd.Structural, Contexts: rd.structure, Attributes: rd.Attributes, Geometry: rd.Geometry,
		FailedSheets: r.failedSheets(o.Agent)}
	if read.Attributes == nil {
		read.Attributes = []string{}
	}
	key := r.m.Tree.Key(o.ID)
	for _, ack := range rd.Acks {
		if ack.Frame == key && ack.Document == o.Agent.Document {
			acked = &observer.Ack{Sequence: ack.Sequence, Refs: runs(ack.Refs)}
		}
	}
	r.m.Lock()
	known := &o.Agent.Reading
	read.Probed = o.isProbed(known.Probe.Took)
	acked = known.Acks.Taken(acked)
	read.Full = known.Broken || slices.Contains(rd.Restart, key)
	r.m.Unlock()
	return o.Agent.ParamsWith("read", read, append(observer.Mark(rd.Mark), acked.Digits()...))
}

// markBroken marks the agents whose patches may be lost. Their next patch must be a full one.
func (r *Reader) markBroken(list []reading, failed bool) {
	r.m.Lock()
	defer r.m.Unlock()
	for _, o := range list {
		o.Agent.Reading.InDoubt(failed || o.lost)
	}
}

// readOne waits for the response of one agent.
func (r *Reader) readOne(ctx context.Context, k *devtools.Call, o *reading, out *driver.ReadResult) error {
	text, err := k.Text(ctx)
	if err != nil {
		return err
	}
	m, err := observer.Decode(text)
	if err != nil {
		o.lost = true
		return err
	}
	switch {
	case m.Unprobed:
		o.unprobed = true
	case m.Unacknowledged:
		r.awaitAck(o.Agent)
		out.Unacknowledged = append(out.Unacknowledged, r.m.Tree.Key(o.ID))
	case !m.Empty:
		r.awaitAck(o.Agent)
		o.structural = m.Patch.Contexts
		out.Patches = append(out.Patches, r.patch(o.ID, o.Agent, &m))
	}
	return nil
}

// awaitAck records that an agent sends nothing until its last patch is acknowledged.
func (r *Reader) awaitAck(a *frames.Agent) {
	r.m.Lock()
	defer r.m.Unlock()
	a.Reading.Acks.Awaited = true
}

// runs encodes refs as pairs of first ref and length.
func runs(refs []dom.Ref) []int {
	out := []int{}
	for i := 0; i < len(refs); {
		j := i + 1
		for j < len(refs) && refs[j] == refs[j-1]+1 {
			j++
		}
		out = append(out, int(refs[i]), j-i)
		i = j
	}
	return out
}
