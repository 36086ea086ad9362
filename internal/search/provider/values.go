package provider

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"strings"
)

// Providers vary the types of undocumented values: a rating may be a number or a string. The types in this file parse usable values and
// leave others empty, so that one unusual field does not invalidate all results.

// text is a string, or the literal text of a number. Other values become empty.
type text string

// UnmarshalJSON accepts a value of any type.
func (t *text) UnmarshalJSON(raw []byte) error {
	*t = ""
	var s string
	if err := json.Unmarshal(raw, &s); err == nil {
		*t = text(s)
	} else if c := raw[0]; c == '-' || c >= '0' && c <= '9' {
		*t = text(raw)
	}
	return nil
}

// number is a number, or a string that contains one. Other values become 0.
type number float64

// UnmarshalJSON accepts a value of any type.
func (n *number) UnmarshalJSON(raw []byte) error {
	var t text
	_ = t.UnmarshalJSON(raw) // it returns no errors
	f, err := strconv.ParseFloat(strings.TrimSpace(string(t)), 64)
	if err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
		f = 0
	}
	*n = number(f)
	return nil
}

// int returns the number as a count, or 0 if it is not a plausible count.
func (n number) int() int {
	if n < 0 || n > 1<<30 {
		return 0
	}
	return int(n)
}

// maxItems limits how many items of a list are read.
const maxItems = 200

// items is a list of objects. Items of other types are omitted. A value that is not a list is an error.
type items[T any] []T

// UnmarshalJSON reads at most maxItems items. For null the list is empty but not nil, which distinguishes it from a missing list.
func (l *items[T]) UnmarshalJSON(raw []byte) error {
	*l = items[T]{}
	if bytes.Equal(raw, []byte("null")) {
		return nil
	}
	var each []json.RawMessage
	if err := json.Unmarshal(raw, &each); err != nil {
		return err
	}
	for _, one := range each[:min(len(each), maxItems)] {
		var item T
		if json.Unmarshal(one, &item) == nil {
			*l = append(*l, item)
		}
	}
	return nil
}

// object is an object. A value of another type becomes an empty object.
type object[T any] struct{ v T }

// UnmarshalJSON accepts a value of any type.
func (o *object[T]) UnmarshalJSON(raw []byte) error {
	var v T
	if json.Unmarshal(raw, &v) == nil {
		o.v = v
	}
	return nil
}
