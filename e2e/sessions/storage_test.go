package sessions

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/testenv"
)

// cookieJar serves a page whose title lists the cookies that the server received.
func cookieJar() map[string]http.HandlerFunc {
	return map[string]http.HandlerFunc{"/": func(w http.ResponseWriter, r *http.Request) {
		testenv.HTML("<title>"+r.Header.Get("Cookie")+"</title>")(w, r)
	}}
}

// describe returns cookies with their attributes, and their values if present.
func describe(all []*domtapv1.StoredCookie) string {
	var list []string
	for _, one := range all {
		c := one.GetCookie()
		text := fmt.Sprintf("%s=%s(%d) %s%s", c.GetName(), c.GetValue(), one.GetValueBytes(), c.GetDomain(), c.GetPath())
		for word, on := range map[string]bool{"http": c.GetHttpOnly(), "secure": c.GetSecure()} {
			if on {
				text += " " + word
			}
		}
		if c.GetSameSite()+c.GetPriority() != "" {
			text += " " + c.GetSameSite() + c.GetPriority()
		}
		if c.PartitionKey != nil {
			text += " in " + c.GetPartitionKey()
		}
		list = append(list, text)
	}
	return strings.Join(list, "; ")
}

// TestCookiesOneByOne lists, sets and deletes cookies of every kind, in addition to cookies that a page sets.
func TestCookiesOneByOne(t *testing.T) {
	url := testenv.Pages(t, cookieJar())
	d := testenv.Shared(t)
	ctx := testenv.Within(t, testenv.Patience)
	createSession(t, d, &domtapv1.CreateSessionRequest{SessionId: "jar"})
	openIn(t, d, "jar", url)
	ask[any](t, d, "jar", `document.cookie = 'own=page; max-age=3600; path=/x'`)
	_, err := d.Storage.SetCookies(ctx, &domtapv1.SetCookiesRequest{SessionId: "jar", Cookies: []*domtapv1.Cookie{
		{Name: "id", Value: "42", Domain: "127.0.0.1", HttpOnly: true, Expires: 4e9},
		{Name: "wide", Value: "all", Domain: ".shop.test", Path: "/a", Secure: true, SameSite: "None"},
		{Name: "host", Value: "one", Domain: "shop.test", SameSite: "Strict", Priority: proto.String("High")},
		{Name: "part", Value: "chips", Domain: "frame.test", Secure: true, SameSite: "None", PartitionKey: proto.String("https://top.test"), HasCrossSiteAncestor: proto.Bool(true)},
		{Name: "part", Value: "other", Domain: "frame.test", Secure: true, SameSite: "None", PartitionKey: proto.String("https://second.test"), HasCrossSiteAncestor: proto.Bool(true)},
	}})
	if err != nil {
		t.Fatal(err)
	}
	list := func(f *domtapv1.CookieFilter, values bool) string {
		t.Helper()
		got, err := d.Storage.ListCookies(ctx, &domtapv1.ListCookiesRequest{SessionId: "jar", Filter: f, Values: values})
		if err != nil {
			t.Fatal(err)
		}
		return describe(got.GetCookies())
	}
	for _, c := range []struct {
		filter *domtapv1.CookieFilter
		values bool
		want   string
	}{
		{nil, false, "wide=(3) .shop.test/a secure None; id=(2) 127.0.0.1/ http; own=(4) 127.0.0.1/x; part=(5) frame.test/ secure None in https://top.test; part=(5) frame.test/ secure None in https://second.test; host=(3) shop.test/ StrictHigh"},
		{&domtapv1.CookieFilter{Name: "id"}, true, "id=42(2) 127.0.0.1/ http"},
		{&domtapv1.CookieFilter{Domain: "shop.test"}, false, "wide=(3) .shop.test/a secure None; host=(3) shop.test/ StrictHigh"},
		{&domtapv1.CookieFilter{Domain: ".SHOP.test", Path: "/a"}, false, "wide=(3) .shop.test/a secure None"},
		{&domtapv1.CookieFilter{PartitionKey: proto.String("https://top.test")}, true, "part=chips(5) frame.test/ secure None in https://top.test"},
		{&domtapv1.CookieFilter{Name: "part", PartitionKey: proto.String("")}, true, ""},
		{&domtapv1.CookieFilter{Name: "other"}, true, ""},
	} {
		got := strings.Split(list(c.filter, c.values), "; ")
		want := strings.Split(c.want, "; ")
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%v:\n%s\nwant\n%s", c.filter, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	if tab := openIn(t, d, "jar", url); tab.GetTitle() != "id=42" {
		t.Errorf("the server got %q", tab.GetTitle())
	}
	// A cookie of the same name, domain and path is replaced.
	if _, err := d.Storage.SetCookies(ctx, &domtapv1.SetCookiesRequest{SessionId: "jar", Cookies: []*domtapv1.Cookie{{Name: "id", Value: "43", Domain: "127.0.0.1"}}}); err != nil {
		t.Fatal(err)
	}
	if got := list(&domtapv1.CookieFilter{Name: "id"}, true); got != "id=43(2) 127.0.0.1/" {
		t.Errorf("replaced: %s", got)
	}
	for _, c := range []struct {
		filter *domtapv1.CookieFilter
		want   int32
		left   int
	}{
		{&domtapv1.CookieFilter{PartitionKey: proto.String("https://top.test")}, 1, 5},
		{&domtapv1.CookieFilter{Name: "nothing"}, 0, 5},
		{&domtapv1.CookieFilter{Domain: "shop.test", Path: "/"}, 1, 4},
		{&domtapv1.CookieFilter{Name: "own"}, 1, 3},
		{nil, 3, 0},
	} {
		got, err := d.Storage.DeleteCookies(ctx, &domtapv1.DeleteCookiesRequest{SessionId: "jar", Filter: c.filter, All: c.filter == nil})
		left, listErr := d.Storage.ListCookies(ctx, &domtapv1.ListCookiesRequest{SessionId: "jar"})
		if err != nil || listErr != nil || got.GetDeleted() != c.want || len(left.GetCookies()) != c.left {
			t.Errorf("%v: deleted %d, %v; left %s, %v", c.filter, got.GetDeleted(), err, describe(left.GetCookies()), listErr)
		}
	}
	if _, err := d.Storage.SetCookies(ctx, &domtapv1.SetCookiesRequest{SessionId: "jar", Cookies: []*domtapv1.Cookie{{Name: "__Host-a", Value: "b", Domain: "a.test"}}}); status.Code(err) != codes.InvalidArgument {
		t.Errorf("a cookie that no browser takes: %v", err)
	}
}

// TestPartitionedCookiesAreKept saves and loads a partitioned cookie.
func TestPartitionedCookiesAreKept(t *testing.T) {
	d := testenv.Shared(t)
	ctx := testenv.Within(t, testenv.Patience)
	createSession(t, d, &domtapv1.CreateSessionRequest{SessionId: "from", StorageState: &domtapv1.StorageState{Cookies: []*domtapv1.Cookie{
		{Name: "part", Value: "chips", Domain: "frame.test", Path: "/", Expires: 4e9, Secure: true, SameSite: "None", PartitionKey: proto.String("https://top.test"), HasCrossSiteAncestor: proto.Bool(true)}}}})
	first, err := d.Sessions.GetStorageState(ctx, &domtapv1.GetStorageStateRequest{SessionId: "from"})
	if err != nil || len(first.GetState().GetCookies()) != 1 {
		t.Fatalf("%v, %v", first, err)
	}
	createSession(t, d, &domtapv1.CreateSessionRequest{SessionId: "to", StorageState: first.GetState()})
	second, err := d.Sessions.GetStorageState(ctx, &domtapv1.GetStorageStateRequest{SessionId: "to"})
	if err != nil || !proto.Equal(first, second) {
		t.Errorf("%v became %v, %v", first, second, err)
	}
}

// entries returns the entries of an answer, with their values if present.
func entries(o *domtapv1.StoredOrigin) string {
	var list []string
	for _, e := range o.GetEntries() {
		text := fmt.Sprintf("%s(%d)", e.GetName(), e.GetValueBytes())
		if e.Value != nil {
			text += "=" + e.GetValue()
		}
		list = append(list, text)
	}
	return strings.Join(list, " ")
}

// TestLocalStorageOneByOne reads and changes local storage while an open page observes it.
func TestLocalStorageOneByOne(t *testing.T) {
	url := testenv.Pages(t, map[string]http.HandlerFunc{"/": testenv.HTML(`<title>x</title><script>
		localStorage.theme = 'dark ☾'; localStorage.token = 'secret'
		self.heard = []; addEventListener('storage', e => heard.push(e.key + ':' + e.newValue))</script>`)})
	d := testenv.Shared(t)
	ctx := testenv.Within(t, testenv.Patience)
	createSession(t, d, &domtapv1.CreateSessionRequest{SessionId: "local"})
	openIn(t, d, "local", url)
	get := func(r *domtapv1.GetLocalStorageRequest) string {
		t.Helper()
		r.SessionId = "local"
		got, err := d.Storage.GetLocalStorage(ctx, r)
		if err != nil {
			t.Fatal(err)
		}
		if len(got.GetOrigins()) == 0 {
			return ""
		}
		if o := got.GetOrigins()[0].GetOrigin(); len(got.GetOrigins()) > 1 || o != url {
			t.Errorf("origins %v", got.GetOrigins())
		}
		return entries(got.GetOrigins()[0])
	}
	edit := func(e *domtapv1.StorageEdit) {
		t.Helper()
		if _, err := d.Storage.EditLocalStorage(ctx, &domtapv1.EditLocalStorageRequest{SessionId: "local", Origin: url, Edit: e}); err != nil {
			t.Fatal(err)
		}
	}
	check := func(got, want string) {
		t.Helper()
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	check(get(&domtapv1.GetLocalStorageRequest{}), "theme(8) token(6)")
	check(get(&domtapv1.GetLocalStorageRequest{Origin: url, Name: "theme", Values: true}), "theme(8)=dark ☾")
	check(get(&domtapv1.GetLocalStorageRequest{Origin: "https://elsewhere.test"}), "")
	edit(&domtapv1.StorageEdit{Delete: []string{"token", "nothing"}, Set: []*domtapv1.StorageEntry{{Name: "theme", Value: "light"}, {Name: "", Value: "empty name"}}})
	check(get(&domtapv1.GetLocalStorageRequest{Values: true}), "(10)=empty name theme(5)=light")
	check(ask[string](t, d, "local", `new Promise(done => { const look = () => heard.length >= 3 ? done(heard.sort().join()) : setTimeout(look, 5); look() })`), ":empty name,theme:light,token:null")
	edit(&domtapv1.StorageEdit{Clear: true, Set: []*domtapv1.StorageEntry{{Name: "only", Value: "this"}}})
	check(get(&domtapv1.GetLocalStorageRequest{Values: true}), "only(4)=this")
	edit(&domtapv1.StorageEdit{Clear: true})
	check(get(&domtapv1.GetLocalStorageRequest{Values: true}), "")
	// An origin that no tab has shown.
	if _, err := d.Storage.EditLocalStorage(ctx, &domtapv1.EditLocalStorageRequest{SessionId: "local", Origin: "https://new.test", Edit: &domtapv1.StorageEdit{Set: []*domtapv1.StorageEntry{{Name: "a", Value: "b"}}}}); err != nil {
		t.Fatal(err)
	}
	got, err := d.Storage.GetLocalStorage(ctx, &domtapv1.GetLocalStorageRequest{SessionId: "local", Values: true})
	if err != nil || len(got.GetOrigins()) != 1 || got.GetOrigins()[0].GetOrigin() != "https://new.test" || entries(got.GetOrigins()[0]) != "a(1)=b" {
		t.Errorf("%v, %v", got, err)
	}
	// An entry that exceeds the limit of an origin.
	_, err = d.Storage.EditLocalStorage(ctx, &domtapv1.EditLocalStorageRequest{SessionId: "local", Origin: url, Edit: &domtapv1.StorageEdit{Set: []*domtapv1.StorageEntry{{Name: "big", Value: strings.Repeat("x", 6<<20)}}}})
	if status.Code(err) != codes.ResourceExhausted {
		t.Errorf("too large: %v", err)
	}
}

// TestSessionStorageOfATab reads and changes session storage, in the page and in a frame of another site.
func TestSessionStorageOfATab(t *testing.T) {
	frame := testenv.Pages(t, map[string]http.HandlerFunc{"/": testenv.HTML(`<title>f</title><script>sessionStorage.who = 'frame'</script>`)})
	frame = strings.Replace(frame, "127.0.0.1", "localhost", 1)
	url := testenv.Pages(t, map[string]http.HandlerFunc{"/": testenv.HTML(`<title>x</title><script>sessionStorage.who = 'page'</script><iframe src="` + frame + `"></iframe>`)})
	d := testenv.Shared(t)
	ctx := testenv.Within(t, testenv.Patience)
	createSession(t, d, &domtapv1.CreateSessionRequest{SessionId: "tabbed"})
	one, two := openIn(t, d, "tabbed", url), openIn(t, d, "tabbed", url)
	_, err := d.Storage.EditSessionStorage(ctx, &domtapv1.EditSessionStorageRequest{TabId: one.GetId(), Edit: &domtapv1.StorageEdit{Set: []*domtapv1.StorageEntry{{Name: "step", Value: "2"}}}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = d.Storage.EditSessionStorage(ctx, &domtapv1.EditSessionStorageRequest{TabId: one.GetId(), Origin: frame, Edit: &domtapv1.StorageEdit{Clear: true, Set: []*domtapv1.StorageEntry{{Name: "a", Value: "b"}}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		r    *domtapv1.GetSessionStorageRequest
		want string
	}{
		{&domtapv1.GetSessionStorageRequest{TabId: one.GetId(), Values: true}, url + " step(1)=2 who(4)=page"},
		{&domtapv1.GetSessionStorageRequest{TabId: one.GetId(), Name: "who"}, url + " who(4)"},
		{&domtapv1.GetSessionStorageRequest{TabId: one.GetId(), Origin: frame, Values: true}, frame + " a(1)=b"},
		{&domtapv1.GetSessionStorageRequest{TabId: two.GetId(), Values: true}, url + " who(4)=page"},
		{&domtapv1.GetSessionStorageRequest{TabId: two.GetId(), Origin: frame, Values: true}, frame + " who(5)=frame"},
	} {
		got, err := d.Storage.GetSessionStorage(ctx, c.r)
		if text := got.GetStorage().GetOrigin() + " " + entries(got.GetStorage()); err != nil || text != c.want {
			t.Errorf("%v: %q, %v, want %q", c.r, text, err, c.want)
		}
	}
	for _, r := range []*domtapv1.GetSessionStorageRequest{{TabId: one.GetId(), Origin: "https://elsewhere.test"}, {TabId: openIn(t, d, "tabbed", "about:blank").GetId()}} {
		if _, err := d.Storage.GetSessionStorage(ctx, r); status.Code(err) != codes.NotFound || !strings.Contains(err.Error(), "no document of") {
			t.Errorf("%v: %v", r, err)
		}
	}
}

// TestMaskedSessionsTellNoValues requests values in a session with masked content.
func TestMaskedSessionsTellNoValues(t *testing.T) {
	url := testenv.Pages(t, map[string]http.HandlerFunc{"/": testenv.HTML(`<title>x</title><script>sessionStorage.a = localStorage.a = 'canary'; document.cookie = 'a=canary'</script>`)})
	d := testenv.Shared(t)
	ctx := testenv.Within(t, testenv.Patience)
	createSession(t, d, &domtapv1.CreateSessionRequest{SessionId: "masked", Settings: &domtapv1.SessionSettings{Mask: &domtapv1.Mask{Values: true}}})
	tab := openIn(t, d, "masked", url).GetId()
	for _, values := range []bool{true, false} {
		cookies, err1 := d.Storage.ListCookies(ctx, &domtapv1.ListCookiesRequest{SessionId: "masked", Values: values})
		local, err2 := d.Storage.GetLocalStorage(ctx, &domtapv1.GetLocalStorageRequest{SessionId: "masked", Values: values})
		session, err3 := d.Storage.GetSessionStorage(ctx, &domtapv1.GetSessionStorageRequest{TabId: tab, Values: values})
		for what, err := range map[string]error{"cookies": err1, "local": err2, "session": err3} {
			if want := map[bool]codes.Code{true: codes.FailedPrecondition, false: codes.OK}[values]; status.Code(err) != want {
				t.Errorf("values %v, %s: %v, want %v", values, what, err, want)
			}
		}
		if strings.Contains(fmt.Sprint(cookies, local, session), "canary") {
			t.Errorf("a value was told: %v %v %v", cookies, local, session)
		}
	}
}

// fillDatabases creates databases with everything that a state can contain, and some data that it cannot.
const fillDatabases = `(async () => {
	const opened = (name, version, upgrade) => new Promise((done, fail) => {
		const r = indexedDB.open(name, version); r.onsuccess = () => done(r.result); r.onerror = () => fail(r.error)
		r.onupgradeneeded = () => upgrade(r.result)
	})
	const db = await opened('app', 7, db => {
		const users = db.createObjectStore('users', {keyPath: 'id', autoIncrement: true})
		users.createIndex('mail', 'mail', {unique: true}); users.createIndex('tags', 'tags', {multiEntry: true}); users.createIndex('both', ['mail', 'id'])
		db.createObjectStore('loose'); db.createObjectStore('pairs', {keyPath: ['a', 'b.c']}); db.createObjectStore('empty')
	})
	const cycle = {name: 'cycle'}; cycle.self = cycle; cycle.list = [cycle]
	const shared = {deep: 1}
	let nested = []; for (let i = 0; i < 40; i++) nested = [nested, nested] // as a tree, it would not end
	const odd = {
		date: new Date(0), bad: new Date(NaN), undef: undefined, nan: NaN, inf: -Infinity, zero: -0, big: 12345678901234567890n, re: /a"b\/c/gi,
		map: new Map([['k', new Set([1, 'two'])], [{o: 1}, null]]), bytes: new Uint8Array([0, 1, 255]), floats: new Float64Array([1.5, NaN]),
		buffer: new Uint8Array([9, 8]).buffer, view: new DataView(new Uint8Array([7]).buffer), boxed: new String('s'), err: new TypeError('no'),
		hole: [1, , 3], twice: [shared, shared], ['__proto__']: 'own', nested,
	}
	const w = db.transaction(['users', 'loose', 'pairs'], 'readwrite')
	w.objectStore('users').put({mail: 'ada@x.test', tags: ['a', 'b'], token: 'secret ☾ <b>'}); w.objectStore('users').put({mail: 'bob@x.test', tags: []})
	const loose = w.objectStore('loose')
	loose.put({plain: [1, 'a', null, true, {}], ['__proto__']: {x: 1}}, 'text'); loose.put(odd, new Date(5)); loose.put(cycle, [1, 'a']); loose.put('bytes', new Uint8Array([1]).buffer); loose.put(0, -Infinity)
	loose.put(new Blob(['x']), 'blob'); loose.put({inner: new Blob(['x'])}, 'blob 2'); loose.put('\ud800', 'broken')
	w.objectStore('pairs').put({a: 1, b: {c: 'x'}, more: 2})
	await new Promise((done, fail) => { w.oncomplete = done; w.onerror = () => fail(w.error) })
	db.close()
	;(await opened('bare', 1, () => {})).close()
})()`

// describeDatabases returns a text about all databases of a page and their contents.
const describeDatabases = `(async () => {
	const seen = new Map()
	const show = v => {
		if (typeof v === 'bigint') return v + 'n'
		if (Object.is(v, -0)) return '-0'
		if (typeof v !== 'object' || v === null) return typeof v === 'string' ? JSON.stringify(v) : String(v)
		if (seen.has(v)) return '#' + seen.get(v)
		seen.set(v, seen.size)
		const kind = Object.prototype.toString.call(v).slice(8, -1)
		switch (kind) {
			case 'Date': return 'Date ' + v.getTime()
			case 'RegExp': return String(v)
			case 'Error': return v.constructor.name + ' ' + v.message
			case 'Map': return 'Map' + show([...v])
			case 'Set': return 'Set' + show([...v])
			case 'ArrayBuffer': return 'Buffer' + [...new Uint8Array(v)]
			case 'DataView': return 'View' + [...new Uint8Array(v.buffer)]
			case 'String': return 'Boxed' + v
			case 'Array': return '[' + Array.from(v, show) + ']'
			case 'Object': return '{' + Object.keys(v).sort().map(k => k + ':' + show(v[k])) + '}'
		}
		return kind + Array.from(v)
	}
	const lines = []
	for (const info of (await indexedDB.databases()).sort((a, b) => a.name < b.name ? -1 : 1)) {
		const db = await new Promise(done => { const r = indexedDB.open(info.name); r.onsuccess = () => done(r.result) })
		lines.push('# ' + info.name + ' ' + db.version)
		for (const name of db.objectStoreNames) {
			const store = db.transaction(name).objectStore(name)
			lines.push('## ' + name + ' ' + JSON.stringify(store.keyPath) + ' ' + store.autoIncrement)
			for (const x of store.indexNames) { const i = store.index(x); lines.push('index ' + x + ' ' + JSON.stringify(i.keyPath) + ' ' + i.unique + ' ' + i.multiEntry) }
			await new Promise(done => {
				store.openCursor().onsuccess = e => {
					const c = e.target.result
					if (!c) return done()
					seen.clear(); const key = show(c.primaryKey); seen.clear()
					lines.push(key + ' = ' + show(c.value)); c.continue()
				}
			})
		}
		db.close()
	}
	return lines.join('\n')
})()`

// TestDatabasesAreRestored saves databases and restores them in another session. They must be identical, except for data that cannot be
// saved.
func TestDatabasesAreRestored(t *testing.T) {
	url := testenv.Pages(t, map[string]http.HandlerFunc{"/": testenv.HTML(`<title>x</title>`)})
	d := testenv.Shared(t)
	ctx := testenv.Within(t, testenv.Patience)
	createSession(t, d, &domtapv1.CreateSessionRequest{SessionId: "one"})
	openIn(t, d, "one", url)
	ask[any](t, d, "one", fillDatabases)
	without, err := d.Sessions.GetStorageState(ctx, &domtapv1.GetStorageStateRequest{SessionId: "one"})
	if err != nil || len(without.GetState().GetOrigins()) != 0 || len(without.GetOmissions()) != 0 {
		t.Errorf("without indexed_db: %v, %v", without, err)
	}
	saved, err := d.Sessions.GetStorageState(ctx, &domtapv1.GetStorageStateRequest{SessionId: "one", IndexedDb: true})
	if err != nil {
		t.Fatal(err)
	}
	var left []string
	for _, o := range saved.GetOmissions() {
		left = append(left, fmt.Sprintf("%s %s/%s: %s ×%d", strings.TrimPrefix(o.GetOrigin(), url), o.GetDatabase(), o.GetStore(), o.GetReason(), o.GetRecords()))
	}
	slices.Sort(left)
	if want := []string{" app/loose: a Blob ×2", " app/loose: text that is not Unicode ×1"}; !slices.Equal(left, want) {
		t.Errorf("left out: %q, want %q", left, want)
	}
	// The state is converted to JSON, as in a file.
	raw, err := protojson.Marshal(saved.GetState())
	if err != nil {
		t.Fatal(err)
	}
	state := new(domtapv1.StorageState)
	if err := protojson.Unmarshal(raw, state); err != nil {
		t.Fatal(err)
	}
	createSession(t, d, &domtapv1.CreateSessionRequest{SessionId: "two", StorageState: state})
	openIn(t, d, "two", url)
	got := ask[string](t, d, "two", describeDatabases)
	ask[any](t, d, "one", `new Promise(done => { indexedDB.open('app').onsuccess = e => {
		const w = e.target.result.transaction('loose', 'readwrite'); for (const k of ['blob', 'blob 2', 'broken']) w.objectStore('loose').delete(k); w.oncomplete = () => { e.target.result.close(); done() } } })`)
	if want := ask[string](t, d, "one", describeDatabases); got != want || strings.Count(got, "\n") < 15 {
		t.Errorf("restored:\n%s\nwant\n%s", got, want)
	}
	// The next record must get a number greater than all others.
	if next := ask[float64](t, d, "two", `new Promise(done => { indexedDB.open('app').onsuccess = e => { self.kept = e.target.result; kept.onclose = () => self.closed = true
		kept.transaction('users', 'readwrite').objectStore('users').put({mail: 'c@x.test'}).onsuccess = e => done(e.target.result) } })`); next != 3 {
		t.Errorf("the next number is %v", next)
	}
	// Loading the state again replaces the databases, even while a page has one open.
	if _, err := d.Sessions.SetStorageState(ctx, &domtapv1.SetStorageStateRequest{SessionId: "two", State: state}); err != nil {
		t.Fatal(err)
	}
	if again := ask[string](t, d, "two", describeDatabases); again != got {
		t.Errorf("loaded again:\n%s\nwant\n%s", again, got)
	}
	if lost := ask[string](t, d, "two", `(() => { try { kept.transaction('users'); return 'open' } catch (e) { return e.name } })()`); lost != "InvalidStateError" {
		t.Errorf("the page's connection is %s", lost)
	}
}

// TestDatabasesAreBounded saves more than a state can contain, and loads data that no browser accepts.
func TestDatabasesAreBounded(t *testing.T) {
	url := testenv.Pages(t, map[string]http.HandlerFunc{"/": testenv.HTML(`<title>x</title>`)})
	d := testenv.Shared(t)
	ctx := testenv.Within(t, testenv.Patience)
	createSession(t, d, &domtapv1.CreateSessionRequest{SessionId: "large"})
	openIn(t, d, "large", url)
	ask[any](t, d, "large", `new Promise(done => { const r = indexedDB.open('big'); r.onupgradeneeded = () => { const s = r.result.createObjectStore('s')
		for (let i = 0; i < 12; i++) s.put('x'.repeat(1 << 20), i) }; r.onsuccess = done })`)
	_, err := d.Sessions.GetStorageState(ctx, &domtapv1.GetStorageStateRequest{SessionId: "large", IndexedDb: true})
	if status.Code(err) != codes.ResourceExhausted || !strings.Contains(err.Error(), "10 MiB") {
		t.Errorf("too large: %v", err)
	}
	if _, err := d.Sessions.GetStorageState(ctx, &domtapv1.GetStorageStateRequest{SessionId: "large"}); err != nil {
		t.Errorf("without databases: %v", err)
	}
	stored := func(s *domtapv1.ObjectStore) error {
		_, err := d.Sessions.SetStorageState(ctx, &domtapv1.SetStorageStateRequest{SessionId: "large", State: &domtapv1.StorageState{Origins: []*domtapv1.OriginStorage{{
			Origin: url, IndexedDb: []*domtapv1.IndexedDatabase{{Name: "bad", Version: 1, Stores: []*domtapv1.ObjectStore{s}}}}}}})
		return err
	}
	record := func(key, value string) *domtapv1.StoreRecord {
		return &domtapv1.StoreRecord{Key: &key, ValueEncoded: &value}
	}
	for what, s := range map[string]*domtapv1.ObjectStore{
		"a key that is none":  {Name: "s", Records: []*domtapv1.StoreRecord{record("{}", "1")}},
		"an unknown encoding": {Name: "s", Records: []*domtapv1.StoreRecord{record("1", `{"zz":1}`)}},
		"not base64":          {Name: "s", Records: []*domtapv1.StoreRecord{record("1", `{"ab":{"b":"%%"}}`)}},
		"a bad path":          {Name: "s", KeyPath: proto.String("a b")},
		"no key in the value": {Name: "s", KeyPath: proto.String("id"), Records: []*domtapv1.StoreRecord{{Value: proto.String("{}")}}},
		"equal keys":          {Name: "s", Indexes: []*domtapv1.StoreIndex{{Name: "u", KeyPath: proto.String("m"), Unique: true}}, Records: []*domtapv1.StoreRecord{{Key: proto.String("1"), Value: proto.String(`{"m":1}`)}, {Key: proto.String("2"), Value: proto.String(`{"m":1}`)}}},
	} {
		if err := stored(s); status.Code(err) != codes.InvalidArgument || !strings.Contains(err.Error(), `database "bad"`) {
			t.Errorf("%s: %v", what, err)
		}
	}
}
