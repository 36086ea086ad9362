package provider

import (
	"net/http"
	"net/url"

	"github.com/domtap/domtap/internal/search"
)

// serper is the dialect of Serper, which returns Google's results. The playground at https://serper.dev/playground documents the request
// and the answer of each kind.
var serper = dialect{
	url:   "https://google.serper.dev",
	keyed: true,
	most: map[search.Kind]int{
		search.Web: search.MaxCount, search.News: search.MaxCount, search.Images: search.MaxCount, search.Places: search.MaxCount, search.Shopping: search.MaxCount,
	},
	request: func(c *Config, base *url.URL, q search.Query, count int) (*http.Request, error) {
		request, err := post(base, serperPaths[q.Kind], map[string]any{"q": q.Text, "num": count})
		if err == nil {
			request.Header.Set("X-API-KEY", c.Key.Reveal())
		}
		return request, err
	},
	results:   serperResults,
	complaint: serperComplaint,
	// A key without credits also has status 400.
	refusals: map[string]search.ErrorKind{"Not enough credits": search.Quota},
}

var serperPaths = map[search.Kind]string{
	search.Web: "search", search.News: "news", search.Images: "images", search.Places: "places", search.Shopping: "shopping",
}

// serperItem is a result of any kind. A place has a website instead of a link.
type serperItem struct {
	Title       text   `json:"title"`
	Link        text   `json:"link"`
	Website     text   `json:"website"`
	Snippet     text   `json:"snippet"`
	Category    text   `json:"category"`
	Date        text   `json:"date"`
	Source      text   `json:"source"`
	ImageURL    text   `json:"imageUrl"`
	ImageWidth  number `json:"imageWidth"`
	ImageHeight number `json:"imageHeight"`
	Price       text   `json:"price"`
	PriceLevel  text   `json:"priceLevel"`
	Rating      number `json:"rating"`
	RatingCount number `json:"ratingCount"`
	Address     text   `json:"address"`
	PhoneNumber text   `json:"phoneNumber"`
}

func serperResults(kind search.Kind, body []byte) ([]search.Result, error) {
	var answer struct {
		// SearchParameters repeats the request. It is set in every answer.
		SearchParameters *object[struct{}] `json:"searchParameters"`
		Organic          items[serperItem] `json:"organic"`
		News             items[serperItem] `json:"news"`
		Images           items[serperItem] `json:"images"`
		Places           items[serperItem] `json:"places"`
		Shopping         items[serperItem] `json:"shopping"`
	}
	if err := decode(body, &answer); err != nil {
		return nil, err
	}
	found := map[search.Kind]items[serperItem]{
		search.Web: answer.Organic, search.News: answer.News, search.Images: answer.Images, search.Places: answer.Places, search.Shopping: answer.Shopping,
	}[kind]
	if found == nil && answer.SearchParameters == nil {
		return nil, errShape
	}
	out := make([]search.Result, len(found))
	for i, f := range found {
		out[i] = search.Result{
			Title: string(f.Title), URL: string(f.Link), Text: string(f.Snippet), Date: string(f.Date), Source: string(f.Source),
			Price: string(f.Price), Rating: float64(f.Rating), Ratings: f.RatingCount.int(), Address: string(f.Address), Phone: string(f.PhoneNumber),
		}
		switch kind {
		case search.Images:
			out[i].ImageURL, out[i].ImageWidth, out[i].ImageHeight = string(f.ImageURL), f.ImageWidth.int(), f.ImageHeight.int()
		case search.Places:
			out[i].URL, out[i].Text, out[i].Price = string(f.Website), string(f.Category), string(f.PriceLevel)
		}
	}
	return out, nil
}

// serperComplaint parses {"message": "Unauthorized.", "statusCode": 403}.
func serperComplaint(body []byte) complaint {
	var said struct {
		Message text `json:"message"`
	}
	_ = decode(body, &said) // unknown formats are ignored
	return complaint{string(said.Message), string(said.Message)}
}
