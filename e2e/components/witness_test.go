package components

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/domtap/domtap/internal/browser"
	"github.com/domtap/domtap/internal/testenv"
)

//go:embed campaign/witness.js
var witnessScript string

// witnessed is the attribute with which the witness numbers the elements.
const witnessed = "data-witness"

// event is an event that the page received. Path holds the numbers of the elements that it passed, the innermost first.
type event struct {
	Type    string `json:"type"`
	Trusted bool   `json:"trusted"`
	Path    []int  `json:"path"`
	Key     string `json:"key"`
	// Over holds the elements below the pointer at a release, and their ancestors.
	Over []int `json:"over"`
}

// testimony holds the events of the page during a step, and the visible text now. Early is the text two frames after the last event, or nil
// if there was no event.
type testimony struct {
	Log   []event `json:"log"`
	Early *string `json:"early"`
	Text  string  `json:"text"`
}

// state is the state of an element.
type state struct {
	There bool   `json:"there"`
	Tag   string `json:"tag"`
	HTML  string `json:"html"`
	// Path holds the element and its ancestors. StandIns holds other elements that may be pressed for it, such as its label.
	Path     []int `json:"path"`
	StandIns []int `json:"standIns"`
	// Holds lists the texts that count as its content. Around is the text of an ancestor.
	Holds   []string `json:"holds"`
	Around  string   `json:"around"`
	Checked string   `json:"checked"`
	Hovered bool     `json:"hovered"`
	Options []string `json:"options"`
}

// rowWords are words that occur in one row of the page and nowhere else.
type rowWords struct {
	Words string `json:"words"`
	Row   int    `json:"row"`
	// Path holds the ancestors of the words up to the row. Inside holds all elements in the row.
	Path   []int `json:"path"`
	Inside []int `json:"inside"`
}

// witness queries the script in the page.
type witness struct {
	t    testing.TB
	page *browser.Page
}

// installWitness lets the script run before the scripts of each page in the newest tab.
func installWitness(t testing.TB, d *testenv.Daemon) witness {
	t.Helper()
	w := witness{t, d.Browser.Newest()}
	err := w.page.Call(testenv.Within(t, testenv.Patience), "Page.addScriptToEvaluateOnNewDocument", map[string]any{"source": witnessScript}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// ask evaluates an expression in the page and decodes the result into out.
func (w witness) ask(out any, format string, args ...any) {
	w.t.Helper()
	expression := fmt.Sprintf(format, args...)
	var answer struct {
		Result struct {
			Value json.RawMessage `json:"value"`
		} `json:"result"`
		Exception json.RawMessage `json:"exceptionDetails"`
	}
	err := w.page.Call(testenv.Within(w.t, time.Minute), "Runtime.evaluate",
		map[string]any{"expression": expression, "returnByValue": true, "awaitPromise": true}, &answer)
	if err == nil && answer.Exception != nil {
		err = fmt.Errorf("%s", answer.Exception)
	}
	if err == nil && out != nil {
		err = json.Unmarshal(answer.Result.Value, out)
	}
	if err != nil {
		w.t.Fatalf("the witness cannot say %s: %v (%s)", expression, err, answer.Result.Value)
	}
}

// state returns the state of an element.
func (w witness) state(id int) (s state) {
	w.t.Helper()
	w.ask(&s, "witness.state(%d)", id)
	return s
}

// received returns the trusted events of some types that passed an element.
func (y testimony) received(id int, types ...string) (out []event) {
	for _, e := range y.Log {
		if e.Trusted && slices.Contains(types, e.Type) && slices.Contains(e.Path, id) {
			out = append(out, e)
		}
	}
	return out
}

// String lists the events except moves: types, and the numbers of the innermost elements.
func (y testimony) String() string {
	var b strings.Builder
	for _, e := range y.Log {
		if strings.HasSuffix(e.Type, "move") || strings.HasSuffix(e.Type, "over") || strings.HasSuffix(e.Type, "enter") {
			continue
		}
		fmt.Fprintf(&b, " %s%s:%v", e.Type, map[bool]string{false: "(script)"}[e.Trusted], e.Path[:min(3, len(e.Path))])
		if e.Key != "" {
			fmt.Fprintf(&b, "=%s", e.Key)
		}
	}
	return b.String()
}
