package aliases

import (
	"encoding/json"
	"reflect"
	"slices"
	"testing"
)

func TestNoNameIsTranslatedTwice(t *testing.T) {
	names := Names()
	slices.Sort(names)
	if unique := slices.Compact(slices.Clone(names)); len(unique) != len(names) {
		t.Errorf("some of these names are there twice: %q", names)
	}
}

func TestArgumentsAreTranslated(t *testing.T) {
	for _, one := range []struct {
		name, tool, arguments string
		want                  object
	}{
		{"an unknown element is the example", "click", `{"uid":"1_7"}`, object{"steps": []any{object{"action": "click", "ref": 12}}}},
		{"a description stands for a ref", "browser_click", `{"element":"Pay"}`, object{"steps": []any{object{"action": "click", "text": "Pay"}}}},
		{"a ref is better than its description", "browser-click", `{"element":"Pay","ref":"[ref=e7]"}`, object{"steps": []any{object{"action": "click", "ref": uint32(7)}}}},
		{"a switch", "take_screenshot", `{"fullPage":true}`, object{"full_page": true}},
		{"a form of uids", "fill_form", `{"elements":[{"uid":"3","value":"a"}]}`, object{"fields": []any{object{"ref": uint32(3), "value": "a"}}}},
	} {
		got, known := Translate(one.tool, json.RawMessage(one.arguments))
		if !known || !reflect.DeepEqual(got.Arguments, one.want) {
			t.Errorf("%s: %v, want %v", one.name, got.Arguments, one.want)
		}
	}
	if _, known := Translate("browser_interact", nil); known {
		t.Error("a tool of domtap is foreign")
	}
}
