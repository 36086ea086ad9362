package outcome

import (
	"encoding/json"
	"errors"
	"maps"
	"testing"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
)

// report decodes a report of the script.
func report[T any](t *testing.T, text string) (v T) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// failure returns the kind, message and detail of an error.
func failure(t *testing.T, err error) (kind apierr.ErrorKind, message string, detail map[string]string) {
	t.Helper()
	var e *apierr.Error
	if !errors.As(err, &e) {
		t.Fatalf("got %v, want an *apierr.Error", err)
	}
	return e.Kind, e.Message, e.Detail
}

func TestRefusals(t *testing.T) {
	at := driver.At(5)
	for name, c := range map[string]struct {
		reported string
		location driver.Location
		action   driver.Action
		kind     apierr.ErrorKind
		message  string
	}{
		"a stale ref":       {`{"error":"stale"}`, at, driver.Action{}, apierr.Stale, "ref 5 is gone from the page: read the page again and use a new ref"},
		"an obscured point": {`{"error":"covered","detail":"dialog"}`, driver.AtPoint(driver.Point{}), driver.Action{}, apierr.NotActionable, "the point cannot be used: it is covered by dialog: close or move that first"},
		"an obscured ref":   {`{"error":"covered","detail":"dialog","cover":7}`, at, driver.Action{}, apierr.NotActionable, "ref 5 cannot be used: it is covered by dialog (ref 7): close or move that first"},
		"a disabled one":    {`{"error":"disabled"}`, at, driver.Action{}, apierr.NotActionable, "ref 5 cannot be used: it is disabled: fill in what it depends on, or wait until it is enabled"},
		"an option":         {`{"error":"nooption","detail":"x","options":["a","b"],"more":3}`, at, driver.Action{}, apierr.NotActionable, `ref 5 cannot be used: it has no option "x"; its options: "a", "b" and 3 more`},
		"a date":            {`{"error":"wrong","detail":"date"}`, at, driver.Action{Text: "now"}, apierr.Invalid, `ref 5 is an input of type date, which cannot hold "now": write it as 2026-11-21`},
		"two values":        {`{"error":"wrong"}`, at, driver.Action{Kind: driver.Select, Values: []string{"a", "b"}}, apierr.Invalid, "ref 5 takes exactly one value, not 2, because it is not a multiple select: give one value"},
		"perhaps a new row": {`{"error":"unsure"}`, at, driver.Action{}, apierr.Stale, `ref 5 is in a row that changed right after it was read and may now show another record, so nothing was done to it: read the page again, or repeat the step to act on it anyway`},
		"another name":      {`{"error":"renamed","was":"Buy","now":"Sell"}`, at, driver.Action{}, apierr.Stale, `ref 5 was called "Buy" and is called "Sell" now, so nothing was done to it: read the page again, or repeat the step to act on it anyway`},
		"outside":           {`{"error":"outside","detail":"10x10"}`, driver.AtPoint(driver.Point{X: 20, Y: 5}), driver.Action{}, apierr.Invalid, "the point 20,5 is outside of the viewport, which is 10x10: scroll first"},
	} {
		t.Run(name, func(t *testing.T) {
			kind, message, _ := failure(t, report[Element](t, c.reported).Refusal(c.location, c.action))
			if kind != c.kind || message != c.message {
				t.Errorf("got %v, %s\nwant %v, %s", kind, message, c.kind, c.message)
			}
		})
	}
}

func TestPartialPresses(t *testing.T) {
	for name, c := range map[string]struct {
		press     Press
		wanted    int
		delivered driver.Delivered
		message   string
		detail    map[string]string
	}{
		"no click": {report[Press](t, `{"presses":1,"detail":"div","cover":7}`), 1, driver.DeliveredPart,
			"ref 5 was pressed, but not clicked: then div (ref 7) was in its place: read the page to see its effect before you try again",
			map[string]string{"ref": "5", "cause": "replaced", "presses": "1", "clicks": "0", "went_to": "div", "went_to_ref": "7"}},
		"removed": {report[Press](t, `{"presses":1,"clicks":1,"unclickable":"removed"}`), 2, driver.DeliveredPart,
			"ref 5 was clicked 1 of 2 times: the page removed it during the press: read the page to see its effect before you try again",
			map[string]string{"ref": "5", "cause": "removed", "presses": "1", "clicks": "1"}},
		"a gone document": {Press{Unknown: true}, 1, driver.DeliveredNone,
			"it is unknown whether ref 5 was clicked: its document was gone before it could report: read the page to see its effect before you try again",
			map[string]string{"ref": "5", "cause": "navigated", "presses": "0", "clicks": "0"}},
	} {
		t.Run(name, func(t *testing.T) {
			result, err := c.press.Partial(driver.At(5), c.wanted)
			kind, message, detail := failure(t, err)
			if result.Delivered != c.delivered || kind != apierr.NotDelivered || message != c.message || !maps.Equal(detail, c.detail) {
				t.Errorf("got %+v, %v, %s, %v", result, kind, message, detail)
			}
		})
	}
}

func TestNotesOfPresses(t *testing.T) {
	for reported, want := range map[string]string{
		`{"presses":1,"clicks":1}`:                          "",
		`{"presses":1,"clicks":1,"was":"Buy","now":"Sell"}`: `ok, but it was called "Buy" when it was pressed and "Sell" when it was clicked`,
		`{"presses":1,"clicks":1,"captured":true}`:          "ok, by the element around it that captured the pointer",
		`{"presses":1,"unclickable":"hidden"}`:              "ok, pressed: the page hid it during the press, so there was no click",
		`{"presses":1,"navigated":true}`:                    "ok, pressed: the page navigated before the click",
	} {
		if got := report[Press](t, reported).Note(); got != want {
			t.Errorf("%s: got %q, want %q", reported, got, want)
		}
	}
}

func TestAPressThatNavigatedIsComplete(t *testing.T) {
	for reported, want := range map[string]bool{
		`{"presses":1,"navigated":true}`: true, `{"navigated":true}`: false, `{"presses":1}`: false, `{"complete":true}`: true,
	} {
		if got := report[Press](t, reported).OfGoneDocument().Complete; got != want {
			t.Errorf("%s: got %t", reported, got)
		}
	}
}

func TestKeys(t *testing.T) {
	typed, filled, pressed := driver.Action{Kind: driver.Type, Location: driver.At(5)}, driver.Action{Kind: driver.Fill, Location: driver.At(5)}, driver.Action{Kind: driver.Press, Location: driver.At(5)}
	for name, c := range map[string]struct {
		reported  string
		action    driver.Action
		delivered driver.Delivered
		text      string // the note, or the error message
	}{
		"all of it":        {`{"reached":true,"delivered":"all","same":true}`, typed, driver.DeliveredUnset, ""},
		"another format":   {`{"reached":true,"delivered":"all","held":"1,000"}`, typed, driver.DeliveredUnset, `ok, holds "1,000"`},
		"white space":      {`{"reached":true,"delivered":"all","cause":"spaces","held":"a\nb"}`, filled, driver.DeliveredUnset, `ok, but with other white space: it holds "a\nb"`},
		"a secret":         {`{"reached":true,"delivered":"all"}`, typed, driver.DeliveredUnset, "ok, but it holds something else"},
		"emptied":          {`{"reached":true,"delivered":"all","cause":"emptied"}`, typed, driver.DeliveredUnset, "ok, then the page emptied it"},
		"part of it":       {`{"reached":true,"delivered":"part","cause":"maxlength","kept":2,"of":3,"limit":2}`, filled, driver.DeliveredPart, "ref 5 received 2 of 3 characters: its maxlength is 2: type a shorter text"},
		"nothing":          {`{"reached":true,"delivered":"none","cause":"prevented","of":3,"reported":true,"held":"x"}`, filled, driver.DeliveredNone, `ref 5 received none of 3 characters (the field holds "x"): the page prevented the keys: type it key by key, or read the page for the format it expects`},
		"no focus":         {`{"detail":"div"}`, typed, driver.DeliveredUnset, "ref 5 lost the focus to div before a key reached it, so nothing was typed: click it first, or close what takes the focus"},
		"a key handled":    {`{"reached":true,"delivered":"all","cause":"prevented"}`, pressed, driver.DeliveredUnset, "ok, the page handled the key itself"},
		"a key, and focus": {`{"reached":true,"delivered":"all","cause":"handed on","detail":"input","cover":7}`, pressed, driver.DeliveredUnset, "ok, the focus is on input (ref 7) now"},
	} {
		t.Run(name, func(t *testing.T) {
			result, err := report[Keys](t, c.reported).Result(c.action)
			text := result.Detail
			if err != nil {
				_, text, _ = failure(t, err)
			}
			if result.Delivered != c.delivered || text != c.text {
				t.Errorf("got %+v, %q", result, text)
			}
		})
	}
}

func TestOnlyEnterMayLeadToAnotherDocument(t *testing.T) {
	for _, c := range []struct {
		action driver.Action
		fails  bool
	}{
		{driver.Action{Kind: driver.Type, Text: "a"}, true},
		{driver.Action{Kind: driver.Type, Text: "a\n"}, false},
		{driver.Action{Kind: driver.Press, Text: "Enter"}, false},
	} {
		if _, err := OfGoneDocument(c.action); (err != nil) != c.fails {
			t.Errorf("%+v: got %v", c.action, err)
		}
	}
}

func TestWhatBecameOfADragIsSaid(t *testing.T) {
	for want, d := range map[string]Displacement{
		"":                    {Stays: true},
		"ok, it moved by 7,0": {X: 7, From: 2, To: 2},
		"ok, it moved by 9,0": {X: 9},
		"ok, it moved by 0,7, from 1 to 3 in its group":       {Y: 7, From: 1, To: 3},
		"ok, it moved by 9,7, into another group as number 2": {X: 9, Y: 7, To: 2},
		"ok, and the page removed it from its place":          {Gone: true},
	} {
		if got := d.Note(); got != want {
			t.Errorf("%+v: %q, want %q", d, got, want)
		}
	}
}

func TestADragArrivesWhereItsTargetWas(t *testing.T) {
	result, err := ReleasedOffTarget(5, 6, driver.DoResult{Moved: true, Detail: "ok, it moved by 7,0"})
	if want := "ok, it moved by 7,0, to the former place of ref 6, which moved during the drag"; err != nil || result.Detail != want {
		t.Errorf("got %+v, %v", result, err)
	}
	gone := Displacement{Gone: true}.Note()
	if result, err = ReleasedOffTarget(5, 6, driver.DoResult{Moved: true, Detail: gone}); err != nil || result.Detail != gone {
		t.Errorf("got %+v, %v", result, err)
	}
	result, err = ReleasedOffTarget(5, 6, driver.DoResult{})
	if kind, _, detail := failure(t, err); result.Delivered != driver.DeliveredPart || kind != apierr.NotDelivered || detail["to"] != "6" {
		t.Errorf("got %+v, %v", result, err)
	}
}
