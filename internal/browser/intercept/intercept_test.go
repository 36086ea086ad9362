package intercept

import (
	"errors"
	"reflect"
	"testing"

	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/network"

	"github.com/domtap/domtap/internal/browser/devtools"
	"github.com/domtap/domtap/internal/routes"
)

// paused returns the event of a held request.
func paused(method, url string, headers network.Headers) *fetch.EventRequestPaused {
	return &fetch.EventRequestPaused{RequestID: "1", ResourceType: network.ResourceTypeXHR, Request: &network.Request{Method: method, URL: url, Headers: headers}}
}

// entriesOf returns headers as a map, because their order is undefined.
func entriesOf(all []*fetch.HeaderEntry) map[string]string {
	got := map[string]string{}
	for _, h := range all {
		got[h.Name] = h.Value
	}
	return got
}

func TestEveryWordIsKnownToTheBrowser(t *testing.T) {
	for _, kind := range routes.Types {
		if kind != "fetch" && types[kind] == "" {
			t.Errorf("type %s", kind)
		}
	}
	for _, reason := range routes.Reasons {
		if reasons[reason] == "" {
			t.Errorf("reason %s", reason)
		}
	}
	if len(reasons) != len(routes.Reasons) {
		t.Errorf("%d reasons of %d", len(routes.Reasons), len(reasons))
	}
}

func TestOnlyWhatIsNeededIsHeld(t *testing.T) {
	yes := true
	table := routes.NewTable([]routes.Route{{Pattern: "https://a.example/**", Types: []string{"image"}}}, nil)
	held := &fetch.RequestPattern{URLPattern: "https://a.example/*", ResourceType: network.ResourceTypeImage}
	for _, c := range []struct {
		table       *routes.Table
		credentials string
		want        *fetch.EnableParams
	}{
		{nil, "", nil},
		{table, "", &fetch.EnableParams{Patterns: []*fetch.RequestPattern{held}}},
		{nil, "*", &fetch.EnableParams{HandleAuthRequests: &yes, Patterns: []*fetch.RequestPattern{{URLPattern: "*"}}}},
		{table, "*", &fetch.EnableParams{HandleAuthRequests: &yes, Patterns: []*fetch.RequestPattern{{URLPattern: "*"}, held}}},
	} {
		if got := Enable(c.table, c.credentials); !reflect.DeepEqual(got, c.want) {
			t.Errorf("got %+v, want %+v", got, c.want)
		}
	}
}

func TestWhatIsRefusedIsNeverAnswered(t *testing.T) {
	refuse := func(string) error { return errors.New("refused") }
	for name, r := range map[string]routes.Route{
		"fulfill": {Pattern: "**", Fulfill: &routes.Fulfill{Status: 200}}, "modify": {Pattern: "**", Modify: &routes.Modify{Method: "PUT"}},
	} {
		if got := Answer(paused("GET", "https://a.example/", nil), false, routes.NewTable([]routes.Route{r}, nil), refuse); !IsPlain(got) {
			t.Errorf("%s: %+v", name, got)
		}
	}
	blocked := Answer(paused("GET", "https://a.example/", nil), false, routes.NewTable([]routes.Route{{Pattern: "**", Abort: &routes.Abort{Reason: "timedout"}}}, nil), refuse)
	if !reflect.DeepEqual(blocked, devtools.Step{Method: fetch.CommandFailRequest, Params: fetch.FailRequestParams{RequestID: "1", ErrorReason: network.ErrorReasonTimedOut}}) {
		t.Errorf("got %+v", blocked)
	}
}

func TestHeadersAreChanged(t *testing.T) {
	m := &routes.Modify{Set: []routes.Header{{Name: "X-Team", Value: "blue"}}, Remove: []string{"referer"}}
	got := Answer(paused("GET", "https://a.example/", network.Headers{"x-team": "red", "Referer": "x", "Accept": "*/*", "Odd": 7}), false,
		routes.NewTable([]routes.Route{{Pattern: "**", Modify: m}}, nil), nil)
	params, ok := got.Params.(fetch.ContinueRequestParams)
	if want := map[string]string{"X-Team": "blue", "Accept": "*/*"}; !ok || IsPlain(got) || !reflect.DeepEqual(entriesOf(params.Headers), want) {
		t.Errorf("got %+v", got)
	}
}

func TestScriptsOfOtherOriginsMayReadWhatARouteAnswers(t *testing.T) {
	table := routes.NewTable([]routes.Route{{Pattern: "**", Fulfill: &routes.Fulfill{Status: 201, Body: []byte("x")}}}, nil)
	for origin, shared := range map[string]bool{"https://b.example": true, "https://a.example": false, "": false, "null": true} {
		headers := network.Headers{}
		if origin != "" {
			headers["Origin"] = origin
		}
		params := Answer(paused("GET", "https://a.example/x", headers), false, table, nil).Params.(fetch.FulfillRequestParams)
		if got := entriesOf(params.ResponseHeaders)["Access-Control-Allow-Origin"]; (got == origin && origin != "") != shared || params.ResponseCode != 201 {
			t.Errorf("%q: %+v", origin, params)
		}
	}
	preflight := paused("OPTIONS", "https://a.example/x", network.Headers{"Origin": "https://b.example", "Access-Control-Request-Method": "PUT", "Access-Control-Request-Headers": "x-own"})
	params := Answer(preflight, false, table, nil).Params.(fetch.FulfillRequestParams)
	if got := entriesOf(params.ResponseHeaders); params.ResponseCode != 204 || got["Access-Control-Allow-Methods"] != "PUT" || got["Access-Control-Allow-Headers"] != "x-own" {
		t.Errorf("got %+v", params)
	}
}
