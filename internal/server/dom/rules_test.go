package dom

import (
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/server/rules/rulestest"
)

func waiting(c *domtapv1.WaitCondition) *domtapv1.WaitForRequest {
	return &domtapv1.WaitForRequest{TabId: "t1", Until: c}
}

func TestGoodRequestsPass(t *testing.T) {
	rulestest.Pass(t, Rules,
		&domtapv1.GetDomRequest{TabId: "t1"},
		&domtapv1.GetDomRequest{TabId: "t1", MaxElements: proto.Int32(0), MaxTokens: proto.Int32(0)},
		&domtapv1.GetDomRequest{TabId: "t1", MaxElements: proto.Int32(1), MaxTokens: proto.Int32(200)},
		&domtapv1.GetDomRequest{TabId: "t1", MaxElements: proto.Int32(1000), MaxTokens: proto.Int32(50_000)},
		&domtapv1.GetDomRequest{TabId: "t1", SinceRevision: proto.Uint64(0), Epoch: "e"},
		&domtapv1.GetDomRequest{TabId: "t1", Cursor: "c12345678901", IncludeGeometry: true},
		&domtapv1.GetDomRequest{TabId: "t1", IncludeGeometry: true, Incremental: true},
		&domtapv1.GetDomRequest{TabId: "t1", RootRef: proto.Uint32(0), ClientId: strings.Repeat("é", 100)},
		&domtapv1.GetDomRequest{TabId: "t1", IncludeAttributes: []string{"id", "data-testid", "@click", "xml:lang"}},
		&domtapv1.GetCompactRequest{TabId: "t1", Format: domtapv1.Format_FORMAT_DIFF, Incremental: true},
		&domtapv1.FindRequest{TabId: "t1", Query: "a"},
		&domtapv1.FindRequest{TabId: "t1", Query: strings.Repeat("é", 200), MaxResults: proto.Int32(50), MaxTokens: proto.Int32(0), MaxAge: rulestest.Seconds(60)},
		&domtapv1.WatchDomRequest{TabId: "t1", Format: domtapv1.Format_FORMAT_DIFF, MinInterval: rulestest.Seconds(60)},
		waiting(&domtapv1.WaitCondition{Change: true}),
		waiting(&domtapv1.WaitCondition{Text: "Done", NetworkIdle: rulestest.Seconds(0), Quiet: rulestest.Seconds(60)}),
		waiting(&domtapv1.WaitCondition{Element: &domtapv1.ElementCondition{Ref: proto.Uint32(0)}}),
		&domtapv1.WaitForRequest{TabId: "t1", Until: &domtapv1.WaitCondition{Url: "*"}, SinceRevision: proto.Uint64(0), Epoch: "e", Timeout: rulestest.Seconds(300)},
		&domtapv1.Element{},
	)
}

func TestBadFieldsAreNamed(t *testing.T) {
	noRef := uint32(1<<32 - 1)
	for _, c := range []struct {
		request proto.Message
		want    string
	}{
		{&domtapv1.GetDomRequest{}, "tab_id"},
		{&domtapv1.GetDomRequest{TabId: strings.Repeat("x", 201)}, "tab_id"},
		{&domtapv1.GetDomRequest{TabId: "t1", MaxElements: proto.Int32(1001)}, "max_elements"},
		{&domtapv1.GetDomRequest{TabId: "t1", MaxElements: proto.Int32(-1)}, "max_elements"},
		{&domtapv1.GetDomRequest{TabId: "t1", MaxTokens: proto.Int32(199)}, "max_tokens"},
		{&domtapv1.GetDomRequest{TabId: "t1", MaxTokens: proto.Int32(50_001)}, "max_tokens"},
		{&domtapv1.GetDomRequest{TabId: "t1", MaxTokens: proto.Int32(-1)}, "max_tokens"},
		{&domtapv1.GetDomRequest{TabId: "t1", SinceRevision: proto.Uint64(3)}, "epoch"},
		{&domtapv1.GetDomRequest{TabId: "t1", Cursor: "c123456789012"}, "cursor"},
		{&domtapv1.GetDomRequest{TabId: "t1", Cursor: "c1", Incremental: true}, "cursor"},
		{&domtapv1.GetCompactRequest{TabId: "t1", Cursor: "c1", SinceRevision: proto.Uint64(3), Epoch: "e"}, "cursor"},
		{&domtapv1.GetDomRequest{TabId: "t1", RootRef: &noRef}, "root_ref"},
		{&domtapv1.GetDomRequest{TabId: "t1", ClientId: strings.Repeat("x", 101)}, "client_id"},
		{&domtapv1.GetDomRequest{TabId: "t1", IncludeAttributes: slices.Repeat([]string{"a"}, 17)}, "include_attributes"},
		{&domtapv1.GetDomRequest{TabId: "t1", IncludeAttributes: []string{"id", "", "a b", "x=y"}},
			"include_attributes[1] include_attributes[2] include_attributes[3]"},
		{&domtapv1.GetDomRequest{MaxElements: proto.Int32(1001), MaxTokens: proto.Int32(1), ClientId: strings.Repeat("x", 101)},
			"tab_id max_elements max_tokens client_id"},
		{&domtapv1.GetCompactRequest{TabId: "t1", Format: domtapv1.Format_FORMAT_DIFF}, "format"},
		{&domtapv1.GetCompactRequest{TabId: "t1", Format: 99}, "format"},
		{&domtapv1.FindRequest{MaxResults: proto.Int32(0), MaxTokens: proto.Int32(199), ClientId: strings.Repeat("x", 101), MaxAge: rulestest.Seconds(61)},
			"tab_id query max_results max_tokens client_id max_age"},
		{&domtapv1.FindRequest{TabId: "t1", Query: "\t \"\"", MaxResults: proto.Int32(51)}, "query max_results"},
		{&domtapv1.FindRequest{TabId: "t1", Query: strings.Repeat("é", 201)}, "query"},
		{&domtapv1.FindRequest{TabId: "t1", Query: strings.Repeat("a ", 17)}, "query"},
		{&domtapv1.WatchDomRequest{TabId: "t1", Format: domtapv1.Format_FORMAT_LINES}, "format"},
		{&domtapv1.WatchDomRequest{TabId: "t1", Format: domtapv1.Format_FORMAT_TREE}, "format"},
		{&domtapv1.WatchDomRequest{TabId: "t1", FromRevision: proto.Uint64(3)}, "epoch"},
		{&domtapv1.WatchDomRequest{TabId: "t1", MinInterval: rulestest.Seconds(61)}, "min_interval"},
		{&domtapv1.GetDomRequest{TabId: "t1", MaxAge: rulestest.Seconds(61)}, "max_age"},
		{&domtapv1.GetCompactRequest{TabId: "t1", MaxAge: rulestest.Seconds(-1)}, "max_age"},
		{&domtapv1.WatchDomRequest{TabId: "t1", MinInterval: rulestest.Seconds(-1)}, "min_interval"},
		{&domtapv1.WaitForRequest{}, "tab_id until"},
		{waiting(&domtapv1.WaitCondition{}), "until"},
		{waiting(&domtapv1.WaitCondition{Element: &domtapv1.ElementCondition{Exact: true}}), "until.element"},
		{waiting(&domtapv1.WaitCondition{Element: &domtapv1.ElementCondition{Name: " ", Text: strings.Repeat("x", 1001), Ref: &noRef, Selector: " ", State: 9}}),
			"until.element.name until.element.text until.element.ref until.element.selector until.element.state"},
		{waiting(&domtapv1.WaitCondition{Text: "\t", Url: strings.Repeat("x", 1001), NetworkIdle: rulestest.Seconds(61), Quiet: rulestest.Seconds(0)}),
			"until.text until.url until.network_idle until.quiet"},
		{&domtapv1.WaitForRequest{TabId: "t1", Until: &domtapv1.WaitCondition{Change: true}, SinceRevision: proto.Uint64(1), Timeout: rulestest.Seconds(301)}, "epoch timeout"},
	} {
		rulestest.Refuse(t, Rules, c.request, c.want)
	}
}

func TestUnsupportedFieldsAreNamed(t *testing.T) {
	for _, c := range []struct {
		request     proto.Message
		field, says string
	}{
		{&domtapv1.GetDomRequest{TabId: "t1", IncludeGeometry: true, SinceRevision: proto.Uint64(1), Epoch: "e"}, "include_geometry", "incremental"},
		{&domtapv1.GetCompactRequest{TabId: "t1", DedupeNavigation: true}, "dedupe_navigation", "DIFF"},
		{&domtapv1.GetCompactRequest{TabId: "t1", IncludeGeometry: true}, "include_geometry", "GetDom"},
		{&domtapv1.WatchDomRequest{TabId: "t1", IncludeGeometry: true}, "include_geometry", "GetDom"},
	} {
		rulestest.Suggest(t, Rules, c.request, c.field, c.says)
	}
}
