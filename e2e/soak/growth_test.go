//go:build unix

package soak

import (
	"errors"
	"fmt"
	"time"
)

// gauge identifies a figure that must not grow.
type gauge int

// The gauges. Memory is in MB of 2^20 bytes.
const (
	daemonMemory gauge = iota
	daemonHeap
	daemonRoutines
	daemonFiles
	pageHeap
	pageElements
	rendererMemory
	browserMemory
	browserProcesses
	gauges
)

// shortest is the minimum duration of a soak whose growth is judged. A shorter soak measures only the warm-up.
const shortest = 5 * time.Minute

// rule limits the growth of a gauge while it is judged, by an amount or by a fraction of its mean, whichever is larger.
type rule struct {
	name  string
	by    float64
	share float64
}

var rules = [gauges]rule{
	daemonMemory:     {"daemon, resident memory, MB", 4, 0.05},
	daemonHeap:       {"daemon, live heap, MB", 1, 0.05},
	daemonRoutines:   {"daemon, goroutines", 2, 0},
	daemonFiles:      {"daemon, open files", 2, 0},
	pageHeap:         {"page, JavaScript heap, MB", 0.5, 0.05},
	pageElements:     {"page, elements", 200, 0},
	rendererMemory:   {"renderers, memory of their own, MB", 4, 0.05},
	browserMemory:    {"browser, memory of all its processes, MB", 8, 0.05},
	browserProcesses: {"browser, processes", 0.5, 0},
}

// verdict is the measured and the allowed growth of a gauge.
type verdict struct {
	name string
	// first and last are the ends of the fitted line. mean is the mean of the values.
	first, last, mean float64
	grew, allowed     float64
}

func (v verdict) String() string {
	return fmt.Sprintf("%-40s mean %8.2f, from %8.2f to %8.2f: %+.2f, allowed %.2f", v.name, v.mean, v.first, v.last, v.grew, v.allowed)
}

// errTooFew reports that a soak was too short, or the machine too slow, for a linear fit.
var errTooFew = errors.New("there are too few values")

// judge fits a line to the values ys at the times xs, which are in ascending order. It returns an error if the gauge was always zero,
// because then it was not measured.
func (r rule) judge(xs, ys []float64) (verdict, error) {
	v := verdict{name: r.name}
	if len(xs) < 3 {
		return v, fmt.Errorf("%s: %w, %d", r.name, errTooFew, len(xs))
	}
	slope, at := fit(xs, ys)
	begin, end := xs[0], xs[len(xs)-1]
	v.first, v.last, v.mean = at+slope*begin, at+slope*end, at+slope*mean(xs)
	v.grew, v.allowed = v.last-v.first, max(r.by, r.share*v.mean)
	if v.mean == 0 {
		return v, errors.New(r.name + ": nothing was measured")
	}
	return v, nil
}

// fit returns the least-squares line y = intercept + slope*x.
func fit(xs, ys []float64) (slope, intercept float64) {
	mx, my := mean(xs), mean(ys)
	var xy, xx float64
	for i := range xs {
		xy += (xs[i] - mx) * (ys[i] - my)
		xx += (xs[i] - mx) * (xs[i] - mx)
	}
	if xx > 0 {
		slope = xy / xx
	}
	return slope, my - slope*mx
}

func mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}
