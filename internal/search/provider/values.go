package provider

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"strings"
)

// Providers vary the types of what they do not promise: a rating is a number here and a string there. The types of this
// file read what is of use, and leave the rest empty, so that one odd field does not cost all results.

// text is a string, or a number as it is written. Other values are empty.
type text string

// UnmarshalJSON reads a value of any type.
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

// number is a number, or a string with one. Other values are 0.
type number float64

// UnmarshalJSON reads a value of any type.
func (n *number) UnmarshalJSON(raw []byte) error {
	var t text
	_ = t.UnmarshalJSON(raw) // it has no errors
	f, err := strconv.ParseFloat(strings.TrimSpace(string(t)), 64)
	if err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
		f = 0
	}
	*n = number(f)
	return nil
}

// int returns a number that counts something; 0: it is none.
func (n number) int() int {
	if n < 0 || n > 1<<30 {
		return 0
	}
	return int(n)
}

// maxItems is the most items of a list that are read.
const maxItems = 200

// items is a list of objects. Items of other types are left out; a value that is no list is an error.
type items[T any] []T

// UnmarshalJSON reads at most maxItems items. For null the list is empty and not nil, so that a missing one is told from it.
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

// object is an object. A value of another type is an empty one.
type object[T any] struct{ v T }

// UnmarshalJSON reads a value of any type.
func (o *object[T]) UnmarshalJSON(raw []byte) error {
	var v T
	if json.Unmarshal(raw, &v) == nil {
		o.v = v
	}
	return nil
}
