package extract

import (
	"math"
	"strconv"
	"strings"
	"unicode"
)

// ParseNumber reads the number that a text is: digits with an optional sign, with "." before the decimals and ","
// between groups of three, or, where comma holds, the other way round; spaces (of any kind), apostrophes and
// underscores group too. Around it one currency may stand, as a sign or a word of up to three letters, or a percent
// sign, which changes nothing about the value. A minus, or parentheses around all of it, make it negative. Anything
// else is not a number, and neither is a text whose separators do not fit: "12,5" is none unless comma holds, since
// nothing says whether it is 12.5.
func ParseNumber(text string, comma bool) (float64, bool) {
	s := strings.TrimFunc(text, unicode.IsSpace)
	negative := false
	if strings.HasPrefix(s, "(") && strings.HasSuffix(s, ")") {
		s, negative = s[1:len(s)-1], true
	}
	s, signs := unsign(s)
	s, before := unit(s, strings.TrimLeftFunc, leading)
	s, more := unsign(s)
	s, after := unit(s, strings.TrimRightFunc, trailing)
	if before && after || signs*more != 0 || negative && signs+more != 0 {
		return 0, false
	}
	digits, ok := ungroup(s, comma)
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseFloat(digits, 64)
	if err != nil || math.IsInf(n, 0) {
		return 0, false
	}
	if negative || signs+more < 0 {
		n = -n
	}
	return n, true
}

// unsign takes a sign off: -1 or 1, or 0 for none.
func unsign(s string) (rest string, sign int) {
	for _, mark := range []string{"-", "−", "–"} {
		if rest, found := strings.CutPrefix(s, mark); found {
			return strings.TrimLeftFunc(rest, unicode.IsSpace), -1
		}
	}
	if rest, found := strings.CutPrefix(s, "+"); found {
		return strings.TrimLeftFunc(rest, unicode.IsSpace), 1
	}
	return s, 0
}

// unit takes a currency or a percent sign off one end.
func unit(s string, trim func(string, func(rune) bool) string, cut func(all, rest string) string) (string, bool) {
	inUnit := func(r rune) bool { return unicode.IsLetter(r) || unicode.Is(unicode.Sc, r) || r == '%' }
	rest := trim(s, inUnit)
	word := cut(s, rest)
	letters := 0
	signs := 0
	for _, r := range word {
		if unicode.IsLetter(r) {
			letters++
		} else {
			signs++
		}
	}
	if letters > 3 || signs > 1 {
		return s, false // and no number either: letters are left
	}
	return trim(rest, unicode.IsSpace), word != ""
}

func leading(all, rest string) string  { return all[:len(all)-len(rest)] }
func trailing(all, rest string) string { return all[len(rest):] }

// ungroup takes the separators out of a number and gives it a decimal point.
func ungroup(s string, comma bool) (string, bool) {
	point, group := byte('.'), byte(',')
	if comma {
		point, group = group, point
	}
	whole, fraction, has := strings.Cut(s, string(point))
	if has && !isDigits(fraction) {
		return "", false
	}
	groups := strings.FieldsFunc(whole, func(r rune) bool {
		return r == rune(group) || unicode.IsSpace(r) || r == '\'' || r == '’' || r == '_'
	})
	separators := 0
	for _, r := range whole {
		if r < '0' || r > '9' {
			separators++
		}
	}
	if separators != max(len(groups)-1, 0) {
		return "", false // at an end, or two in a row
	}
	for i, g := range groups {
		if !isDigits(g) || len(groups) > 1 && (i > 0 && len(g) != 3 || len(g) > 3) {
			return "", false
		}
	}
	if len(groups) == 0 && !has || len(whole)+len(fraction) > 400 {
		return "", false
	}
	digits := strings.Join(groups, "")
	if has {
		digits = "0" + digits + "." + fraction
	}
	return digits, true
}

func isDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

var booleans = map[string]bool{
	"true": true, "yes": true, "on": true, "1": true, "checked": true,
	"false": false, "no": false, "off": false, "0": false, "unchecked": false,
}

// ParseBoolean reads true, yes, on, 1 and checked, and their opposites, in any case. Of an attribute the empty value
// and its own name are true, as HTML has it.
func ParseBoolean(text, attribute string) (value, ok bool) {
	word := strings.ToLower(strings.TrimSpace(text))
	if attribute != "" && (word == "" || word == attribute) {
		return true, true
	}
	value, ok = booleans[word]
	return value, ok
}
