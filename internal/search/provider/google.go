package provider

import (
	"net/http"
	"net/url"
	"strconv"

	"github.com/domtap/domtap/internal/search"
)

// google is the dialect of Google's Custom Search JSON API. Its documentation is at
// https://developers.google.com/custom-search/v1/using_rest and https://developers.google.com/custom-search/v1/reference/rest/v1/Search.
// Google accepts no new customers for it, and ends it on January 1, 2027 (https://developers.google.com/custom-search/v1/overview).
var google = dialect{
	url:    "https://www.googleapis.com",
	keyed:  true,
	engine: true,
	most:   map[search.Kind]int{search.Web: 10, search.Images: 10},
	request: func(c *Config, base *url.URL, q search.Query, count int) (*http.Request, error) {
		query := url.Values{"key": {c.Key.Reveal()}, "cx": {c.Engine}, "q": {q.Text}, "num": {strconv.Itoa(count)}}
		if q.Kind == search.Images {
			query.Set("searchType", "image")
		}
		return get(base, "customsearch/v1", query)
	},
	results:   googleResults,
	complaint: googleComplaint,
	refusals:  googleRefusals,
}

// googleRefusals maps reasons to kinds of errors. An invalid key has status 400, the same as an invalid query. An exhausted quota has
// status 403 or 429.
var googleRefusals = map[string]search.ErrorKind{
	"API_KEY_INVALID": search.KeyRefused, "keyInvalid": search.KeyRefused,
	"dailyLimitExceeded": search.Quota, "rateLimitExceeded": search.Quota, "userRateLimitExceeded": search.Quota, "quotaExceeded": search.Quota,
}

func googleResults(kind search.Kind, body []byte) ([]search.Result, error) {
	var answer struct {
		// Kind is customsearch#search in every answer. items is missing if there are no results.
		Kind  text `json:"kind"`
		Items items[struct {
			Title   text `json:"title"`
			Link    text `json:"link"`
			Snippet text `json:"snippet"`
			Image   object[struct {
				ContextLink text   `json:"contextLink"`
				Width       number `json:"width"`
				Height      number `json:"height"`
			}] `json:"image"`
			PageMap object[struct {
				MetaTags items[struct {
					Published text `json:"article:published_time"`
				}] `json:"metatags"`
			}] `json:"pagemap"`
		}] `json:"items"`
	}
	if err := decode(body, &answer); err != nil {
		return nil, err
	}
	if answer.Items == nil && answer.Kind == "" {
		return nil, errShape
	}
	out := make([]search.Result, len(answer.Items))
	for i, f := range answer.Items {
		out[i] = search.Result{Title: string(f.Title), URL: string(f.Link), Text: string(f.Snippet)}
		if tags := f.PageMap.v.MetaTags; len(tags) > 0 {
			out[i].Date = string(tags[0].Published)
		}
		if kind == search.Images {
			image := f.Image.v
			out[i].URL, out[i].ImageURL = string(image.ContextLink), string(f.Link)
			out[i].ImageWidth, out[i].ImageHeight = image.Width.int(), image.Height.int()
		}
	}
	return out, nil
}

// googleComplaint parses {"error": {"message": "…", "errors": [{"reason": "…"}], "details": [{"reason": "…"}]}}.
func googleComplaint(body []byte) complaint {
	type cause struct {
		Reason text `json:"reason"`
	}
	var said struct {
		Error object[struct {
			Message text         `json:"message"`
			Errors  items[cause] `json:"errors"`
			Details items[cause] `json:"details"`
		}] `json:"error"`
	}
	_ = decode(body, &said) // unknown formats are ignored
	c := complaint{message: string(said.Error.v.Message)}
	for _, one := range append(said.Error.v.Details, said.Error.v.Errors...) {
		if c.code = string(one.Reason); googleRefusals[c.code] != 0 {
			break
		}
	}
	return c
}
