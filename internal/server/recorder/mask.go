package recorder

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

// A file is passed on, so that URLs in it are masked as in a HAR: without user and password, and with *** for the values of
// parameters that are secrets by their names, such as access_token. Links of pages stay as the pages have them.

// maskURL masks a URL.
func maskURL(url string) string { return har.URL(dom.WithoutUser(url)) }

// maskState masks the URLs of a state, which stays as it is; the elements are shared.
func maskState(now actor.Published) actor.Published {
	s := now.Snapshot
	now.Info.URL, now.Info.Why = maskURL(now.Info.URL), maskText(now.Info.Why)
	url := maskURL(s.URL)
	isSecret := func(v dom.Visit) bool { return maskURL(v.URL) != v.URL }
	if url == s.URL && !slices.ContainsFunc(s.History, isSecret) {
		return now
	}
	masked := *s
	masked.URL, masked.History = url, slices.Clone(s.History)
	for i := range masked.History {
		masked.History[i].URL = maskURL(masked.History[i].URL)
	}
	now.Snapshot = &masked
	return now
}

// urls matches those in texts, such as errors.
var urls = lazyregexp.New(`[A-Za-z][A-Za-z0-9+.-]*://[^\s"'<>]+`)

// maskText masks the URLs in a text.
func maskText(text string) string {
	if !strings.Contains(text, "://") {
		return text
	}
	return urls().ReplaceAllStringFunc(text, maskURL)
}

// maskMessage masks the URLs in all texts of a message, in place.
func maskMessage(m protoreflect.Message) {
	m.Range(func(field protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case field.IsMap(): // the messages have none
		case field.IsList():
			list := v.List()
			for i := range list.Len() {
				if masked, ok := maskValue(field, list.Get(i)); ok {
					list.Set(i, masked)
				}
			}
		default:
			if masked, ok := maskValue(field, v); ok {
				m.Set(field, masked)
			}
		}
		return true
	})
}

// maskValue masks one value of a field; ok says that it is another one now.
func maskValue(field protoreflect.FieldDescriptor, v protoreflect.Value) (masked protoreflect.Value, ok bool) {
	switch field.Kind() {
	case protoreflect.MessageKind:
		maskMessage(v.Message())
	case protoreflect.StringKind:
		return protoreflect.ValueOfString(maskText(v.String())), true
	}
	return v, false
}

// masked returns a copy of a message whose URLs are masked.
func masked[M proto.Message](m M) M {
	out := proto.CloneOf(m)
	maskMessage(out.ProtoReflect())
	return out
}
