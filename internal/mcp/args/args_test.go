package args

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

type step struct {
	Action string `json:"action"`
	Ref    Ref    `json:"ref"`
	Value  Words  `json:"value"`
}

type call struct {
	Tab   string             `json:"tab"`
	Max   Number             `json:"max_elements"`
	All   Bool               `json:"all"`
	Steps List[Object[step]] `json:"steps"`
	URLs  List[string]       `json:"urls"`
	Data  JSON               `json:"data"`
}

func decode(t *testing.T, raw string) call {
	t.Helper()
	var c call
	if err := Decode(json.RawMessage(raw), &c); err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	return c
}

func TestLenientArguments(t *testing.T) {
	for _, raw := range []string{
		`{"steps":[{"action":"click","ref":12,"value":3}],"all":true,"max_elements":50}`,
		`{"steps":[{"action":"click","ref":"[12]","value":["3"]}],"all":"true","max_elements":"50"}`,
		`{"steps":"[{\"action\":\"click\",\"ref\":\"12\",\"value\":\"3\"}]","all":true,"max_elements":50.2,"tab":null}`,
		`{"steps":{"action":"click","ref":"e12","value":"3"},"all":true,"max_elements":5e1}`,
		`{"steps":{"action":"click","ref":"@12","value":"3"},"all":"True","max_elements":50}`,
		`{"steps":{"action":"click","ref":"[ref=e12]","value":"3"},"all":true,"max_elements":" 50 "}`,
		`{"steps":{"action":"click","ref":["12"],"value":"3"},"all":true,"max_elements":50}`,
	} {
		c := decode(t, raw)
		one := c.Steps[0].V
		if len(c.Steps) != 1 || one.Ref.Value != 12 || one.Value.First() != "3" || !c.All.Value || *new(Clamps).Int32("n", c.Max, Range{High: 100}) != 50 {
			t.Errorf("%s was read as %+v", raw, c)
		}
	}
	if c := decode(t, `{"urls":"https://a.example"}`); !slices.Equal(c.URLs, []string{"https://a.example"}) {
		t.Errorf("one URL was read as %q", c.URLs)
	}
	if c := decode(t, `{"data":"{\"a\":1}"}`); string(c.Data) != `{"a":1}` {
		t.Errorf("an object in a string was read as %s", c.Data)
	}
	for _, raw := range []string{"", "null", " {} "} {
		decode(t, raw)
	}
}

func TestErrorsSayWhichArgumentAndWhatItTakes(t *testing.T) {
	for raw, want := range map[string]string{
		`[]`:                        "the call must be a JSON object, not a list",
		`{"elements":1}`:            `the call has an unknown argument "elements": use tab, max_elements, all, steps, urls, data`,
		`{"tab":7}`:                 "tab must be a string, not 7",
		`{"max_elements":"many"}`:   `max_elements must be a number, not "many"`,
		`{"all":"maybe"}`:           `all must be true or false, not "maybe"`,
		`{"urls":[1]}`:              "urls[0] must be a string, not 1",
		`{"steps":["click"]}`:       `steps[0] must be an object, not "click"`,
		`{"steps":[{"reff":1}]}`:    `steps[0] has an unknown argument "reff": use action, ref, value`,
		`{"steps":[{"ref":"Pay"}]}`: `steps[0].ref must be a ref, the number in brackets before an element, not "Pay"`,
		`{"steps":[{"ref":-1}]}`:    "steps[0].ref must be a ref, the number in brackets before an element, not -1",
		`{"steps":[{"value":{}}]}`:  "steps[0].value must be a text, a number, true, false, or a list of them, not an object",
	} {
		var c call
		if err := Decode(json.RawMessage(raw), &c); err == nil || err.Error() != want {
			t.Errorf("%s: got %q, want %q", raw, err, want)
		}
	}
}

func TestPlaces(t *testing.T) {
	ref := func(n uint32) Place { return Place{Ref: Ref{Set: true, Value: n}} }
	for raw, want := range map[string][]Place{
		`[12,"[ref=e13]"]`: {ref(12), ref(13)}, `"e7"`: {ref(7)}, `["120,40",[1.5,2]]`: {{X: 120, Y: 40}, {X: 1.5, Y: 2}}, `"3, 4"`: {{X: 3, Y: 4}},
		`[{"ref":5},{"x":6,"y":0}]`: {ref(5), {X: 6}},
	} {
		var got List[Place]
		if err := json.Unmarshal([]byte(raw), &got); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s is %v (%v), want %v", raw, got, err, want)
		}
	}
	var c struct {
		W List[Place] `json:"w"`
	}
	want := `w[1] must be a ref, or a point as "x,y", not "there"`
	if err := Decode(json.RawMessage(`{"w":[1,"there"]}`), &c); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestNumbersOutOfRangeAreBroughtIntoIt(t *testing.T) {
	limits := Range{Low: 1, High: 1000, Zero: true}
	for raw, want := range map[string]struct {
		value int32
		note  string
	}{
		"5000":  {1000, "n: 5000 → 1000"},
		"-3":    {1, "n: -3 → 1"},
		"1e400": {1000, "n: +Inf → 1000"},
		"1e18":  {1000, "n: 1e+18 → 1000"},
		"0":     {0, ""},
		"0.2":   {0, ""},
		"7.6":   {8, ""},
	} {
		var c Clamps
		got := c.Int32("n", decode(t, `{"max_elements":`+raw+`}`).Max, limits)
		if *got != want.value || strings.Join(c.Notes, ";") != want.note {
			t.Errorf("%s became %d, %q; want %d, %q", raw, *got, c.Notes, want.value, want.note)
		}
	}
	if got := new(Clamps).Int32("n", Number{}, limits); got != nil {
		t.Errorf("unset became %d", *got)
	}
}

func FuzzDecodeNeverPanics(f *testing.F) {
	f.Add(`{"steps":"[{\"action\":1}]","all":0}`)
	f.Add(`{"steps":[[]],"urls":""}`)
	f.Add(`{"step":[{"element":{}},{"uid":[]},null],"limit":1e999}`)
	f.Fuzz(func(t *testing.T, raw string) {
		var c call
		_ = Decode(json.RawMessage(raw), &c)
		_ = Correct(json.RawMessage(raw), &c)
	})
}
