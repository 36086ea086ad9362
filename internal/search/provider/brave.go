package provider

import (
	"html"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/domtap/domtap/internal/search"
)

// brave is the dialect of Brave Search. Its documentation is at https://api-dashboard.search.brave.com/api-reference/web/search, and the
// pages news/news_search, images/image_search and web/place_search next to it. The quota is described at
// https://api-dashboard.search.brave.com/documentation/guides/rate-limiting.
var brave = dialect{
	url:   "https://api.search.brave.com",
	keyed: true,
	most:  map[search.Kind]int{search.Web: 20, search.News: 50, search.Images: search.MaxCount, search.Places: 50},
	request: func(c *Config, base *url.URL, q search.Query, count int) (*http.Request, error) {
		query := url.Values{"q": {q.Text}, "count": {strconv.Itoa(count)}}
		if q.Kind == search.Web {
			query.Set("result_filter", "web")
			query.Set("text_decorations", "false")
		}
		request, err := get(base, bravePaths[q.Kind], query)
		if err == nil {
			request.Header.Set("X-Subscription-Token", c.Key.Reveal())
		}
		return request, err
	},
	results:   braveResults,
	complaint: braveComplaint,
	// An invalid key has status 422, the same as an invalid query.
	refusals: map[string]search.ErrorKind{
		"SUBSCRIPTION_TOKEN_INVALID": search.KeyRefused, "SUBSCRIPTION_NOT_FOUND": search.KeyRefused, "RESOURCE_NOT_ALLOWED": search.KeyRefused,
		"OPTION_NOT_IN_PLAN": search.KeyRefused, "RATE_LIMITED": search.Quota, "QUOTA_LIMITED": search.Quota,
	},
	retry: braveRetry,
}

var bravePaths = map[search.Kind]string{
	search.Web: "res/v1/web/search", search.News: "res/v1/news/search", search.Images: "res/v1/images/search", search.Places: "res/v1/local/place_search",
}

// braveItem is a result of any kind.
type braveItem struct {
	Title       text `json:"title"`
	URL         text `json:"url"`
	Description text `json:"description"`
	// Age is a human-readable age, such as "2 days ago". PageAge is a time.
	Age     text `json:"age"`
	PageAge text `json:"page_age"`
	Source  text `json:"source"`
	Profile object[struct {
		Name text `json:"name"`
	}] `json:"profile"`
	Properties object[struct {
		URL    text   `json:"url"`
		Width  number `json:"width"`
		Height number `json:"height"`
	}] `json:"properties"`
	PostalAddress object[struct {
		DisplayAddress text `json:"displayAddress"`
	}] `json:"postal_address"`
	Contact object[struct {
		Telephone text `json:"telephone"`
	}] `json:"contact"`
	PriceRange text `json:"price_range"`
	Rating     object[struct {
		RatingValue number `json:"ratingValue"`
		ReviewCount number `json:"reviewCount"`
	}] `json:"rating"`
}

func braveResults(kind search.Kind, body []byte) ([]search.Result, error) {
	var answer struct {
		// Type is set in every answer: search, news, images or locations.
		Type    text             `json:"type"`
		Results items[braveItem] `json:"results"`
		Web     object[struct {
			Results items[braveItem] `json:"results"`
		}] `json:"web"`
	}
	if err := decode(body, &answer); err != nil {
		return nil, err
	}
	found := answer.Results
	if kind == search.Web {
		found = answer.Web.v.Results
	}
	if found == nil && (answer.Type == "" || answer.Type == "ErrorResponse") {
		return nil, errShape
	}
	out := make([]search.Result, len(found))
	for i, f := range found {
		out[i] = f.result(kind)
	}
	return out, nil
}

func (f *braveItem) result(kind search.Kind) search.Result {
	date := f.Age
	if f.PageAge != "" {
		date = f.PageAge
	}
	r := search.Result{
		Title: plain(f.Title), URL: string(f.URL), Text: plain(f.Description), Date: string(date), Source: string(f.Profile.v.Name),
		Rating: float64(f.Rating.v.RatingValue), Ratings: f.Rating.v.ReviewCount.int(),
	}
	switch kind {
	case search.Images:
		p := f.Properties.v
		r.ImageURL, r.ImageWidth, r.ImageHeight, r.Source = string(p.URL), p.Width.int(), p.Height.int(), string(f.Source)
	case search.Places:
		r.Address, r.Phone, r.Price = string(f.PostalAddress.v.DisplayAddress), string(f.Contact.v.Telephone), string(f.PriceRange)
	}
	return r
}

// marks removes the tags that Brave puts around the words of the query.
var marks = strings.NewReplacer("<strong>", "", "</strong>", "")

// plain returns the text of HTML, which Brave uses in titles and descriptions.
func plain(t text) string { return html.UnescapeString(marks.Replace(string(t))) }

// braveComplaint parses {"type": "ErrorResponse", "error": {"code": "RATE_LIMITED", "detail": "…"}}. Earlier versions of the API had a list
// named errors.
func braveComplaint(body []byte) complaint {
	type fault struct {
		Code   text `json:"code"`
		Detail text `json:"detail"`
	}
	var said struct {
		Error  object[fault] `json:"error"`
		Errors items[fault]  `json:"errors"`
	}
	_ = decode(body, &said) // unknown formats are ignored
	one := said.Error.v
	if one == (fault{}) && len(said.Errors) > 0 {
		one = said.Errors[0]
	}
	return complaint{string(one.Code), string(one.Detail)}
}

// braveRetry parses the windows of the quota. For example, X-RateLimit-Remaining "0, 1000" and X-RateLimit-Reset "1, 1419704" mean that the
// first quota is used up for 1 s. It returns the longest wait of the quotas that are used up.
func braveRetry(h http.Header) time.Duration {
	left, resets := strings.Split(h.Get("X-RateLimit-Remaining"), ","), strings.Split(h.Get("X-RateLimit-Reset"), ",")
	var wait time.Duration
	for i, reset := range resets {
		if i >= len(left) || strings.TrimSpace(left[i]) == "0" {
			wait = max(wait, seconds(reset))
		}
	}
	if wait == 0 {
		wait = seconds(resets[0])
	}
	return wait
}
