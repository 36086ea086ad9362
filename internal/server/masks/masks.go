// Package masks masks the URLs in what is kept of a tab, and read or passed on later: timelines and recordings. As in a HAR, they are without
// user and password, and with *** for the values of parameters that are secrets by their names, such as access_token. Links of pages
// stay as the pages have them.
//
// Nothing that is given to the package is changed: what has a secret is copied.
package masks

import (
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/dom"
	"github.com/domtap/domtap/internal/lazyregexp"
	"github.com/domtap/domtap/internal/telemetry/har"
)

// URL masks a URL.
func URL(url string) string { return har.URL(dom.WithoutUser(url)) }

// State masks the URLs of a state; the elements are shared.
func State(now actor.Published) actor.Published {
	s := now.Snapshot
	now.Info.URL, now.Info.Why = URL(now.Info.URL), Text(now.Info.Why)
	url := URL(s.URL)
	isSecret := func(v dom.Visit) bool { return URL(v.URL) != v.URL }
	if url == s.URL && !slices.ContainsFunc(s.History, isSecret) {
		return now
	}
	masked := *s
	masked.URL, masked.History = url, slices.Clone(s.History)
	for i := range masked.History {
		masked.History[i].URL = URL(masked.History[i].URL)
	}
	now.Snapshot = &masked
	return now
}

// urls matches those in texts, such as errors, and the queries and fragments of paths: summaries say where a click led by its path.
var urls = lazyregexp.New(`[A-Za-z][A-Za-z0-9+.-]*://[^\s"'<>]+|[?#][^\s"'<>=]*=[^\s"'<>]+`)

// Text masks the URLs in a text.
func Text(text string) string {
	if !strings.Contains(text, "://") && !(strings.ContainsAny(text, "?#") && strings.Contains(text, "=")) {
		return text
	}
	return urls().ReplaceAllStringFunc(text, func(found string) string {
		url, after := found, ""
		if strings.HasSuffix(url, ")") && !strings.Contains(url, "(") { // the text has the URL in parentheses
			url, after = url[:len(url)-1], ")"
		}
		return URL(url) + after
	})
}

// Message masks the URLs in all texts of a message. One without secrets is returned as it is.
func Message[M proto.Message](m M) M {
	if !walk(m.ProtoReflect(), false) {
		return m
	}
	out := proto.CloneOf(m)
	walk(out.ProtoReflect(), true)
	return out
}

// walk looks for secrets in a message, and replaces them if it may write; found says that there is one.
func walk(m protoreflect.Message, write bool) (found bool) {
	m.Range(func(field protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case field.IsMap(): // the messages have none
		case field.IsList():
			list := v.List()
			for i := range list.Len() {
				found = walkValue(field, list.Get(i), write, func(v protoreflect.Value) { list.Set(i, v) }) || found
			}
		default:
			found = walkValue(field, v, write, func(v protoreflect.Value) { m.Set(field, v) }) || found
		}
		return write || !found
	})
	return found
}

// walkValue is walk for one value of a field.
func walkValue(field protoreflect.FieldDescriptor, v protoreflect.Value, write bool, set func(protoreflect.Value)) (found bool) {
	switch field.Kind() {
	case protoreflect.MessageKind:
		return walk(v.Message(), write)
	case protoreflect.StringKind:
		text := v.String()
		masked := Text(text)
		if masked == text {
			return false
		}
		if write {
			set(protoreflect.ValueOfString(masked))
		}
		return true
	}
	return false
}
