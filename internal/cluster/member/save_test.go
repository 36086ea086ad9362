package member

import (
	"slices"
	"testing"
	"time"
)

// TestSavesFollowChanges checks when a session that changes at certain times is saved. It looks once every saveInterval, as save does.
func TestSavesFollowChanges(t *testing.T) {
	changing := func(from, to int) (all []int) {
		for at := from; at <= to; at++ {
			all = append(all, at)
		}
		return all
	}
	for name, c := range map[string]struct {
		changes, want []int
	}{
		"nothing happens":            {nil, []int{0, 60}},
		"one change":                 {[]int{30}, []int{0, 30}},
		"one after the first save":   {[]int{1}, []int{0, 1, 61}},
		"changes all the time":       {changing(1, 70), []int{0, 1, 3, 7, 15, 25, 35, 45, 55, 65}},
		"changes after a rest":       {append(changing(1, 4), changing(40, 45)...), []int{0, 1, 3, 7, 40, 41, 43, 47}},
		"changes just after a save":  {[]int{15, 16}, []int{0, 15, 17}},
		"changes that are far apart": {[]int{25, 50}, []int{0, 25, 50}},
	} {
		t.Run(name, func(t *testing.T) {
			var s saving
			start, next := time.Now(), 0
			var saved []int
			now := savedState{}
			for at := range 71 {
				now.at = start.Add(time.Duration(at) * saveInterval)
				for next < len(c.changes) && c.changes[next] <= at {
					now.stored++
					next++
				}
				if s.due(now) {
					saved = append(saved, at)
					s.done(now)
				}
			}
			if !slices.Equal(saved, c.want) {
				t.Errorf("saved at %v, want %v", saved, c.want)
			}
		})
	}
}
