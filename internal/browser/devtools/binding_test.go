package devtools

import (
	"encoding/json"
	"testing"
	"unicode/utf8"

	"github.com/chromedp/cdproto/runtime"
)

// FuzzBindingEqualsJSON compares binding calls that are parsed in one pass with the JSON decoder's result.
func FuzzBindingEqualsJSON(f *testing.F) {
	for i, payload := range []string{"", "1,2;x", `quote " and \ backslash`, "Käse 購入 👍\n\x01", `"},"sessionId":"X"}`} {
		f.Add(payload, 3-i, "5A")
	}
	f.Fuzz(func(t *testing.T, payload string, id int, session string) {
		if !utf8.ValidString(payload) || !utf8.ValidString(session) {
			return // the browser never writes invalid UTF-8
		}
		raw, err := json.Marshal(struct {
			Method  string `json:"method"`
			Params  any    `json:"params"`
			Session string `json:"sessionId"`
		}{"Runtime.bindingCalled", bindingArguments{"__domtap", payload, id}, session})
		if err != nil {
			t.Fatal(err)
		}
		want, err := decodeMessage(raw)
		if err != nil {
			return
		}
		got := bindingMessage(raw)
		if got == nil {
			got = want // another form, which is decoded as JSON
		}
		if got.Method != want.Method || got.SessionID != want.SessionID || string(got.Params) != string(want.Params) {
			t.Fatalf("%s: got %+v, want %+v", raw, got, want)
		}
		e, err := BindingCall(got)
		decoded, wrong := DecodeEvent(want, runtime.BindingCalled)
		if (err == nil) != (wrong == nil) || e != decoded {
			t.Fatalf("%s: got %+v, %v, want %+v, %v", raw, e, err, decoded, wrong)
		}
	})
}

// bindingArguments holds the parameters of a binding call in Chromium's order.
type bindingArguments struct {
	Name    string `json:"name"`
	Payload string `json:"payload"`
	ID      int    `json:"executionContextId"`
}

// TestBindingsAreReadInOnePass checks that Chromium's form is parsed without the JSON decoder, and that other forms are not.
func TestBindingsAreReadInOnePass(t *testing.T) {
	const written = `{"method":"Runtime.bindingCalled","params":{"name":"__domtap","payload":"1 \"2\"","executionContextId":4},"sessionId":"5A"}`
	m := bindingMessage([]byte(written))
	if m == nil || m.SessionID != "5A" || m.Method != "Runtime.bindingCalled" {
		t.Fatalf("got %+v", m)
	}
	e, err := BindingCall(m)
	if want := (runtime.EventBindingCalled{Name: "__domtap", Payload: `1 "2"`, ExecutionContextID: 4}); err != nil || e != want {
		t.Errorf("got %+v, %v, want %+v", e, err, want)
	}
	for _, other := range []string{
		`{"method":"Runtime.bindingCalled","params":{"name":"x","payload":"y","executionContextId":4}}`,
		`{"method":"Runtime.bindingCalled","params":{"payload":"y","name":"x","executionContextId":4},"sessionId":"5A"}`,
		`{"method":"Runtime.bindingCalled","params":{"name":"x","payload":"y","executionContextId":4},"sessionId":"5\u0041"}`,
		`{"method":"Runtime.bindingCalled","params":{"name":"x","payload":"y`,
		`{"method":"Runtime.consoleAPICalled","params":{},"sessionId":"5A"}`,
	} {
		if m := bindingMessage([]byte(other)); m != nil {
			t.Errorf("%s: got %+v", other, m)
		}
	}
}
