package provider

import (
	"net/http"
	"net/url"

	"github.com/domtap/domtap/internal/search"
)

// tavily is the dialect of Tavily. Its documentation is at https://docs.tavily.com/documentation/api-reference/endpoint/search.
var tavily = dialect{
	url:   "https://api.tavily.com",
	keyed: true,
	most:  map[search.Kind]int{search.Web: 20, search.News: 20, search.Images: 20},
	request: func(c *Config, base *url.URL, q search.Query, count int) (*http.Request, error) {
		body := map[string]any{"query": q.Text, "max_results": count, "search_depth": "basic", "topic": "general"}
		switch q.Kind {
		case search.News:
			body["topic"] = "news"
		case search.Images:
			body["include_images"], body["include_image_descriptions"] = true, true
		}
		request, err := post(base, "search", body)
		if err == nil {
			request.Header.Set("Authorization", "Bearer "+c.Key.Reveal())
		}
		return request, err
	},
	results:   tavilyResults,
	complaint: tavilyComplaint,
	// 432 is the limit of the plan, 433 the limit of pay-as-you-go.
	refusals: map[string]search.ErrorKind{"432": search.Quota, "433": search.Quota},
}

func tavilyResults(kind search.Kind, body []byte) ([]search.Result, error) {
	var answer struct {
		Results items[struct {
			Title         text `json:"title"`
			URL           text `json:"url"`
			Content       text `json:"content"`
			PublishedDate text `json:"published_date"`
		}] `json:"results"`
		Images items[struct {
			URL         text `json:"url"`
			Description text `json:"description"`
		}] `json:"images"`
	}
	if err := decode(body, &answer); err != nil {
		return nil, err
	}
	if answer.Results == nil {
		return nil, errShape
	}
	var out []search.Result
	if kind == search.Images {
		for _, f := range answer.Images {
			out = append(out, search.Result{Title: string(f.Description), ImageURL: string(f.URL)})
		}
		return out, nil
	}
	for _, f := range answer.Results {
		out = append(out, search.Result{Title: string(f.Title), URL: string(f.URL), Text: string(f.Content), Date: string(f.PublishedDate)})
	}
	return out, nil
}

// tavilyComplaint parses {"detail": {"error": "…"}}.
func tavilyComplaint(body []byte) complaint {
	var said struct {
		Detail object[struct {
			Error text `json:"error"`
		}] `json:"detail"`
	}
	_ = decode(body, &said) // unknown formats are ignored
	return complaint{message: string(said.Detail.v.Error)}
}
