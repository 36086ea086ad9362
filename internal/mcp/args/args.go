// Package args decodes the arguments of tool calls, which models write. It is strict about names, so that no misspelled argument is
// ignored. It is lenient about forms: "12" is accepted for 12, and a string that contains a JSON list for the list. Numbers out of range
// are clamped, and the answer reports that.
//
// The package has no state and no goroutine.
package args

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/domtap/domtap/internal/refs"
)

// Decode decodes a JSON object into the struct that into points to. Absent, null and empty arguments count as an empty object. The error is
// written for the model: it names the wrong argument and states what the argument accepts.
func Decode(raw json.RawMessage, into any) error {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	return object(raw, into, "")
}

// object decodes the fields of an object individually, so that an error names the field.
func object(raw []byte, into any, path string) error {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil {
		return fmt.Errorf("%s must be a JSON object, not %s", orArguments(path), kind(raw))
	}
	target := reflect.ValueOf(into).Elem()
	places := map[string]int{}
	var names []string
	for i := range target.NumField() {
		if name := target.Type().Field(i).Tag.Get("json"); name != "" {
			places[name] = i
			names = append(names, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		value := fields[name]
		i, known := places[name]
		if !known {
			return &Unknown{name, fmt.Sprintf("%s has an unknown argument %q: use %s", orArguments(path), name, strings.Join(names, ", "))}
		}
		if string(value) == "null" {
			continue
		}
		if err := json.Unmarshal(value, target.Field(i).Addr().Interface()); err != nil {
			return within(join(path, name), value, target.Field(i).Type(), err)
		}
	}
	return nil
}

func orArguments(path string) string {
	if path == "" {
		return "the call"
	}
	return path
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// message is an error of this package, in contrast to errors of encoding/json.
type message struct {
	text string
	// unknown is the cause if the error is about an unknown name. It is nil otherwise.
	unknown *Unknown
}

func (m *message) Error() string { return m.text }

func errorf(format string, values ...any) error {
	return &message{text: fmt.Sprintf(format, values...)}
}

// at returns the error for callers of Decode, including the name of the argument.
func (m *message) at(name string) error {
	if m.unknown != nil {
		return &Unknown{m.unknown.Name, name + m.text}
	}
	return fmt.Errorf("%s%s", name, m.text)
}

// within adds the name of the argument to an error.
func within(name string, value []byte, t reflect.Type, err error) error {
	if ours, ok := errors.AsType[*message](err); ok {
		return ours.at(name)
	}
	return fmt.Errorf("%s must be %s, not %s", name, typeName(t), kind(value))
}

func typeName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice:
		return "a list"
	case reflect.Map, reflect.Struct, reflect.Pointer:
		return "an object"
	}
	return "a " + strings.ToLower(t.Name())
}

// kind describes a JSON value for messages.
func kind(raw []byte) string {
	const most = 40
	text := string(bytes.TrimSpace(raw))
	switch {
	case text == "":
		return "nothing"
	case text[0] == '{':
		return "an object"
	case text[0] == '[':
		return "a list"
	case len(text) > most:
		return strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}

// List is a list. It also accepts a single value, and a string that contains a JSON list.
type List[T any] []T

// UnmarshalJSON implements json.Unmarshaler.
func (l *List[T]) UnmarshalJSON(raw []byte) error {
	raw = inner(raw, '[')
	items := []json.RawMessage{raw}
	if raw[0] == '[' {
		if err := json.Unmarshal(raw, &items); err != nil {
			return err
		}
	}
	*l = make(List[T], len(items))
	for i, item := range items {
		if err := json.Unmarshal(item, &(*l)[i]); err != nil {
			if ours, ok := errors.AsType[*message](err); ok {
				return &message{fmt.Sprintf("[%d]%s", i, ours.text), ours.unknown}
			}
			return errorf("[%d] must be %s, not %s", i, typeName(reflect.TypeFor[T]()), kind(item))
		}
	}
	return nil
}

// Object is a struct. Unknown fields are errors.
type Object[T any] struct{ V T }

// UnmarshalJSON implements json.Unmarshaler.
func (o *Object[T]) UnmarshalJSON(raw []byte) error {
	raw = inner(raw, '{')
	if raw[0] != '{' {
		return errorf(" must be an object, not %s", kind(raw))
	}
	if err := object(raw, &o.V, "it"); err != nil {
		text := strings.TrimPrefix(err.Error(), "it")
		unknown, _ := errors.AsType[*Unknown](err)
		return &message{text, unknown}
	}
	return nil
}

// JSON is any JSON value. It also accepts a string that contains a JSON object.
type JSON []byte

// UnmarshalJSON implements json.Unmarshaler.
func (j *JSON) UnmarshalJSON(raw []byte) error {
	*j = bytes.Clone(inner(raw, '{'))
	return nil
}

// inner returns the JSON value inside a string if that value starts with opening. Otherwise it returns raw.
func inner(raw []byte, opening byte) []byte {
	var text string
	if raw[0] != '"' || json.Unmarshal(raw, &text) != nil {
		return raw
	}
	text = strings.TrimSpace(text)
	if text != "" && text[0] == opening && json.Valid([]byte(text)) {
		return []byte(text)
	}
	return raw
}

// Number is an optional number.
type Number struct {
	Set   bool
	Value float64
}

// UnmarshalJSON implements json.Unmarshaler.
func (n *Number) UnmarshalJSON(raw []byte) error {
	text := strings.TrimSpace(strings.Trim(string(raw), `"`))
	value, err := strconv.ParseFloat(text, 64)
	if errors.Is(err, strconv.ErrRange) {
		err = nil // value is infinite and is clamped later
	}
	if err != nil || math.IsNaN(value) {
		return errorf(" must be a number, not %s", kind(raw))
	}
	*n = Number{Set: true, Value: value}
	return nil
}

// Seconds is an optional time in seconds. It also accepts a text with a unit: "500ms", "2s", "1m".
type Seconds Number

// UnmarshalJSON implements json.Unmarshaler.
func (s *Seconds) UnmarshalJSON(raw []byte) error {
	text := strings.ToLower(strings.ReplaceAll(strings.Trim(string(raw), `"`), " ", ""))
	if d, err := time.ParseDuration(text); err == nil && text != "0" {
		*s = Seconds{Set: true, Value: d.Seconds()}
		return nil
	}
	var n Number
	if n.UnmarshalJSON(raw) != nil {
		return errorf(" must be a number of seconds, not %s", kind(raw))
	}
	*s = Seconds(n)
	return nil
}

// Ref is the ref of an element. It accepts all notations that package refs parses.
type Ref struct {
	Set   bool
	Value uint32
}

// UnmarshalJSON implements json.Unmarshaler.
func (r *Ref) UnmarshalJSON(raw []byte) error {
	text := strings.Trim(string(raw), `"[] `) // also accepts a list of one
	value, ok := refs.Parse(strings.TrimSuffix(text, ".0"))
	if !ok {
		return errorf(" must be a ref, the number in brackets before an element, not %s", kind(raw))
	}
	*r = Ref{Set: true, Value: value}
	return nil
}

// Pointer returns the ref, or nil if it is unset.
func (r Ref) Pointer() *uint32 {
	if !r.Set {
		return nil
	}
	return &r.Value
}

// Place is the destination of a drag: the ref of an element, or a point as "x,y", as a list of two numbers, or as an object.
type Place struct {
	Ref  Ref
	X, Y float64
}

// UnmarshalJSON implements json.Unmarshaler.
func (p *Place) UnmarshalJSON(raw []byte) error {
	var named struct {
		Ref  Ref
		X, Y *float64
	}
	if json.Unmarshal(raw, &named) == nil && (named.Ref.Set || named.X != nil && named.Y != nil) {
		if p.Ref = named.Ref; !p.Ref.Set {
			p.X, p.Y = *named.X, *named.Y
		}
		return nil
	}
	if x, y, ok := strings.Cut(strings.Trim(string(raw), `"[]() `), ","); ok {
		var xerr, yerr error
		p.X, xerr = strconv.ParseFloat(strings.TrimSpace(x), 64)
		p.Y, yerr = strconv.ParseFloat(strings.TrimSpace(y), 64)
		if xerr == nil && yerr == nil {
			return nil
		}
	}
	if p.Ref.UnmarshalJSON(raw) != nil {
		return errorf(" must be a ref, or a point as \"x,y\", not %s", kind(raw))
	}
	return nil
}

// Bool is an optional boolean.
type Bool struct{ Set, Value bool }

// UnmarshalJSON implements json.Unmarshaler.
func (b *Bool) UnmarshalJSON(raw []byte) error {
	value, err := strconv.ParseBool(strings.Trim(string(raw), `"`))
	if err != nil {
		return errorf(" must be true or false, not %s", kind(raw))
	}
	*b = Bool{Set: true, Value: value}
	return nil
}

// Pointer returns the value, or nil if it is unset.
func (b Bool) Pointer() *bool {
	if !b.Set {
		return nil
	}
	return &b.Value
}

// Text is a string. It also accepts a number or a boolean, because a button may be named 5.
type Text string

// UnmarshalJSON implements json.Unmarshaler.
func (t *Text) UnmarshalJSON(raw []byte) error {
	var words Words
	if err := words.UnmarshalJSON(raw); err != nil || len(words) != 1 {
		return errorf(" must be a string, not %s", kind(raw))
	}
	*t = Text(words[0])
	return nil
}

// Words is a value that is used as text: a string, a number, a boolean, or a list of these.
type Words []string

// UnmarshalJSON implements json.Unmarshaler.
func (w *Words) UnmarshalJSON(raw []byte) error {
	var value any
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	if err := decoder.Decode(&value); err != nil {
		return err
	}
	list, isList := value.([]any)
	if !isList {
		list = []any{value}
	}
	for _, one := range list {
		switch one.(type) {
		case string, json.Number, bool:
			*w = append(*w, fmt.Sprint(one))
		default:
			return errorf(" must be a text, a number, true, false, or a list of them, not %s", kind(raw))
		}
	}
	return nil
}

// First returns the first word, or "" if there is none.
func (w Words) First() string {
	if len(w) == 0 {
		return ""
	}
	return w[0]
}

// Clamps limits numbers to their ranges and records a note for each number out of range.
type Clamps struct{ Notes []string }

// Range is the allowed range of a number.
type Range struct {
	Low, High float64
	// Zero also allows 0, which means no limit.
	Zero bool
}

// Int32 returns the rounded and clamped number, or nil if it is unset.
func (c *Clamps) Int32(name string, n Number, in Range) *int32 {
	if !n.Set {
		return nil
	}
	value := int32(c.Float(name, n, in))
	return &value
}

// Float returns the rounded and clamped number, or 0 if it is unset.
func (c *Clamps) Float(name string, n Number, in Range) float64 {
	rounded := math.Round(n.Value)
	if !n.Set || in.Zero && rounded == 0 {
		return 0
	}
	value := min(max(rounded, in.Low), in.High)
	if value != rounded {
		c.Notes = append(c.Notes, fmt.Sprintf("%s: %s → %s", name, short(rounded), short(value)))
	}
	return value
}

// Timeout converts seconds to a duration, and clamps it. It returns nil if n is unset.
func (c *Clamps) Timeout(n Seconds, most time.Duration) *durationpb.Duration {
	if !n.Set {
		return nil
	}
	// Fractions of a second are accepted, but notes and ranges are in whole seconds.
	if n.Value > 0 && n.Value < most.Seconds() {
		return durationpb.New(time.Duration(n.Value * float64(time.Second)))
	}
	return durationpb.New(time.Duration(c.Float("timeout", Number(n), Range{Low: 1, High: most.Seconds()})) * time.Second)
}

// Pick looks up a word in a table. It returns the zero value for the empty word.
func Pick[V any](name, word string, table map[string]V) (V, error) {
	var zero V
	if word == "" {
		return zero, nil
	}
	value, known := table[strings.ToLower(strings.ReplaceAll(word, "-", "_"))]
	if !known {
		return zero, fmt.Errorf("%s must be one of %s", name, strings.Join(Names(table), ", "))
	}
	return value, nil
}

// Names returns the sorted keys of a table.
func Names[V any](table map[string]V) []string { return slices.Sorted(maps.Keys(table)) }

func short(value float64) string {
	if math.Abs(value) < 1e15 {
		return strconv.FormatFloat(value, 'f', -1, 64)
	}
	return strconv.FormatFloat(value, 'g', 3, 64)
}
