package search

import (
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/server/rules/rulestest"
)

func TestGoodRequestsPass(t *testing.T) {
	rulestest.Pass(t, Rules,
		&domtapv1.SearchRequest{Query: "x"},
		&domtapv1.SearchRequest{Query: strings.Repeat("é", 400), Kind: domtapv1.SearchKind_SEARCH_KIND_SHOPPING, Limit: proto.Int32(50), MaxTokens: proto.Int32(0),
			Provider: "brave", MaxAge: rulestest.Seconds(24 * 60 * 60)},
		&domtapv1.SearchRequest{Query: "x", Limit: proto.Int32(1), MaxTokens: proto.Int32(200), MaxAge: rulestest.Seconds(0)},
	)
}

func TestBadFieldsAreNamed(t *testing.T) {
	for _, c := range []struct {
		request proto.Message
		want    string
	}{
		{&domtapv1.SearchRequest{}, "query"},
		{&domtapv1.SearchRequest{Query: " \n"}, "query"},
		{&domtapv1.SearchRequest{Query: strings.Repeat("x", 401)}, "query"},
		{&domtapv1.SearchRequest{Query: "x", Kind: 6}, "kind"},
		{&domtapv1.SearchRequest{Query: "x", Limit: proto.Int32(0)}, "limit"},
		{&domtapv1.SearchRequest{Query: "x", Limit: proto.Int32(51)}, "limit"},
		{&domtapv1.SearchRequest{Query: "x", Provider: strings.Repeat("x", 41)}, "provider"},
		{&domtapv1.SearchRequest{Query: "x", MaxTokens: proto.Int32(199)}, "max_tokens"},
		{&domtapv1.SearchRequest{Query: "x", MaxAge: rulestest.Seconds(-1)}, "max_age"},
		{&domtapv1.SearchRequest{Query: "x", MaxAge: rulestest.Seconds(24*60*60 + 1)}, "max_age"},
	} {
		rulestest.Refuse(t, Rules, c.request, c.want)
	}
}
