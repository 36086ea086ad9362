// Package masks masks the URLs in the stored data of a tab, such as timelines and recordings. As in a HAR, user and password are removed,
// and the values of parameters with secret names, such as access_token, are replaced by ***. Links within pages are not masked.
//
// The package does not modify its arguments. It copies values that contain a secret.
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

// State masks the URLs of a state. The result shares the elements.
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

// urls matches URLs in texts, such as errors. It also matches the queries and fragments of paths, because summaries name the target of a
// click by its path.
var urls = lazyregexp.New(`[A-Za-z][A-Za-z0-9+.-]*://[^\s"'<>]+|[?#][^\s"'<>=]*=[^\s"'<>]+`)

// Text masks the URLs in a text.
func Text(text string) string {
	if !strings.Contains(text, "://") && !(strings.ContainsAny(text, "?#") && strings.Contains(text, "=")) {
		return text
	}
	return urls().ReplaceAllStringFunc(text, func(found string) string {
		url, after := found, ""
		if strings.HasSuffix(url, ")") && !strings.Contains(url, "(") { // the parentheses enclose the URL
			url, after = url[:len(url)-1], ")"
		}
		return URL(url) + after
	})
}

// Message masks the URLs in all texts of a message. A message without secrets is returned unchanged.
func Message[M proto.Message](m M) M {
	if !walk(m.ProtoReflect(), false) {
		return m
	}
	out := proto.CloneOf(m)
	walk(out.ProtoReflect(), true)
	return out
}

// walk searches a message for secrets, and replaces them if write is set. It reports whether it found a secret.
func walk(m protoreflect.Message, write bool) (found bool) {
	m.Range(func(field protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case field.IsMap(): // the messages have no maps
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

// walkValue applies walk to one value of a field.
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
