package registry

import (
	"slices"
	"testing"
	"time"
)

// step is one event of a cache.
type step func(c *cache[string]) (complete bool)

func published(key, value string, revision uint64) step {
	return func(c *cache[string]) bool { return c.apply(message(key, value, revision), true) }
}

func written(key, value string, revision uint64) step {
	return func(c *cache[string]) bool { return c.apply(message(key, value, revision), false) }
}

// message returns a stored value. An empty value is a deletion.
func message(key, value string, revision uint64) stored[string] {
	return stored[string]{Entry[string]{key, value, revision}, value != ""}
}

// read is a catch-up in which the leader returns the messages up to last.
func read(last uint64, made time.Time, later time.Duration, messages ...stored[string]) step {
	return func(c *cache[string]) bool {
		now := c.complete.Add(later)
		plan, err := c.plan(now, state{last: last, made: made})
		if err != nil {
			return false
		}
		messages := slices.DeleteFunc(slices.Clone(messages), func(s stored[string]) bool { return s.entry.Revision < plan.from })
		c.merge(messages, plan, state{last: last, made: made}, now)
		return true
	}
}

func TestCacheNeverGoesBack(t *testing.T) {
	made := time.Unix(1, 0)
	begin := read(10, made, time.Hour, message("a", "a9", 9), message("b", "b10", 10))
	for name, c := range map[string]struct {
		steps []step
		// missing lists the steps after which the cache is incomplete.
		missing []int
		want    string
	}{
		"changes in turn":                  {[]step{published("a", "a11", 11), published("b", "", 12), published("b", "b13", 13)}, nil, "a=a11 b=b13"},
		"what is known comes again":        {[]step{published("a", "a9", 9), published("b", "b10", 10)}, nil, "a=a9 b=b10"},
		"a gap is not applied":             {[]step{published("a", "a12", 12)}, []int{0}, "a=a9 b=b10"},
		"a gap is filled":                  {[]step{published("a", "a12", 12), read(12, made, 1, message("b", "b11", 11), message("a", "a12", 12)), published("a", "a13", 13)}, []int{0}, "a=a13 b=b11"},
		"own write, then others'":          {[]step{written("a", "a12", 12), published("b", "b11", 11), published("a", "a12", 12)}, nil, "a=a12 b=b11"},
		"own write of an old value":        {[]step{published("a", "a11", 11), published("a", "", 12), written("a", "a11", 11)}, nil, "b=b10"},
		"own deletion, then the old value": {[]step{written("a", "", 12), published("a", "a11", 11), published("a", "", 12)}, nil, "b=b10"},
		"own write after a deletion":       {[]step{written("a", "a12", 12), published("a", "", 11), published("a", "a12", 12)}, nil, "a=a12 b=b10"},
		"own write, then an older reading": {[]step{written("a", "a12", 12), read(11, made, 1, message("a", "", 11))}, nil, "a=a12 b=b10"},
		"a leader of the past":             {[]step{published("a", "a11", 11), read(10, made, 1, message("a", "a9", 9))}, []int{1}, "a=a11 b=b10"},
		"a leader that stays in the past": {[]step{published("a", "a11", 11), read(10, made, 1, message("a", "a9", 9), message("b", "b10", 10)), read(10, made, defaultGoBack+2, message("a", "a9", 9), message("b", "b10", 10)),
			published("b", "b11", 11)}, []int{1}, "a=a9 b=b11"},
		"a value that is lost":                       {[]step{published("a", "a11", 11), read(10, made, 1, message("b", "b10", 10)), read(10, made, defaultGoBack+2, message("b", "b10", 10))}, []int{1}, "b=b10"},
		"a leader that was behind and has caught up": {[]step{published("a", "a11", 11), read(10, made, 1), read(11, made, 2, message("a", "a9", 9), message("b", "b11", 11))}, []int{1}, "a=a9 b=b11"},
		"a revision that comes twice":                {[]step{published("a", "a11", 11), published("b", "b11", 11), read(11, made, 1, message("a", "a9", 9), message("b", "b11", 11))}, nil, "a=a9 b=b11"},
		"own write while a leader is behind":         {[]step{published("a", "a11", 11), read(10, made, 1), written("b", "b12", 12), read(10, made, defaultGoBack+2, message("a", "a9", 9), message("b", "b10", 10))}, []int{1}, "a=a9 b=b12"},
		"a deletion that was forgotten":              {[]step{read(12, made, time.Hour, message("a", "a9", 9))}, nil, "a=a9"},
		"own write and a long absence":               {[]step{written("b", "b13", 13), read(12, made, time.Hour, message("a", "a9", 9))}, nil, "a=a9 b=b13"},
		"own write that was deleted since":           {[]step{written("b", "b13", 13), read(15, made, time.Hour, message("a", "a9", 9))}, nil, "a=a9"},
		"a bucket that was made again":               {[]step{written("b", "b13", 13), read(3, made.Add(1), 1, message("a", "a3", 3)), published("b", "b4", 4)}, nil, "a=a3 b=b4"},
	} {
		t.Run(name, func(t *testing.T) {
			last := map[string]uint64{}
			cached := newCache(false, defaultGoBack, func(c Change[string]) {
				if c.New != nil && c.Old != nil && c.New.Revision <= c.Old.Revision && c.New.Revision > 3 && !c.Lost {
					t.Errorf("%s went from revision %d to %d", c.Key, c.Old.Revision, c.New.Revision)
				}
				last[c.Key]++
			})
			begin(&cached)
			var missing []int
			for i, do := range c.steps {
				if !do(&cached) {
					missing = append(missing, i)
				}
			}
			if !slices.Equal(missing, c.missing) {
				t.Errorf("something is missing after %v, want %v", missing, c.missing)
			}
			var got string
			for _, e := range cached.all() {
				if got != "" {
					got += " "
				}
				got += e.Key + "=" + e.Value
			}
			if got != c.want {
				t.Errorf("it has %q, want %q", got, c.want)
			}
			if len(cached.ahead) > 0 && cached.applied >= 13 {
				t.Errorf("it still remembers %v", cached.ahead)
			}
		})
	}
}

func TestDecodeKeyRefusesWhatEncodeKeyDoesNotMake(t *testing.T) {
	for _, text := range []string{"=", "=2", "=2e", "=41", "a.b", "ü"} {
		if key, ok := decodeKey(text); ok {
			t.Errorf("%q is the key %q", text, key)
		}
	}
}
