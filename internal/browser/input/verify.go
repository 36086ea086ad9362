package input

import (
	"context"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/internal/browser/input/outcome"
)

// pressedText returns the text that a press enters: a single character, or an empty string for all other keys.
func pressedText(a driver.Action) string {
	r, size := utf8.DecodeRuneInString(a.Text)
	if size != len(a.Text) || !unicode.IsPrint(r) {
		return ""
	}
	return strings.Repeat(a.Text, max(1, a.Repeat))
}

// verifyTyped requests what the element received of the typed keys. If the method was unsuitable, next is the method to try next.
func (t *typing) verifyTyped(ctx context.Context, agent Agent, a driver.Action, method entryMethod) (result driver.DoResult, next entryMethod, err error) {
	ask := map[string]any{"edit": ""}
	switch text := pressedText(a); {
	case a.Kind == driver.Fill:
		ask["text"], ask["edit"], ask["framed"] = a.Text, "replace", method == framed
	case a.Kind == driver.Type:
		ask["text"], ask["edit"] = a.Text, "append"
	case text != "":
		ask["text"] = text
	}
	var got outcome.Keys
	if err := call(ctx, agent, "typedOutcome", ask, &got); err != nil {
		if ctx.Err() != nil {
			disarm(ctx, []Agent{agent})
			return driver.DoResult{}, framed, err
		}
		result, err = outcome.OfGoneDocument(a)
		return result, framed, err
	}
	switch {
	case got.Reindented():
		next = whole
	case got.Keyed():
		next = keyed
	case method == keyed && a.Kind == driver.Fill && isOtherAmount(got.Held, a.Text):
		next = unsigned
	}
	result, err = got.Result(a)
	return result, next, err
}
