package extract

import (
	"math"
	"strconv"
	"strings"
	"unicode"
)

// ParseNumber parses a text as a number. The text has digits with an optional sign, "." before the decimals and "," between groups of
// three. If comma is set, the roles of "." and "," are swapped. Spaces of any kind, apostrophes and underscores also separate groups. One
// currency, as a sign or a word of up to three letters, or a percent sign may precede or follow the number; it does not change the value. A
// minus sign, or parentheses around the whole text, make the number negative. All other texts are rejected, including texts whose
// separators do not fit: "12,5" is rejected unless comma is set, because it is ambiguous.
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

// unsign removes a sign. sign is -1 or 1, or 0 if there is none.
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

// unit removes a currency or a percent sign from one end.
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
		return s, false // the remaining letters make the number invalid
	}
	return trim(rest, unicode.IsSpace), word != ""
}

func leading(all, rest string) string  { return all[:len(all)-len(rest)] }
func trailing(all, rest string) string { return all[len(rest):] }

// ungroup removes the group separators from a number and normalizes its decimal point.
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
		return "", false // a separator is at an end, or two are adjacent
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

// ParseBoolean parses true, yes, on, 1 and checked, and their opposites, ignoring case. For an attribute, the empty value and the
// attribute's own name are true, as in HTML.
func ParseBoolean(text, attribute string) (value, ok bool) {
	word := strings.ToLower(strings.TrimSpace(text))
	if attribute != "" && (word == "" || word == attribute) {
		return true, true
	}
	value, ok = booleans[word]
	return value, ok
}
