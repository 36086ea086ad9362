package extract

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestCompile(t *testing.T) {
	s, err := Compile([]byte(`{"title": "h1", "link": "a.x[href*='@y']@href", "self": "@ID", "mail": "a[href*='@x.org']",
		"rows": {"selector": "tr", "all": true, "fields": {"n": {"selector": "td", "type": "number", "decimal": ","}, "it": "."}},
		"go": {"role": "Button", "name": "Go on"}}`))
	if err != nil {
		t.Fatal(err)
	}
	want := []*Field{
		{Name: "title", Path: "title", Selector: "h1"},
		{Name: "link", Path: "link", Selector: "a.x[href*='@y']", Attribute: "href"},
		{Name: "self", Path: "self", Attribute: "id"},
		{Name: "mail", Path: "mail", Selector: "a[href*='@x.org']"},
		{Name: "rows", Path: "rows", Selector: "tr", All: true, Fields: []*Field{
			{Name: "n", Path: "rows.n", Selector: "td", Type: Number, Comma: true},
			{Name: "it", Path: "rows.it"},
		}},
		{Name: "go", Path: "go", Role: "button", RoleName: "Go on"},
	}
	if !reflect.DeepEqual(s.Fields, want) {
		got, _ := json.Marshal(s.Fields)
		t.Errorf("got %s", got)
	}
	var plan struct {
		Fields []planField
		Limits map[string]int
	}
	if err := json.Unmarshal(s.Plan(7), &plan); err != nil || plan.Limits["rows"] != 7 || plan.Fields[4].Fields[0].Path != "rows.n" || !plan.Fields[4].All {
		t.Errorf("the plan is %s, %v", s.Plan(7), err)
	}
}

// TestFaultsNameTheirPath compiles schemas with one error each.
func TestFaultsNameTheirPath(t *testing.T) {
	deep := strings.Repeat(`{"selector":"a","fields":{"x":`, 4) + `"b"` + strings.Repeat(`}}`, 4)
	for schema, want := range map[string]string{
		``:                                      "the schema is not valid JSON: it ends too early",
		`[]`:                                    "the schema must be a JSON object",
		`{"a"`:                                  "the schema is not valid JSON",
		`{} {}`:                                 "the schema has no fields",
		`{"a":"b"} x`:                           "the schema has data after its end",
		`{"a":1}`:                               "a: must be a CSS selector",
		`{"a":null}`:                            "a: must be a CSS selector",
		`{"a":"x","a":"y"}`:                     "a: is duplicated",
		`{"":"x"}`:                              "the schema has a field name of 0 bytes",
		`{"a":{}}`:                              "a: must have a selector",
		`{"a":{"selector":1}}`:                  "a.selector: must be a string",
		`{"a":{"selector":"b","all":"yes"}}`:    "a.all: must be true or false",
		`{"a":{"selector":"b","selektor":"c"}}`: "a.selektor: is unknown",
		`{"a":{"selector":"b","type":"int"}}`:   "a.type: must be string, number, boolean or url",
		`{"a":{"selector":"b","decimal":","}}`:  `a.decimal: must be set together with "type": "number"`,
		`{"a":{"selector":"b","role":"c"}}`:     "a.role: must not be set together with selector",
		`{"a":{"selector":"b","name":"c"}}`:     "a.name: must be set together with role",
		`{"a":{"attribute":"b","all":true}}`:    "a.all: must be set together with selector or role",
		`{"a":{"selector":"b","fields":{}}}`:    "a: has no fields",
		`{"a":{"selector":"b","fields":[]}}`:    "a.fields: must be an object",
		`{"a":{"selector":"b","fields":{"c":{"selector":"d","x":1}}}}`: "a.c.x: is unknown",
		`{"a":{"selector":"b","type":"url","fields":{"c":"d"}}}`:       "a: has fields",
		`{"a":` + deep + `}`: "a.x.x.x: is nested deeper than 4 levels",
		`{"a":"` + strings.Repeat("x", MaxSelector+1) + `"}`: "a: has 1001 bytes",
		"{\"a\":\"\xff\"}": "the schema is not UTF-8",
		`{"a":"` + strings.Repeat("x", MaxSchema) + `"}`: "the schema has",
		manyFields(MaxFields + 1):                        "f100: exceeds the limit of 100 fields",
	} {
		_, err := Compile([]byte(schema))
		var fault *SchemaError
		if !errors.As(err, &fault) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%.60s: got %v, want %q", schema, err, want)
		}
	}
	if _, err := Compile([]byte(manyFields(MaxFields))); err != nil {
		t.Error(err)
	}
}

func manyFields(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `,"f%d":"p"`, i)
	}
	return "{" + strings.TrimPrefix(b.String(), ",") + "}"
}

func TestParseNumber(t *testing.T) {
	for text, want := range map[string]float64{
		"7": 7, " 1,234,567.50 ": 1234567.5, "$1,299": 1299, "€ 12.50": 12.5, "12.50 €": 12.5, "EUR 3": 3, "3 kr": 3, "-5": -5,
		"−5": -5, "-$5.25": -5.25, "$-5.25": -5.25, "(1,000)": -1000, "($1,000)": -1000, "+3": 3, "40 %": 40, "40%": 40,
		"1 234 567": 1234567, "1\u00a0234": 1234, "1\u202f234": 1234, "1'234": 1234, ".5": 0.5, "0.125": 0.125, "1.234": 1.234, "007": 7,
	} {
		if got, ok := ParseNumber(text, false); !ok || got != want {
			t.Errorf("%q is %v, %v, not %v", text, got, ok, want)
		}
	}
	for _, text := range []string{
		"", " ", "-", "$", "abc", "12,5", "1,23,456", "12,34", "1.234,56", "1,,234", ",234", "1,234,", "5.", "1.2.3", "1e5", "0x10", "3 apples",
		"3 of 5", "12-15", "--5", "-(5)", "1 2", "$5€", "1,234 567 89", "NaN", "Infinity", "五", "١٢", strings.Repeat("9", 500), "5 . 5",
	} {
		if got, ok := ParseNumber(text, false); ok {
			t.Errorf("%q is %v", text, got)
		}
	}
	for text, want := range map[string]float64{"1.234,56 €": 1234.56, "12,5": 12.5, "1.234": 1234, "1 234,5": 1234.5} {
		if got, ok := ParseNumber(text, true); !ok || got != want {
			t.Errorf("with a decimal comma %q is %v, %v, not %v", text, got, ok, want)
		}
	}
	if got, ok := ParseNumber("12.50", true); ok {
		t.Errorf("with a decimal comma 12.50 is %v", got)
	}
}

func TestParseBoolean(t *testing.T) {
	for _, c := range []struct {
		text, attribute string
		want, ok        bool
	}{
		{"true", "", true, true}, {" Yes ", "", true, true}, {"off", "", false, true}, {"", "", false, false}, {"maybe", "", false, false},
		{"", "disabled", true, true}, {"disabled", "disabled", true, true}, {"false", "aria-checked", false, true}, {"2", "", false, false},
	} {
		if got, ok := ParseBoolean(c.text, c.attribute); got != c.want || ok != c.ok {
			t.Errorf("%q of %q is %v, %v", c.text, c.attribute, got, ok)
		}
	}
}

func compiled(t testing.TB, schema string) *Schema {
	t.Helper()
	s, err := Compile([]byte(schema))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func answer(t testing.TB, text string) Answer {
	t.Helper()
	var a Answer
	if err := json.Unmarshal([]byte(text), &a); err != nil {
		t.Fatal(err)
	}
	return a
}

// TestAssemble combines the answers of two documents.
func TestAssemble(t *testing.T) {
	s := compiled(t, `{"one": "a", "two": "b", "all": {"selector": "c", "all": true, "type": "number"},
		"rows": {"selector": "d", "all": true, "fields": {"x": "e", "y": {"selector": "f", "fields": {"z": "g"}}}}}`)
	r, err := s.Assemble([]Answer{
		answer(t, `{"values":["first",null,["1","x"],[["e1",["g1"]],[null,null]]],"rows":4}`),
		answer(t, `{"values":["second","other",["3"],[["e2",[null]]]],"rows":2,"truncated":true}`),
	}, 1000)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"one":"first","two":"other","all":[1,null,3],"rows":[{"x":"e1","y":{"z":"g1"}},{"x":null,"y":null},{"x":"e2","y":{"z":null}}]}`
	missing := []string{"all[1]", "rows[1].x", "rows[1].y", "rows[2].y.z"}
	if string(r.JSON) != want || !slices.Equal(r.Missing, missing) || r.Rows != 6 || !r.Truncated {
		t.Errorf("got %s, missing %q, rows %d, truncated %v", r.JSON, r.Missing, r.Rows, r.Truncated)
	}
	if r, _ := s.Assemble(nil, 10); string(r.JSON) != `{"one":null,"two":null,"all":[],"rows":[]}` || len(r.Missing) != 4 {
		t.Errorf("of no document: %s, %q", r.JSON, r.Missing)
	}
	if _, err := s.Assemble([]Answer{{Invalid: "rows.x"}}, 10); err == nil || !strings.HasPrefix(err.Error(), "rows.x: ") {
		t.Errorf("a bad selector: %v", err)
	}
	if _, err := s.Assemble([]Answer{{Invalid: "<script>"}}, 10); err == nil || strings.Contains(err.Error(), "script") {
		t.Errorf("a path that the page made up: %v", err)
	}
}

func TestAssembleTable(t *testing.T) {
	s, err := OfTable(Table{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.Assemble([]Answer{
		answer(t, `{"table":{"headers":["A"],"rows":[["small"]],"found":1,"size":1}}`),
		answer(t, `{"table":{"headers":["A","A","B"],"rows":[["1","2","3"],["4"],["5","6","7","8"]],"found":99,"size":50}}`),
	}, 2)
	if err != nil || string(r.JSON) != `[{"A":"1","A 2":"2","B":"3"},{"A":"4","A 2":"","B":""}]` || r.Rows != 99 || !r.Truncated {
		t.Errorf("got %s, %v", r.JSON, err)
	}
}

// TestResultsAreBounded assembles far more than fits. The result is well-formed and reports that it is incomplete.
func TestResultsAreBounded(t *testing.T) {
	s := compiled(t, `{"before": "a", "rows": {"selector": "b", "all": true, "fields": {"inner": {"selector": "c", "all": true}}}, "after": "d"}`)
	big := strings.Repeat("é", 50_000)
	row := `[["` + big + `","` + big + `"]]`
	a := answer(t, `{"values":["x",[`+row+strings.Repeat(","+row, 24)+`],"y"]}`)
	r, err := s.Assemble([]Answer{a, answer(t, `{"values":["x",[],"y"]}`)}, 10_000)
	if err != nil || !r.Truncated || len(r.JSON) > MaxResult || len(r.JSON) < MaxResult/2 {
		t.Fatalf("%d bytes, truncated %v, %v", len(r.JSON), r.Truncated, err)
	}
	var out struct {
		Before *string
		Rows   []struct{ Inner []string }
		After  *string
	}
	if err := json.Unmarshal(r.JSON, &out); err != nil || out.Before == nil || len(out.Rows) < 10 || out.Rows[0].Inner[1] != big {
		t.Errorf("%d rows, %v", len(out.Rows), err)
	}
}

func FuzzCompileNeverPanicsAndPlansAreJSON(f *testing.F) {
	f.Add(`{"a": {"selector": "b", "all": true, "fields": {"c": "d@e"}}}`)
	f.Add(`{"a": {"role": "button", "name": "x"}}`)
	f.Add(`{"a":`)
	f.Fuzz(func(t *testing.T, schema string) {
		s, err := Compile([]byte(schema))
		if err != nil {
			var fault *SchemaError
			if !errors.As(err, &fault) || fault.Problem == "" {
				t.Errorf("%q: %v", schema, err)
			}
			return
		}
		if !json.Valid(s.Plan(1)) {
			t.Errorf("%q has the plan %s", schema, s.Plan(1))
		}
	})
}

// FuzzAssembleGivesTheFormOfTheSchema assembles arbitrary answers of a page.
func FuzzAssembleGivesTheFormOfTheSchema(f *testing.F) {
	f.Add(`{"values":["a",["1"],[["x",["y"]]]]}`)
	f.Add(`{"values":[1,{"a":2},[[[[]]]]],"rows":-5,"table":{"headers":["a","a"],"rows":[[]]}}`)
	s := compiled(f, `{"one":"a","many":{"selector":"b","all":true,"type":"number"},"rows":{"selector":"c","all":true,"fields":{"x":"d","y":{"selector":"e","fields":{"z":"f"}}}}}`)
	table, err := OfTable(Table{})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var a Answer
		if json.Unmarshal([]byte(text), &a) != nil {
			return
		}
		a.Invalid = ""
		r, err := s.Assemble([]Answer{a, a}, 5)
		if err != nil {
			t.Fatal(err)
		}
		var out struct {
			One  *string
			Many []*float64
			Rows []struct {
				X *string
				Y *struct{ Z *string }
			}
		}
		d := json.NewDecoder(strings.NewReader(string(r.JSON)))
		d.DisallowUnknownFields()
		if err := d.Decode(&out); err != nil || len(out.Many) > 5 || len(out.Rows) > 5 || out.Many == nil || out.Rows == nil {
			t.Errorf("%s became %s: %v", text, r.JSON, err)
		}
		if r, err := table.Assemble([]Answer{a}, 5); err != nil || !json.Valid(r.JSON) || r.Rows < 0 {
			t.Errorf("%s became %s: %v", text, r.JSON, err)
		}
	})
}

func FuzzNumbersAreReadOnlyOneWay(f *testing.F) {
	f.Add("1,234.5")
	f.Add("(€ 12)")
	f.Fuzz(func(t *testing.T, text string) {
		dot, a := ParseNumber(text, false)
		comma, b := ParseNumber(text, true)
		if a && b && dot != comma && !strings.ContainsAny(text, ".,") {
			t.Errorf("%q is %v and %v", text, dot, comma)
		}
		if a && !strings.ContainsAny(text, "0123456789") {
			t.Errorf("%q is %v without a digit", text, dot)
		}
	})
}
