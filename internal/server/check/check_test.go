package check

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/domtap/domtap/actor/apierr"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/folders"
)

func seconds(n int) *durationpb.Duration { return durationpb.New(time.Duration(n) * time.Second) }

func steps(all ...*domtapv1.Step) *domtapv1.InteractRequest {
	return &domtapv1.InteractRequest{TabId: "t1", Steps: all}
}

func waiting(c *domtapv1.WaitCondition) *domtapv1.WaitForRequest {
	return &domtapv1.WaitForRequest{TabId: "t1", Until: c}
}

func waitStep(w *domtapv1.WaitStep) *domtapv1.Step {
	return &domtapv1.Step{Action: &domtapv1.Step_Wait{Wait: w}}
}

func click(target *domtapv1.Target) *domtapv1.Step {
	return &domtapv1.Step{Action: &domtapv1.Step_Click{Click: &domtapv1.ClickStep{Target: target}}}
}

func ref(n uint32) *domtapv1.Target { return &domtapv1.Target{Ref: &n} }

func mouseDown(target *domtapv1.Target) *domtapv1.Step {
	return &domtapv1.Step{Action: &domtapv1.Step_MouseDown{MouseDown: &domtapv1.MouseDownStep{Target: target}}}
}

func mouseMove(target *domtapv1.Target, dx float64, waypoints []*domtapv1.Target) *domtapv1.Step {
	return &domtapv1.Step{Action: &domtapv1.Step_MouseMove{MouseMove: &domtapv1.MouseMoveStep{Target: target, DeltaX: dx, Waypoints: waypoints}}}
}

var mouseUp = &domtapv1.Step{Action: &domtapv1.Step_MouseUp{MouseUp: &domtapv1.MouseUpStep{}}}

func TestGoodRequestsPass(t *testing.T) {
	for _, r := range []proto.Message{
		steps(mouseDown(ref(1)), mouseMove(nil, -5, []*domtapv1.Target{ref(2)}), mouseUp, click(ref(3)), mouseDown(nil)),
		steps(click(ref(1)), mouseMove(nil, 5, nil), mouseMove(ref(2), 0, nil), mouseDown(nil)),
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
		&domtapv1.FindRequest{TabId: "t1", Query: strings.Repeat("é", 200), MaxResults: proto.Int32(50), MaxTokens: proto.Int32(0), MaxAge: seconds(60)},
		&domtapv1.ListCookiesRequest{SessionId: "s", Filter: &domtapv1.CookieFilter{PartitionKey: proto.String("")}},
		&domtapv1.SetCookiesRequest{Cookies: []*domtapv1.Cookie{{Name: "a", Domain: "b", Secure: true, PartitionKey: proto.String("https://c.test"), Priority: proto.String("Low")}}},
		&domtapv1.DeleteCookiesRequest{All: true},
		&domtapv1.DeleteCookiesRequest{Filter: &domtapv1.CookieFilter{PartitionKey: proto.String("")}},
		&domtapv1.GetLocalStorageRequest{},
		&domtapv1.EditLocalStorageRequest{Origin: "http://a.test:80", Edit: &domtapv1.StorageEdit{Delete: make([]string, 1000)}},
		&domtapv1.GetSessionStorageRequest{TabId: "t1"},
		&domtapv1.EditSessionStorageRequest{TabId: "t1", Edit: &domtapv1.StorageEdit{Clear: true}},
		stored(&domtapv1.ObjectStore{AutoIncrement: true, Records: []*domtapv1.StoreRecord{{Value: proto.String("1")}}}),
		&domtapv1.SearchRequest{Query: "x"},
		&domtapv1.AddRouteRequest{Route: &domtapv1.Route{UrlPattern: "**", ResourceTypes: []string{"fetch"}, Methods: []string{"PUT"}, Action: &domtapv1.Route_Fulfill{Fulfill: new(domtapv1.RouteFulfill)}}},
		&domtapv1.RemoveRoutesRequest{RouteIds: []string{"r1"}},
		&domtapv1.CreateSessionRequest{Settings: &domtapv1.SessionSettings{Block: []string{"ads", "fonts", "media"}}},
		&domtapv1.SearchRequest{Query: strings.Repeat("é", 400), Kind: domtapv1.SearchKind_SEARCH_KIND_SHOPPING, Limit: proto.Int32(50), MaxTokens: proto.Int32(0),
			Provider: "brave", MaxAge: seconds(24 * 60 * 60)},
		&domtapv1.SearchRequest{Query: "x", Limit: proto.Int32(1), MaxTokens: proto.Int32(200), MaxAge: seconds(0)},
		&domtapv1.DrainNodeRequest{NodeId: "n-1_A", Undo: true},
		&domtapv1.StartLivePageRequest{}, &domtapv1.StartLivePageRequest{Address: "[::1]:0"},
		&domtapv1.MoveSessionRequest{SessionId: "alice.work", NodeId: strings.Repeat("n", 32)},
		&domtapv1.WatchDomRequest{TabId: "t1", Format: domtapv1.Format_FORMAT_DIFF, MinInterval: seconds(60)},
		waiting(&domtapv1.WaitCondition{Change: true}),
		waiting(&domtapv1.WaitCondition{Text: "Done", NetworkIdle: seconds(0), Quiet: seconds(60)}),
		waiting(&domtapv1.WaitCondition{Element: &domtapv1.ElementCondition{Ref: proto.Uint32(0)}}),
		&domtapv1.WaitForRequest{TabId: "t1", Until: &domtapv1.WaitCondition{Url: "*"}, SinceRevision: proto.Uint64(0), Epoch: "e", Timeout: seconds(300)},
		steps(waitStep(&domtapv1.WaitStep{Target: &domtapv1.Target{Role: "button", Name: "Pay"}, Gone: true})),
		steps(waitStep(&domtapv1.WaitStep{Until: &domtapv1.WaitCondition{Text: "Done"}})),
		&domtapv1.OpenTabRequest{},
		&domtapv1.OpenTabRequest{Url: "about:blank", Viewport: &domtapv1.Viewport{Width: 1, Height: 10_000}, Timeout: seconds(300)},
		&domtapv1.NavigateRequest{TabId: "t1", Url: "https://example.com/", Timeout: durationpb.New(time.Nanosecond)},
		steps(click(ref(0))),
		steps(&domtapv1.Step{Action: &domtapv1.Step_Press{Press: &domtapv1.PressStep{Key: "Enter"}}}),
		&domtapv1.InteractRequest{TabId: "t1", Url: "https://example.com/"},
		&domtapv1.ScreenshotRequest{TabId: "t1", Format: domtapv1.ImageFormat_IMAGE_FORMAT_JPEG, Quality: proto.Int32(100)},
		&domtapv1.ScreenshotRequest{TabId: "t1", Marks: true, Ref: proto.Uint32(0)},
		&domtapv1.ReadPageRequest{TabId: "t1"},
		&domtapv1.ReadPageRequest{TabId: "t1", Mode: domtapv1.ReadMode_READ_MODE_VISUAL, MaxTokens: proto.Int32(0)},
		&domtapv1.ReadPageRequest{TabId: "t1", Mode: domtapv1.ReadMode_READ_MODE_CONTENT, MaxTokens: proto.Int32(200), Cursor: "r000000001.2.3"},
		&domtapv1.ReadPageRequest{TabId: "t1", Mode: domtapv1.ReadMode_READ_MODE_AUTO, MaxTokens: proto.Int32(50_000), Cursor: "c000000001"},
		&domtapv1.CountTokensRequest{Text: strings.Repeat("x", 4<<20)},
		&domtapv1.Element{},
	} {
		if err := Request(r); err != nil {
			t.Errorf("%T %v: %v", r, r, err)
		}
	}
}

func TestBadFieldsAreNamed(t *testing.T) {
	many := make([]string, 17)
	for i := range many {
		many[i] = "a"
	}
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
		{&domtapv1.ListCookiesRequest{Filter: &domtapv1.CookieFilter{Name: strings.Repeat("x", 8<<10+1)}}, "filter.name"},
		{&domtapv1.SetCookiesRequest{}, "cookies"},
		{&domtapv1.SetCookiesRequest{Cookies: []*domtapv1.Cookie{{Name: "a"}}}, "cookies[0].domain"},
		{&domtapv1.SetCookiesRequest{Cookies: []*domtapv1.Cookie{{Name: "a", Domain: "b", Priority: proto.String("Huge")}}}, "cookies[0].priority"},
		{&domtapv1.SetCookiesRequest{Cookies: []*domtapv1.Cookie{{Name: "a", Domain: "b", PartitionKey: proto.String("https://c.test")}}}, "cookies[0].secure"},
		{&domtapv1.SetCookiesRequest{Cookies: []*domtapv1.Cookie{{Name: "a", Domain: "b", Secure: true, PartitionKey: proto.String("c.test")}}}, "cookies[0].partition_key"},
		{&domtapv1.DeleteCookiesRequest{}, "filter"},
		{&domtapv1.DeleteCookiesRequest{Filter: &domtapv1.CookieFilter{Name: "a"}, All: true}, "all"},
		{&domtapv1.GetLocalStorageRequest{Origin: "a.test"}, "origin"},
		{&domtapv1.EditLocalStorageRequest{Edit: &domtapv1.StorageEdit{Clear: true}}, "origin"},
		{&domtapv1.EditLocalStorageRequest{Origin: "https://a.test"}, "edit"},
		{&domtapv1.EditLocalStorageRequest{Origin: "https://a.test", Edit: &domtapv1.StorageEdit{Delete: make([]string, 1001)}}, "edit.delete"},
		{&domtapv1.EditLocalStorageRequest{Origin: "https://a.test", Edit: &domtapv1.StorageEdit{Set: make([]*domtapv1.StorageEntry, 1001)}}, "edit.set"},
		{&domtapv1.GetSessionStorageRequest{}, "tab_id"},
		{&domtapv1.EditSessionStorageRequest{TabId: "t1", Origin: "x", Edit: &domtapv1.StorageEdit{Clear: true}}, "origin"},
		{stored(), "state.origins[0].indexed_db[0].version"},
		{stored(&domtapv1.ObjectStore{KeyPath: proto.String("a"), KeyPathArray: []string{"b"}}), "state.origins[0].indexed_db[0].stores[0].key_path"},
		{stored(&domtapv1.ObjectStore{Indexes: []*domtapv1.StoreIndex{{}}}), "state.origins[0].indexed_db[0].stores[0].indexes[0].key_path"},
		{stored(&domtapv1.ObjectStore{Records: []*domtapv1.StoreRecord{{Value: proto.String("1")}}}), "state.origins[0].indexed_db[0].stores[0].records[0].key"},
		{stored(&domtapv1.ObjectStore{KeyPath: proto.String("a"), Records: []*domtapv1.StoreRecord{{Key: proto.String("1"), Value: proto.String("1")}}}), "state.origins[0].indexed_db[0].stores[0].records[0].key"},
		{stored(&domtapv1.ObjectStore{Records: []*domtapv1.StoreRecord{{Key: proto.String("1")}}}), "state.origins[0].indexed_db[0].stores[0].records[0].value"},
		{stored(&domtapv1.ObjectStore{Records: []*domtapv1.StoreRecord{{Key: proto.String("1"), Value: proto.String("{")}}}), "state.origins[0].indexed_db[0].stores[0].records[0]"},
		{stored(&domtapv1.ObjectStore{Records: []*domtapv1.StoreRecord{{Key: proto.String("1"), Value: proto.String(`"` + strings.Repeat("x", 10<<20) + `"`)}}}), "state.origins"},
		{&domtapv1.SearchRequest{}, "query"},
		{&domtapv1.AddRouteRequest{}, "route"},
		{&domtapv1.RemoveRoutesRequest{RouteIds: []string{""}}, "route_ids[0]"},
		{&domtapv1.CreateSessionRequest{Settings: &domtapv1.SessionSettings{Block: []string{"adz"}}}, "settings.block"},
		{&domtapv1.SearchRequest{Query: " \n"}, "query"},
		{&domtapv1.SearchRequest{Query: strings.Repeat("x", 401)}, "query"},
		{&domtapv1.SearchRequest{Query: "x", Kind: 6}, "kind"},
		{&domtapv1.SearchRequest{Query: "x", Limit: proto.Int32(0)}, "limit"},
		{&domtapv1.SearchRequest{Query: "x", Limit: proto.Int32(51)}, "limit"},
		{&domtapv1.SearchRequest{Query: "x", Provider: strings.Repeat("x", 41)}, "provider"},
		{&domtapv1.SearchRequest{Query: "x", MaxTokens: proto.Int32(199)}, "max_tokens"},
		{&domtapv1.SearchRequest{Query: "x", MaxAge: seconds(-1)}, "max_age"},
		{&domtapv1.SearchRequest{Query: "x", MaxAge: seconds(24*60*60 + 1)}, "max_age"},
		{&domtapv1.DrainNodeRequest{}, "node_id"},
		{&domtapv1.StartLivePageRequest{Address: "7412"}, "address"},
		{&domtapv1.DrainNodeRequest{NodeId: strings.Repeat("n", 33)}, "node_id"},
		{&domtapv1.MoveSessionRequest{NodeId: "n1"}, "session_id"},
		{&domtapv1.MoveSessionRequest{SessionId: strings.Repeat("x", 5000), NodeId: "n1"}, "session_id"},
		{&domtapv1.MoveSessionRequest{SessionId: "s", NodeId: "n 1"}, "node_id"},
		{&domtapv1.ReadPageRequest{}, "tab_id"},
		{&domtapv1.ReadPageRequest{TabId: "t1", Mode: 9}, "mode"},
		{&domtapv1.ReadPageRequest{TabId: "t1", MaxTokens: proto.Int32(199)}, "max_tokens"},
		{&domtapv1.ReadPageRequest{TabId: "t1", MaxTokens: proto.Int32(50_001)}, "max_tokens"},
		{&domtapv1.ReadPageRequest{TabId: "t1", MaxTokens: proto.Int32(-1)}, "max_tokens"},
		{&domtapv1.ReadPageRequest{TabId: "t1", Cursor: strings.Repeat("1", 41)}, "cursor"},
		{&domtapv1.ReadPageRequest{TabId: "t1", Cursor: "r1.2", Mode: domtapv1.ReadMode_READ_MODE_VISUAL}, "mode"},
		{&domtapv1.ReadPageRequest{TabId: "t1", Cursor: "c1", Mode: domtapv1.ReadMode_READ_MODE_CONTENT}, "mode"},
		{&domtapv1.ScreenshotRequest{TabId: "t1", Marks: true, Format: domtapv1.ImageFormat_IMAGE_FORMAT_WEBP}, "marks"},
		{&domtapv1.GetDomRequest{TabId: "t1", SinceRevision: proto.Uint64(3)}, "epoch"},
		{&domtapv1.GetDomRequest{TabId: "t1", Cursor: "c123456789012"}, "cursor"},
		{&domtapv1.GetDomRequest{TabId: "t1", Cursor: "c1", Incremental: true}, "cursor"},
		{&domtapv1.GetCompactRequest{TabId: "t1", Cursor: "c1", SinceRevision: proto.Uint64(3), Epoch: "e"}, "cursor"},
		{&domtapv1.GetDomRequest{TabId: "t1", RootRef: &noRef}, "root_ref"},
		{&domtapv1.GetDomRequest{TabId: "t1", ClientId: strings.Repeat("x", 101)}, "client_id"},
		{&domtapv1.GetDomRequest{TabId: "t1", IncludeAttributes: many}, "include_attributes"},
		{&domtapv1.GetDomRequest{TabId: "t1", IncludeAttributes: []string{"id", "", "a b", "x=y"}},
			"include_attributes[1] include_attributes[2] include_attributes[3]"},
		{&domtapv1.GetDomRequest{MaxElements: proto.Int32(1001), MaxTokens: proto.Int32(1), ClientId: strings.Repeat("x", 101)},
			"tab_id max_elements max_tokens client_id"},
		{&domtapv1.GetCompactRequest{TabId: "t1", Format: domtapv1.Format_FORMAT_DIFF}, "format"},
		{&domtapv1.GetCompactRequest{TabId: "t1", Format: 99}, "format"},
		{&domtapv1.FindRequest{MaxResults: proto.Int32(0), MaxTokens: proto.Int32(199), ClientId: strings.Repeat("x", 101), MaxAge: seconds(61)},
			"tab_id query max_results max_tokens client_id max_age"},
		{&domtapv1.FindRequest{TabId: "t1", Query: "\t \"\"", MaxResults: proto.Int32(51)}, "query max_results"},
		{&domtapv1.FindRequest{TabId: "t1", Query: strings.Repeat("é", 201)}, "query"},
		{&domtapv1.FindRequest{TabId: "t1", Query: strings.Repeat("a ", 17)}, "query"},
		{&domtapv1.WatchDomRequest{TabId: "t1", Format: domtapv1.Format_FORMAT_LINES}, "format"},
		{&domtapv1.WatchDomRequest{TabId: "t1", Format: domtapv1.Format_FORMAT_TREE}, "format"},
		{&domtapv1.WatchDomRequest{TabId: "t1", FromRevision: proto.Uint64(3)}, "epoch"},
		{&domtapv1.WatchDomRequest{TabId: "t1", MinInterval: seconds(61)}, "min_interval"},
		{&domtapv1.GetDomRequest{TabId: "t1", MaxAge: seconds(61)}, "max_age"},
		{&domtapv1.GetCompactRequest{TabId: "t1", MaxAge: seconds(-1)}, "max_age"},
		{&domtapv1.WatchDomRequest{TabId: "t1", MinInterval: seconds(-1)}, "min_interval"},
		{&domtapv1.OpenTabRequest{Url: "example.com"}, "url"},
		{&domtapv1.OpenTabRequest{Viewport: &domtapv1.Viewport{Width: 0, Height: 10_001}}, "viewport.width viewport.height"},
		{&domtapv1.OpenTabRequest{WaitUntil: 99}, "wait_until"},
		{&domtapv1.NavigateRequest{TabId: "t1"}, "url"},
		{&domtapv1.NavigateRequest{TabId: "t1", Url: "https://example.com/", Timeout: seconds(0)}, "timeout"},
		{&domtapv1.NavigateRequest{TabId: "t1", Url: "https://example.com/", Timeout: seconds(301)}, "timeout"},
		{&domtapv1.ReloadRequest{TabId: "t1", Timeout: &durationpb.Duration{Seconds: 1, Nanos: -1}}, "timeout"},
		{&domtapv1.GoBackRequest{}, "tab_id"},
		{&domtapv1.GoForwardRequest{WaitUntil: -1}, "tab_id wait_until"},
		{&domtapv1.GetTabRequest{}, "tab_id"},
		{&domtapv1.CloseTabRequest{}, "tab_id"},
		{&domtapv1.GetHistoryRequest{}, "tab_id"},
		{&domtapv1.ListTabsRequest{SessionId: strings.Repeat("x", 201)}, "session_id"},
		{&domtapv1.WatchTabsRequest{SessionId: strings.Repeat("x", 201)}, "session_id"},
		{&domtapv1.WaitForRequest{}, "tab_id until"},
		{waiting(&domtapv1.WaitCondition{}), "until"},
		{waiting(&domtapv1.WaitCondition{Element: &domtapv1.ElementCondition{Exact: true}}), "until.element"},
		{waiting(&domtapv1.WaitCondition{Element: &domtapv1.ElementCondition{Name: " ", Text: strings.Repeat("x", 1001), Ref: &noRef, Selector: " ", State: 9}}),
			"until.element.name until.element.text until.element.ref until.element.selector until.element.state"},
		{waiting(&domtapv1.WaitCondition{Text: "\t", Url: strings.Repeat("x", 1001), NetworkIdle: seconds(61), Quiet: seconds(0)}),
			"until.text until.url until.network_idle until.quiet"},
		{&domtapv1.WaitForRequest{TabId: "t1", Until: &domtapv1.WaitCondition{Change: true}, SinceRevision: proto.Uint64(1), Timeout: seconds(301)}, "epoch timeout"},
		{steps(waitStep(&domtapv1.WaitStep{Timeout: seconds(0)})), "steps[0].wait.timeout steps[0].wait"},
		{steps(waitStep(&domtapv1.WaitStep{Target: ref(1), Until: &domtapv1.WaitCondition{Change: true}})), "steps[0].wait"},
		{steps(waitStep(&domtapv1.WaitStep{Gone: true, Until: &domtapv1.WaitCondition{}})), "steps[0].wait.gone steps[0].wait.until"},
		{steps(waitStep(&domtapv1.WaitStep{Target: &domtapv1.Target{Text: "x", Selector: "y"}})), "steps[0].wait.target"},
		{steps(), "steps"},
		{steps(slices.Repeat([]*domtapv1.Step{click(ref(1))}, 33)...), "steps"},
		{steps(slices.Repeat([]*domtapv1.Step{{Action: &domtapv1.Step_Read{Read: &domtapv1.ReadStep{}}}}, 9)...), "steps"},
		{steps(click(&domtapv1.Target{Ref: proto.Uint32(1), Nth: 2})), "steps[0].click.target.nth"},
		{steps(click(&domtapv1.Target{Text: "Save", Nth: 100_001})), "steps[0].click.target.nth"},
		{steps(click(ref(1)), &domtapv1.Step{}), "steps[1]"},
		{steps(click(nil)), "steps[0].click.target"},
		{steps(click(&domtapv1.Target{})), "steps[0].click.target"},
		{steps(click(&domtapv1.Target{Ref: proto.Uint32(1), Text: "x"})), "steps[0].click.target"},
		{steps(click(ref(noRef))), "steps[0].click.target.ref"},
		{steps(click(&domtapv1.Target{Role: " ", Name: "Pay"}), click(&domtapv1.Target{Selector: strings.Repeat("a", 1001)})),
			"steps[0].click.target.role steps[1].click.target.selector"},
		{&domtapv1.InteractRequest{TabId: "t1", Steps: []*domtapv1.Step{click(ref(1))}, Format: domtapv1.Format_FORMAT_TREE}, "format"},
		{steps(&domtapv1.Step{Action: &domtapv1.Step_Read{Read: &domtapv1.ReadStep{MaxTokens: proto.Int32(199)}}}), "steps[0].read.max_tokens"},
		{steps(&domtapv1.Step{Action: &domtapv1.Step_Screenshot{Screenshot: &domtapv1.ScreenshotStep{Marks: true, FullPage: true}}}),
			"steps[0].screenshot.marks"},
		{steps(&domtapv1.Step{Action: &domtapv1.Step_Click{Click: &domtapv1.ClickStep{
			Target: ref(1), Button: "thumb", Modifiers: []string{"Shift", "Hyper"},
		}}}), "steps[0].click.button steps[0].click.modifiers[1]"},
		{steps(&domtapv1.Step{Action: &domtapv1.Step_Press{Press: &domtapv1.PressStep{}}}), "steps[0].press.key"},
		{steps(&domtapv1.Step{Action: &domtapv1.Step_Type{Type: &domtapv1.TypeStep{
			Target: ref(1), Text: strings.Repeat("é", 100_001),
		}}}), "steps[0].type.text"},
		{steps(&domtapv1.Step{Action: &domtapv1.Step_Scroll{Scroll: &domtapv1.ScrollStep{}}}), "steps[0].scroll.target"},
		{steps(&domtapv1.Step{Action: &domtapv1.Step_Scroll{Scroll: &domtapv1.ScrollStep{DeltaX: math.NaN(), DeltaY: 1e9}}}), "steps[0].scroll.delta_x steps[0].scroll.delta_y"},
		{steps(click(&domtapv1.Target{X: proto.Float64(1)})), "steps[0].click.target.y"},
		{steps(click(&domtapv1.Target{X: proto.Float64(-1), Y: proto.Float64(math.Inf(1))})), "steps[0].click.target.x steps[0].click.target.y"},
		{steps(&domtapv1.Step{Action: &domtapv1.Step_Press{Press: &domtapv1.PressStep{Key: "a", Repeat: 101}}}), "steps[0].press.repeat"},
		{steps(&domtapv1.Step{Action: &domtapv1.Step_Fill{Fill: &domtapv1.FillStep{Target: &domtapv1.Target{X: proto.Float64(1), Y: proto.Float64(1)}}}}), "steps[0].fill.target"},
		{steps(&domtapv1.Step{Action: &domtapv1.Step_Select{Select: &domtapv1.SelectStep{Values: slices.Repeat([]string{"a"}, 101)}}}), "steps[0].select.target steps[0].select.values"},
		{steps(&domtapv1.Step{Action: &domtapv1.Step_Check{Check: &domtapv1.CheckStep{}}}), "steps[0].check.target"},
		{steps(&domtapv1.Step{Action: &domtapv1.Step_Uncheck{Uncheck: &domtapv1.UncheckStep{Target: ref(noRef)}}}), "steps[0].uncheck.target.ref"},
		{steps(mouseUp), "steps[0].mouse_up"},
		{steps(&domtapv1.Step{Action: &domtapv1.Step_Dialog{Dialog: &domtapv1.DialogStep{PromptText: proto.String("Ada")}}}), "steps[0].dialog.prompt_text"},
		{steps(mouseDown(nil)), "steps[0].mouse_down.target"},
		{steps(mouseMove(nil, 1, nil)), "steps[0].mouse_move.target"},
		{steps(mouseDown(ref(1)), mouseMove(nil, 0, nil)), "steps[1].mouse_move.target"},
		{steps(mouseDown(ref(1)), mouseDown(nil)), "steps[1].mouse_down"},
		{steps(mouseDown(ref(1)), click(ref(1)), mouseUp, mouseUp), "steps[1] steps[3].mouse_up"},
		{steps(mouseDown(ref(1)), mouseMove(nil, 100_001, slices.Repeat([]*domtapv1.Target{ref(3)}, 33))), "steps[1].mouse_move.delta_x steps[1].mouse_move.waypoints"},
		{steps(&domtapv1.Step{Action: &domtapv1.Step_MouseMove{MouseMove: &domtapv1.MouseMoveStep{Target: ref(1), Moves: 101}}}), "steps[0].mouse_move.moves"},
		{steps(&domtapv1.Step{Action: &domtapv1.Step_MouseDown{MouseDown: &domtapv1.MouseDownStep{Target: ref(1), Button: "thumb", Modifiers: []string{"Fn"}, Hold: seconds(11)}}}),
			"steps[0].mouse_down.button steps[0].mouse_down.modifiers[0] steps[0].mouse_down.hold"},
		{steps(&domtapv1.Step{Action: &domtapv1.Step_Press{Press: &domtapv1.PressStep{Key: "a", Repeat: 2, Hold: seconds(1)}}}), "steps[0].press.hold"},
		{steps(&domtapv1.Step{Action: &domtapv1.Step_Press{Press: &domtapv1.PressStep{Key: "a", Hold: seconds(11)}}}), "steps[0].press.hold"},
		{steps(&domtapv1.Step{Action: &domtapv1.Step_Scroll{Scroll: &domtapv1.ScrollStep{Target: ref(1), Modifiers: []string{"Shift"}}}}), "steps[0].scroll.modifiers"},
		{steps(&domtapv1.Step{Action: &domtapv1.Step_Scroll{Scroll: &domtapv1.ScrollStep{DeltaY: 1, Modifiers: []string{"Fn"}}}}), "steps[0].scroll.modifiers[0]"},
		{steps(&domtapv1.Step{Action: &domtapv1.Step_Drag{Drag: &domtapv1.DragStep{Target: ref(1)}}}), "steps[0].drag.to"},
		{steps(&domtapv1.Step{Action: &domtapv1.Step_Drag{Drag: &domtapv1.DragStep{Target: ref(1), To: ref(2), DeltaX: 1}}}), "steps[0].drag.to"},
		{steps(&domtapv1.Step{Action: &domtapv1.Step_Drag{Drag: &domtapv1.DragStep{Target: ref(1), To: ref(2), Waypoints: []*domtapv1.Target{ref(3), {}}}}}), "steps[0].drag.waypoints[1]"},
		{steps(&domtapv1.Step{Action: &domtapv1.Step_Drag{Drag: &domtapv1.DragStep{Target: ref(1), To: ref(2), Waypoints: slices.Repeat([]*domtapv1.Target{ref(3)}, 33)}}}), "steps[0].drag.waypoints"},
		{steps(&domtapv1.Step{Action: &domtapv1.Step_Upload{Upload: &domtapv1.UploadStep{Target: ref(1)}}}), "steps[0].upload"},
		{steps(&domtapv1.Step{Action: &domtapv1.Step_Upload{Upload: &domtapv1.UploadStep{Target: ref(1), Paths: []string{"a", "/b\x00"}, Files: []*domtapv1.UploadFile{
			{Name: "../x"}, {Name: "a/b"}, {Name: ""}, {Name: "big.bin", Content: make([]byte, 4<<20+1)}}}}}),
			"steps[0].upload.paths[0] steps[0].upload.paths[1] steps[0].upload.files[0].name steps[0].upload.files[1].name steps[0].upload.files[2].name steps[0].upload.files"},
		{&domtapv1.ScreenshotRequest{TabId: "t1", Quality: proto.Int32(80)}, "quality"},
		{&domtapv1.ScreenshotRequest{TabId: "t1", Format: domtapv1.ImageFormat_IMAGE_FORMAT_WEBP, Quality: proto.Int32(101)}, "quality"},
		{&domtapv1.ScreenshotRequest{TabId: "t1", Format: 9}, "format"},
		{&domtapv1.ScreenshotRequest{TabId: "t1", FullPage: true, Ref: proto.Uint32(1)}, "full_page"},
		{&domtapv1.CountTokensRequest{Text: strings.Repeat("x", 4<<20+1)}, "text"},
	} {
		var invalid *Invalid
		if err := Request(c.request); !errors.As(err, &invalid) {
			t.Errorf("%T wanting %s: got %v", c.request, c.want, err)
			continue
		}
		var fields []string
		for _, v := range invalid.Violations {
			fields = append(fields, v.Field)
			if v.Description == "" {
				t.Errorf("%T: the violation of %s says nothing", c.request, v.Field)
			}
		}
		if got := strings.Join(fields, " "); got != c.want {
			t.Errorf("%T: violations of %s, want %s", c.request, got, c.want)
		}
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
		{steps(waitStep(&domtapv1.WaitStep{Target: &domtapv1.Target{Label: "Email"}})), "steps[0].wait.target.label", "name"},
	} {
		var unsupported *Unsupported
		err := Request(c.request)
		if !errors.As(err, &unsupported) || !strings.Contains(unsupported.Field, c.field) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%T: got %v, want it to name %s and %s", c.request, err, c.field, c.says)
		}
	}
}

func TestInvalidFieldsAreReportedFirst(t *testing.T) {
	r := &domtapv1.InteractRequest{Url: "chrome://settings", Steps: []*domtapv1.Step{click(&domtapv1.Target{Text: "x"})}}
	var invalid *Invalid
	if err := Request(r); !errors.As(err, &invalid) {
		t.Errorf("got %v, want the missing tab_id first", err)
	}
	r.TabId = "t1"
	var refused *apierr.Error
	if err := Request(r); !errors.As(err, &refused) || refused.Kind != apierr.Refused {
		t.Errorf("got %v, want the URL refused next", err)
	}
}

// The error must fit the trailers of a client that accepts 8 KiB of metadata.
func TestViolationsAreBounded(t *testing.T) {
	modifiers := make([]string, 100_000)
	step := &domtapv1.Step{Action: &domtapv1.Step_Click{Click: &domtapv1.ClickStep{Target: ref(1), Modifiers: modifiers}}}
	var invalid *Invalid
	if err := Request(steps(step)); !errors.As(err, &invalid) || len(invalid.Violations) != maxViolations || len(err.Error()) > 4096 {
		t.Errorf("%d violations in %d bytes", len(invalid.Violations), len(invalid.Error()))
	}
}

func TestAllowURL(t *testing.T) {
	kinds := map[string]apierr.ErrorKind{"invalid": apierr.Invalid, "refused": apierr.Refused}
	for url, want := range map[string]string{
		"https://example.com/":                "",
		"http://localhost:8080/x?y#z":         "",
		"HTTP://EXAMPLE.COM":                  "",
		"http://[::1]:80/":                    "",
		"https://münchen.example/":            "",
		"data:text/html,<p>hi":                "",
		"about:blank":                         "",
		"about:blank#x":                       "",
		"":                                    "invalid",
		"example.com":                         "invalid",
		"/path":                               "invalid",
		"://":                                 "invalid",
		"http://":                             "invalid",
		"http:example.com":                    "invalid",
		"https://a b/":                        "invalid",
		"http://a\\b/":                        "invalid",
		"java\nscript:alert(1)":               "invalid",
		" javascript:alert(1)":                "invalid",
		"http://x/%zz":                        "invalid",
		"file:///etc/passwd":                  "refused",
		"FILE:///etc/passwd":                  "refused",
		"chrome://settings":                   "refused",
		"chrome-extension://x/y":              "refused",
		"javascript:alert(1)":                 "refused",
		"view-source:https://example.com/":    "refused",
		"about:version":                       "refused",
		"about:srcdoc":                        "refused",
		"blob:https://example.com/1":          "refused",
		"filesystem:https://example.com/x":    "refused",
		"ftp://example.com/":                  "refused",
		"devtools://devtools/bundled/x.html":  "refused",
		"ws://example.com/":                   "refused",
		"data:" + strings.Repeat("x", maxURL): "invalid",
	} {
		err := AllowURL(url)
		if want == "" {
			if err != nil {
				t.Errorf("%q: %v", url, err)
			}
			continue
		}
		var e *apierr.Error
		if !errors.As(err, &e) || e.Kind != kinds[want] {
			t.Errorf("%.40q: got %v, want it %s", url, err, want)
		}
	}
}

// TestEveryRequestHasAChecker fails for API methods without a checker.
func TestEveryRequestHasAChecker(t *testing.T) {
	checked := map[protoreflect.FullName]bool{"domtap.v1.ListSessionsRequest": true, "domtap.v1.ListSearchProvidersRequest": true, "domtap.v1.GetClusterRequest": true, "domtap.v1.GetReplayRequest": true, "domtap.v1.StopLivePageRequest": true} // requests without fields
	for _, c := range checkers {
		checked[reflect.Zero(c.request).Interface().(proto.Message).ProtoReflect().Descriptor().FullName()] = true
	}
	protoregistry.GlobalFiles.RangeFilesByPackage("domtap.v1", func(file protoreflect.FileDescriptor) bool {
		for i := range file.Services().Len() {
			methods := file.Services().Get(i).Methods()
			for j := range methods.Len() {
				if request := methods.Get(j).Input().FullName(); !checked[request] {
					t.Errorf("%s has no checker", request)
				}
			}
		}
		return true
	})
}

// stored returns a state with a database that has the given stores. Without stores, the version of the database is invalid.
func stored(stores ...*domtapv1.ObjectStore) *domtapv1.SetStorageStateRequest {
	d := &domtapv1.IndexedDatabase{Name: "d", Stores: stores}
	if len(stores) > 0 {
		d.Version = 1
	}
	return &domtapv1.SetStorageStateRequest{State: &domtapv1.StorageState{Origins: []*domtapv1.OriginStorage{{Origin: "https://a.test", IndexedDb: []*domtapv1.IndexedDatabase{d}}}}}
}

func TestFilesOfAllowedFoldersMayBeOpened(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "trace.html")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	files, err := folders.New([]string{dir})
	if err != nil {
		t.Fatal(err)
	}
	address := "file://" + filepath.ToSlash(path)
	for url, allowed := range map[string]bool{address: true, "file:///etc/passwd": false, "https://example.com/": true, "chrome://settings": false} {
		if err := AllowURLIn(files)(url); (err == nil) != allowed || err != nil && !apierr.Is(err, apierr.Refused) {
			t.Errorf("%s: %v", url, err)
		}
	}
	if err := AllowURLIn(folders.Folders{})(address); !apierr.Is(err, apierr.Refused) {
		t.Errorf("without folders: %v", err)
	}
}
