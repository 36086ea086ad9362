package devtools

import (
	"bytes"
	"math"
	"strconv"

	"github.com/chromedp/cdproto"
	jsonv2 "github.com/chromedp/cdproto/cdp/jsonv2"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"
)

// Binding calls are the browser's most frequent messages: each change of an observed page is one. They are parsed in a single pass if they
// have Chromium's usual form. Other forms are decoded as JSON.
var (
	bindingCalled = []byte(`{"method":"` + runtime.BindingCalled.Method + `","params":{"name":"`)
	bindingParams = []byte(`{"name":"`)
	payloadField  = []byte(`,"payload":"`)
	contextField  = []byte(`,"executionContextId":`)
	sessionField  = []byte(`,"sessionId":"`)
)

// bindingMessage returns the message of a binding call, with its parameters undecoded. It returns nil for any other form.
func bindingMessage(raw []byte) *cdproto.Message {
	at := bytes.LastIndex(raw, sessionField) // the text cannot occur inside a string, where quotes are escaped
	if at < len(bindingCalled) || !bytes.HasPrefix(raw, bindingCalled) {
		return nil
	}
	session, ok := bytes.CutSuffix(raw[at+len(sessionField):], []byte(`"}`))
	if !ok || bytes.ContainsAny(session, `"\`) || raw[at-1] != '}' {
		return nil
	}
	return &cdproto.Message{
		Method: cdproto.MethodType(runtime.BindingCalled.Method), SessionID: target.SessionID(session),
		Params: jsonv2.Value(raw[len(bindingCalled)-len(bindingParams) : at]),
	}
}

// BindingCall decodes the parameters of a binding call.
func BindingCall(msg *cdproto.Message) (runtime.EventBindingCalled, error) {
	if e, rest, ok := parseBinding(msg.Params); ok && len(rest) == 0 {
		return e, nil
	}
	return DecodeEvent(msg, runtime.BindingCalled)
}

// parseBinding parses the parameters of a binding call and returns what follows them.
func parseBinding(s []byte) (e runtime.EventBindingCalled, rest []byte, ok bool) {
	if rest, ok = bytes.CutPrefix(s, bindingParams); !ok {
		return e, nil, false
	}
	if e.Name, rest, ok = unquote(rest); !ok {
		return e, nil, false
	}
	if rest, ok = bytes.CutPrefix(rest, payloadField); !ok {
		return e, nil, false
	}
	if e.Payload, rest, ok = unquote(rest); !ok {
		return e, nil, false
	}
	if rest, ok = bytes.CutPrefix(rest, contextField); !ok {
		return e, nil, false
	}
	digits, rest, ok := bytes.Cut(rest, []byte(`}`))
	id, err := strconv.ParseUint(string(digits), 10, 32)
	if !ok || err != nil || id > math.MaxInt32 {
		return e, nil, false
	}
	e.ExecutionContextID = runtime.ExecutionContextID(id)
	return e, rest, true
}
