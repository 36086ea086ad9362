// Package plural formats counts with their nouns.
package plural

import "strconv"

// Of returns a count with its noun in the right form: "1 element", "2 elements", "1 body", "0 bodies". noun is an English singular.
func Of[N ~int | ~int32 | ~int64 | ~uint32 | ~uint64](n N, noun string) string {
	return strconv.FormatInt(int64(n), 10) + " " + Noun(n, noun)
}

// Noun returns the form of a noun for a count.
func Noun[N ~int | ~int32 | ~int64 | ~uint32 | ~uint64](n N, noun string) string {
	switch last := len(noun) - 1; {
	case n == 1:
		return noun
	case last > 0 && noun[last] == 'y':
		return noun[:last] + "ies"
	}
	return noun + "s"
}
