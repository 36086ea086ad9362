package args

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/domtap/domtap/internal/nearest"
	"github.com/domtap/domtap/internal/refs"
)

// Unknown is the error for an argument with an unknown name.
type Unknown struct {
	// Name is the name that the model wrote.
	Name string
	text string
}

func (u *Unknown) Error() string { return u.text }

// IsUnknown reports whether an error of Decode is about an unknown name.
func IsUnknown(err error) bool {
	_, ok := errors.AsType[*Unknown](err)
	return ok
}

// usual maps names that models commonly write for arguments to the names that may be meant. The keys are in lower case, without separators.
var usual = map[string][]string{
	"element": {"text", "label"}, "elementtext": {"text"}, "buttontext": {"text"}, "linktext": {"text"}, "query": {"text"}, "search": {"query"}, "words": {"query"}, "content": {"value", "text"},
	"uid": {"ref"}, "index": {"ref"}, "id": {"ref", "tab"}, "elementid": {"ref"}, "elementref": {"ref"}, "nodeid": {"ref"}, "target": {"ref"}, "field": {"label"},
	"title": {"name"}, "name": {"label"}, "key": {"value"}, "keys": {"value"}, "input": {"value"}, "option": {"value"}, "options": {"values"}, "file": {"value"}, "filepath": {"value"},
	"path": {"value"}, "paths": {"values"}, "files": {"values"}, "prompttext": {"value"}, "href": {"url"}, "link": {"url"}, "address": {"url"}, "uri": {"url"},
	"pageurl": {"url"}, "tabid": {"tab"}, "pageid": {"tab"}, "css": {"selector"}, "cssselector": {"selector"}, "timeoutms": {"timeout"}, "timeoutseconds": {"timeout"},
	"seconds": {"timeout"}, "quietms": {"quiet"}, "type": {"action"}, "kind": {"action"}, "op": {"action"}, "command": {"action"}, "fullpage": {"full_page"},
	"annotate": {"marks"}, "limit": {"max_elements", "max_results", "max_tokens", "max_rows"}, "maxresults": {"max_results", "max_elements"}, "viewport": {"viewport_only"}, "elements": {"fields"},
	"inputs": {"fields"}, "actions": {"steps"}, "pressenter": {"submit"}, "enter": {"submit"}, "links": {"urls"},
}

// Correct renames arguments that into's struct type does not have to the names that are most likely meant, and drops arguments without a
// likely name. It returns nil if nothing is left.
func Correct(raw json.RawMessage, into any) json.RawMessage {
	var call map[string]any
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	if decoder.Decode(&call) != nil {
		return nil
	}
	call = correct(call, reflect.TypeOf(into).Elem())
	if len(call) == 0 {
		return nil
	}
	return Marshal(call)
}

// Marshal encodes arguments on one line, in the form that models write.
func Marshal(call map[string]any) json.RawMessage {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(call); err != nil {
		return nil
	}
	return bytes.TrimSpace(b.Bytes())
}

// correct applies Correct to the fields of one struct type.
func correct(call map[string]any, t reflect.Type) map[string]any {
	types := map[string]reflect.Type{}
	var names []string
	for i := range t.NumField() {
		name := t.Field(i).Tag.Get("json")
		types[name], names = t.Field(i).Type, append(names, name)
	}
	out := map[string]any{}
	for name, value := range call {
		if known, ok := types[name]; ok {
			out[name] = correctValue(value, known)
		}
	}
	var described []string
	for _, name := range slices.Sorted(maps.Keys(call)) {
		if _, ok := types[name]; ok {
			continue
		}
		meant, value := rename(name, call[name], types, names)
		if _, set := out[meant]; meant != "" && !set {
			out[meant] = correctValue(value, types[meant])
			if meant == "text" || meant == "label" {
				described = append(described, meant)
			}
		}
	}
	if out["ref"] != nil {
		maps.DeleteFunc(out, func(name string, _ any) bool { return slices.Contains(described, name) }) // these arguments describe the element that the ref identifies
	}
	return out
}

// rename returns the name that an unknown name most likely means, and the value in the form of that argument. It returns "" if there is
// none.
func rename(name string, value any, types map[string]reflect.Type, names []string) (string, any) {
	bare := nearest.Plain(name)
	if text, ok := value.(string); ok && types["ref"] != nil && (bare == "element" || bare == "target") {
		if _, isRef := refs.Parse(text); isRef {
			return "ref", text
		}
		if types["text"] != nil {
			return "text", text
		}
		return "label", text
	}
	for _, meant := range usual[bare] {
		if types[meant] != nil && takes(types[meant], value) {
			return meant, inSeconds(bare, value)
		}
	}
	if meant := nearest.Name(name, names); meant != "" {
		return meant, value
	}
	return "", nil
}

// inSeconds converts the value to seconds if the argument's name indicates milliseconds.
func inSeconds(name string, value any) any {
	number, ok := value.(json.Number)
	if !ok || !strings.HasSuffix(name, "ms") {
		return value
	}
	ms, err := number.Float64()
	if err != nil {
		return value
	}
	return ms / 1000
}

// takes reports whether an argument of a type accepts a value.
func takes(t reflect.Type, value any) bool {
	raw, err := json.Marshal(value)
	return err == nil && json.Unmarshal(raw, reflect.New(t).Interface()) == nil
}

// correctValue corrects the names in all objects of a value.
func correctValue(value any, t reflect.Type) any {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() == reflect.Slice {
		if items, ok := value.([]any); ok {
			for i := range items {
				items[i] = correctValue(items[i], t.Elem())
			}
			return items
		}
		return correctValue(value, t.Elem())
	}
	fields, ok := value.(map[string]any)
	if inside, wrapped := objectType(t); ok && wrapped {
		return correct(fields, inside)
	}
	return value
}

// objectType returns the struct type of an Object.
func objectType(t reflect.Type) (reflect.Type, bool) {
	if t.Kind() != reflect.Struct || !strings.HasPrefix(t.Name(), "Object[") {
		return nil, false
	}
	field, ok := t.FieldByName("V")
	return field.Type, ok
}
