package devtools

import (
	"errors"
	"fmt"

	jsonv2 "github.com/chromedp/cdproto/cdp/jsonv2"
	"github.com/chromedp/chromedp"
)

// Evaluation is the part of a Runtime reply that we use.
type Evaluation struct {
	Result struct {
		Value jsonv2.Value `json:"value"`
	} `json:"result"`
	ExceptionDetails *struct {
		Text      string `json:"text"`
		Exception *struct {
			Description string `json:"description"`
		} `json:"exception"`
	} `json:"exceptionDetails"`
}

// ErrScript wraps exceptions of our scripts in the page.
var ErrScript = errors.New("the page's observer failed")

// Decode decodes the value into result.
func (r *Evaluation) Decode(result any) error {
	if e := r.ExceptionDetails; e != nil {
		text := e.Text
		if e.Exception != nil {
			text = e.Exception.Description
		}
		return fmt.Errorf("%w: %.500s", ErrScript, text)
	}
	if result == nil || len(r.Result.Value) == 0 {
		return nil
	}
	if err := jsonv2.Unmarshal(r.Result.Value, result, chromedp.DefaultUnmarshalOptions); err != nil {
		return fmt.Errorf("%w: decoding its answer: %w", ErrScript, err)
	}
	return nil
}
