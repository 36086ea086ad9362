package observer

// Ack passes the agent the refs of the elements that its last patch added, as runs of first ref and length.
type Ack struct {
	Sequence uint64
	Refs     []int
}

// maxDigits is the maximum number of digits of an Ack. A longer Ack is passed as one array of numbers.
const maxDigits = 96

// Digits returns the acknowledgement as additional arguments of Call: numbers below 256.
//
// The browser compiles the JSON of every argument as a separate script and caches the result. Each new text takes about 400 bytes of the
// page's heap until memory is short. An acknowledgement is new each time, and there may be sixty a second. Digits repeat, so the cache
// stays small.
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

// Mark returns the mark of a read as additional arguments of Call, which precede an Ack's. A mark is new each time, too.
func Mark(mark uint64) []any { return appendDigits(nil, mark) }

func appendDigits(out []any, n uint64) []any {
	for ; n >= 128; n >>= 7 {
		out = append(out, n&127|128)
	}
	return append(out, n)
}
