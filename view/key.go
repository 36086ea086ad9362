package view

import (
	"slices"
	"strconv"
	"strings"
)

// Key returns a canonical text of all options that determine the view except Cost and Given. Two Options with equal keys and the same Cost
// and Given produce the same view of a snapshot. Limits that do not apply and the order of the attributes make no difference.
//
// With a budget, the key includes Overhead, which depends on the page's title. To compare the requests of callers instead of finding an
// earlier view, set it to 0 first.
func (o Options) Key() string {
	var b strings.Builder
	if o.InteractiveOnly {
		b.WriteString("interactive ")
	}
	if o.ViewportOnly {
		b.WriteString("viewport ")
	}
	if o.HasRoot {
		b.WriteString("root=" + strconv.FormatUint(uint64(o.Root), 10) + " ")
	}
	if o.HasFrame {
		b.WriteString("frame=" + strconv.Quote(string(o.Frame)) + " ")
	}
	if o.MaxElements > 0 {
		b.WriteString("elements=" + strconv.Itoa(o.MaxElements) + " ")
	}
	if o.MaxTokens > 0 {
		b.WriteString("tokens=" + strconv.Itoa(o.MaxTokens) + "-" + strconv.Itoa(o.Overhead) + " ")
	}
	names := slices.Clone(o.Attributes)
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		b.WriteString("attribute=" + strconv.Quote(name) + " ")
	}
	return strings.TrimSuffix(b.String(), " ")
}
