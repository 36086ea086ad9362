package devtools

import (
	"github.com/chromedp/cdproto"
	"github.com/chromedp/cdproto/cdp"
	jsonv2 "github.com/chromedp/cdproto/cdp/jsonv2"
	"github.com/chromedp/chromedp"
)

// DecodeEvent reads the parameters of an event.
func DecodeEvent[E any](msg *cdproto.Message, _ cdp.Event[E]) (E, error) {
	var e E
	err := jsonv2.Unmarshal(msg.Params, &e, chromedp.DefaultUnmarshalOptions)
	return e, err
}

// On reads the parameters of an event and gives them to f.
func On[E any](msg *cdproto.Message, event cdp.Event[E], f func(E)) error {
	e, err := DecodeEvent(msg, event)
	if err == nil {
		f(e)
	}
	return err
}
