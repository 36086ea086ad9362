package observer

// Ack tells the agent the refs of its last patch's additions, as runs of first ref and length.
type Ack struct {
	Sequence uint64
	Refs     []int
}

// maxDigits is how many digits an Ack is written as. One of more numbers is written as one array.
const maxDigits = 96

// Digits returns the acknowledgement as further arguments of Call: numbers below 256.
//
// The browser compiles the JSON of every argument as a script of its own, and keeps what it compiled: some 400
// bytes of the page's heap, for each text that is new, until the memory gets short. An acknowledgement is new each
// time, and there may be sixty a second. Digits are never new, and what is kept stays small.
func (a *Ack) Digits() []any {
	if a == nil {
		return nil
	}
	numbers := make([]uint64, 0, 1+len(a.Refs))
	numbers = append(numbers, a.Sequence)
	for _, n := range a.Refs {
		numbers = append(numbers, uint64(n))
	}
	var out []any
	for _, n := range numbers {
		if out = appendDigits(out, n); len(out) > maxDigits {
			return []any{numbers}
		}
	}
	return out
}

// Mark returns the mark of a read as further arguments of Call, in front of those of an Ack: it is new each time, too.
func Mark(mark uint64) []any { return appendDigits(nil, mark) }

func appendDigits(out []any, n uint64) []any {
	for ; n >= 128; n >>= 7 {
		out = append(out, n&127|128)
	}
	return append(out, n)
}
