package steps

import domtapv1 "github.com/domtap/domtap/gen/domtap/v1"

// Kinds returns the names of the steps of a request.
func Kinds(all []*domtapv1.Step) []string {
	out := make([]string, len(all))
	for i, s := range all {
		m := s.ProtoReflect()
		if field := m.WhichOneof(m.Descriptor().Oneofs().ByName("action")); field != nil {
			out[i] = string(field.Name())
		}
	}
	return out
}

// FormKinds returns the names of the steps of a form.
func FormKinds(r *domtapv1.FillFormRequest) []string {
	out := make([]string, len(r.GetFields()))
	for i := range out {
		out[i] = "field"
	}
	if r.GetSubmit() {
		out = append(out, "submit")
	}
	return out
}
