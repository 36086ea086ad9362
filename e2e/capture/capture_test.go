package capture

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/testenv"
)

// readLog reads a tab's log.
func readLog(t testing.TB, d *testenv.Daemon, r *domtapv1.ReadLogRequest) *domtapv1.ReadLogResponse {
	t.Helper()
	resp, err := d.Pages.ReadLog(testenv.Within(t, time.Minute), r)
	if err != nil {
		t.Fatal(err)
	}
	return resp
}

// logUntil reads a tab's log until it has the wanted entry. Entries arrive some time after the page's action.
func logUntil(t testing.TB, d *testenv.Daemon, tab string, want func(*domtapv1.LogEntry) bool) *domtapv1.LogEntry {
	t.Helper()
	ctx := testenv.Within(t, testenv.Patience)
	for {
		resp, err := d.Pages.ReadLog(ctx, &domtapv1.ReadLogRequest{TabId: tab, MaxEntries: proto.Int32(1000)})
		if err != nil {
			t.Fatalf("no such entry came: %v", err)
		}
		for _, e := range resp.GetEntries() {
			if want(e) {
				return e
			}
		}
		if _, err := d.Dom.GetDom(ctx, &domtapv1.GetDomRequest{TabId: tab}); err != nil { // lets the page continue
			t.Logf("reading the page: %v", err)
		}
	}
}

func said(text string) func(*domtapv1.LogEntry) bool {
	return func(e *domtapv1.LogEntry) bool { return strings.Contains(e.GetText(), text) }
}

func TestLogHasConsoleErrorsAndRequests(t *testing.T) {
	var other string
	url := testenv.Pages(t, map[string]http.HandlerFunc{
		"/": func(w http.ResponseWriter, r *http.Request) {
			testenv.HTML(`<title>Log</title><iframe src="`+other+`/frame"></iframe><script>
				console.log("plain %s and %d", "words", 3, {a: 1, b: "two"}, [1, 2]);
				console.warn("a warning of http://user:secret@host.example/x");
				console.debug(undefined, null, -0, NaN, 10n, Symbol("s"));
				setTimeout(() => { throw new TypeError("not caught") });
				Promise.reject(new Error("rejected"));
				fetch("/missing").then(() => fetch("/moved")).then(() => fetch("http://127.0.0.1:1/refused")).catch(() => console.error("refused"));
				new Image().src = "data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA=";
			</script>`)(w, r)
		},
		"/frame":   testenv.HTML(`<script>console.info("from a frame of another process"); fetch("/in-frame", {method: "POST", body: "x"})</script>`),
		"/missing": func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "none", http.StatusNotFound) },
		"/moved":   func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/in-frame", http.StatusFound) },
		"/in-frame": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("access-control-allow-origin", "*")
			_, _ = w.Write([]byte("ok"))
		},
	})
	other = strings.Replace(url, "127.0.0.1", "localhost", 1)
	testenv.InSessions(t, testenv.Shared(t, "site-per-process"), func(t *testing.T, d *testenv.Daemon) { logged(t, d, url) })
}

// logged reads the log of a tab.
func logged(t *testing.T, d *testenv.Daemon, url string) {
	tab := d.Open(url)
	first := logUntil(t, d, tab, said("plain words and 3"))
	if got := first.GetText(); got != `plain words and 3 {a: 1, b: "two"} [1, 2]` || first.GetLevel() != "log" || first.GetUrl() != url+"/" || first.GetLine() != 2 {
		t.Errorf("got %v", first)
	}
	if e := logUntil(t, d, tab, said("a warning of")); strings.Contains(e.GetText(), "secret") || e.GetLevel() != "warning" {
		t.Errorf("got %v", e)
	}
	if e := logUntil(t, d, tab, said("undefined null")); e.GetText() != "undefined null -0 NaN 10n Symbol(s)" || e.GetLevel() != "debug" {
		t.Errorf("got %v", e)
	}
	for _, text := range []string{"Uncaught TypeError: not caught", "Uncaught (in promise) Error: rejected"} {
		if e := logUntil(t, d, tab, said(text)); e.GetKind() != domtapv1.LogKind_LOG_KIND_ERROR || e.GetLevel() != "error" || e.GetUrl() != url+"/" {
			t.Errorf("got %v", e)
		}
	}
	logUntil(t, d, tab, said("from a frame of another process"))
	logUntil(t, d, tab, said("refused"))
	ended := func(path string, what func(e *domtapv1.LogEntry) bool) {
		t.Helper()
		e := logUntil(t, d, tab, func(e *domtapv1.LogEntry) bool {
			return e.GetKind() == domtapv1.LogKind_LOG_KIND_NETWORK && strings.HasSuffix(e.GetUrl(), path) && e.GetDurationMs() > 0
		})
		if !what(e) {
			t.Errorf("got %v", e)
		}
	}
	ended(url+"/", func(e *domtapv1.LogEntry) bool {
		return e.GetHttpStatus() == 200 && e.GetResourceType() == "document" && e.GetBytes() > 500 && e.GetLevel() == "GET"
	})
	ended("/missing", func(e *domtapv1.LogEntry) bool { return e.GetHttpStatus() == 404 && e.GetResourceType() == "fetch" })
	ended("/moved", func(e *domtapv1.LogEntry) bool { return e.GetHttpStatus() == 302 })
	ended("/refused", func(e *domtapv1.LogEntry) bool { return strings.HasPrefix(e.GetFailure(), "net::ERR_") })
	ended("/in-frame", func(e *domtapv1.LogEntry) bool { return e.GetHttpStatus() == 200 })
	for _, e := range readLog(t, d, &domtapv1.ReadLogRequest{TabId: tab, MaxEntries: proto.Int32(1000)}).GetEntries() {
		if strings.HasPrefix(e.GetUrl(), "data:") && e.GetUrl() != "data:image/gif;base64,…" {
			t.Errorf("got %v", e)
		}
	}
	problems := readLog(t, d, &domtapv1.ReadLogRequest{TabId: tab, ProblemsOnly: true})
	for _, e := range problems.GetEntries() {
		if e.GetLevel() == "log" || e.GetKind() == domtapv1.LogKind_LOG_KIND_NETWORK && e.GetHttpStatus() < 400 && e.GetFailure() == "" {
			t.Errorf("no problem: %v", e)
		}
	}
	if len(problems.GetEntries()) < 6 {
		t.Errorf("%d problems: %v", len(problems.GetEntries()), problems)
	}
	if again := readLog(t, d, &domtapv1.ReadLogRequest{TabId: tab, After: problems.GetNextSequence()}); len(again.GetEntries()) > 0 && again.GetEntries()[0].GetSequence() <= problems.GetNextSequence() {
		t.Errorf("read twice: %v", again)
	}
}

// TestLogAnswersWhileThePageHangs reads the log of a page that is in an endless loop.
func TestLogAnswersWhileThePageHangs(t *testing.T) {
	url := testenv.Pages(t, map[string]http.HandlerFunc{"/": testenv.HTML(`<title>Hang</title><script>onload = () => setTimeout(() => { console.error("now it hangs"); for (;;); }, 0)</script>`)})
	d := testenv.Shared(t)
	tab := d.Open(url)
	ctx := testenv.Within(t, time.Minute)
	for {
		resp, err := d.Pages.ReadLog(ctx, &domtapv1.ReadLogRequest{TabId: tab, Kinds: []domtapv1.LogKind{domtapv1.LogKind_LOG_KIND_CONSOLE}})
		if err != nil {
			t.Fatal(err)
		}
		if len(resp.GetEntries()) == 1 && resp.GetEntries()[0].GetText() == "now it hangs" {
			return
		}
	}
}

// TestFloodsCostLinesAndNotTheTab lets a page log many lines and texts of 10 MB, and make many requests.
func TestFloodsCostLinesAndNotTheTab(t *testing.T) {
	lines, requests := testenv.Size(8_000, 20_000), testenv.Size(4_000, 10_000)
	url := testenv.Pages(t, map[string]http.HandlerFunc{
		"/console": testenv.HTML(fmt.Sprintf(`<title>Console</title><button>Here</button><script>for (let i = 0; i < %d; i++) console.log("line " + i); console.warn("done")</script>`, lines)),
		"/large":   testenv.HTML(`<title>Large</title><button>Here</button><script>for (let i = 0; i < 3; i++) console.log("x".repeat(10_000_000)); console.warn({a: "\"\\".repeat(1e6)}); console.warn("done")</script>`),
		"/network": testenv.HTML(fmt.Sprintf(`<title>Network</title><button>Here</button><script>
			const all = []; for (let i = 0; i < %d; i++) all.push(fetch("data:text/plain,x" + i)); Promise.all(all).then(() => console.warn("done"))</script>`, requests)),
	})
	d := testenv.Apart(t)
	for _, path := range []string{"/console", "/large", "/network"} {
		opened, err := d.Tabs.OpenTab(testenv.Within(t, testenv.Patience), &domtapv1.OpenTabRequest{Url: url + path, Timeout: durationpb.New(2 * time.Minute)})
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		tab := opened.GetTab().GetId()
		done := logUntil(t, d, tab, said("done"))
		resp := readLog(t, d, &domtapv1.ReadLogRequest{TabId: tab, MaxEntries: proto.Int32(1000)})
		size := 0
		for _, e := range resp.GetEntries() {
			size += proto.Size(e)
		}
		if size > 3<<20 || len(resp.GetEntries()) > 1000 {
			t.Errorf("%s: %d entries of %d bytes", path, len(resp.GetEntries()), size)
		}
		// A request that was read while in flight appears again with a newer sequence number when it ends. The document is such a request.
		all, next := resp.GetDropped()+uint64(len(resp.GetEntries())), resp.GetNextSequence()
		if all > next || all+1 < next && path != "/network" || path == "/console" && all < uint64(lines) || path == "/network" && all < uint64(requests) {
			t.Errorf("%s: %d entries and %d dropped are not %d", path, len(resp.GetEntries()), resp.GetDropped(), resp.GetNextSequence())
		}
		if dom := d.All(tab); len(dom.GetElements()) == 0 || done.GetLevel() != "warning" {
			t.Errorf("%s: the tab has %d elements", path, len(dom.GetElements()))
		}
	}
}

// extractJSON extracts by a schema and returns the result with the names of missing fields.
func extractJSON(t testing.TB, d *testenv.Daemon, tab, schema string) (string, *domtapv1.ExtractResponse) {
	t.Helper()
	resp, err := d.Pages.Extract(testenv.Within(t, time.Minute), &domtapv1.ExtractRequest{TabId: tab, SchemaJson: schema})
	if err != nil {
		t.Fatal(err)
	}
	if !json.Valid([]byte(resp.GetResultJson())) {
		t.Fatalf("no JSON: %.200s", resp.GetResultJson())
	}
	return resp.GetResultJson(), resp
}

const shop = `<!doctype html><html lang=en><title>Shop</title><base href="/base/"><h1>The <b>harbour</b> shop</h1>
<ul><li class=item><a href="sextant">Brass sextant</a> <span class=price>€ 1,299.00</span><input type=checkbox class=stock checked></li>
<li class=item><a href="/lamp">Lighthouse lamp<br>large</a> <span class=price>12,5 EUR</span><input type=checkbox class=stock></li>
<li class=item><a>No link</a> <span class=price style="display:none">(7)</span></li></ul>
<button aria-label="Add to cart">+</button><input type=password id=pw value=hush><input id=q value="typed"><meta name=author content="Ada">
<x-card></x-card><iframe srcdoc="<p class=inner>In a frame</p><p class=late>Late</p>"></iframe><p class=late>First</p>
<script>document.querySelector("x-card").attachShadow({mode: "open"}).innerHTML = "<p class=shade>In the shade</p><p class=late>Shaded</p>"</script>`

func TestExtractBySchema(t *testing.T) {
	url := testenv.Pages(t, map[string]http.HandlerFunc{"/": testenv.HTML(shop)})
	d := testenv.Apart(t)
	tab := d.Open(url)
	got, resp := extractJSON(t, d, tab, `{
		"title": "h1", "author": "meta[name=author]@content", "typed": "#q", "secret": "#pw", "secret2": "#pw@value",
		"add": {"role": "button", "name": "add to"}, "shade": ".shade", "inner": ".inner",
		"late": {"selector": ".late", "all": true}, "none": "h9", "nobody": {"role": "slider"},
		"items": {"selector": ".item", "all": true, "fields": {
			"name": "a", "link": {"selector": "a", "type": "url"}, "raw": "a@href", "class": "@class",
			"price": {"selector": ".price", "type": "number"}, "stock": {"selector": ".stock", "type": "boolean"}}}}`)
	want := `{"title":"The harbour shop","author":"Ada","typed":"typed","secret":"••••","secret2":"••••","add":"+","shade":"In the shade",` +
		`"inner":"In a frame","late":["Shaded","First","Late"],"none":null,"nobody":null,"items":[` +
		`{"name":"Brass sextant","link":"` + url + `/base/sextant","raw":"sextant","class":"item","price":1299,"stock":true},` +
		`{"name":"Lighthouse lamp large","link":"` + url + `/lamp","raw":"/lamp","class":"item","price":null,"stock":false},` +
		`{"name":"No link","link":null,"raw":null,"class":"item","price":-7,"stock":null}]}`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	missing := []string{"none", "nobody", "items[1].price", "items[2].link", "items[2].raw", "items[2].stock"}
	if !slices.Equal(resp.GetMissing(), missing) || resp.GetTruncated() || resp.GetRows() != 6 || resp.GetUrl() != url+"/" {
		t.Errorf("missing %q, rows %d of %q", resp.GetMissing(), resp.GetRows(), resp.GetUrl())
	}
	by, err := d.Pages.Extract(t.Context(), &domtapv1.ExtractRequest{TabId: tab, Selectors: []string{"h1", ".item a@href"}})
	if err != nil || by.GetResultJson() != `{"h1":["The harbour shop"],".item a@href":["sextant","/lamp",null]}` {
		t.Errorf("got %s, %v", by.GetResultJson(), err)
	}
	_, err = d.Pages.Extract(t.Context(), &domtapv1.ExtractRequest{TabId: tab, SchemaJson: `{"a": "h1", "b": {"selector": "p", "fields": {"c": "li:::x"}}}`})
	if status.Code(err) != codes.InvalidArgument || !strings.Contains(err.Error(), "schema_json.b.c") {
		t.Errorf("a bad selector: %v", err)
	}
}

func TestExtractBelowAnElement(t *testing.T) {
	url := testenv.Pages(t, map[string]http.HandlerFunc{"/": testenv.HTML(`<title>Roots</title><nav aria-label=One><a href=/1>First</a></nav><nav aria-label=Two><a href=/2>Second</a></nav>`)})
	d := testenv.Apart(t)
	tab := d.Open(url)
	for _, e := range d.All(tab).GetElements() {
		if e.GetRole() != "navigation" {
			continue
		}
		got, err := d.Pages.Extract(t.Context(), &domtapv1.ExtractRequest{TabId: tab, Selectors: []string{"a"}, RootRef: &e.Ref})
		if want := map[string]string{"One": "First", "Two": "Second"}[e.GetText()]; err != nil || got.GetResultJson() != `{"a":["`+want+`"]}` {
			t.Errorf("%s: %s, %v", e.GetText(), got.GetResultJson(), err)
		}
	}
	_, err := d.Pages.Extract(t.Context(), &domtapv1.ExtractRequest{TabId: tab, Selectors: []string{"a"}, RootRef: proto.Uint32(9999)})
	if status.Code(err) != codes.InvalidArgument {
		t.Errorf("a ref that was never given: %v", err)
	}
}

func TestExtractTables(t *testing.T) {
	url := testenv.Pages(t, map[string]http.HandlerFunc{"/": testenv.HTML(`<title>Tables</title>
		<table><tr><td>layout</td></tr></table>
		<table id=ships><caption>Ships in port</caption><thead><tr><th rowspan=2>Name<th colspan=2>Size</tr><tr><th>Length<th>Beam</tr></thead>
			<tbody><tr><th scope=row>Ada<td>12<td rowspan=2>4</tr><tr><td>Bo<td>15</tr><tr><td colspan=2>Cy<td>5</tr></tbody><tfoot><tr><td>Sum<td>27<td>13</tr></tfoot></table>
		<div role=grid aria-label=Prices><div role=rowgroup><div role=row><span role=columnheader>Item</span><span role=columnheader>Price</span></div></div>
			<div role=row><span role=gridcell>Lamp</span><span role=gridcell>3</span></div></div>
		<table><tr><th>Name<th>Top speed, kn<th>Mean speed, kn</tr><tr><td>Eva<td>7<td>5</tr></table>
		<table><caption>About</caption><tr><th>Port<td>Harbour</tr><tr><th>Depth<td>9 m</tr></table>`)})
	d := testenv.Apart(t)
	tab := d.Open(url)
	for _, c := range []struct {
		table *domtapv1.ExtractTable
		want  string
		rows  int32
	}{
		{&domtapv1.ExtractTable{}, `[{"Name":"Ada","Size Length":"12","Size Beam":"4"},{"Name":"Bo","Size Length":"15","Size Beam":"4"},{"Name":"Cy","Size Length":"Cy","Size Beam":"5"}]`, 3},
		{&domtapv1.ExtractTable{Headers: []string{"price", "Item"}}, `[{"Item":"Lamp","Price":"3"}]`, 1},
		{&domtapv1.ExtractTable{Headers: []string{"name", "beam"}}, `[{"Name":"Ada","Size Length":"12","Beam":"4"},{"Name":"Bo","Size Length":"15","Beam":"4"},{"Name":"Cy","Size Length":"Cy","Beam":"5"}]`, 3},
		{&domtapv1.ExtractTable{Caption: "prices"}, `[{"Item":"Lamp","Price":"3"}]`, 1},
		{&domtapv1.ExtractTable{Headers: []string{"Depth"}}, `[{"Port":"Harbour","Depth":"9 m"}]`, 1},
		{&domtapv1.ExtractTable{Headers: []string{"NAME", "top speed"}}, `[{"Name":"Eva","Top speed, kn":"7","Mean speed, kn":"5"}]`, 1},
		{&domtapv1.ExtractTable{Headers: []string{"Name", "speed"}}, `[]`, 0},
		{&domtapv1.ExtractTable{Headers: []string{"Name", "to"}}, `[]`, 0},
		{&domtapv1.ExtractTable{Headers: []string{"Nothing"}}, `[]`, 0},
	} {
		got, err := d.Pages.Extract(t.Context(), &domtapv1.ExtractRequest{TabId: tab, Table: c.table})
		if err != nil || got.GetResultJson() != c.want || got.GetRows() != c.rows || (len(got.GetMissing()) == 0) != (c.rows > 0) {
			t.Errorf("%v: %v, %v", c.table, got, err)
		}
	}
}

// TestExtractIsBounded extracts from a table of 100,000 rows, and with schemas that request far too much.
func TestExtractIsBounded(t *testing.T) {
	size := testenv.Size(12_000, 30_000)
	url := testenv.Pages(t, map[string]http.HandlerFunc{"/": testenv.HTML(fmt.Sprintf(`<title>Bombs</title><script>
		let rows = ""; for (let i = 0; i < %d; i++) rows += "<tr><td>" + i + "<td>name " + i + "</tr>";
		document.write("<table><tr><th>N<th>Name</tr>" + rows + "</table><pre>" + "y".repeat(10_000_000) + "</pre>")</script>`, size))})
	d := testenv.Shared(t)
	opened, err := d.Tabs.OpenTab(testenv.Within(t, testenv.Patience), &domtapv1.OpenTabRequest{Url: url, Timeout: durationpb.New(2 * time.Minute)})
	if err != nil {
		t.Fatal(err)
	}
	tab := opened.GetTab().GetId()
	ctx := testenv.Within(t, testenv.Patience)
	got, err := d.Pages.Extract(ctx, &domtapv1.ExtractRequest{TabId: tab, Table: &domtapv1.ExtractTable{}, MaxRows: proto.Int32(10_000)})
	if err != nil {
		t.Fatal(err)
	}
	var rows []map[string]string
	if err := json.Unmarshal([]byte(got.GetResultJson()), &rows); err != nil || !got.GetTruncated() || got.GetRows() != int32(size) || len(rows) == 0 || rows[len(rows)-1]["Name"] != fmt.Sprint("name ", len(rows)-1) {
		t.Errorf("%d rows of %d, %v, %v", len(rows), got.GetRows(), got.GetTruncated(), err)
	}
	var fields strings.Builder
	for i := range 90 {
		fmt.Fprintf(&fields, `"f%d": {"selector": "td", "all": true},`, i)
	}
	for _, schema := range []string{
		`{"all": {"selector": "*", "all": true}}`,
		`{"rows": {"selector": "tr", "all": true, "fields": {` + fields.String() + `"x": "td"}}}`,
		`{"a": {"selector": "body", "fields": {"b": {"selector": "tr", "all": true, "fields": {"c": {"selector": "td", "all": true, "fields": {"d": "@id"}}}}}}}`,
	} {
		got, err := d.Pages.Extract(ctx, &domtapv1.ExtractRequest{TabId: tab, SchemaJson: schema, MaxRows: proto.Int32(10_000)})
		if err != nil || !got.GetTruncated() || len(got.GetResultJson()) > 4<<20 || !json.Valid([]byte(got.GetResultJson())) {
			t.Errorf("%.60s: %d bytes, truncated %v, %v", schema, len(got.GetResultJson()), got.GetTruncated(), err)
		}
	}
}

func TestBatchReadsSideBySide(t *testing.T) {
	hang := make(chan struct{})
	url := testenv.Pages(t, map[string]http.HandlerFunc{
		"/a": testenv.HTML(`<title>A</title><article><h1>Alpha</h1>` + sentences(4) + `</article>`),
		"/b": func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/c", http.StatusFound) },
		"/c": testenv.HTML(`<title>C</title><h1>Gamma</h1>` + sentences(4) + `<script>open("/a"); open("/a")</script>`),
		"/hang": func(w http.ResponseWriter, r *http.Request) {
			select {
			case <-hang:
			case <-r.Context().Done():
			}
		},
		"/alert": testenv.HTML(`<title>Alert</title><script>alert("stop")</script>`),
		"/gone": func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(404)
			testenv.HTML(`<title>Gone</title><p>Nothing here.</p>`)(w, nil)
		},
		"/map": testenv.HTML(`<title>Map</title><style>body{margin:0}</style><canvas style="width:100vw;height:95vh;background:#cde"></canvas><button>+</button>`),
	})
	defer close(hang)
	d := testenv.Shared(t)
	mine := d.Open("about:blank")
	resp, err := d.Pages.Batch(testenv.Within(t, testenv.Patience), &domtapv1.BatchRequest{
		Urls:    []string{url + "/a", url + "/b", "http://127.0.0.1:1/", "file:///etc/passwd", url + "/hang", url + "/gone", url + "/map", url + "/alert"},
		Timeout: durationpb.New(10 * time.Second), Parallel: 3,
	})
	if err != nil {
		t.Fatal(err)
	}
	r := resp.GetResults()
	if len(r) != 8 {
		t.Fatalf("%d results", len(r))
	}
	if !strings.Contains(r[0].GetText(), "# Alpha") || r[0].GetTitle() != "A" || r[0].GetHttpStatus() != 200 || r[0].GetError() != "" || r[0].GetTokens() == 0 {
		t.Errorf("got %v", r[0])
	}
	if !strings.Contains(r[1].GetText(), "Gamma") || r[1].GetFinalUrl() != url+"/c" || r[1].GetUrl() != url+"/b" {
		t.Errorf("got %v", r[1])
	}
	for i, reason := range map[int]string{2: "NAVIGATION_FAILED", 3: "URL_POLICY", 4: "DEADLINE"} {
		if r[i].GetReason() != reason || r[i].GetError() == "" || r[i].GetText() != "" {
			t.Errorf("%s: got %v, want %s", r[i].GetUrl(), r[i], reason)
		}
	}
	if r[5].GetHttpStatus() != 404 || !strings.Contains(r[5].GetText(), "Nothing here.") {
		t.Errorf("got %v", r[5])
	}
	if r[6].GetError() != "" || r[6].GetMode() != domtapv1.ReadMode_READ_MODE_CONTENT {
		t.Errorf("got %v", r[6])
	}
	if !strings.Contains(r[7].GetText(), "# Alert") || r[7].GetError() != "" { // nothing answers the alert, so it is dismissed
		t.Errorf("got %v", r[7])
	}
	onlyMine(t, d, mine)
	data, err := d.Pages.Batch(testenv.Within(t, time.Minute), &domtapv1.BatchRequest{Urls: []string{url + "/a", url + "/gone"}, SchemaJson: `{"h": "h1"}`})
	if err != nil || data.GetResults()[0].GetResultJson() != `{"h":"Alpha"}` || data.GetResults()[1].GetResultJson() != `{"h":null}` {
		t.Errorf("got %v, %v", data, err)
	}
	onlyMine(t, d, mine)
}

// onlyMine waits until the tab with an ID is the only remaining one.
func onlyMine(t *testing.T, d *testenv.Daemon, id string) {
	t.Helper()
	ctx := testenv.Within(t, testenv.Patience)
	for {
		tabs, err := d.Tabs.ListTabs(ctx, &domtapv1.ListTabsRequest{})
		if err != nil {
			t.Fatalf("tabs are left: %v", err)
		}
		if len(tabs.GetTabs()) == 1 && tabs.GetTabs()[0].GetId() == id {
			return
		}
	}
}

// evaluateIn runs a script through the API.
func evaluateIn(t testing.TB, d *testenv.Daemon, r *domtapv1.EvaluateRequest) *domtapv1.EvaluateResponse {
	t.Helper()
	resp, err := d.Pages.Evaluate(testenv.Within(t, time.Minute), r)
	if err != nil {
		t.Fatalf("%s: %v", r.GetExpression(), err)
	}
	return resp
}

func TestEvaluateRunsInThePagesWorld(t *testing.T) {
	url := testenv.Pages(t, map[string]http.HandlerFunc{
		"/": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("content-security-policy", "script-src 'nonce-x'; require-trusted-types-for 'script'")
			testenv.HTML(`<title>Eval</title><button>Press</button><iframe srcdoc="<button>Framed</button>"></iframe><script nonce=x>window.mine = {deep: [1, "two"]}; document.querySelector("button").own = 7</script>`)(w, r)
		},
	})
	d := testenv.Apart(t)
	tab := d.Open(url)
	refs := map[string]*domtapv1.Element{}
	for _, e := range d.All(tab).GetElements() {
		refs[e.GetText()] = e
	}
	for _, c := range []struct {
		script, json, exception string
		ref                     *uint32
	}{
		{"mine", `{"deep":[1,"two"]}`, "", nil},
		{"1 + 1;\n", "2", "", nil},
		{"{a: 1} // comment", `{"a":1}`, "", nil},
		{"undefined", "null", "", nil},
		{"NaN", "null", "", nil},
		{"() => 5", "5", "", nil},
		{"new Promise((done) => setTimeout(() => done('later'), 10))", `"later"`, "", nil},
		{"async (el) => el.own", "7", "", &refs["Press"].Ref},
		{"(el) => [el.textContent, el.ownerDocument !== top.document]", `["Framed",true]`, "", &refs["Framed"].Ref},
		{"nothing.there", "", "ReferenceError: nothing is not defined", nil},
		{"(() => { throw 'a string' })()", "", "a string", nil},
		{"Promise.reject(new Error('no'))", "", "Error: no", nil},
		{"const a = 1; a", "", "put statements in a function", nil},
		{"(() => { const a = {}; a.a = a; return a })()", "", "TypeError: Converting circular structure", nil},
		{"10n", "", "BigInt", nil},
		{"(() => { throw 'x'.repeat(1e6) })()", "", "xxx", nil},
	} {
		got := evaluateIn(t, d, &domtapv1.EvaluateRequest{TabId: tab, Expression: c.script, Ref: c.ref})
		if got.GetResultJson() != c.json || !strings.Contains(got.GetException(), c.exception) || (got.GetException() == "") != (c.exception == "") || len(got.GetException()) > 10_000 {
			t.Errorf("%s: %.300v", c.script, got)
		}
	}
	framed := evaluateIn(t, d, &domtapv1.EvaluateRequest{TabId: tab, Expression: "document.body.textContent", FrameId: refs["Framed"].GetFrameId()})
	if framed.GetResultJson() != `"Framed"` {
		t.Errorf("in the frame: %v", framed)
	}
	for _, script := range []string{"'x'.repeat(5_000_000)", "Array(1000).fill('x'.repeat(10_000))"} {
		_, err := d.Pages.Evaluate(t.Context(), &domtapv1.EvaluateRequest{TabId: tab, Expression: script})
		if status.Code(err) != codes.ResourceExhausted {
			t.Errorf("%s: %v", script, err)
		}
	}
}

// TestEvaluateEndsWithItsCall runs scripts that do not end. The tab must be usable immediately after the call.
func TestEvaluateEndsWithItsCall(t *testing.T) {
	url := testenv.Pages(t, map[string]http.HandlerFunc{"/": testenv.HTML(`<title>Loop</title><button>Here</button>`)})
	d := testenv.Apart(t)
	tab := d.Open(url)
	for _, script := range []string{"(() => { for (;;); })()", "() => { for (;;); }", "new Promise(() => {})"} {
		ctx := testenv.Within(t, 2*time.Second)
		if _, err := d.Pages.Evaluate(ctx, &domtapv1.EvaluateRequest{TabId: tab, Expression: script}); status.Code(err) != codes.DeadlineExceeded {
			t.Errorf("%s: %v", script, err)
		}
		if got := evaluateIn(t, d, &domtapv1.EvaluateRequest{TabId: tab, Expression: "1"}); got.GetResultJson() != "1" {
			t.Errorf("after %s: %v", script, got)
		}
	}
}

func TestPdfPrintsThePage(t *testing.T) {
	url := testenv.Pages(t, map[string]http.HandlerFunc{"/": testenv.HTML(`<title>Paper</title>` + sentences(60) + `<canvas width=800 height=800></canvas><script>
		const c = document.querySelector("canvas"), g = c.getContext("2d"), p = g.createImageData(800, 800);
		for (let i = 0; i < p.data.length; i++) p.data[i] = Math.random() * 256; g.putImageData(p, 0, 0)</script>`)})
	d := testenv.Apart(t)
	tab := d.Open(url)
	pdf := func(r *domtapv1.PdfRequest) []byte {
		t.Helper()
		r.TabId = tab
		resp, err := d.Pages.Pdf(testenv.Within(t, testenv.Patience), r)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.HasPrefix(resp.GetPdf(), []byte("%PDF-")) || !bytes.Contains(resp.GetPdf()[len(resp.GetPdf())-10:], []byte("%%EOF")) {
			t.Fatalf("%d bytes are no PDF", len(resp.GetPdf()))
		}
		return resp.GetPdf()
	}
	pages := func(b []byte) int { return bytes.Count(b, []byte("/Type /Page\n")) }
	whole := pdf(&domtapv1.PdfRequest{})
	if len(whole) < 1<<20 {
		t.Errorf("the whole has %d bytes: it should take several parts to read", len(whole))
	}
	if one := pdf(&domtapv1.PdfRequest{PageRanges: "1"}); pages(one) != 1 || pages(whole) < 3 {
		t.Errorf("%d pages and %d", pages(whole), pages(one))
	}
	if small := pdf(&domtapv1.PdfRequest{Scale: proto.Float64(0.3), Landscape: true, Format: domtapv1.PaperFormat_PAPER_FORMAT_A3}); pages(small) >= pages(whole) {
		t.Errorf("smaller letters take %d pages, not fewer than %d", pages(small), pages(whole))
	}
	if _, err := d.Pages.Pdf(t.Context(), &domtapv1.PdfRequest{TabId: tab, PageRanges: "900-999"}); status.Code(err) != codes.InvalidArgument {
		t.Errorf("pages that are not there: %v", err)
	}
}

// size returns the size of a picture.
func size(t testing.TB, data []byte) image.Point {
	t.Helper()
	var picture image.Image
	var err error
	if bytes.HasPrefix(data, []byte("\x89PNG")) {
		picture, err = png.Decode(bytes.NewReader(data))
	} else {
		picture, err = jpeg.Decode(bytes.NewReader(data))
	}
	if err != nil {
		t.Fatal(err)
	}
	return picture.Bounds().Size()
}

// shot takes a picture.
func shot(t testing.TB, d *testenv.Daemon, r *domtapv1.ScreenshotRequest) *domtapv1.ScreenshotResponse {
	t.Helper()
	resp, err := d.Pages.Screenshot(testenv.Within(t, testenv.Patience), r)
	if err != nil {
		t.Fatalf("%v: %v", r, err)
	}
	return resp
}

// TestPicturesHaveTheSizeOfWhatTheyShow checks the sizes of pictures of pages and elements, smaller and larger than the viewport, in frames
// and in scrollable boxes.
func TestPicturesHaveTheSizeOfWhatTheyShow(t *testing.T) {
	var other string
	url := testenv.Pages(t, map[string]http.HandlerFunc{
		"/": func(w http.ResponseWriter, r *http.Request) {
			testenv.HTML(`<!doctype html><title>Sizes</title><style>body{margin:0}button{border:0;padding:0;display:block;background:rgb(200,0,0)}</style>
				<button style="width:300px;height:2500px">Tall</button>
				<iframe src="`+other+`/frame" style="border:0;width:400px;height:200px"></iframe>
				<div style="width:200px;height:100px;overflow:auto"><div style="height:3000px"></div><button style="width:60px;height:40px">Deep</button></div>
				<div style="height:17000px"></div>`)(w, r)
		},
		"/frame": testenv.HTML(`<!doctype html><style>body{margin:0}button{border:0;padding:0;display:block;background:rgb(0,0,200)}</style><div style="height:900px"></div>
			<button style="width:120px;height:50px">Framed</button><button style="width:100px;height:700px">Cut</button>`),
	})
	other = strings.Replace(url, "127.0.0.1", "localhost", 1)
	testenv.InOneSession(t, testenv.Shared(t, "site-per-process"), func(t *testing.T, d *testenv.Daemon) { pictured(t, d, url) })
}

// pictured takes pictures of elements and of the whole page.
func pictured(t *testing.T, d *testenv.Daemon, url string) {
	tab := d.Open(url)
	refs := map[string]*uint32{}
	testenv.Await(t, "the frame is there", func() bool {
		for _, e := range d.All(tab).GetElements() {
			refs[e.GetText()] = &e.Ref
		}
		return refs["Framed"] != nil
	})
	for name, want := range map[string]image.Point{"Tall": {300, 2500}, "Framed": {120, 50}, "Deep": {60, 40}, "Cut": {100, 200}} {
		for _, numbered := range []bool{false, true} {
			got := shot(t, d, &domtapv1.ScreenshotRequest{TabId: tab, Ref: refs[name], Marks: numbered})
			if size(t, got.GetImage()) != want || numbered != (len(got.GetMarks()) > 0) {
				t.Errorf("%s (marks %v): %v with %d marks, want %v", name, numbered, size(t, got.GetImage()), len(got.GetMarks()), want)
			}
			if numbered {
				continue
			}
			picture, err := png.Decode(bytes.NewReader(got.GetImage()))
			if err != nil {
				t.Fatal(err)
			}
			red, _, blue, _ := picture.At(3, 3).RGBA()
			if framed := name == "Framed" || name == "Cut"; framed != (blue > red) {
				t.Errorf("%s shows something else: red %d, blue %d", name, red>>8, blue>>8)
			}
		}
	}
	full := shot(t, d, &domtapv1.ScreenshotRequest{TabId: tab, FullPage: true, Format: domtapv1.ImageFormat_IMAGE_FORMAT_JPEG})
	if got := size(t, full.GetImage()); got.Y != 16384 || got.X < 1200 {
		t.Errorf("the whole page is %v", got)
	}
	webp := shot(t, d, &domtapv1.ScreenshotRequest{TabId: tab, Format: domtapv1.ImageFormat_IMAGE_FORMAT_WEBP}).GetImage()
	if !bytes.HasPrefix(webp, []byte("RIFF")) || !bytes.Equal(webp[8:12], []byte("WEBP")) {
		t.Errorf("no WEBP: %q", webp[:12])
	}
}

// TestMarksOnAWholePage marks elements far below the viewport, in a scrolled page.
func TestMarksOnAWholePage(t *testing.T) {
	var page strings.Builder
	page.WriteString(`<!doctype html><title>Long</title><style>body{margin:0;height:6000px;background:#fff}button{position:absolute;border:0;padding:0;width:50px;height:20px;background:#fff}</style>`)
	for i := range 40 {
		fmt.Fprintf(&page, `<button style="left:%dpx;top:%dpx">%d</button>`, 100+i%3*300, 100+i*140, i)
	}
	url := testenv.Pages(t, map[string]http.HandlerFunc{"/": testenv.HTML(page.String())})
	d := testenv.Apart(t)
	tab := d.Open(url)
	evaluateIn(t, d, &domtapv1.EvaluateRequest{TabId: tab, Expression: "scrollTo(0, 1234)"})
	got := shot(t, d, &domtapv1.ScreenshotRequest{TabId: tab, FullPage: true, Marks: true})
	if n := len(got.GetMarks()); n != 40 {
		t.Fatalf("%d marks", n)
	}
	picture, err := png.Decode(bytes.NewReader(got.GetImage()))
	if err != nil {
		t.Fatal(err)
	}
	if picture.Bounds().Dy() != 6000 {
		t.Errorf("the picture is %v", picture.Bounds())
	}
	for i := range 40 { // the outline is at the button's position in the page
		x, y := 100+i%3*300+25, 100+i*140
		if r, g, b, _ := picture.At(x, y).RGBA(); r>>8 > 0xf0 && g>>8 > 0xf0 && b>>8 > 0xf0 {
			t.Errorf("there is no outline around button %d", i)
		}
	}
}
