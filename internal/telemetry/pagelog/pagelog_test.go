package pagelog

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"
)

// line is a record of one text.
type line string

func (l line) Entry() Entry { return Entry{Level: "log", Text: Text(string(l))} }

func texts(a Answer) []string {
	var out []string
	for _, e := range a.Entries {
		out = append(out, e.Text+e.URL)
	}
	return out
}

func TestReadingOnGivesEachEntryOnce(t *testing.T) {
	var l Log
	add := func(n int) {
		for i := range n {
			l.Add(Console, time.Unix(int64(i), 0), 10, line(fmt.Sprint(i)))
		}
	}
	add(3)
	first := l.Read(Query{})
	if got := texts(first); !slices.Equal(got, []string{"0", "1", "2"}) || first.Next != 3 || first.Dropped != 0 {
		t.Fatalf("got %v", first)
	}
	if again := l.Read(Query{After: first.Next}); len(again.Entries) != 0 || again.Next != 3 || again.Dropped != 0 {
		t.Fatalf("got %v", again)
	}
	add(5)
	if rest := l.Read(Query{After: first.Next, Max: 2}); !slices.Equal(texts(rest), []string{"3", "4"}) || rest.Dropped != 3 || rest.Next != 8 {
		t.Fatalf("got %v", rest)
	}
	if other := l.Read(Query{After: 1000}); len(other.Entries) != 0 || other.Dropped != 0 || other.Next != 8 {
		t.Fatalf("an After of another log: %v", other)
	}
}

// TestAFloodOfOneKindCostsNothingOfAnother fills one ring and checks the others.
func TestAFloodOfOneKindCostsNothingOfAnother(t *testing.T) {
	var l Log
	l.Add(Failure, time.Now(), 10, line("an error"))
	l.Begin("r", 1, Entry{URL: "http://a.example/"})
	for i := range 100_000 {
		l.Add(Console, time.Now(), 600, line(fmt.Sprint(i)))
	}
	if n, bytes := len(l.rings[Console].items), l.rings[Console].bytes; n > limits[Console].Count || bytes > limits[Console].Bytes {
		t.Errorf("the ring holds %d entries of %d bytes", n, bytes)
	}
	all := l.Read(Query{})
	if all.Entries[0].Kind != Failure || all.Entries[1].Kind != Network || all.Next != 100_002 {
		t.Errorf("got %v and %v, next %d", all.Entries[0], all.Entries[1], all.Next)
	}
	if got := all.Dropped + uint64(len(all.Entries)); got != 100_002 {
		t.Errorf("%d dropped and %d read of 100002", all.Dropped, len(all.Entries))
	}
	only := l.Read(Query{Kinds: []Kind{Failure}})
	if len(only.Entries) != 1 || only.Dropped != 0 {
		t.Errorf("got %v", only)
	}
}

func TestOneLargeRecordIsKept(t *testing.T) {
	var l Log
	l.Add(Console, time.Now(), 10<<20, line("large"))
	if got := texts(l.Read(Query{})); !slices.Equal(got, []string{"large"}) {
		t.Errorf("got %q", got)
	}
	l.Add(Console, time.Now(), 1, line("small"))
	if got := texts(l.Read(Query{})); !slices.Equal(got, []string{"small"}) {
		t.Errorf("got %q", got)
	}
}

// TestARequestIsReadWhenItEnds reads a request in flight. Its end is news for a reader that continues.
func TestARequestIsReadWhenItEnds(t *testing.T) {
	var l Log
	l.Begin("a", time.Second, Entry{At: time.Now(), Level: "GET", URL: "/a"})
	l.Begin("b", time.Second, Entry{At: time.Now(), Level: "GET", URL: "/b"})
	l.End("b", 3*time.Second, func(e *Entry) { e.Status = 404 })
	seen := l.Read(Query{})
	if got := texts(seen); !slices.Equal(got, []string{"/a", "/b"}) || seen.Entries[0].Took != 0 || seen.Entries[1].Took != 2*time.Second {
		t.Fatalf("got %v", seen)
	}
	l.Update("a", func(e *Entry) { e.Status = 200 })
	l.End("a", 2*time.Second, nil)
	l.End("a", 5*time.Second, nil) // the second End is ignored
	l.End("never", 5*time.Second, nil)
	news := l.Read(Query{After: seen.Next})
	if got := texts(news); !slices.Equal(got, []string{"/a"}) || news.Entries[0].Took != time.Second || news.Entries[0].Status != 200 || news.Dropped != 0 {
		t.Fatalf("got %v", news)
	}
	if all := l.Read(Query{}); !slices.Equal(texts(all), []string{"/b", "/a"}) || all.Dropped != 0 {
		t.Fatalf("got %v", all)
	}
	problems := l.Read(Query{Problems: true})
	if got := texts(problems); !slices.Equal(got, []string{"/b"}) {
		t.Fatalf("got %v", problems)
	}
}

func TestARequestThatWasPushedOutEndsQuietly(t *testing.T) {
	var l Log
	l.Begin("old", 1, Entry{URL: "/old"})
	for i := range limits[Network].Count {
		l.Begin(fmt.Sprint(i), 1, Entry{URL: "/new"})
	}
	l.End("old", 2, nil)
	if n := len(l.pending); n != limits[Network].Count {
		t.Errorf("%d requests are remembered as under way", n)
	}
	if got := l.Read(Query{}); len(got.Entries) != limits[Network].Count || got.Dropped != 1 {
		t.Errorf("%d entries, %d dropped", len(got.Entries), got.Dropped)
	}
}

func TestMissedEntriesCountAsDropped(t *testing.T) {
	var l Log
	l.Add(Console, time.Now(), 1, line("a"))
	l.CountDropped(Console, 10)
	l.Add(Console, time.Now(), 1, line("b"))
	if got := l.Read(Query{}); got.Dropped != 10 || got.Next != 12 || len(got.Entries) != 2 {
		t.Errorf("got %v", got)
	}
	if got := l.Read(Query{Kinds: []Kind{Console}, After: 11}); got.Dropped != 0 || len(got.Entries) != 1 {
		t.Errorf("got %v", got)
	}
}

// TestReadersNeverMissWithoutBeingTold lets a reader follow a random log. The entries that it reads and the number of dropped entries add
// up to all entries, and sequence numbers only increase.
func TestReadersNeverMissWithoutBeingTold(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 30 {
		var l Log
		var after, read, dropped uint64
		moved := 0
		for step := range 200 {
			for range random.IntN(60) {
				switch random.IntN(4) {
				case 0:
					l.Add(Failure, time.Now(), 10, line("e"))
				case 1:
					l.Begin(fmt.Sprint(step, random.IntN(5)), 1, Entry{URL: "/x"})
				case 2:
					before := l.last
					l.End(fmt.Sprint(step-random.IntN(2), random.IntN(5)), 2, nil)
					moved += int(l.last - before)
				default:
					l.Add(Console, time.Now(), random.IntN(4000), line("c"))
				}
			}
			if random.IntN(3) > 0 {
				continue
			}
			got := l.Read(Query{After: after, Max: random.IntN(100)})
			for _, e := range got.Entries {
				if e.Sequence <= after {
					t.Fatalf("entry %d was read after %d", e.Sequence, after)
				}
				after = e.Sequence
			}
			read, dropped, after = read+uint64(len(got.Entries)), dropped+got.Dropped, got.Next
		}
		if all := read + dropped; all > after || all+uint64(moved) < after {
			t.Fatalf("%d read and %d dropped of %d, of which %d were moved", read, dropped, after, moved)
		}
	}
}

func TestManyMayReadAndWrite(t *testing.T) {
	var l Log
	var all sync.WaitGroup
	for n := range 4 {
		all.Go(func() {
			for i := range 2000 {
				id := fmt.Sprint(n, i%7)
				l.Add(Console, time.Now(), 10, line(id))
				l.Begin(id, 1, Entry{URL: id})
				l.Update(id, func(e *Entry) { e.Status = 200 })
				l.End(id, 2, nil)
				if i%50 == 0 {
					l.Read(Query{Max: 10})
				}
			}
		})
	}
	all.Wait()
	if got := l.Read(Query{}); got.Next < 16_000 {
		t.Errorf("got %d", got.Next)
	}
}

func TestTextAndURL(t *testing.T) {
	for in, want := range map[string]string{
		"plain":                     "plain",
		"a\r\n\tb\x00\x1b[31mc\x7f": "a \n\tb  [31mc ",
		"see https://user:pass@host.example/x and ftp://me@host": "see https://***@host.example/x and ftp://***@host",
		"mail me@host.example":       "mail me@host.example",
		"\xff broken":                "\ufffd broken",
		strings.Repeat("é", MaxText): strings.Repeat("é", MaxText),
		strings.Repeat("é", 10_000):  strings.Repeat("é", MaxText) + "…",
	} {
		if got := Text(in); got != want {
			t.Errorf("%.40q: got %.60q, want %.60q", in, got, want)
		}
	}
	for in, want := range map[string]string{
		"https://a:b@c.example/?q=1":                        "https://***@c.example/?q=1",
		"data:image/png;base64," + strings.Repeat("A", 1e6): "data:image/png;base64,…",
		"DATA:text/html,<p>":                                "DATA:text/html,…",
		"https://x.example/" + strings.Repeat("a", 1000):    "https://x.example/" + strings.Repeat("a", MaxURL-18) + "…",
	} {
		if got := URL(in); got != want {
			t.Errorf("%.40q: got %.60q, want %.60q", in, got, want)
		}
	}
}

func FuzzTextIsBoundedAndHidesCredentials(f *testing.F) {
	f.Add("https://user:secret@host/")
	f.Add("a@b://c@")
	f.Fuzz(func(t *testing.T, s string) {
		for _, out := range []string{Text(s), URL(s)} {
			if !utf8.ValidString(out) || utf8.RuneCountInString(out) > MaxText+1 || strings.ContainsAny(out, "\x00\x1b\r") {
				t.Errorf("%q became %q", s, out)
			}
		}
		secret := "https://user:" + strings.Map(func(r rune) rune {
			if strings.ContainsRune("/?#@\"'<>", r) || r <= ' ' {
				return 'x'
			}
			return r
		}, s[:min(len(s), 50)]) + "@host.example/"
		if out := URL(secret); !strings.HasPrefix(out, "https://***@host.example/") && !strings.ContainsAny(s, " \t\n\v\f\r\u0085\u00a0") {
			t.Errorf("%q became %q", secret, out)
		}
	})
}
