package replay

import (
	"fmt"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/recording/trace"
	"github.com/domtap/domtap/internal/timeline"
)

// stepOf converts a timeline entry to a step. Its times are relative to start.
func stepOf(e *domtapv1.TimelineEntry, start time.Time) trace.Step {
	at, took := millis(e.GetTime(), start), e.GetDuration().AsDuration().Milliseconds()
	s := trace.Step{
		ID: e.GetId(), At: at, End: at + took, Took: took, Kind: small(timeline.KindOf(e).String(), "TIMELINE_KIND_"), Client: e.GetClient(),
		Action: e.GetMethod(), Call: e.GetMethod() != "", Text: timeline.Text(e), Tokens: e.GetTokens(), Estimated: e.GetTokensEstimated(),
	}
	if e.GetState() == domtapv1.TimelineState_TIMELINE_STATE_FAILED {
		s.Failed = strings.TrimPrefix(e.GetReason()+": "+e.GetError(), ": ")
	}
	switch {
	case e.GetTurn() != nil:
		addTurn(&s, e.GetTurn())
	case e.GetMethod() == "":
		s.Action, s.Target = s.Kind, strings.TrimPrefix(s.Text, fmt.Sprintf("#%d ", e.GetId()))
	}
	return s
}

// addTurn adds the results of a turn. The targets of several steps are separated by semicolons.
func addTurn(s *trace.Step, turn *domtapv1.TimelineTurn) {
	if turn.GetVerdict() != domtapv1.Verdict_VERDICT_UNSPECIFIED {
		s.Verdict = small(turn.GetVerdict().String(), "VERDICT_")
	}
	for _, o := range turn.GetOutcome() {
		s.Outcome = join(s.Outcome, small(o.GetKind().String(), "OUTCOME_KIND_")+": "+o.GetText())
	}
	s.Target = turn.GetUrl()
	var actions string
	for _, step := range turn.GetSteps() {
		actions = join(actions, step.GetKind())
		s.Target = join(s.Target, targetOf(step))
		if step.GetError() != "" && s.Failed == "" {
			s.Failed = strings.TrimPrefix(step.GetReason()+": "+step.GetError(), ": ")
		}
		if m := markOf(step); m.Point != nil || m.Box != nil {
			s.Marks = append(s.Marks, m)
		}
	}
	if actions != "" {
		s.Action = actions
	}
}

// targetOf returns the element that a step acted on, or else the target as the caller named it.
func targetOf(step *domtapv1.TimelineStep) string {
	switch {
	case step.GetRole() != "" || step.GetName() != "":
		return strings.TrimSpace(fmt.Sprintf("%s %q", step.GetRole(), step.GetName()))
	case step.GetTarget() != nil:
		return timeline.Target(step.GetTarget())
	}
	return step.GetKey()
}

func markOf(step *domtapv1.TimelineStep) (m trace.Mark) {
	if p := step.GetPoint(); p != nil {
		m.Point = []float64{p.GetX(), p.GetY()}
	}
	if b := step.GetBox(); b != nil {
		m.Box = []float64{b.GetX(), b.GetY(), b.GetWidth(), b.GetHeight()}
	}
	return m
}

// logOf converts a log to lines, with each request once.
func logOf(logs []*domtapv1.LogEntry, start time.Time) []trace.Line {
	out := []trace.Line{}
	for _, e := range latest(logs) {
		l := trace.Line{At: millis(e.GetAt(), start), Kind: small(e.GetKind().String(), "LOG_KIND_"), Level: e.GetLevel(), Text: e.GetText(), URL: e.GetUrl()}
		switch e.GetKind() {
		case domtapv1.LogKind_LOG_KIND_NETWORK:
			l.Kind, l.Status, l.Type, l.Failure, l.Took, l.Bytes = "request", e.GetHttpStatus(), e.GetResourceType(), e.GetFailure(), int64(e.GetDurationMs()), e.GetBytes()
			l.Problem = l.Failure != "" || l.Status >= 400
		case domtapv1.LogKind_LOG_KIND_ERROR:
			l.Problem = true
		default:
			l.Problem = l.Level == "warning" || l.Level == "error"
		}
		out = append(out, l)
	}
	return out
}

// clientsOf sums up the cost of each client, in the order of the clients' first calls.
func clientsOf(entries []*domtapv1.TimelineEntry) []trace.Client {
	out, known := []trace.Client{}, map[string]int{}
	for _, e := range entries {
		if e.GetMethod() == "" {
			continue
		}
		i, ok := known[e.GetClient()]
		if !ok {
			i = len(out)
			known[e.GetClient()], out = i, append(out, trace.Client{Name: e.GetClient()})
		}
		c := &out[i]
		c.Calls += uint64(max(1, e.GetCount()))
		c.Tokens += e.GetTokens()
		c.Estimated = c.Estimated || e.GetTokensEstimated()
		if e.GetState() == domtapv1.TimelineState_TIMELINE_STATE_FAILED {
			c.Failed++
		}
	}
	return out
}

// millis returns a time in milliseconds since start.
func millis(t *timestamppb.Timestamp, start time.Time) int64 {
	return t.AsTime().Sub(start).Milliseconds()
}

// small returns the name of an enum value in lower case, without its prefix.
func small(name, prefix string) string {
	return strings.ReplaceAll(strings.ToLower(strings.TrimPrefix(name, prefix)), "_", " ")
}

// join joins two texts with a semicolon, unless one is empty.
func join(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "; " + b
}
