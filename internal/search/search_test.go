package search

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/domtap/domtap/internal/tokens"
)

// stub is a provider that returns the requested number of results.
type stub struct {
	name  string
	kinds []Kind
	asked []Query
	do    func(context.Context) error
}

func (s *stub) Name() string  { return s.name }
func (s *stub) Kinds() []Kind { return s.kinds }

func (s *stub) Search(ctx context.Context, q Query) ([]Result, error) {
	s.asked = append(s.asked, q)
	if s.do != nil {
		if err := s.do(ctx); err != nil {
			return nil, err
		}
	}
	return numbered(q.Count), nil
}

func numbered(n int) []Result {
	all := make([]Result, n)
	for i := range all {
		all[i] = Result{Title: fmt.Sprintf("Title %d", i), URL: fmt.Sprintf("https://a.example/%d", i), Host: "a.example", Day: "2026-11-23", Text: strings.Repeat("some words ", 40)}
	}
	return all
}

// wantKind fails unless err is an *Error of the given kind whose text contains says.
func wantKind(t *testing.T, err error, kind ErrorKind, says string) {
	t.Helper()
	failed, ok := errors.AsType[*Error](err)
	if !ok || failed.Kind != kind || !strings.Contains(err.Error(), says) {
		t.Errorf("got %v, want kind %d and %q", err, kind, says)
	}
}

func TestTheProviderIsTheNamedOneOrTheFirstThatHasTheKind(t *testing.T) {
	a, b := &stub{name: "a", kinds: []Kind{Web, News}}, &stub{name: "b", kinds: []Kind{Web, Images}}
	s := New(a, b)
	for _, c := range []struct {
		name string
		kind Kind
		want string
	}{{"", Web, "a"}, {"", Images, "b"}, {"b", Web, "b"}, {"a", News, "a"}} {
		if got, err := s.Search(t.Context(), Request{Query: "x", Kind: c.kind, Limit: 5, Provider: c.name}); err != nil || got.Provider != c.want || got.Kind != c.kind || len(got.Results) != 5 {
			t.Errorf("%+v: %+v, %v", c, got, err)
		}
	}
	for _, c := range []struct {
		name string
		kind Kind
		want ErrorKind
		says string
	}{
		{"", Shopping, NoSuchKind, "it has a, b, which search for web, news, images"}, {"a", Images, NoSuchKind, "a: it does not search for images, but for web, news"},
		{"c\n", Web, NoSuchProvider, `no search provider "c", but a, b`},
	} {
		_, err := s.Search(t.Context(), Request{Query: "x", Kind: c.kind, Limit: 5, Provider: c.name})
		wantKind(t, err, c.want, c.says)
	}
	if got := s.Kinds(); !slices.Equal(got, []Kind{Web, News, Images}) {
		t.Errorf("the kinds are %v", got)
	}
}

func TestWithoutAProvider(t *testing.T) {
	s := New()
	_, err := s.Search(t.Context(), Request{Query: "x", Kind: Web, Limit: 10})
	wantKind(t, err, Off, "--search-provider")
	if s != nil || s.Providers() != nil || s.Kinds() != nil {
		t.Errorf("there is a searcher: %v", s)
	}
}

func TestAnswersAreKeptForAsLongAsTheCallerAllows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &stub{name: "a", kinds: []Kind{Web, News}}
		s := New(p)
		asked := 0
		find := func(r Request, fresh bool, age time.Duration) {
			t.Helper()
			got, err := s.Search(t.Context(), r)
			if fresh {
				asked++
			}
			if err != nil || len(got.Results) != r.Limit || got.Age != age || len(p.asked) != asked {
				t.Errorf("%+v: %d results, %v old, asked %d times, %v; want %v and %d times", r, len(got.Results), got.Age, len(p.asked), err, age, asked)
			}
		}
		query := Request{Query: "two words", Kind: Web, Limit: 10, MaxAge: time.Minute}
		find(query, true, 0)
		time.Sleep(time.Minute)
		find(query, false, time.Minute)
		for _, change := range []func(*Request){
			func(r *Request) { r.Limit = 3 }, func(r *Request) { r.Query = "  two\twords " }, func(r *Request) { r.Provider = "a" },
		} {
			same := query
			change(&same)
			find(same, false, time.Minute)
		}
		for _, change := range []func(*Request){
			func(r *Request) { r.MaxAge = 0 }, func(r *Request) { r.MaxAge = time.Second }, // the second answer has the age of the first
			func(r *Request) { r.Kind = News }, func(r *Request) { r.Owner = "alice" }, func(r *Request) { r.Query = "words two" }, func(r *Request) { r.Limit = 11 },
		} {
			other := query
			change(&other)
			find(other, other.MaxAge != time.Second, 0)
		}
		if got := p.asked[len(p.asked)-1]; got != (Query{"two words", Web, 20}) {
			t.Errorf("it was asked %+v", got)
		}
		time.Sleep(time.Second)
		query.Limit = 15
		find(query, false, time.Second) // served from the larger answer
		query.MaxAge = 100 * time.Hour
		time.Sleep(MaxAge)
		find(query, true, 0)
	})
}

func TestFailuresAreNotKept(t *testing.T) {
	p := &stub{name: "a", kinds: []Kind{Web}, do: func(context.Context) error {
		return &Error{Kind: Quota, Provider: "a", Message: "m", RetryAfter: time.Minute}
	}}
	s := New(p)
	r := Request{Query: "x", Kind: Web, Limit: 10, MaxAge: time.Hour}
	_, err := s.Search(t.Context(), r)
	wantKind(t, err, Quota, "a: m; try again in 1m0s")
	p.do = func(context.Context) error { return errors.New("https://a.example/?key=secret") }
	_, err = s.Search(t.Context(), r)
	wantKind(t, err, Unavailable, "a: it could not be asked")
	p.do = nil
	if _, err := s.Search(t.Context(), r); err != nil || len(p.asked) != 3 {
		t.Errorf("%v after %d queries", err, len(p.asked))
	}
}

func TestProvidersThatDoNotAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &stub{name: "a", kinds: []Kind{Web}, do: func(ctx context.Context) error {
			<-ctx.Done()
			return ctx.Err()
		}}
		s := New(p)
		began := time.Now()
		_, err := s.Search(t.Context(), Request{Query: "x", Kind: Web, Limit: 10})
		wantKind(t, err, Timeout, "a: no answer within 15s")
		if waited := time.Since(began); waited != timeLimit {
			t.Errorf("it took %v", waited)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err = s.Search(ctx, Request{Query: "x", Kind: Web, Limit: 10}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the caller's deadline: %v", err)
		}
		ctx, cancel = context.WithCancel(t.Context())
		cancel()
		if _, err = s.Search(ctx, Request{Query: "x", Kind: Web, Limit: 10}); !errors.Is(err, context.Canceled) {
			t.Errorf("a call that was canceled: %v", err)
		}
	})
}

func TestTheCacheIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCache()
		check := func() {
			t.Helper()
			sum := 0
			for at := c.newest.Front(); at != nil; at = at.Next() {
				sum += at.Value.(*cacheEntry).bytes
			}
			if len(c.of) != c.newest.Len() || sum != c.bytes || c.bytes > maxBytes || len(c.of) > maxAnswers {
				t.Fatalf("%d answers by query, %d in order, %d bytes, which should be %d", len(c.of), c.newest.Len(), c.bytes, sum)
			}
		}
		for i := range 2 * maxAnswers {
			c.put(cacheKey{text: fmt.Sprint(i)}, numbered(1))
			check()
		}
		if _, _, ok := c.get(cacheKey{text: "0"}, time.Hour); ok || len(c.of) != maxAnswers {
			t.Errorf("the oldest of %d answers is kept", len(c.of))
		}
		large := []Result{{Text: strings.Repeat("x", maxBytes/4)}}
		for i := range 20 {
			c.put(cacheKey{text: fmt.Sprint("large", i%7)}, large)
			check()
		}
		if len(c.of) != 3 {
			t.Errorf("%d large answers are kept", len(c.of))
		}
		time.Sleep(MaxAge + 1)
		c.put(cacheKey{text: "new"}, nil)
		if check(); len(c.of) != 1 {
			t.Errorf("%d answers are kept, but all but one are too old", len(c.of))
		}
	})
}

func TestTextKeepsItsBudget(t *testing.T) {
	a := Answer{Results: numbered(50), Provider: "brave", Kind: Web, Age: 125 * time.Second}
	last := 0
	for _, budget := range []int{200, 201, 500, 1500, 3000, 5000, 50_000, 0} {
		got := Print(a, budget)
		if got.Tokens != tokens.Count(got.Text) || budget > 0 && got.Tokens > budget || got.Shown < last || strings.Count(got.Text, "https://") != got.Shown {
			t.Errorf("budget %d: %d tokens, %d results", budget, got.Tokens, got.Shown)
		}
		last = got.Shown
	}
	if got := Print(a, 0); got.Shown != 50 || !strings.HasPrefix(got.Text, "# brave: 50 web results, 2m5s old\n1. Title 0 | a.example | 2026-11-23\n   https://a.example/0\n   some words") {
		t.Errorf("without a budget:\n%s", got.Text)
	}
	if got := Print(a, 200); got.Shown == 0 || !strings.HasPrefix(got.Text, fmt.Sprintf("# brave: %d of 50 (max_tokens) web results", got.Shown)) {
		t.Errorf("within 200 tokens:\n%s", got.Text)
	}
	if got := Print(a, 2500); got.Shown != 50 || !strings.Contains(got.Text, "a.example | 2026-11-23\n") {
		t.Errorf("the texts do not go before the results:\n%s", got.Text)
	}
	huge := Result{Title: strings.Repeat("漢", maxTitle), URL: "https://a.example/" + strings.Repeat("%E6", 600), Host: "a.example"}
	if got := Print(Answer{Results: []Result{huge}, Provider: "a", Kind: Web}, 200); got.Shown != 0 || got.Text != "# a: 0 of 1 (max_tokens) web result\n" {
		t.Errorf("a result of more than the budget: %q", got.Text)
	}
	if got := Print(Answer{Provider: "a", Kind: Places}, 200); got.Text != "# a: no places results\n" {
		t.Errorf("nothing: %q", got.Text)
	}
}

func TestTextHasWhatEachKindHas(t *testing.T) {
	for want, r := range map[string]Result{
		"1. Kettle | shop.example | Shop | $39.99 | rated 4.5 by 120\n   https://shop.example/k\n": {Title: "Kettle", URL: "https://shop.example/k", Host: "shop.example", Source: "Shop", Price: "$39.99", Rating: 4.5, Ratings: 120},
		"1. Cat | a.example | 640×480\n   https://a.example/\n   https://a.example/cat.png\n":      {Title: "Cat", URL: "https://a.example/", Host: "a.example", Source: "www.a.example", ImageURL: "https://a.example/cat.png", ImageWidth: 640, ImageHeight: 480},
		"1. Cat | a.example\n   https://a.example/cat.png\n":                                       {Title: "Cat", URL: "https://a.example/cat.png", Host: "a.example", ImageURL: "https://a.example/cat.png"},
		"1. Bar | $$ | rated 4 | 1 Main Street | +47 1\n   A bar\n":                                {Title: "Bar", Price: "$$", Rating: 4, Address: "1 Main Street", Phone: "+47 1", Text: "A bar"},
		"1. a.example | 3 months ago\n   https://a.example/\n":                                     {URL: "https://a.example/", Host: "a.example", Date: "3 months ago"},
	} {
		if got := r.lines(1, maxText); got != want {
			t.Errorf("got\n%s, want\n%s", got, want)
		}
	}
}

func TestDay(t *testing.T) {
	now := time.Date(2026, 11, 23, 1, 0, 0, 0, time.UTC)
	for date, want := range map[string]string{
		"2026-02-10": "2026-02-10", "2026-02-10T23:30:00-05:00": "2026-02-11", "2026-02-10T09:00:00": "2026-02-10", "2026-02-10T09:00:00Z": "2026-02-10",
		"Sat, 21 Nov 2026 08:00:00 GMT": "2026-11-21", "Feb 10, 2026": "2026-02-10", "February 3, 2026": "2026-02-03", "10 Feb 2026": "2026-02-10",
		"2 hours ago": "2026-11-22", "1 day ago": "2026-11-22", "An hour ago": "2026-11-23", "5 mins ago": "2026-11-23", "2 weeks ago": "2026-11-09", "Yesterday": "2026-11-22", "today": "2026-11-23",
		"": "", "3 months ago": "", "last year": "", "-1 days ago": "", "99999999 days ago": "", "2026": "", "10/02/2026": "", "days ago": "", "1 parsec ago": "", "0000-01-01": "",
	} {
		if got := Day(date, now); got != want {
			t.Errorf("%q is %q, want %q", date, got, want)
		}
	}
}

func TestResultsAreCleanAndBounded(t *testing.T) {
	now := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	long := strings.Repeat("é\n\x1b[31m\u2028", 5000)
	got := Clean([]Result{
		{Title: long, URL: "https://user:pass@www.a.example:8443/ä?q=1#f", Text: long, Date: "1 day ago", Source: long, Price: long, Address: long, Phone: long, Rating: -1, Ratings: -5, ImageWidth: 1 << 40, ImageURL: "data:image/png;base64,AA"},
		{Title: "long", URL: "https://a.example/" + strings.Repeat("x", maxURL)}, {Title: "file", URL: "file:///etc/passwd"}, {Title: "broken", URL: "https://%zz/"}, {Title: "none"},
		{Title: "second", URL: "HTTPS://b.example"}, {Title: "third", URL: "http://c.example/"},
	}, Web, 2, Secret{}, now)
	if len(got) != 2 || got[1].Title != "second" || got[1].URL != "https://b.example" {
		t.Fatalf("%+v", got)
	}
	r := got[0]
	if r.URL != "https://www.a.example:8443/%C3%A4?q=1#f" || r.Host != "a.example" || r.Day != "2026-11-22" || r.Rating != 0 || r.Ratings != 0 || r.ImageWidth != 0 || r.ImageURL != "" {
		t.Errorf("%+v", r)
	}
	for text, most := range map[*string]int{&r.Title: maxTitle, &r.Text: maxText, &r.Price: maxShort, &r.Address: maxPlace} {
		if n := len([]rune(*text)); n != most+1 || strings.ContainsAny(*text, "\n\x1b\u2028") {
			t.Errorf("%d characters: %q", n, *text)
		}
	}
	if got := Clean([]Result{{Title: "a place"}, {Text: "not one"}}, Places, 10, Secret{}, now); len(got) != 1 {
		t.Errorf("places: %+v", got)
	}
}

func TestSecretsArePrintedAsStars(t *testing.T) {
	s := NewSecret("a/canary+key")
	holder := struct {
		Key Secret
		P   *Secret
	}{s, &s}
	var log strings.Builder
	slog.New(slog.NewTextHandler(&log, nil)).Info("m", "key", s, "holder", holder)
	for _, text := range []string{fmt.Sprint(s), fmt.Sprintf("%v %+v %#v %q %s %x %d", s, s, s, s, s, s, s), fmt.Sprintf("%+v %#v", holder, holder), log.String(), s.Remove("k=a%2Fcanary%2Bkey a/canary+key a%2Fcanary+key")} {
		if strings.Contains(text, "canary") || !strings.Contains(text, "***") {
			t.Errorf("it prints %s", text)
		}
	}
	if none := NewSecret(""); !none.IsZero() || none.String() != "" || none.Remove("text") != "text" || s.Reveal() != "a/canary+key" {
		t.Error("no key, or a key that is not there")
	}
}
