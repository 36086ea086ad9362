package actions

import (
	"fmt"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/server/rules"
)

const (
	maxFields = 50
	maxLabel  = 1000
)

func checkFillForm(v *rules.Violations, r *domtapv1.FillFormRequest) {
	v.DiffFormat(r.GetFormat())
	v.TabID(r.GetTabId())
	if r.GetUrl() != "" {
		v.URL(r.GetUrl())
	}
	v.ClientID(r.GetClientId())
	n := len(r.GetFields())
	v.Want(1 <= n && n <= maxFields, "fields", "must have 1 to 50 fields")
	size := 0
	for i, f := range r.GetFields() {
		at := fmt.Sprintf("fields[%d]", i)
		checkFormField(v, at, f)
		size += checkFiles(v, at+".files", f.GetFiles())
	}
	v.Want(size <= maxUpload, "fields", "must have files of at most 4 MiB in all: give a path as the value instead")
}

func checkFormField(v *rules.Violations, at string, f *domtapv1.FormField) {
	ways := 0
	for _, is := range []bool{f.GetLabel() != "", f.GetSelector() != "", f != nil && f.Ref != nil} {
		if is {
			ways++
		}
	}
	v.Want(ways == 1, at, "must name the field in exactly one way, such as {\"label\": \"Email\"}")
	if f.Ref != nil {
		v.Ref(at+".ref", f.Ref)
	}
	v.Want(len(f.GetLabel()) <= maxLabel, at+".label", "must have at most 1000 bytes")
	v.Want(len(f.GetSelector()) <= maxLabel, at+".selector", "must have at most 1000 bytes")
	v.SearchText(at+".within", f.GetWithin())
	v.Want(len(f.GetType()) <= rules.MaxID, at+".type", "must be a kind of field, such as select")
	v.Want(f.GetValue() == "" || len(f.GetValues()) == 0, at+".values", "must not be set together with value")
	v.Want(len(f.GetFiles()) == 0 || f.GetValue() == "" && len(f.GetValues()) == 0, at+".files", "must not be set together with value or values")
	v.Want(len(f.GetFiles()) <= maxFiles, at+".files", "must have at most 50 files")
	v.Want(len(f.GetValues()) <= maxValues, at+".values", "must have at most 100 values")
	v.Text(at+".value", f.GetValue())
	for i, value := range f.GetValues() {
		v.Text(fmt.Sprintf("%s.values[%d]", at, i), value)
	}
}
