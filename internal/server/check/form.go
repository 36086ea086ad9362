package check

import (
	"fmt"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

const (
	maxFields = 50
	maxLabel  = 1000
)

func checkFillForm(v *violations, r *domtapv1.FillFormRequest) {
	checkDiffFormat(v, r.GetFormat())
	checkTabID(v, r.GetTabId())
	if r.GetUrl() != "" {
		checkURL(v, r.GetUrl())
	}
	checkClientID(v, r.GetClientId())
	n := len(r.GetFields())
	v.want(1 <= n && n <= maxFields, "fields", "must have 1 to 50 fields")
	size := 0
	for i, f := range r.GetFields() {
		at := fmt.Sprintf("fields[%d]", i)
		checkFormField(v, at, f)
		size += checkFiles(v, at+".files", f.GetFiles())
	}
	v.want(size <= maxUpload, "fields", "must have files of at most 4 MiB in all: give a path as the value instead")
}

func checkFormField(v *violations, at string, f *domtapv1.FormField) {
	ways := 0
	for _, is := range []bool{f.GetLabel() != "", f.GetSelector() != "", f != nil && f.Ref != nil} {
		if is {
			ways++
		}
	}
	v.want(ways == 1, at, "must name the field in exactly one way, such as {\"label\": \"Email\"}")
	if f.Ref != nil {
		checkRef(v, at+".ref", f.Ref)
	}
	v.want(len(f.GetLabel()) <= maxLabel, at+".label", "must have at most 1000 bytes")
	v.want(len(f.GetSelector()) <= maxLabel, at+".selector", "must have at most 1000 bytes")
	checkSearchText(v, at+".within", f.GetWithin())
	v.want(len(f.GetType()) <= maxID, at+".type", "must be a kind of field, such as select")
	v.want(f.GetValue() == "" || len(f.GetValues()) == 0, at+".values", "must not be set together with value")
	v.want(len(f.GetFiles()) == 0 || f.GetValue() == "" && len(f.GetValues()) == 0, at+".files", "must not be set together with value or values")
	v.want(len(f.GetFiles()) <= maxFiles, at+".files", "must have at most 50 files")
	v.want(len(f.GetValues()) <= maxValues, at+".values", "must have at most 100 values")
	checkText(v, at+".value", f.GetValue())
	for i, value := range f.GetValues() {
		checkText(v, fmt.Sprintf("%s.values[%d]", at, i), value)
	}
}
