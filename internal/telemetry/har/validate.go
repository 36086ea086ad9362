package har

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"time"
)

// Validate checks that JSON is an archive of version 1.2. Every field that the format requires is present and has the right type, times are
// ISO 8601, entries refer to existing pages, and the time of an entry is the sum of its timings. Tests use it.
func Validate(text []byte) error {
	var whole map[string]any
	if err := json.Unmarshal(text, &whole); err != nil {
		return fmt.Errorf("the archive is no JSON object: %w", err)
	}
	v := &validator{pages: map[string]bool{}}
	log := v.object(whole, "", "log")
	if got := v.text(log, "log", "version"); got != Version {
		v.fail("log.version", "is %q", got)
	}
	v.named(v.object(log, "log", "creator"), "log.creator")
	if _, has := log["browser"]; has {
		v.named(v.object(log, "log", "browser"), "log.browser")
	}
	if _, has := log["pages"]; has {
		for i, p := range v.list(log, "log", "pages") {
			v.page(p, fmt.Sprintf("log.pages[%d]", i))
		}
	}
	for i, e := range v.list(log, "log", "entries") {
		v.entry(e, fmt.Sprintf("log.entries[%d]", i))
	}
	return errors.Join(v.errs...)
}

type validator struct {
	pages map[string]bool
	errs  []error
}

func (v *validator) fail(at, format string, args ...any) {
	v.errs = append(v.errs, fmt.Errorf("%s: %s", at, fmt.Sprintf(format, args...)))
}

func (v *validator) page(p map[string]any, at string) {
	v.stamp(p, at, "startedDateTime")
	v.pages[v.text(p, at, "id")] = true
	v.text(p, at, "title")
	v.object(p, at, "pageTimings")
}

func (v *validator) entry(e map[string]any, at string) {
	if ref, has := e["pageref"]; has {
		if name, _ := ref.(string); !v.pages[name] {
			v.fail(at+".pageref", "there is no page %v", ref)
		}
	}
	v.stamp(e, at, "startedDateTime")
	total := v.number(e, at, "time")
	v.object(e, at, "cache")
	v.timings(v.object(e, at, "timings"), at+".timings", total)
	sent := v.object(e, at, "request")
	v.message(sent, at+".request", "method", "url", "httpVersion")
	v.pairs(sent, at+".request", "queryString")
	if _, has := sent["postData"]; has {
		v.text(v.object(sent, at+".request", "postData"), at+".request.postData", "mimeType")
	}
	got := v.object(e, at, "response")
	v.message(got, at+".response", "statusText", "httpVersion", "redirectURL")
	v.number(got, at+".response", "status")
	body := v.object(got, at+".response", "content")
	v.number(body, at+".response.content", "size")
	v.text(body, at+".response.content", "mimeType")
}

// message checks the fields that requests and responses have in common.
func (v *validator) message(m map[string]any, at string, texts ...string) {
	for _, name := range texts {
		v.text(m, at, name)
	}
	v.pairs(m, at, "headers")
	v.pairs(m, at, "cookies")
	v.number(m, at, "headersSize")
	v.number(m, at, "bodySize")
}

func (v *validator) timings(t map[string]any, at string, total float64) {
	sum := 0.0
	for _, name := range []string{"send", "wait", "receive"} {
		part := v.number(t, at, name)
		if part < 0 {
			v.fail(at+"."+name, "is %v: it must be 0 or more", part)
		}
		sum += part
	}
	for _, name := range []string{"blocked", "dns", "connect"} {
		if part, _ := t[name].(float64); part > 0 {
			sum += part
		}
	}
	if math.Abs(sum-total) > 0.01 {
		v.fail(at, "they add up to %v, and the time is %v", sum, total)
	}
}

func (v *validator) named(o map[string]any, at string) {
	v.text(o, at, "name")
	v.text(o, at, "version")
}

func (v *validator) pairs(o map[string]any, at, name string) {
	for i, pair := range v.list(o, at, name) {
		where := fmt.Sprintf("%s.%s[%d]", at, name, i)
		v.text(pair, where, "name")
		v.text(pair, where, "value")
	}
}

func (v *validator) object(o map[string]any, at, name string) map[string]any {
	value, ok := o[name].(map[string]any)
	if !ok {
		v.fail(at+"."+name, "is no object: %v", o[name])
	}
	return value
}

func (v *validator) list(o map[string]any, at, name string) []map[string]any {
	values, ok := o[name].([]any)
	if !ok {
		v.fail(at+"."+name, "is no list: %v", o[name])
	}
	var out []map[string]any
	for i, value := range values {
		one, ok := value.(map[string]any)
		if !ok {
			v.fail(fmt.Sprintf("%s.%s[%d]", at, name, i), "is no object")
		}
		out = append(out, one)
	}
	return out
}

func (v *validator) text(o map[string]any, at, name string) string {
	value, ok := o[name].(string)
	if !ok {
		v.fail(at+"."+name, "is no text: %v", o[name])
	}
	return value
}

func (v *validator) number(o map[string]any, at, name string) float64 {
	value, ok := o[name].(float64)
	if !ok {
		v.fail(at+"."+name, "is no number: %v", o[name])
	}
	return value
}

func (v *validator) stamp(o map[string]any, at, name string) {
	text := v.text(o, at, name)
	if _, err := time.Parse(time.RFC3339, text); err != nil {
		v.fail(at+"."+name, "is no ISO 8601 time: %q", text)
	}
}
