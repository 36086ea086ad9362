// Package console turns what the browser says of a page's console, errors and requests into a log.
//
// A Recorder is fed by one goroutine, in the order in which the browser spoke. It keeps no bodies and no arguments beyond what an
// entry shows; messages of the console, and the headers of requests, are kept as they came and decoded when
// somebody reads them. What it is fed is untrusted.
package console

import (
	"bytes"
	"strings"
	"time"

	jsonv2 "github.com/chromedp/cdproto/cdp/jsonv2"
	"github.com/chromedp/chromedp"

	"github.com/domtap/domtap/internal/telemetry/pagelog"
)

// Methods of the events that a Recorder understands.
const (
	consoleCalled   = "Runtime.consoleAPICalled"
	exceptionThrown = "Runtime.exceptionThrown"
	requested       = "Network.requestWillBeSent"
	responded       = "Network.responseReceived"
	finished        = "Network.loadingFinished"
	failed          = "Network.loadingFailed"
	socketCreated   = "Network.webSocketCreated"
	socketAnswered  = "Network.webSocketHandshakeResponseReceived"
	socketFailed    = "Network.webSocketFrameError"
	socketClosed    = "Network.webSocketClosed"
)

var about = map[string]pagelog.Kind{
	consoleCalled: pagelog.Console, exceptionThrown: pagelog.Failure, requested: pagelog.Network, responded: pagelog.Network,
	finished: pagelog.Network, failed: pagelog.Network, socketCreated: pagelog.Network, socketAnswered: pagelog.Network,
	socketFailed: pagelog.Network, socketClosed: pagelog.Network,
}

// Kind says what log an event is for; ok is false for events that no log is kept of.
func Kind(method string) (kind pagelog.Kind, ok bool) {
	kind, ok = about[method]
	return kind, ok
}

// Useless reports whether an event of the network tells nothing that is kept or waited for: most of them.
func Useless(method string) bool {
	_, known := about[method]
	return !known && strings.HasPrefix(method, "Network.")
}

// maxParams is the longest an event's parameters may be, in bytes, before their strings are cut.
const maxParams = 16 << 10

// Shorten cuts the strings of an event so that what waits for the recorder is bounded: a page can log a text of
// many megabytes. It changes nothing about the structure; parameters that are still long are left out.
func Shorten(params []byte) []byte {
	if len(params) <= maxParams {
		return params
	}
	const longest = 4 << 10
	out := make([]byte, 0, maxParams)
	for rest := params; len(rest) > 0; {
		open := bytes.IndexByte(rest, '"')
		if open < 0 {
			open = len(rest)
		}
		if len(out)+open > 4*maxParams {
			return nil
		}
		if open == len(rest) {
			return append(out, rest...)
		}
		end := closing(rest[open+1:])
		body := rest[open+1 : open+1+end]
		out = append(out, rest[:open+1]...)
		out = append(out, whole(body, longest)...)
		out = append(out, '"')
		rest = rest[min(open+1+end+1, len(rest)):]
	}
	return out
}

// closing is how long the string is whose body begins here.
func closing(s []byte) int {
	for i := 0; ; {
		n := bytes.IndexByte(s[i:], '"')
		if n < 0 {
			return len(s)
		}
		i += n
		slashes := 0
		for i-slashes > 0 && s[i-slashes-1] == '\\' {
			slashes++
		}
		if slashes%2 == 0 {
			return i
		}
		i++
	}
}

// whole cuts the body of a JSON string, but not within an escape or a character.
func whole(body []byte, most int) []byte {
	if len(body) <= most {
		return body
	}
	cut := most
	for cut > 0 && body[cut]&0xc0 == 0x80 {
		cut--
	}
	// An escape has up to 6 characters, of which the first is the only backslash that is not escaped itself.
	if i := bytes.LastIndexByte(body[max(0, cut-6):cut], '\\'); i >= 0 {
		cut = max(0, cut-6) + i
		for cut > 0 && body[cut-1] == '\\' {
			cut--
		}
	}
	return body[:cut]
}

// Recorder writes one tab's log.
type Recorder struct {
	log *pagelog.Log
	why func(url string) string
	// main is the main frame of the tab.
	main string
}

// New makes a recorder for a log. When all requests go through a gate, why tells what that has to say of a URL that was
// not connected to, and may be empty; it is nil when there is no gate. Main is the id of the tab's main frame.
func New(log *pagelog.Log, main string, why func(url string) string) *Recorder {
	return &Recorder{log: log, main: main, why: why}
}

// Console takes an event of the console.
func (r *Recorder) Console(params []byte) {
	r.log.Add(pagelog.Console, time.Now(), cap(params), console(params))
}

// Failure takes an error that nobody caught. Those of our own scripts are in the daemon's log.
func (r *Recorder) Failure(params []byte) {
	if !bytes.Contains(params, []byte(`"url":"domtap.js"`)) {
		r.log.Add(pagelog.Failure, time.Now(), cap(params), thrown(params))
	}
}

// decode reads parameters; fields that are not asked for cost little.
func decode(params []byte, into any) error {
	return jsonv2.Unmarshal(params, into, chromedp.DefaultUnmarshalOptions)
}
