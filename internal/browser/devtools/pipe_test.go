package devtools

import (
	"encoding/json"
	"testing"
	"unicode/utf8"
)

// FuzzTextEqualsJSON holds the one-pass decoder of string answers against the JSON decoder: of every
// valid string it says the same.
func FuzzTextEqualsJSON(f *testing.F) {
	for _, s := range []string{"", "plain", "tab\there", `quote " and \ backslash`, "Käse 購入 👍", "\x00\x1f\u2028"} {
		quoted, err := json.Marshal(s)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(quoted))
	}
	f.Add(`"\ud83d\udc4d \ud800 \u0041 \/"`)
	f.Fuzz(func(t *testing.T, quoted string) {
		var want string
		if !utf8.ValidString(quoted) || json.Unmarshal([]byte(quoted), &want) != nil || quoted[0] != '"' || quoted[len(quoted)-1] != '"' {
			return // the browser writes no such thing
		}
		raw := `{"id":1073741824,"result":{"result":{"type":"string","value":` + quoted + `}},"sessionId":"S"}`
		if got, ok := (reply{raw: []byte(raw)}).text(); !ok || got != want {
			t.Fatalf("got %q, %v; want %q", got, ok, want)
		}
	})
}

func TestTextReadsWhatTheBrowserWrites(t *testing.T) {
	raw := `{"id":1073741825,"result":{"result":{"type":"string","value":"a\tb\n\u00e9 \ud83d\udc4d \"x\" \\ \/"}},"sessionId":"5A"}`
	got, ok := reply{raw: []byte(raw)}.text()
	if want := "a\tb\né 👍 \"x\" \\ /"; !ok || got != want {
		t.Errorf("got %q, %v; want %q", got, ok, want)
	}
	if id := leadingID([]byte(raw)); id != 1073741825 {
		t.Errorf("the id is %d", id)
	}
	for _, other := range []string{
		`{"id":1073741825,"error":{"code":-32000,"message":"no"}}`,
		`{"id":1073741825,"result":{"result":{"type":"number","value":1}}}`,
		`{"id":1073741825,"result":{"result":{"type":"string","value":"cut`,
		`{"id":1073741825,"result":{"result":{"type":"string","value":"x"},"exceptionDetails":{}}}`,
	} {
		if got, ok := (reply{raw: []byte(other)}).text(); ok {
			t.Errorf("%s: got %q", other, got)
		}
	}
}
