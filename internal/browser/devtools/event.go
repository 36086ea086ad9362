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

// MaxString limits each string of an event, in bytes. Pages choose URLs, titles, messages and headers, which may have many megabytes, and
// decoded events may keep these strings.
const MaxString = 16 << 10

// DecodeEvent decodes the parameters of an event. It truncates strings longer than MaxString at a character boundary. It keeps strings that
// must stay complete: binding calls, screencast frames, drag data, and the URL of a document, which is used to reload a lost page.
func DecodeEvent[E any](msg *cdproto.Message, _ cdp.Event[E]) (E, error) {
	var e E
	err := jsonv2.Unmarshal(msg.Params, &e, chromedp.DefaultUnmarshalOptions)
	if len(msg.Params) > MaxString && !isWhole(any(e)) {
		shorten(reflect.ValueOf(&e).Elem())
	}
	return e, err
}

// isWhole reports whether truncated strings would make an event useless.
func isWhole(event any) bool {
	switch event.(type) {
	case runtime.EventBindingCalled, cdppage.EventScreencastFrame, cdpinput.EventDragIntercepted, cdppage.EventFrameNavigated:
		return true
	}
	return false
}

// shorten truncates the long strings in a value. A truncated string shares no memory with the original.
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
		if v.Type().Elem().Kind() == reflect.Uint8 { // raw JSON is decoded elsewhere
			return
		}
		for i := range v.Len() {
			shorten(v.Index(i))
		}
	case reflect.Map:
		shortenMap(v)
	}
}

// shortenMap truncates the long string values of a map, such as headers.
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

// On decodes the parameters of an event and passes them to f.
func On[E any](msg *cdproto.Message, event cdp.Event[E], f func(E)) error {
	e, err := DecodeEvent(msg, event)
	if err == nil {
		f(e)
	}
	return err
}
