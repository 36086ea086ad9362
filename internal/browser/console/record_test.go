package console

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/domtap/domtap/internal/telemetry/pagelog"
)

// wrote feeds an event to a recorder and returns the newest entry.
func wrote(t *testing.T, r *Recorder, l *pagelog.Log, method, params string) pagelog.Entry {
	t.Helper()
	switch kind, _ := Kind(method); kind {
	case pagelog.Console:
		r.Console([]byte(params))
	case pagelog.Failure:
		r.Failure([]byte(params))
	default:
		if _, err := r.Network(method, []byte(params)); err != nil {
			t.Fatal(err)
		}
	}
	all := l.Read(pagelog.Query{})
	if len(all.Entries) == 0 {
		t.Fatal("nothing was logged")
	}
	return all.Entries[len(all.Entries)-1]
}

func newRecorder() (*Recorder, *pagelog.Log) {
	l := new(pagelog.Log)
	return New(l, "F", nil), l
}

func TestConsole(t *testing.T) {
	for params, want := range map[string]string{
		`{"type":"log","args":[{"type":"string","value":"a %s b %d%% %c%o %x"},{"type":"string","value":"X"},{"type":"number","value":3,"description":"3"},{"type":"string","value":"color:red"},{"type":"object","description":"Object","preview":{"properties":[{"name":"k","type":"string","value":"v"}],"overflow":true}},{"type":"undefined"}]}`: `log: a X b 3% {k: "v", …} %x undefined`,
		`{"type":"warning","args":[{"type":"object","subtype":"array","description":"Array(2)","preview":{"properties":[{"name":"0","type":"number","value":"1"},{"name":"1","type":"string","value":"x"}]}}]}`:                                                                                                                                       `warning: [1, "x"]`,
		`{"type":"assert","args":[{"type":"object","subtype":"error","description":"Error: e\n    at f","preview":{"properties":[]}}]}`:                                                                                                                                                                                                               "error: Error: e\n    at f",
		`{"type":"trace","args":[{"type":"number","unserializableValue":"NaN"},{"type":"object","subtype":"null","value":null},{"type":"boolean","value":true}]}`:                                                                                                                                                                                     "log: NaN null true",
		`{"type":"log","args":[{"type":"string","value":"100%"},{"type":"string","value":"b"}]}`:                                                                                                                                                                                                                                                      "log: 100% b",
		`{"type":"log"}`:         "log: ",
		`{"type":7,"args":"no"}`: "log: (a message that is too long or invalid)",
		``:                       "log: (a message that is too long or invalid)",
	} {
		e := console(params).Entry()
		if got := e.Level + ": " + e.Text; got != want {
			t.Errorf("%s: got %q, want %q", params, got, want)
		}
	}
	placed := console(`{"type":"log","args":[],"stackTrace":{"callFrames":[{"url":"https://u:p@x.example/a.js","lineNumber":4}]}}`).Entry()
	if placed.URL != "https://***@x.example/a.js" || placed.Line != 5 {
		t.Errorf("got %v", placed)
	}
}

func TestFailures(t *testing.T) {
	r, l := newRecorder()
	e := wrote(t, r, l, exceptionThrown, `{"timestamp":1,"exceptionDetails":{"text":"Uncaught (in promise)","lineNumber":2,"url":"https://x.example/","exception":{"type":"string","value":"plain"}}}`)
	if e.Text != "Uncaught (in promise) plain" || e.Line != 3 || e.URL != "https://x.example/" || e.Level != "error" || !e.Problem() {
		t.Errorf("got %v", e)
	}
	r.Failure([]byte(`{"exceptionDetails":{"text":"Uncaught","url":"domtap.js"}}`))
	if n := len(l.Read(pagelog.Query{}).Entries); n != 1 {
		t.Errorf("our own errors are in the page's log: %d entries", n)
	}
}

// TestARequestFromItsBeginToItsEnd feeds the events of a request that is redirected, answered and completed.
func TestARequestFromItsBeginToItsEnd(t *testing.T) {
	r, l := newRecorder()
	e := wrote(t, r, l, requested, `{"requestId":"1","loaderId":"L","frameId":"F","type":"Fetch","timestamp":10,"wallTime":1700000000.5,"request":{"url":"https://me:pw@x.example/a","method":"POST","headers":{"authorization":"hush"}}}`)
	if e.Level != "POST" || e.URL != "https://***@x.example/a" || e.Resource != "fetch" || e.At.Unix() != 1700000000 || e.Took != 0 {
		t.Errorf("got %v", e)
	}
	wrote(t, r, l, requested, `{"requestId":"1","type":"Fetch","timestamp":11,"wallTime":1700000001.5,"request":{"url":"https://x.example/b","method":"GET"},"redirectResponse":{"status":303,"encodedDataLength":120}}`)
	wrote(t, r, l, responded, `{"requestId":"1","type":"Fetch","timestamp":11.5,"response":{"status":200,"encodedDataLength":80}}`)
	wrote(t, r, l, finished, `{"requestId":"1","timestamp":12,"encodedDataLength":1080}`)
	all := l.Read(pagelog.Query{}).Entries
	if len(all) != 2 || all[0].Status != 303 || all[0].Took != time.Second || all[0].Bytes != 120 || all[1].Status != 200 || all[1].Took != time.Second || all[1].Bytes != 1080 {
		t.Errorf("got %v", all)
	}
	for _, c := range []struct{ params, want string }{
		{`"errorText":"net::ERR_FAILED","corsErrorStatus":{"corsError":"MissingAllowOriginHeader"}`, "net::ERR_FAILED (CORS: MissingAllowOriginHeader)"},
		{`"errorText":"net::ERR_ABORTED","canceled":true`, "net::ERR_ABORTED (canceled)"},
		{`"errorText":"","blockedReason":"csp"`, "failed (blocked: csp)"},
	} {
		wrote(t, r, l, requested, `{"requestId":"2","timestamp":1,"request":{"url":"https://x.example/c","method":"GET"}}`)
		if e := wrote(t, r, l, failed, `{"requestId":"2","timestamp":2,`+c.params+`}`); e.Failed != c.want || !e.Problem() {
			t.Errorf("got %v, want %q", e, c.want)
		}
	}
	wrote(t, r, l, socketCreated, `{"requestId":"3","url":"wss://x.example/s"}`)
	wrote(t, r, l, socketAnswered, `{"requestId":"3","timestamp":5,"response":{"status":101}}`)
	if e := wrote(t, r, l, socketClosed, `{"requestId":"3","timestamp":6}`); e.Resource != "websocket" || e.Status != 101 || e.Took <= 0 || e.Took > time.Hour {
		t.Errorf("got %v", e)
	}
}

func TestWhatARequestTellsThoseWhoCount(t *testing.T) {
	r, _ := newRecorder()
	for _, c := range []struct {
		method string
		want   Request
	}{
		{requested, Request{ID: "1", Frame: "F", Document: "L", Type: "Fetch", Begun: true}},
		{responded, Request{ID: "1", Frame: "F", Document: "L", Type: "Fetch"}},
		{finished, Request{ID: "1", Frame: "F", Document: "L", Type: "Fetch", Ended: true}},
		{failed, Request{ID: "1", Frame: "F", Document: "L", Type: "Fetch", Ended: true, Failed: true}},
	} {
		got, err := r.Network(c.method, []byte(`{"requestId":"1","frameId":"F","loaderId":"L","type":"Fetch"}`))
		if err != nil || got != c.want {
			t.Errorf("%s: %v, %v", c.method, got, err)
		}
	}
	for params, want := range map[string]Request{
		`{"requestId":"1","type":"Stylesheet","request":{"url":"http://a.test/a.css"}}`: {ID: "1", Type: "Stylesheet", Begun: true, Sheet: "http://a.test/a.css"},
		`{"requestId":"1","type":"Image","request":{"url":"http://a.test/a.png"}}`:      {ID: "1", Type: "Image", Begun: true},
	} {
		if got, err := r.Network(requested, []byte(params)); err != nil || got != want {
			t.Errorf("%s: %v, %v", params, got, err)
		}
	}
	for status, refused := range map[string]bool{"200": false, "399": false, "404": true, "502": true} {
		if got, err := r.Network(responded, []byte(`{"requestId":"1","response":{"status":`+status+`}}`)); err != nil || got.Failed != refused {
			t.Errorf("status %s: %v, %v", status, got, err)
		}
	}
	if _, err := r.Network(requested, []byte(`{"requestId":"`+strings.Repeat("x", 1000)+`"}`)); err == nil {
		t.Error("a name of 1,000 characters passed")
	}
	if !Ignorable("Network.dataReceived") || Ignorable("Page.frameNavigated") || Ignorable(requested) {
		t.Error("the wrong events are useless")
	}
}

func TestShortenKeepsTheRest(t *testing.T) {
	text := strings.Repeat(`x"\`, 2_000_000)
	raw, err := json.Marshal(map[string]any{"args": []any{map[string]string{"type": "string", "value": text}}, "type": "warning"})
	if err != nil {
		t.Fatal(err)
	}
	short := Shorten(raw)
	if len(short) > maxParams || !json.Valid(short) {
		t.Fatalf("%d bytes, valid %v", len(short), json.Valid(short))
	}
	if e := console(short).Entry(); e.Level != "warning" || !strings.HasPrefix(e.Text, `x"\x"\`) {
		t.Errorf("got %.60v", e)
	}
	many, err := json.Marshal(map[string]any{"args": make([]int, 1_000_000)})
	if err != nil {
		t.Fatal(err)
	}
	if got := Shorten(many); len(got) > 4*maxParams {
		t.Errorf("%d bytes are left of a million arguments", len(got))
	}
	if small := []byte(`{"a":"b"}`); string(Shorten(small)) != string(small) {
		t.Error("what is short was changed")
	}
}

func FuzzShortenedEventsStayJSON(f *testing.F) {
	f.Add("plain", 9000)
	f.Add(`\"\\`, 5000)
	f.Add("é\u2028\\u12", 7000)
	f.Fuzz(func(t *testing.T, text string, times int) {
		text = strings.Repeat(text, min(max(times, 1), 20_000))
		raw, err := json.Marshal(map[string]any{"a": text, "b": []string{text[:min(len(text), 10)]}, "c": 1})
		if err != nil || len(raw) > 10<<20 {
			t.Skip()
		}
		short := Shorten(raw)
		if len(short) > 5*maxParams || len(short) > 0 && !json.Valid(short) {
			t.Errorf("%d bytes of %d, valid %v", len(short), len(raw), json.Valid(short))
		}
	})
}

func FuzzEventsAreTakenAsTheyCome(f *testing.F) {
	f.Add(0, `{"type":"log","args":[{"type":"string","value":"%s"}]}`)
	f.Add(2, `{"requestId":"1","timestamp":1e400}`)
	methods := []string{consoleCalled, exceptionThrown, requested, responded, finished, failed, socketCreated, socketAnswered, socketFailed, socketClosed}
	f.Fuzz(func(t *testing.T, which int, params string) {
		r, l := newRecorder()
		method := methods[uint(which)%uint(len(methods))]
		switch kind, _ := Kind(method); kind {
		case pagelog.Console:
			r.Console([]byte(params))
		case pagelog.Failure:
			r.Failure([]byte(params))
		default:
			_, _ = r.Network(method, []byte(params))
		}
		for _, e := range l.Read(pagelog.Query{}).Entries {
			if len([]rune(e.Text)) > pagelog.MaxText+1 || len([]rune(e.URL)) > pagelog.MaxURL+1 || e.Line < 0 || e.Took < 0 || e.Bytes < 0 || len(e.Level) > 40 || len(e.Resource) > 40 {
				t.Errorf("%s became %s", params, fmt.Sprintf("%+v", e))
			}
		}
	})
}
