package testenv

import (
	"testing"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// SomeButtons is a page with three elements of the same name.
const SomeButtons = `<title>Three</title><button id=a>Same</button><button id=b>Same</button><button id=c>Same</button>`

// Evaluate runs an expression in the page's main world, as the page's scripts do. If the result is a promise, it waits for the promise.
func Evaluate[T any](t testing.TB, d *Daemon, expression string) T {
	t.Helper()
	var out struct {
		Result struct {
			Value T `json:"value"`
		} `json:"result"`
	}
	err := d.newest().Call(t.Context(), "Runtime.evaluate", map[string]any{
		"expression": expression, "returnByValue": true, "awaitPromise": true,
	}, &out)
	if err != nil {
		t.Fatal(err)
	}
	return out.Result.Value
}

// Texts lists a tab's elements as "role text".
func Texts(r *domtapv1.GetDomResponse) []string {
	var out []string
	for _, e := range r.GetElements() {
		out = append(out, e.GetRole()+" "+e.GetText())
	}
	return out
}

// GetDom reads a tab with the default options.
func GetDom(t testing.TB, d *Daemon, tab string) *domtapv1.GetDomResponse {
	t.Helper()
	r, err := d.Dom.GetDom(t.Context(), &domtapv1.GetDomRequest{TabId: tab})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// ClickOn returns a request that clicks an element.
func ClickOn(tab string, ref uint32) *domtapv1.InteractRequest {
	return &domtapv1.InteractRequest{TabId: tab, Steps: []*domtapv1.Step{
		{Action: &domtapv1.Step_Click{Click: &domtapv1.ClickStep{Target: &domtapv1.Target{Ref: &ref}}}}}}
}

// Find returns the first element with a text.
func Find(r *domtapv1.GetDomResponse, text string) (*domtapv1.Element, bool) {
	for _, e := range r.GetElements() {
		if e.GetText() == text {
			return e, true
		}
	}
	return nil, false
}

// TagTexts lists a tab's elements as "tag text".
func TagTexts(r *domtapv1.GetDomResponse) []string {
	var out []string
	for _, e := range r.GetElements() {
		out = append(out, e.GetTag()+" "+e.GetText())
	}
	return out
}
