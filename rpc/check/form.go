package check

import (
	"fmt"
	"unicode/utf8"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

const (
	maxFields = 50
	maxLabel  = 1000
)

func (c *collector) fillForm(r *domtapv1.FillFormRequest) {
	c.tabID(r.GetTabId())
	if r.GetUrl() != "" {
		c.url("url", r.GetUrl())
	}
	c.want(utf8.RuneCountInString(r.GetClientId()) <= maxClientID, "client_id", "must have at most 100 characters")
	n := len(r.GetFields())
	c.want(1 <= n && n <= maxFields, "fields", "must have 1 to 50 fields")
	for i, f := range r.GetFields() {
		c.formField(fmt.Sprintf("fields[%d]", i), f)
	}
}

func (c *collector) formField(at string, f *domtapv1.FormField) {
	ways := 0
	for _, is := range []bool{f.GetLabel() != "", f.GetSelector() != "", f != nil && f.Ref != nil} {
		if is {
			ways++
		}
	}
	c.want(ways == 1, at, "must name the field in exactly one way, such as {\"label\": \"Email\"}")
	if f.Ref != nil {
		c.ref(at+".ref", f.Ref)
	}
	c.want(len(f.GetLabel()) <= maxLabel, at+".label", "must have at most 1000 bytes")
	c.want(len(f.GetSelector()) <= maxLabel, at+".selector", "must have at most 1000 bytes")
	c.want(len(f.GetType()) <= maxID, at+".type", "must be a kind of field, such as select")
	c.want(f.GetValue() == "" || len(f.GetValues()) == 0, at+".values", "must not be set together with value")
	c.want(len(f.GetValues()) <= maxValues, at+".values", "must have at most 100 values")
	c.text(at+".value", f.GetValue())
	for i, value := range f.GetValues() {
		c.text(fmt.Sprintf("%s.values[%d]", at, i), value)
	}
}
