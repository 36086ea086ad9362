package devtools

import (
	"encoding/json"
	"io"
	"os"
	"testing"
	"unicode/utf8"

	"github.com/chromedp/cdproto"
)

// FuzzTextEqualsJSON compares the one-pass decoder for string results with the JSON decoder. For every valid string, both must return the
// same.
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
			return // the browser never writes invalid strings
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

func TestMessagesOverSocketsHaveNoParameters(t *testing.T) {
	raw := `{"method":"Network.webSocketFrameSent","params":{"response":{"payloadData":"\"sessionId\":\"X\""}},"sessionId":"S1"}`
	if msg := sentFrame([]byte(raw)); msg == nil || msg.Method != "Network.webSocketFrameSent" || msg.SessionID != "S1" || len(msg.Params) > 0 {
		t.Errorf("got %v", msg)
	}
	if msg := sentFrame([]byte(`{"method":"Network.webSocketCreated","params":{},"sessionId":"S1"}`)); msg != nil {
		t.Errorf("another event: got %v", msg)
	}
}

// TestCommandsAreWrittenTogether holds the commands of two callers until both have sent them.
func TestCommandsAreWrittenTogether(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	p := NewPipe(r, w)
	write := func(method cdproto.MethodType) {
		if err := p.Write(t.Context(), &cdproto.Message{Method: method}); err != nil {
			t.Error(err)
		}
	}
	if err := p.batch(func() error {
		write("A")
		return p.batch(func() error {
			write("B")
			return nil
		})
	}); err != nil {
		t.Fatal(err)
	}
	write("C")
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	var first [1 << 10]byte
	n, _ := r.Read(first[:])
	rest, err := io.ReadAll(r)
	if got, want := string(first[:n])+string(rest), `{"method":"A"}`+"\x00"+`{"method":"B"}`+"\x00"+`{"method":"C"}`+"\x00"; err != nil || got != want {
		t.Errorf("the browser received %q, %v, want %q", got, err, want)
	}
}
