package text

import (
	"strings"
	"testing"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

func TestALogIsFewLines(t *testing.T) {
	failed := &domtapv1.LogEntry{Kind: domtapv1.LogKind_LOG_KIND_NETWORK, Level: "GET", HttpStatus: 500, ResourceType: "fetch", Url: "https://a.example/api"}
	entries := []*domtapv1.LogEntry{
		{Kind: domtapv1.LogKind_LOG_KIND_CONSOLE, Level: "warning", Text: "old\nAPI", Url: "https://a.example/js/app.js?v=3", Line: 7},
		failed,
		{Kind: domtapv1.LogKind_LOG_KIND_NETWORK, Level: "POST", Failure: "net::ERR_FAILED", ResourceType: "xhr", Url: "https://b.example/"},
		{Kind: domtapv1.LogKind_LOG_KIND_ERROR, Text: "TypeError: x is null " + strings.Repeat("é", 300)},
		failed,
	}
	got, more := Log(entries, 10)
	want := "console warning: old API (app.js:7)\nPOST net::ERR_FAILED xhr https://b.example/\nuncaught: TypeError: x is null " +
		strings.Repeat("é", 169) + "…\nGET 500 fetch https://a.example/api (×2)\n"
	if got != want || more != 0 {
		t.Errorf("got %d and\n%s\nwant\n%s", more, got, want)
	}
	if got, more := Log(entries, 1); got != "GET 500 fetch https://a.example/api (×2)\n" || more != 3 {
		t.Errorf("one line: %d and\n%s", more, got)
	}
}
