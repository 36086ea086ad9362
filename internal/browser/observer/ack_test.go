package observer

import (
	"math"
	"slices"
	"testing"
)

// undigits decodes digits as the agent does in 60-agent.js.
func undigits(t *testing.T, digits []any) []uint64 {
	if len(digits) == 1 {
		if numbers, ok := digits[0].([]uint64); ok {
			return numbers
		}
	}
	var out []uint64
	n, shift := uint64(0), 0
	for _, d := range digits {
		digit := d.(uint64)
		if digit > 255 {
			t.Errorf("%d is not a digit: it may be new each time", digit)
		}
		n |= digit & 127 << shift
		if shift += 7; digit < 128 {
			out = append(out, n)
			n, shift = 0, 0
		}
	}
	return out
}

func TestAcknowledgementsAreWrittenInDigits(t *testing.T) {
	for _, a := range []Ack{
		{}, {Sequence: 127}, {Sequence: 128, Refs: []int{0, 1}}, {Sequence: 1 << 52, Refs: []int{math.MaxInt32, 300, 16383, 16384}},
	} {
		digits := a.Digits()
		want := []uint64{a.Sequence}
		for _, n := range a.Refs {
			want = append(want, uint64(n))
		}
		if got := undigits(t, digits); !slices.Equal(got, want) {
			t.Errorf("%v is written as %v, which reads %v", a, digits, got)
		}
	}
	with := append(Mark(300), (&Ack{Sequence: 5, Refs: []int{200}}).Digits()...)
	if got := undigits(t, with); !slices.Equal(got, []uint64{300, 5, 200}) {
		t.Errorf("a mark in front of an acknowledgement reads %v", got)
	}
	if (*Ack)(nil).Digits() != nil {
		t.Error("nothing is written as something")
	}
	if long := (&Ack{Sequence: 1, Refs: make([]int, 10_000)}).Digits(); len(long) != 1 || len(undigits(t, long)) != 10_001 {
		t.Errorf("a long one takes %d arguments", len(long))
	}
}
