package input

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
)

// keyed is the answer of the command "typed".
type keyed struct {
	resolved
	// Reached says that the element heard the first key.
	Reached bool `json:"reached"`
	// Same says that the element holds the text, Held what it holds instead; Told is false when that is a secret.
	Same bool   `json:"same"`
	Told bool   `json:"told"`
	Held string `json:"held"`
	// Delivered is "all", "part" or "none"; Kept of Of characters arrived.
	Delivered string `json:"delivered"`
	Kept      int    `json:"kept"`
	Of        int    `json:"of"`
	// Cause is empty or one of lost and taken; Limit is the maxlength.
	Cause string `json:"cause"`
	Limit int    `json:"limit"`
}

// lost says why a text did not arrive whole, and what to do.
var lost = map[string]string{
	"gone":      "it left the page meanwhile: read the page again and use a new ref",
	"disabled":  "it was disabled meanwhile: read the page for what it waits for",
	"readonly":  "it became read-only meanwhile: read the page for what it waits for",
	"prevented": "the page prevented the keys: %s, or read the page for what it expects",
	"number":    "it takes numbers only: type a number",
	"reset":     "the page took it back: %s, or read the page for what it expects",
}

// taken says what became of a text that arrived and is not in the element as it was typed.
var taken = map[string]string{
	"gone":    "ok, then the element left the page",
	"emptied": "ok, then the page emptied it",
	"catcher": "ok, the keys arrived; it shows no text itself: read the page for what became of them",
}

// pressedText is what a press enters: a single character; empty for every other key.
func pressedText(a driver.Action) string {
	r, size := utf8.DecodeRuneInString(a.Text)
	if size != len(a.Text) || !unicode.IsPrint(r) {
		return ""
	}
	return strings.Repeat(a.Text, max(1, a.Repeat))
}

// verifyTyped asks how the keys went.
func (t *typing) verifyTyped(ctx context.Context, agent Agent, a driver.Action) (driver.DoResult, error) {
	ask := map[string]any{"edit": ""}
	switch text := pressedText(a); {
	case a.Kind == driver.Fill:
		ask["text"], ask["edit"] = a.Text, "replace"
	case a.Kind == driver.Type:
		ask["text"], ask["edit"] = a.Text, "append"
	case text != "":
		ask["text"] = text
	}
	var got keyed
	if err := call(ctx, agent, "typed", ask, &got); err != nil {
		if ctx.Err() != nil {
			disarm(ctx, []Agent{agent})
			return driver.DoResult{}, err
		}
		return leftBehind(a)
	}
	switch {
	case isOther(got.resolved):
		return driver.DoResult{}, t.refusal(a.Spot(), got.resolved)
	case !got.Reached:
		return driver.DoResult{}, notReached(a, got)
	case a.Kind == driver.Press:
		return pressed(a, got)
	case got.Delivered != "all":
		return undelivered(a, got)
	case a.Kind == driver.Fill && got.Cause == "" && got.Detail != "":
		return driver.DoResult{Note: "ok, until the focus went to " + named(got.resolved)}, nil
	}
	return driver.DoResult{Note: got.note()}, nil
}

// note says what is worth knowing of a text that arrived.
func (k *keyed) note() string {
	switch {
	case k.Cause == "handed on":
		return "ok, the rest of it in " + named(k.resolved) + ", to which the page went on"
	case taken[k.Cause] != "":
		return taken[k.Cause]
	case k.Same:
		return ""
	case k.Held != "":
		return fmt.Sprintf("ok, holds %q", k.Held)
	}
	return "ok, but it holds something else"
}

// pressed is how keys went that the element heard.
func pressed(a driver.Action, got keyed) (driver.DoResult, error) {
	switch {
	case got.Cause == "handed on":
		return driver.DoResult{Note: "ok, the focus is on " + named(got.resolved) + " now"}, nil
	case got.Cause == "elsewhere" || got.Cause == "moved":
		return undelivered(a, got)
	case got.Detail != "":
		return driver.DoResult{Note: "ok, until the focus went to " + named(got.resolved)}, nil
	case got.Cause == "prevented":
		return driver.DoResult{Note: "ok, the page handled the key itself"}, nil
	case got.Cause == "maxlength":
		return driver.DoResult{Note: fmt.Sprintf("ok, but nothing was entered: its maxlength is %d", got.Limit)}, nil
	case got.Delivered != "all":
		return driver.DoResult{Note: "ok, but it does not hold the character"}, nil
	}
	return driver.DoResult{}, nil
}

// leftBehind is how a text or a key went whose document was gone when it was asked for. Enter leads to other documents:
// what comes before it was there when it was pressed.
func leftBehind(a driver.Action) (driver.DoResult, error) {
	if a.Kind == driver.Type && !strings.HasSuffix(a.Text, "\n") {
		return wentAway(a)
	}
	return driver.DoResult{}, nil
}

// wentAway is how keys went that led to another document too soon.
func wentAway(a driver.Action) (driver.DoResult, error) {
	return driver.DoResult{Delivered: driver.DeliveredPart}, &apierr.Error{
		Kind: apierr.NotDelivered, Detail: map[string]string{"ref": fmt.Sprint(a.Ref), "cause": "navigated"},
		Message: fmt.Sprintf("ref %d did not receive all keys for certain: the page went on to another document meanwhile: read the page", a.Ref),
	}
}

// undelivered is how a text went that did not arrive whole.
func undelivered(a driver.Action, got keyed) (driver.DoResult, error) {
	detail := map[string]string{"ref": fmt.Sprint(a.Ref), "cause": got.Cause, "arrived": strconv.Itoa(got.Kept), "of": strconv.Itoa(got.Of)}
	why, known := lost[got.Cause]
	other := "use fill"
	if a.Kind == driver.Fill {
		other = "type it key by key"
	}
	why = strings.ReplaceAll(why, "%s", other)
	switch {
	case got.Cause == "maxlength":
		why = fmt.Sprintf("its maxlength is %d: type a shorter text", got.Limit)
	case got.Cause == "elsewhere":
		why = "text went into " + named(got.resolved) + " instead: read the page, and use a ref from there"
	case got.Cause == "moved":
		why = "the page moved the focus to " + named(got.resolved) + ", which received nothing: read the page, and use a ref from there"
	case !known:
		why = "the page did not take it: read the page for what it expects"
	}
	if got.Cover != nil {
		detail["went_to_ref"] = strconv.FormatUint(uint64(*got.Cover), 10)
	}
	if got.Detail != "" {
		detail["went_to"] = got.Detail
	}
	some := "none"
	result := driver.DoResult{Delivered: driver.DeliveredNone}
	if got.Kept > 0 {
		some, result.Delivered = strconv.Itoa(got.Kept), driver.DeliveredPart
	}
	holds := ""
	if got.Told {
		holds = fmt.Sprintf(" (the field holds %q)", got.Held)
	}
	message := fmt.Sprintf("ref %d received %s of %d characters%s: %s", a.Ref, some, got.Of, holds, why)
	return result, &apierr.Error{Kind: apierr.NotDelivered, Message: message, Detail: detail}
}

// notReached is the error of keys that the element did not get.
func notReached(a driver.Action, got keyed) error {
	where := "something else"
	if got.Detail != "" {
		where = named(got.resolved)
	}
	return &apierr.Error{Kind: apierr.NotActionable, Detail: map[string]string{"ref": fmt.Sprint(a.Ref), "cause": "unfocused"},
		Message: fmt.Sprintf("ref %d lost the focus to %s before a key reached it, so nothing was typed: click it first, or close what takes the focus", a.Ref, where)}
}
