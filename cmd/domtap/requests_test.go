package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/domtap/domtap/cmd/domtap/internal/exit"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

func seconds(n int) *durationpb.Duration { return durationpb.New(time.Duration(n) * time.Second) }

// requestTests maps command lines to their expected last request.
var requestTests = []struct {
	line string
	want proto.Message
}{
	{"tabs", &domtapv1.ListTabsRequest{}},
	{"open example.com", &domtapv1.OpenTabRequest{Url: "https://example.com", WaitUntil: domtapv1.WaitUntil_WAIT_UNTIL_LOAD, Timeout: seconds(30)}},
	{"open data:text/html,x --wait dom-content-loaded --viewport 800x600 --timeout 5s", &domtapv1.OpenTabRequest{
		Url: "data:text/html,x", WaitUntil: domtapv1.WaitUntil_WAIT_UNTIL_DOM_CONTENT_LOADED, Timeout: seconds(5),
		Viewport: &domtapv1.Viewport{Width: 800, Height: 600}}},
	{"open x.example -w commit --timeout 0", &domtapv1.OpenTabRequest{Url: "https://x.example", WaitUntil: domtapv1.WaitUntil_WAIT_UNTIL_COMMIT, Timeout: seconds(300)}},
	{"open x.example --timeout 1h", &domtapv1.OpenTabRequest{Url: "https://x.example", WaitUntil: domtapv1.WaitUntil_WAIT_UNTIL_LOAD, Timeout: seconds(300)}},
	{"open x.example --restore", &domtapv1.OpenTabRequest{Url: "https://x.example", WaitUntil: domtapv1.WaitUntil_WAIT_UNTIL_LOAD, Timeout: seconds(30), Restore: true}},
	{"goto localhost:80/x", &domtapv1.NavigateRequest{TabId: "t2", Url: "http://localhost:80/x", WaitUntil: domtapv1.WaitUntil_WAIT_UNTIL_LOAD, Timeout: seconds(30)}},
	{"back --tab t1 -w network_idle", &domtapv1.GoBackRequest{TabId: "t1", WaitUntil: domtapv1.WaitUntil_WAIT_UNTIL_NETWORK_IDLE, Timeout: seconds(30)}},
	{"forward", &domtapv1.GoForwardRequest{TabId: "t2", WaitUntil: domtapv1.WaitUntil_WAIT_UNTIL_LOAD, Timeout: seconds(30)}},
	{"reload -t t1", &domtapv1.ReloadRequest{TabId: "t1", WaitUntil: domtapv1.WaitUntil_WAIT_UNTIL_LOAD, Timeout: seconds(30)}},
	{"close", &domtapv1.CloseTabRequest{TabId: "t2"}},
	{"close t1", &domtapv1.CloseTabRequest{TabId: "t1"}},
	{"stats", &domtapv1.GetStatsRequest{}},
	{"stats -s work --tab t1", &domtapv1.GetStatsRequest{SessionId: "work", TabId: "t1"}},
	{"cluster status", &domtapv1.GetClusterRequest{}},
	{"cluster drain n2", &domtapv1.DrainNodeRequest{NodeId: "n2"}},
	{"cluster drain n2 --undo", &domtapv1.DrainNodeRequest{NodeId: "n2", Undo: true}},
	{"cluster move alice.work n3", &domtapv1.MoveSessionRequest{SessionId: "alice.work", NodeId: "n3"}},
	{"search go release", &domtapv1.SearchRequest{Query: "go release", Kind: domtapv1.SearchKind_SEARCH_KIND_WEB}},
	{"search -k news -n 5 --max-tokens 0 --max-age 1h --provider brave go", &domtapv1.SearchRequest{
		Query: "go", Kind: domtapv1.SearchKind_SEARCH_KIND_NEWS, Limit: proto.Int32(5), MaxTokens: proto.Int32(0), MaxAge: seconds(3600), Provider: "brave"}},
	{"search --kind images --max 3 --max-age 0 go", &domtapv1.SearchRequest{Query: "go", Kind: domtapv1.SearchKind_SEARCH_KIND_IMAGES, Limit: proto.Int32(3), MaxAge: seconds(0)}},
	{"cookies list", &domtapv1.ListCookiesRequest{Filter: &domtapv1.CookieFilter{}}},
	{"cookies list id -s work --domain a.test --path /x --partition https://b.test --values", &domtapv1.ListCookiesRequest{
		SessionId: "work", Values: true, Filter: &domtapv1.CookieFilter{Name: "id", Domain: "a.test", Path: "/x", PartitionKey: proto.String("https://b.test")}}},
	{"cookies set a b --url https://a.test:8443/x", &domtapv1.SetCookiesRequest{Cookies: []*domtapv1.Cookie{{Name: "a", Value: "b", Domain: "a.test", Path: "/", Expires: -1, Secure: true}}}},
	{"cookies set a b -s work --domain .a.test --path /x --secure --http-only --same-site None --priority High --partition https://b.test --expires 2033-05-18T03:33:20Z", &domtapv1.SetCookiesRequest{
		SessionId: "work", Cookies: []*domtapv1.Cookie{{Name: "a", Value: "b", Domain: ".a.test", Path: "/x", Expires: 2e9, Secure: true, HttpOnly: true, SameSite: "None",
			Priority: proto.String("High"), PartitionKey: proto.String("https://b.test")}}}},
	{"cookies delete a --partition=", &domtapv1.DeleteCookiesRequest{Filter: &domtapv1.CookieFilter{Name: "a", PartitionKey: proto.String("")}}},
	{"cookies delete --all", &domtapv1.DeleteCookiesRequest{Filter: &domtapv1.CookieFilter{}, All: true}},
	{"storage list -s work", &domtapv1.GetLocalStorageRequest{SessionId: "work"}},
	{"storage list --origin https://a.test --values", &domtapv1.GetLocalStorageRequest{Origin: "https://a.test", Values: true}},
	{"storage list --area session", &domtapv1.GetSessionStorageRequest{TabId: "t2"}},
	{"storage set a b --origin https://a.test", &domtapv1.EditLocalStorageRequest{Origin: "https://a.test", Edit: &domtapv1.StorageEdit{Set: []*domtapv1.StorageEntry{{Name: "a", Value: "b"}}}}},
	{"storage delete a b --area session -t t1 --origin https://a.test", &domtapv1.EditSessionStorageRequest{TabId: "t1", Origin: "https://a.test", Edit: &domtapv1.StorageEdit{Delete: []string{"a", "b"}}}},
	{"storage clear --area session", &domtapv1.EditSessionStorageRequest{TabId: "t2", Edit: &domtapv1.StorageEdit{Clear: true}}},
	{"session save work - --indexed-db", &domtapv1.GetStorageStateRequest{SessionId: "work", IndexedDb: true}},
	{"route block **/*.png --type image,font --method get -s work --reason timed-out", &domtapv1.AddRouteRequest{SessionId: "work", Route: &domtapv1.Route{
		UrlPattern: "**/*.png", ResourceTypes: []string{"image", "font"}, Methods: []string{"GET"},
		Action: &domtapv1.Route_Abort{Abort: &domtapv1.RouteAbort{Reason: domtapv1.AbortReason_ABORT_REASON_TIMED_OUT}}}}},
	{"route block x", &domtapv1.AddRouteRequest{Route: &domtapv1.Route{UrlPattern: "x",
		Action: &domtapv1.Route_Abort{Abort: &domtapv1.RouteAbort{Reason: domtapv1.AbortReason_ABORT_REASON_BLOCKED_BY_CLIENT}}}}},
	{"route mock x --status 503 --body no --header A:b", &domtapv1.AddRouteRequest{Route: &domtapv1.Route{UrlPattern: "x",
		Action: &domtapv1.Route_Fulfill{Fulfill: &domtapv1.RouteFulfill{Status: 503, Body: []byte("no"),
			Headers: []*domtapv1.Header{{Name: "A", Value: "b"}, {Name: "Content-Type", Value: "text/plain; charset=utf-8"}}}}}}},
	{"route mock x --json-body {}", &domtapv1.AddRouteRequest{Route: &domtapv1.Route{UrlPattern: "x",
		Action: &domtapv1.Route_Fulfill{Fulfill: &domtapv1.RouteFulfill{Status: 200, Body: []byte("{}"), Headers: []*domtapv1.Header{{Name: "Content-Type", Value: "application/json"}}}}}}},
	{"route rewrite x --to http://y/ --to-method put --set-header A:b --remove-header C", &domtapv1.AddRouteRequest{Route: &domtapv1.Route{UrlPattern: "x",
		Action: &domtapv1.Route_Modify{Modify: &domtapv1.RouteModify{Url: "http://y/", Method: "PUT", SetHeaders: []*domtapv1.Header{{Name: "A", Value: "b"}}, RemoveHeaders: []string{"C"}}}}}},
	{"route list -s work", &domtapv1.ListRoutesRequest{SessionId: "work"}},
	{"route remove r1 r2", &domtapv1.RemoveRoutesRequest{RouteIds: []string{"r1", "r2"}}},
	{"route remove --all", &domtapv1.RemoveRoutesRequest{}},
	{"session new a --proxy http://ada:love%40@proxy.example:3128 --proxy-bypass x.example,<local>", &domtapv1.CreateSessionRequest{SessionId: "a", Settings: &domtapv1.SessionSettings{
		Emulation: &domtapv1.Emulation{}, Proxy: &domtapv1.Proxy{Server: "http://proxy.example:3128", Username: "ada", Password: "love@", Bypass: []string{"x.example", "<local>"}}}}},
	{"session new a --block ads,fonts --block media", &domtapv1.CreateSessionRequest{SessionId: "a", Settings: &domtapv1.SessionSettings{Emulation: &domtapv1.Emulation{}, Block: []string{"ads", "fonts", "media"}}}},
	{"dom", &domtapv1.GetDomRequest{TabId: "t2"}},
	{"dom --viewport-only --max-elements 0 --max-tokens 200 --all --full --root 0 --frame f --attr id,class --cursor c1", &domtapv1.GetDomRequest{
		TabId: "t2", ViewportOnly: true, MaxElements: proto.Int32(0), MaxTokens: proto.Int32(200), InteractiveOnly: proto.Bool(false),
		FullSnapshot: true, RootRef: proto.Uint32(0), FrameId: "f", IncludeAttributes: []string{"id", "class"}, Cursor: "c1"}},
	{"compact", &domtapv1.GetCompactRequest{TabId: "t2", Format: domtapv1.Format_FORMAT_LINES}},
	{"compact -f tree --max-elements 7 --root 3", &domtapv1.GetCompactRequest{
		TabId: "t2", Format: domtapv1.Format_FORMAT_TREE, MaxElements: proto.Int32(7), RootRef: proto.Uint32(3)}},
	{"compact -f diff --since 0 --epoch e", &domtapv1.GetCompactRequest{
		TabId: "t2", Format: domtapv1.Format_FORMAT_DIFF, SinceRevision: proto.Uint64(0), Epoch: "e"}},
	{"read", &domtapv1.ReadPageRequest{TabId: "t2", Mode: domtapv1.ReadMode_READ_MODE_AUTO}},
	{"read t1 --mode content --max-tokens 0 --cursor r1.2", &domtapv1.ReadPageRequest{
		TabId: "t1", Mode: domtapv1.ReadMode_READ_MODE_CONTENT, MaxTokens: proto.Int32(0), Cursor: "r1.2"}},
	{"read -m interactive --max-tokens 300", &domtapv1.ReadPageRequest{
		TabId: "t2", Mode: domtapv1.ReadMode_READ_MODE_INTERACTIVE, MaxTokens: proto.Int32(300)}},
	{"read --outline", &domtapv1.ReadPageRequest{TabId: "t2", Mode: domtapv1.ReadMode_READ_MODE_CONTENT}},
	{"form Name=Ada @7=x=y Agree --submit --url https://x.example/", &domtapv1.FillFormRequest{TabId: "t2", Format: domtapv1.Format_FORMAT_DENSE_DIFF, Brief: true, Submit: true, Url: "https://x.example/",
		Fields: []*domtapv1.FormField{{Label: "Name", Value: "Ada"}, {Ref: proto.Uint32(7), Value: "x=y"}, {Label: "Agree"}}}},
	{"form [7]=x [ref=e8]=y=z [9] e7=label", &domtapv1.FillFormRequest{TabId: "t2", Format: domtapv1.Format_FORMAT_DENSE_DIFF, Brief: true, Fields: []*domtapv1.FormField{
		{Ref: proto.Uint32(7), Value: "x"}, {Ref: proto.Uint32(8), Value: "y=z"}, {Ref: proto.Uint32(9)}, {Label: "e7", Value: "label"}}}},
	{"compact --root [ref=e3]", &domtapv1.GetCompactRequest{TabId: "t2", Format: domtapv1.Format_FORMAT_LINES, RootRef: proto.Uint32(3)}},
	{"shot --ref e3 -", &domtapv1.ScreenshotRequest{TabId: "t2", Format: domtapv1.ImageFormat_IMAGE_FORMAT_PNG, Ref: proto.Uint32(3)}},
	{"type Oslo --submit", interact(&domtapv1.Step{Action: &domtapv1.Step_Type{Type: &domtapv1.TypeStep{Text: "Oslo", Submit: true}}})},
	{"click @15", interact(&domtapv1.Step{Action: &domtapv1.Step_Click{Click: &domtapv1.ClickStep{Target: refTarget(15)}}})},
	{"screenshot --annotate -", &domtapv1.ScreenshotRequest{TabId: "t2", Format: domtapv1.ImageFormat_IMAGE_FORMAT_PNG, Marks: true}},
	{"snapshot", &domtapv1.GetCompactRequest{TabId: "t2", Format: domtapv1.Format_FORMAT_DENSE, IncludeHistory: proto.Bool(false), Brief: true}},
	{"snapshot --hrefs --max-tokens 500", &domtapv1.GetCompactRequest{
		TabId: "t2", Format: domtapv1.Format_FORMAT_DENSE, IncludeHistory: proto.Bool(false), Brief: true, Hrefs: true, MaxTokens: proto.Int32(500)}},
	{"snapshot -f dense_diff", &domtapv1.GetCompactRequest{TabId: "t2", Format: domtapv1.Format_FORMAT_DENSE_DIFF, IncludeHistory: proto.Bool(false), Incremental: true, Brief: true}},
	{"snapshot --history", &domtapv1.GetCompactRequest{TabId: "t2", Format: domtapv1.Format_FORMAT_DENSE, IncludeHistory: proto.Bool(true), Brief: true}},
	{"snapshot --each", &domtapv1.GetCompactRequest{TabId: "t2", Format: domtapv1.Format_FORMAT_DENSE, IncludeHistory: proto.Bool(false)}},
	{"click 15 --each", &domtapv1.InteractRequest{TabId: "t2", Format: domtapv1.Format_FORMAT_DENSE_DIFF, Steps: []*domtapv1.Step{
		{Action: &domtapv1.Step_Click{Click: &domtapv1.ClickStep{Target: refTarget(15)}}}}}},
	{"compact -f dense", &domtapv1.GetCompactRequest{TabId: "t2", Format: domtapv1.Format_FORMAT_DENSE, IncludeHistory: proto.Bool(false), Brief: true}},
	{"find sign in", &domtapv1.FindRequest{TabId: "t2", Query: "sign in"}},
	{`find --within [7] Pay`, &domtapv1.FindRequest{TabId: "t2", Query: "Pay", Within: "[7]"}},
	{`find -t t1 --max-results 3 --max-tokens 0 Pay`, &domtapv1.FindRequest{
		TabId: "t1", Query: "Pay", MaxResults: proto.Int32(3), MaxTokens: proto.Int32(0)}},
	{"fill-form a=b", &domtapv1.FillFormRequest{TabId: "t2", Format: domtapv1.Format_FORMAT_DENSE_DIFF, Brief: true, Fields: []*domtapv1.FormField{{Label: "a", Value: "b"}}}},
	{"shot --marks -", &domtapv1.ScreenshotRequest{TabId: "t2", Format: domtapv1.ImageFormat_IMAGE_FORMAT_PNG, Marks: true}},
	{"pdf -", &domtapv1.PdfRequest{TabId: "t2", Format: domtapv1.PaperFormat_PAPER_FORMAT_A4}},
	{"pdf --paper letter --landscape --background --scale 0.5 --pages 1-5,8 -t t1 -", &domtapv1.PdfRequest{
		TabId: "t1", Format: domtapv1.PaperFormat_PAPER_FORMAT_LETTER, Landscape: true, PrintBackground: true, Scale: proto.Float64(0.5), PageRanges: "1-5,8"}},
	{"extract h1 a@href --root 0 --max-rows 5", &domtapv1.ExtractRequest{
		TabId: "t2", Selectors: []string{"h1", "a@href"}, RootRef: proto.Uint32(0), MaxRows: proto.Int32(5)}},
	{"extract --table Name,Price --caption Goods", &domtapv1.ExtractRequest{
		TabId: "t2", Table: &domtapv1.ExtractTable{Headers: []string{"Name", "Price"}, Caption: "Goods"}}},
	{"extract --table=", &domtapv1.ExtractRequest{TabId: "t2", Table: &domtapv1.ExtractTable{}}},
	{"batch a.example http://b.example/x -m content --parallel 2 --each 3s --max-tokens 0", &domtapv1.BatchRequest{
		Urls: []string{"https://a.example", "http://b.example/x"}, What: domtapv1.ReadMode_READ_MODE_CONTENT, Parallel: 2, Timeout: seconds(3), MaxTokens: proto.Int32(0)}},
	{"eval document.title", &domtapv1.EvaluateRequest{TabId: "t2", Expression: "document.title"}},
	{"eval --ref 0 --frame f el=>el.id", &domtapv1.EvaluateRequest{TabId: "t2", Expression: "el=>el.id", Ref: proto.Uint32(0), FrameId: "f"}},
	{"log", &domtapv1.ReadLogRequest{TabId: "t2"}},
	{"log t1 --console --errors --network --problems --after 7 --max 9", &domtapv1.ReadLogRequest{TabId: "t1", After: 7, MaxEntries: proto.Int32(9), ProblemsOnly: true,
		Kinds: []domtapv1.LogKind{domtapv1.LogKind_LOG_KIND_CONSOLE, domtapv1.LogKind_LOG_KIND_ERROR, domtapv1.LogKind_LOG_KIND_NETWORK}}},
	{"request 12", &domtapv1.GetRequestRequest{TabId: "t2", RequestId: 12}},
	{"request 12 --body --max-bytes 9", &domtapv1.GetRequestRequest{TabId: "t2", RequestId: 12, Body: true, MaxBodyBytes: proto.Int32(9)}},
	{"request 12 --save -", &domtapv1.GetRequestRequest{TabId: "t2", RequestId: 12, Body: true, MaxBodyBytes: proto.Int32(1 << 20)}},
	{"har -", &domtapv1.ExportHarRequest{TabId: "t2"}},
	{"har - --bodies --max-bytes 7", &domtapv1.ExportHarRequest{TabId: "t2", Bodies: true, MaxBodyBytes: proto.Int32(7)}},
	{"video -", &domtapv1.RecordVideoRequest{TabId: "t2", Duration: seconds(10)}},
	{"video - --time 3s --fps 2 --width 400", &domtapv1.RecordVideoRequest{TabId: "t2", Duration: seconds(3), Fps: proto.Int32(2), MaxWidth: proto.Int32(400)}},
	{"audit", &domtapv1.AuditRequest{TabId: "t2"}},
	{"audit t1 --errors --max-tokens 300 --max-findings 4", &domtapv1.AuditRequest{TabId: "t1", ErrorsOnly: true, MaxTokens: proto.Int32(300), MaxFindings: proto.Int32(4)}},
	{"watch", &domtapv1.WatchDomRequest{TabId: "t2", Format: domtapv1.Format_FORMAT_DENSE_DIFF}},
	{"watch --all --frame f --omit-initial --min-interval 1s", &domtapv1.WatchDomRequest{
		TabId: "t2", Format: domtapv1.Format_FORMAT_DENSE_DIFF, InteractiveOnly: proto.Bool(false), FrameId: "f", OmitInitial: true, MinInterval: seconds(1)}},
	{"wait --text Done", &domtapv1.WaitForRequest{TabId: "t2", Format: domtapv1.Format_FORMAT_DENSE_DIFF, Brief: true, Timeout: seconds(30), Until: &domtapv1.WaitCondition{
		Element: &domtapv1.ElementCondition{Text: "Done"}}}},
	{"wait t1 --role button --name Pay --ref 0 --selector a.b --exact --enabled --timeout 0", &domtapv1.WaitForRequest{
		TabId: "t1", Format: domtapv1.Format_FORMAT_DENSE_DIFF, Brief: true, Timeout: seconds(300), Until: &domtapv1.WaitCondition{Element: &domtapv1.ElementCondition{
			Role: "button", Name: "Pay", Ref: proto.Uint32(0), Selector: "a.b", Exact: true, State: domtapv1.ElementState_ELEMENT_STATE_ENABLED}}}},
	{"wait --role progressbar --gone --url */done --network-idle --quiet 1s --change --timeout 1m", &domtapv1.WaitForRequest{
		TabId: "t2", Format: domtapv1.Format_FORMAT_DENSE_DIFF, Brief: true, Timeout: seconds(60), Until: &domtapv1.WaitCondition{
			Element: &domtapv1.ElementCondition{Role: "progressbar", State: domtapv1.ElementState_ELEMENT_STATE_GONE},
			Url:     "*/done", NetworkIdle: durationpb.New(500 * time.Millisecond), Quiet: seconds(1), Change: true}}},
	{"wait --network-idle=2s", &domtapv1.WaitForRequest{TabId: "t2", Format: domtapv1.Format_FORMAT_DENSE_DIFF, Brief: true, Timeout: seconds(30), Until: &domtapv1.WaitCondition{NetworkIdle: seconds(2)}}},
	{"click 0", interact(&domtapv1.Step{Action: &domtapv1.Step_Click{Click: &domtapv1.ClickStep{Target: refTarget(0)}}})},
	{"click [12]", interact(&domtapv1.Step{Action: &domtapv1.Step_Click{Click: &domtapv1.ClickStep{Target: refTarget(12)}}})},
	{"type 7 hello --submit", interact(&domtapv1.Step{Action: &domtapv1.Step_Type{Type: &domtapv1.TypeStep{Target: refTarget(7), Text: "hello", Submit: true}}})},
	{"type 7 -- -5", interact(&domtapv1.Step{Action: &domtapv1.Step_Type{Type: &domtapv1.TypeStep{Target: refTarget(7), Text: "-5"}}})},
	{"click 3 --button right --modifier Shift --modifier Alt", interact(&domtapv1.Step{Action: &domtapv1.Step_Click{Click: &domtapv1.ClickStep{
		Target: refTarget(3), Button: "right", Modifiers: []string{"Shift", "Alt"}}}})},
	{"click --role button --name Pay", interact(&domtapv1.Step{Action: &domtapv1.Step_Click{Click: &domtapv1.ClickStep{Target: &domtapv1.Target{Role: "button", Name: "Pay"}}}})},
	{"dblclick --at 12.5,40", interact(&domtapv1.Step{Action: &domtapv1.Step_DoubleClick{DoubleClick: &domtapv1.DoubleClickStep{
		Target: &domtapv1.Target{X: proto.Float64(12.5), Y: proto.Float64(40)}}}})},
	{"hover --test-id menu", interact(&domtapv1.Step{Action: &domtapv1.Step_Hover{Hover: &domtapv1.HoverStep{Target: &domtapv1.Target{TestId: "menu"}}}})},
	{"fill 7 x", interact(&domtapv1.Step{Action: &domtapv1.Step_Fill{Fill: &domtapv1.FillStep{Target: refTarget(7), Text: "x"}}})},
	{"fill -t t2 7 -40", interact(&domtapv1.Step{Action: &domtapv1.Step_Fill{Fill: &domtapv1.FillStep{Target: refTarget(7), Text: "-40"}}})},
	{"fill 7 -.5 --within 3", interact(&domtapv1.Step{Action: &domtapv1.Step_Fill{Fill: &domtapv1.FillStep{Target: &domtapv1.Target{Text: "7", Within: "3"}, Text: "-.5"}}})},
	{"fill --label Email a@b.c", interact(&domtapv1.Step{Action: &domtapv1.Step_Fill{Fill: &domtapv1.FillStep{Target: &domtapv1.Target{Label: "Email"}, Text: "a@b.c"}}})},
	{"press Enter", interact(&domtapv1.Step{Action: &domtapv1.Step_Press{Press: &domtapv1.PressStep{Key: "Enter"}}})},
	{"press Control+a 7 --repeat 2", interact(&domtapv1.Step{Action: &domtapv1.Step_Press{Press: &domtapv1.PressStep{Key: "Control+a", Target: refTarget(7), Repeat: 2}}})},
	{"press Tab --placeholder Search", interact(&domtapv1.Step{Action: &domtapv1.Step_Press{Press: &domtapv1.PressStep{Key: "Tab", Target: &domtapv1.Target{Placeholder: "Search"}}}})},
	{"select 5 red blue", interact(&domtapv1.Step{Action: &domtapv1.Step_Select{Select: &domtapv1.SelectStep{Target: refTarget(5), Values: []string{"red", "blue"}}}})},
	{`click 14 --within Total`, interact(&domtapv1.Step{Action: &domtapv1.Step_Click{Click: &domtapv1.ClickStep{Target: &domtapv1.Target{Text: "14", Within: "Total"}}}})},
	{"click img --within Tea", interact(&domtapv1.Step{Action: &domtapv1.Step_Click{Click: &domtapv1.ClickStep{Target: &domtapv1.Target{Role: "img", Within: "Tea"}}}})},
	{"click generic --within Rice --nth 2", interact(&domtapv1.Step{Action: &domtapv1.Step_Click{Click: &domtapv1.ClickStep{Target: &domtapv1.Target{Role: "generic", Within: "Rice", Nth: 2}}}})},
	{"select combobox Red --within Size", interact(&domtapv1.Step{Action: &domtapv1.Step_Select{Select: &domtapv1.SelectStep{Target: &domtapv1.Target{Role: "combobox", Within: "Size"}, Values: []string{"Red"}}}})},
	{"press ArrowRight slider --nth 3", interact(&domtapv1.Step{Action: &domtapv1.Step_Press{Press: &domtapv1.PressStep{Key: "ArrowRight", Target: &domtapv1.Target{Role: "slider", Nth: 3}}}})},
	{"fill slider 4 --nth 2", interact(&domtapv1.Step{Action: &domtapv1.Step_Fill{Fill: &domtapv1.FillStep{Target: &domtapv1.Target{Role: "slider", Nth: 2}, Text: "4"}}})},
	{"click search --nth 2", interact(&domtapv1.Step{Action: &domtapv1.Step_Click{Click: &domtapv1.ClickStep{Target: &domtapv1.Target{Text: "search", Nth: 2}}}})},
	{"check 5", interact(&domtapv1.Step{Action: &domtapv1.Step_Check{Check: &domtapv1.CheckStep{Target: refTarget(5)}}})},
	{"uncheck --text Gift", interact(&domtapv1.Step{Action: &domtapv1.Step_Uncheck{Uncheck: &domtapv1.UncheckStep{Target: &domtapv1.Target{Text: "Gift"}}}})},
	{"scroll 5", interact(&domtapv1.Step{Action: &domtapv1.Step_Scroll{Scroll: &domtapv1.ScrollStep{Target: refTarget(5)}}})},
	{"scroll --by 0,-600", interact(&domtapv1.Step{Action: &domtapv1.Step_Scroll{Scroll: &domtapv1.ScrollStep{DeltaY: -600}}})},
	{"scroll --to bottom", interact(&domtapv1.Step{Action: &domtapv1.Step_Scroll{Scroll: &domtapv1.ScrollStep{DeltaY: 100_000}}})},
	{"scroll --to end", interact(&domtapv1.Step{Action: &domtapv1.Step_Scroll{Scroll: &domtapv1.ScrollStep{DeltaY: 100_000}}})},
	{"scroll 5 --to start", interact(&domtapv1.Step{Action: &domtapv1.Step_Scroll{Scroll: &domtapv1.ScrollStep{Target: refTarget(5), DeltaY: -100_000}}})},
	{"scroll --selector main --by 5,6", interact(&domtapv1.Step{Action: &domtapv1.Step_Scroll{Scroll: &domtapv1.ScrollStep{Target: &domtapv1.Target{Selector: "main"}, DeltaX: 5, DeltaY: 6}}})},
	{"drag 4 9", interact(&domtapv1.Step{Action: &domtapv1.Step_Drag{Drag: &domtapv1.DragStep{Target: refTarget(4), To: refTarget(9)}}})},
	{"drag 4 --by 120,0", interact(&domtapv1.Step{Action: &domtapv1.Step_Drag{Drag: &domtapv1.DragStep{Target: refTarget(4), DeltaX: 120}}})},
	{"drag --ref 4 --to-at 1,2", interact(&domtapv1.Step{Action: &domtapv1.Step_Drag{Drag: &domtapv1.DragStep{
		Target: refTarget(4), To: &domtapv1.Target{X: proto.Float64(1), Y: proto.Float64(2)}}}})},
	{"drag 4 9 --waypoint [6] --waypoint 1,2", interact(&domtapv1.Step{Action: &domtapv1.Step_Drag{Drag: &domtapv1.DragStep{
		Target: refTarget(4), To: refTarget(9), Waypoints: []*domtapv1.Target{refTarget(6), {X: proto.Float64(1), Y: proto.Float64(2)}}}}})},
	{"mouse down 4 move 9 1,2 by 3,-4 press Escape up --button right --modifier Shift --hold 1s --moves 3", &domtapv1.InteractRequest{TabId: "t2", Format: domtapv1.Format_FORMAT_DENSE_DIFF, Brief: true, Steps: []*domtapv1.Step{
		{Action: &domtapv1.Step_MouseDown{MouseDown: &domtapv1.MouseDownStep{Target: refTarget(4), Button: "right", Modifiers: []string{"Shift"}, Hold: seconds(1)}}},
		{Action: &domtapv1.Step_MouseMove{MouseMove: &domtapv1.MouseMoveStep{Target: &domtapv1.Target{X: proto.Float64(1), Y: proto.Float64(2)}, DeltaX: 3, DeltaY: -4, Waypoints: []*domtapv1.Target{refTarget(9)}, Moves: 3}}},
		{Action: &domtapv1.Step_Press{Press: &domtapv1.PressStep{Key: "Escape"}}},
		{Action: &domtapv1.Step_MouseUp{MouseUp: &domtapv1.MouseUpStep{}}}}}},
	{"mouse down move by 80,0 --role slider", &domtapv1.InteractRequest{TabId: "t2", Format: domtapv1.Format_FORMAT_DENSE_DIFF, Brief: true, Steps: []*domtapv1.Step{
		{Action: &domtapv1.Step_MouseDown{MouseDown: &domtapv1.MouseDownStep{Target: &domtapv1.Target{Role: "slider"}}}},
		{Action: &domtapv1.Step_MouseMove{MouseMove: &domtapv1.MouseMoveStep{DeltaX: 80}}}}}},
	{"type --focused 42", interact(&domtapv1.Step{Action: &domtapv1.Step_Type{Type: &domtapv1.TypeStep{Text: "42"}}})},
	{"press Tab --times 3", interact(&domtapv1.Step{Action: &domtapv1.Step_Press{Press: &domtapv1.PressStep{Key: "Tab", Repeat: 3}}})},
	{"click Ada --role option", interact(&domtapv1.Step{Action: &domtapv1.Step_Click{Click: &domtapv1.ClickStep{Target: &domtapv1.Target{Role: "option", Name: "Ada"}}}})},
	{"fill Name Ada --role textbox", interact(&domtapv1.Step{Action: &domtapv1.Step_Fill{Fill: &domtapv1.FillStep{Target: &domtapv1.Target{Role: "textbox", Name: "Name"}, Text: "Ada"}}})},
	{"scroll bottom --within Orders", interact(&domtapv1.Step{Action: &domtapv1.Step_Scroll{Scroll: &domtapv1.ScrollStep{Target: &domtapv1.Target{Text: "bottom", Within: "Orders"}}}})},
	{"scroll bottom", interact(&domtapv1.Step{Action: &domtapv1.Step_Scroll{Scroll: &domtapv1.ScrollStep{DeltaY: 100000}}})},
	{"scroll up", interact(&domtapv1.Step{Action: &domtapv1.Step_Scroll{Scroll: &domtapv1.ScrollStep{DeltaY: -600}}})},
	{"scroll --text bottom", interact(&domtapv1.Step{Action: &domtapv1.Step_Scroll{Scroll: &domtapv1.ScrollStep{Target: &domtapv1.Target{Text: "bottom"}}}})},
	{"press ArrowRight --hold 500ms", interact(&domtapv1.Step{Action: &domtapv1.Step_Press{Press: &domtapv1.PressStep{Key: "ArrowRight", Hold: durationpb.New(500 * time.Millisecond)}}})},
	{"scroll --at 1,2 --by 0,-120 --modifier Control", interact(&domtapv1.Step{Action: &domtapv1.Step_Scroll{Scroll: &domtapv1.ScrollStep{
		Target: &domtapv1.Target{X: proto.Float64(1), Y: proto.Float64(2)}, DeltaY: -120, Modifiers: []string{"Control"}}}})},
	{"upload 4 testdata/upload.txt", interact(&domtapv1.Step{Action: &domtapv1.Step_Upload{Upload: &domtapv1.UploadStep{
		Target: refTarget(4), Files: []*domtapv1.UploadFile{{Name: "upload.txt", Content: []byte("for a test\n")}}}}})},
	{"upload 4 /a/b --by-path", interact(&domtapv1.Step{Action: &domtapv1.Step_Upload{Upload: &domtapv1.UploadStep{Target: refTarget(4), Paths: []string{"/a/b"}}}})},
	{"restore", &domtapv1.GetTabRequest{TabId: "t2"}}, // only reads the state
	{"restore --on", &domtapv1.SetRestoreRequest{TabId: "t2", Restore: true}},
	{"restore --off --tab t1", &domtapv1.SetRestoreRequest{TabId: "t1"}},
	{"dialog accept", interact(&domtapv1.Step{Action: &domtapv1.Step_Dialog{Dialog: &domtapv1.DialogStep{Accept: true}}})},
	{"dialog accept Bea --tab t1 --id 3", &domtapv1.InteractRequest{TabId: "t1", Format: domtapv1.Format_FORMAT_DENSE_DIFF, Brief: true, Steps: []*domtapv1.Step{
		{Action: &domtapv1.Step_Dialog{Dialog: &domtapv1.DialogStep{Accept: true, PromptText: proto.String("Bea"), DialogId: 3}}}}}},
	{"downloads", &domtapv1.ListDownloadsRequest{}},
	{"downloads --session work -o json", &domtapv1.ListDownloadsRequest{SessionId: "work"}},
	{"dialog dismiss", interact(&domtapv1.Step{Action: &domtapv1.Step_Dialog{Dialog: &domtapv1.DialogStep{}}})},
	{"shot -", &domtapv1.ScreenshotRequest{TabId: "t2", Format: domtapv1.ImageFormat_IMAGE_FORMAT_PNG}},
	{"shot --ref 0 --full-page --quality 5 -", &domtapv1.ScreenshotRequest{
		TabId: "t2", Format: domtapv1.ImageFormat_IMAGE_FORMAT_PNG, Ref: proto.Uint32(0), FullPage: true, Quality: proto.Int32(5)}},
}

func refTarget(n uint32) *domtapv1.Target { return &domtapv1.Target{Ref: proto.Uint32(n)} }

func interact(step *domtapv1.Step) *domtapv1.InteractRequest {
	return &domtapv1.InteractRequest{TabId: "t2", Steps: []*domtapv1.Step{step}, Format: domtapv1.Format_FORMAT_DENSE_DIFF, Brief: true}
}

func TestCommandLinesBecomeRequests(t *testing.T) {
	daemon := newFakeDaemon(t).start(t)
	for _, test := range requestTests {
		got := daemon.at().run(t, strings.Fields(test.line)...)
		if got.code != exit.OK {
			t.Errorf("%s: exit code %d: %s", test.line, got.code, got.errors)
			continue
		}
		if request := daemon.last(t); !proto.Equal(request, test.want) {
			t.Errorf("%s:\ngot  %T %v\nwant %T %v", test.line, request, prototext.Format(request), test.want, prototext.Format(test.want))
		}
	}
}

func TestTypeReadsStandardInput(t *testing.T) {
	daemon := newFakeDaemon(t).start(t)
	cmd := daemon.at()
	cmd.in = "pass word\r\n"
	if got := cmd.run(t, "type", "7", "-"); got.code != exit.OK {
		t.Fatal(got)
	}
	want := interact(&domtapv1.Step{Action: &domtapv1.Step_Type{Type: &domtapv1.TypeStep{Target: refTarget(7), Text: "pass word"}}})
	if request := daemon.last(t); !proto.Equal(request, want) {
		t.Errorf("got %v", request)
	}
}

func TestShotSavesTheFormatOfTheName(t *testing.T) {
	daemon := newFakeDaemon(t).start(t)
	for name, format := range map[string]domtapv1.ImageFormat{
		"a.png": domtapv1.ImageFormat_IMAGE_FORMAT_PNG, "a.JPG": domtapv1.ImageFormat_IMAGE_FORMAT_JPEG,
		"a.jpeg": domtapv1.ImageFormat_IMAGE_FORMAT_JPEG, "a.webp": domtapv1.ImageFormat_IMAGE_FORMAT_WEBP,
	} {
		file := filepath.Join(t.TempDir(), name)
		if got := daemon.at().run(t, "shot", file); got.code != exit.OK {
			t.Fatal(got)
		}
		if picture, err := os.ReadFile(file); string(picture) != "picture" || err != nil {
			t.Errorf("%s holds %q, %v", name, picture, err)
		}
		if got := daemon.last(t).(*domtapv1.ScreenshotRequest).GetFormat(); got != format {
			t.Errorf("%s asked for %v", name, got)
		}
	}
}
