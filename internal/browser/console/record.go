// Package console turns a page's console, error and network events into a log.
//
// One goroutine feeds a Recorder, in the order of the events. The Recorder keeps no bodies, and no arguments beyond what an entry shows. It
// keeps console messages and request headers undecoded, and decodes them when they are read. Its input is untrusted.
package console

import (
	"bytes"
	"strings"
	"time"

	jsonv2 "github.com/chromedp/cdproto/cdp/jsonv2"
	"github.com/chromedp/chromedp"

	"github.com/domtap/domtap/internal/telemetry/pagelog"
)

// Methods of the events that a Recorder handles.
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

// Kind returns the log that an event belongs to. ok is false for an event that no log records.
func Kind(method string) (kind pagelog.Kind, ok bool) {
	kind, ok = about[method]
	return kind, ok
}

// Ignorable reports whether a network event can be dropped. Most can.
func Ignorable(method string) bool {
	_, known := about[method]
	return !known && strings.HasPrefix(method, "Network.")
}

// maxParams limits an event's parameters, in bytes. Strings in longer parameters are truncated.
const maxParams = 16 << 10

// Shorten truncates the strings of an event, so that the memory of queued events is bounded: a page can log a text of many megabytes. It
// keeps the structure. It drops parameters that are still too long.
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

// closing returns the length of the string whose body starts at s.
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

// whole truncates the body of a JSON string, but never within an escape or a character.
func whole(body []byte, most int) []byte {
	if len(body) <= most {
		return body
	}
	cut := most
	for cut > 0 && body[cut]&0xc0 == 0x80 {
		cut--
	}
	// An escape has up to 6 characters. The first is its only unescaped backslash.
	if i := bytes.LastIndexByte(body[max(0, cut-6):cut], '\\'); i >= 0 {
		cut = max(0, cut-6) + i
		for cut > 0 && body[cut-1] == '\\' {
			cut--
		}
	}
	return body[:cut]
}

// Recorder writes the log of one tab.
type Recorder struct {
	log *pagelog.Log
	why func(url string) string
	// main is the ID of the tab's main frame.
	main string
}

// New returns a recorder for a log. why returns the gate's reason for not connecting to a URL, which may be empty. It is nil if there is no
// gate. main is the ID of the tab's main frame.
func New(log *pagelog.Log, main string, why func(url string) string) *Recorder {
	return &Recorder{log: log, main: main, why: why}
}

// Console handles a console event.
func (r *Recorder) Console(params []byte) {
	r.log.Add(pagelog.Console, time.Now(), cap(params), console(params))
}

// Failure handles an uncaught error. It ignores errors of our own scripts, which the daemon's log has.
func (r *Recorder) Failure(params []byte) {
	if !bytes.Contains(params, []byte(`"url":"domtap.js"`)) {
		r.log.Add(pagelog.Failure, time.Now(), cap(params), uncaughtError(params))
	}
}

// decode decodes parameters. Fields that are not decoded cost little.
func decode(params []byte, into any) error {
	return jsonv2.Unmarshal(params, into, chromedp.DefaultUnmarshalOptions)
}
