package devtools

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/chromedp/cdproto"
	cdpnetwork "github.com/chromedp/cdproto/network"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
)

// message returns the message of an event.
func message(t *testing.T, params string) *cdproto.Message {
	t.Helper()
	if !json.Valid([]byte(params)) {
		t.Fatalf("no JSON: %.60s", params)
	}
	return &cdproto.Message{Params: []byte(params)}
}

func TestStringsOfEventsAreBounded(t *testing.T) {
	long := strings.Repeat("é", MaxString)
	moved, err := DecodeEvent(message(t, `{"frameId":"F","url":"https://a.example/`+long+`","navigationType":"historyApi"}`), cdppage.NavigatedWithinDocument)
	if err != nil || len(moved.URL) > MaxString || len(moved.URL) < MaxString-4 || !strings.HasPrefix(moved.URL, "https://a.example/é") {
		t.Errorf("a URL has %d bytes, %v", len(moved.URL), err)
	}
	if strings.ToValidUTF8(moved.URL, "?") != moved.URL {
		t.Error("the URL was cut inside a character")
	}
	sent, err := DecodeEvent(message(t, `{"requestId":"1","request":{"url":"`+long+`","method":"GET","headers":{"X-Long":"`+long+`","X-Short":"kept"}},"type":"Fetch"}`), cdpnetwork.RequestWillBeSent)
	if err != nil || sent.Request == nil {
		t.Fatal(err)
	}
	header, _ := sent.Request.Headers["X-Long"].(string)
	if len(sent.Request.URL) > MaxString || len(header) > MaxString || header == "" || sent.Request.Headers["X-Short"] != "kept" {
		t.Errorf("the URL has %d bytes, the header %d", len(sent.Request.URL), len(header))
	}
	logged, err := DecodeEvent(message(t, `{"type":"log","args":[],"executionContextId":1,"stackTrace":{"callFrames":[{"functionName":"`+long+`","url":"u"}]}}`), runtime.ConsoleAPICalled)
	if err != nil || len(logged.StackTrace.CallFrames[0].FunctionName) > MaxString {
		t.Errorf("a name in a stack is not bounded: %v", err)
	}
	called, err := DecodeEvent(message(t, `{"name":"n","payload":"`+long+`","executionContextId":1}`), runtime.BindingCalled)
	if err != nil || called.Payload != long {
		t.Errorf("data was cut: %d of %d bytes, %v", len(called.Payload), len(long), err)
	}
}

func FuzzDecodedStringsAreBounded(f *testing.F) {
	f.Add(strings.Repeat("a", MaxString+1), "x")
	f.Fuzz(func(t *testing.T, url, value string) {
		raw, err := json.Marshal(map[string]any{"requestId": "1", "request": map[string]any{"url": url, "headers": map[string]string{"A": value}}})
		if err != nil {
			t.Skip(err)
		}
		e, err := DecodeEvent(message(t, string(raw)), cdpnetwork.RequestWillBeSent)
		if err != nil || e.Request == nil {
			return
		}
		header, _ := e.Request.Headers["A"].(string)
		if len(e.Request.URL) > MaxString || len(header) > MaxString {
			t.Errorf("%d and %d bytes", len(e.Request.URL), len(header))
		}
	})
}
