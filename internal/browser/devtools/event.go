package devtools

import (
	"reflect"

	"github.com/chromedp/cdproto"
	"github.com/chromedp/cdproto/cdp"
	jsonv2 "github.com/chromedp/cdproto/cdp/jsonv2"
	cdpinput "github.com/chromedp/cdproto/input"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/domtap/domtap/internal/truncate"
)

// MaxString bounds each string of an event, in bytes: a page may choose URLs, titles, messages and headers of many
// megabytes, and what decodes an event may keep its strings.
const MaxString = 16 << 10

// DecodeEvent reads the parameters of an event. Strings longer than MaxString are cut at a character, but for those that
// are used as they are: calls of bindings, frames of screencasts, what a page drags, and the URL of a document, by which a
// lost page is loaded again.
func DecodeEvent[E any](msg *cdproto.Message, _ cdp.Event[E]) (E, error) {
	var e E
	err := jsonv2.Unmarshal(msg.Params, &e, chromedp.DefaultUnmarshalOptions)
	if len(msg.Params) > MaxString && !isWhole(any(e)) {
		shorten(reflect.ValueOf(&e).Elem())
	}
	return e, err
}

// isWhole reports whether the strings of an event would be worthless when cut.
func isWhole(event any) bool {
	switch event.(type) {
	case runtime.EventBindingCalled, cdppage.EventScreencastFrame, cdpinput.EventDragIntercepted, cdppage.EventFrameNavigated:
		return true
	}
	return false
}

// shorten cuts the long strings in a value. A string that was cut shares no memory with the whole one.
func shorten(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		if v.Len() > MaxString && v.CanSet() {
			v.SetString(truncate.Bytes(v.String(), MaxString))
		}
	case reflect.Pointer:
		if !v.IsNil() {
			shorten(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				shorten(v.Field(i))
			}
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 { // raw JSON, which is decoded elsewhere
			return
		}
		for i := range v.Len() {
			shorten(v.Index(i))
		}
	case reflect.Map:
		shortenMap(v)
	}
}

// shortenMap cuts the long strings that are values of a map: headers, which are strings or of any type.
func shortenMap(m reflect.Value) {
	for _, key := range m.MapKeys() {
		value := m.MapIndex(key)
		if value.Kind() == reflect.Interface {
			value = value.Elem()
		}
		if value.Kind() == reflect.String && value.Len() > MaxString {
			m.SetMapIndex(key, reflect.ValueOf(truncate.Bytes(value.String(), MaxString)).Convert(value.Type()))
		}
	}
}

// On reads the parameters of an event and gives them to f.
func On[E any](msg *cdproto.Message, event cdp.Event[E], f func(E)) error {
	e, err := DecodeEvent(msg, event)
	if err == nil {
		f(e)
	}
	return err
}
