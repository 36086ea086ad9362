package trace

import (
	"fmt"
	"slices"
)

// shrink halves the largest part of a trace. It returns false if nothing can be omitted.
func shrink(t *Trace, s sizes) bool {
	type part struct {
		bytes int
		halve func(*Tab) bool
	}
	parts := []part{{s.pictures, halvePictures}, {s.states, halveStates}, {s.diffs, halveDiffs}, {s.log, halveLog}, {s.steps, halveSteps}}
	slices.SortStableFunc(parts, func(a, b part) int { return b.bytes - a.bytes })
	for _, p := range parts {
		done := false
		for i := range t.Tabs {
			done = p.halve(&t.Tabs[i]) || done
		}
		if done {
			return true
		}
	}
	return false
}

// everySecond omits every second element for which removable returns true. It always keeps the first element.
func everySecond[T any](all []T, removable func(T) bool) []T {
	out, n := make([]T, 0, len(all)), 0
	for i, one := range all {
		if i > 0 && removable(one) {
			if n++; n%2 == 1 {
				continue
			}
		}
		out = append(out, one)
	}
	return out
}

func halvePictures(t *Tab) bool {
	had := len(t.Pictures)
	t.Pictures = everySecond(t.Pictures, func(Picture) bool { return true })
	return len(t.Pictures) < had
}

// halveStates omits states between steps first.
func halveStates(t *Tab) bool {
	had := len(t.States)
	between := slices.ContainsFunc(t.States[min(1, had):], func(s State) bool { return !s.Needed })
	t.States = everySecond(t.States, func(s State) bool { return !between || !s.Needed })
	return len(t.States) < had
}

// halveDiffs omits the older half of the remaining diffs.
func halveDiffs(t *Tab) bool {
	n := 0
	for _, s := range t.Steps {
		if s.Diff != "" {
			n++
		}
	}
	t.Steps = slices.Clone(t.Steps)
	drop := (n + 1) / 2
	for i := range t.Steps {
		if s := &t.Steps[i]; s.Diff != "" && drop > 0 {
			s.Diff, s.Gone = "", true
			drop--
		}
	}
	return n > 0
}

func halveLog(t *Tab) bool {
	n := len(t.Log)
	t.Log = t.Log[(n+1)/2:]
	return n > 0
}

// halveSteps keeps at least one step.
func halveSteps(t *Tab) bool {
	n := len(t.Steps)
	t.Steps = t.Steps[n/2:]
	return n > 1
}

// counts holds the number of entries of each part.
type counts struct{ pictures, states, diffs, log, steps int }

func count(t Trace) (c counts) {
	for _, tab := range t.Tabs {
		c.pictures += len(tab.Pictures)
		c.states += len(tab.States)
		c.log += len(tab.Log)
		c.steps += len(tab.Steps)
		for _, s := range tab.Steps {
			if s.Diff != "" {
				c.diffs++
			}
		}
	}
	return c
}

// without describes how many entries of each part were omitted between c and current.
func (c counts) without(current counts) (out []string) {
	for _, part := range []struct {
		what      string
		had, kept int
	}{
		{"pictures", c.pictures, current.pictures}, {"states of the page", c.states, current.states}, {"diffs of steps", c.diffs, current.diffs},
		{"lines of the log", c.log, current.log}, {"steps", c.steps, current.steps},
	} {
		if part.kept < part.had {
			out = append(out, fmt.Sprintf("%d of %d %s were left out to keep the file small", part.had-part.kept, part.had, part.what))
		}
	}
	return out
}
