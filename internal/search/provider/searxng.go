package provider

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/domtap/domtap/internal/search"
)

// searxng is the dialect of SearXNG, which queries other search engines. Its documentation is at
// https://docs.searxng.org/dev/search_api.html. The fields of results are documented at
// https://docs.searxng.org/dev/result_types/index.html. The API has no parameter for the number of results.
var searxng = dialect{
	most: map[search.Kind]int{
		search.Web: search.MaxCount, search.News: search.MaxCount, search.Images: search.MaxCount, search.Places: search.MaxCount, search.Shopping: search.MaxCount,
	},
	request: func(_ *Config, base *url.URL, q search.Query, _ int) (*http.Request, error) {
		return get(base, "search", url.Values{"q": {q.Text}, "format": {"json"}, "categories": {categories[q.Kind]}})
	},
	results:   searxngResults,
	complaint: func([]byte) complaint { return complaint{} }, // errors of SearXNG are HTML pages
}

// categories maps kinds to categories of SearXNG.
var categories = map[search.Kind]string{
	search.Web: "general", search.News: "news", search.Images: "images", search.Places: "map", search.Shopping: "shopping",
}

// searxngItem is a result of any kind.
type searxngItem struct {
	Title         text `json:"title"`
	URL           text `json:"url"`
	Content       text `json:"content"`
	PublishedDate text `json:"publishedDate"`
	ImgSrc        text `json:"img_src"`
	// Resolution is a text such as "1920 x 1080".
	Resolution text `json:"resolution"`
	Source     text `json:"source"`
	Price      text `json:"price"`
	Address    object[struct {
		Name        text `json:"name"`
		HouseNumber text `json:"house_number"`
		Road        text `json:"road"`
		Locality    text `json:"locality"`
		Postcode    text `json:"postcode"`
		Country     text `json:"country"`
	}] `json:"address"`
}

func searxngResults(kind search.Kind, body []byte) ([]search.Result, error) {
	var answer struct {
		Results items[searxngItem] `json:"results"`
		// UnresponsiveEngines holds pairs of a name and a reason.
		UnresponsiveEngines items[items[text]] `json:"unresponsive_engines"`
	}
	if err := decode(body, &answer); err != nil {
		return nil, err
	}
	switch {
	case answer.Results == nil:
		return nil, errShape
	case len(answer.Results) == 0 && len(answer.UnresponsiveEngines) > 0:
		return nil, &search.Error{Kind: search.Unavailable, Message: "none of its engines answered: " + engines(answer.UnresponsiveEngines)}
	}
	out := make([]search.Result, len(answer.Results))
	for i, f := range answer.Results {
		out[i] = search.Result{
			Title: string(f.Title), URL: string(f.URL), Text: string(f.Content), Date: string(f.PublishedDate), Source: string(f.Source),
			Price: string(f.Price), Address: f.address(),
		}
		if kind == search.Images {
			out[i].ImageURL = string(f.ImgSrc)
			out[i].ImageWidth, out[i].ImageHeight = resolution(string(f.Resolution))
		}
	}
	return out, nil
}

// engines lists some of the engines that did not respond, with the reasons.
func engines(all items[items[text]]) string {
	var some []string
	for _, e := range all[:min(len(all), 5)] {
		switch {
		case len(e) > 1:
			some = append(some, fmt.Sprintf("%s (%s)", e[0], e[1]))
		case len(e) == 1:
			some = append(some, string(e[0]))
		}
	}
	return strings.Join(some, ", ")
}

// address returns the address of a place on one line, such as "1 Main Street, 12345 Springfield, USA".
func (f *searxngItem) address() string {
	a := f.Address.v
	var parts []string
	for _, pair := range [][2]text{{a.HouseNumber, a.Road}, {a.Postcode, a.Locality}, {a.Country}} {
		if part := strings.TrimSpace(string(pair[0] + " " + pair[1])); part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, ", ")
}

// resolution parses "1920 x 1080" or "1920×1080". It returns 0 for other texts.
func resolution(s string) (width, height int) {
	w, h, found := strings.Cut(strings.ReplaceAll(s, "×", "x"), "x")
	if !found {
		return 0, 0
	}
	width, err := strconv.Atoi(strings.TrimSpace(w))
	if err != nil {
		return 0, 0
	}
	if height, err = strconv.Atoi(strings.TrimSpace(h)); err != nil {
		return 0, 0
	}
	return width, height
}
