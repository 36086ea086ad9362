package network

import (
	"strings"
	"testing"

	"github.com/domtap/domtap/internal/routes"
)

// Read-only clients can list routes too.
func TestListedRoutesHaveNoSecrets(t *testing.T) {
	got := routeMessage(routes.Route{Pattern: "**", Modify: &routes.Modify{
		URL: "https://u:canary@example.com/?token=canary&page=2",
		Set: []routes.Header{{Name: "Authorization", Value: "Bearer canary"}, {Name: "X-Team", Value: "blue"}},
	}})
	text := got.String()
	if strings.Contains(text, "canary") || !strings.Contains(text, "blue") || !strings.Contains(text, "page=2") {
		t.Error(text)
	}
	mock := routeMessage(routes.Route{Pattern: "**", Fulfill: &routes.Fulfill{Headers: []routes.Header{{Name: "Set-Cookie", Value: "id=canary"}}}})
	if text := mock.String(); strings.Contains(text, "canary") {
		t.Error(text)
	}
}
