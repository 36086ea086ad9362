package tools

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/mcp/aliases"
	"github.com/domtap/domtap/internal/mcp/args"
	"github.com/domtap/domtap/internal/mcp/definitions"
	"github.com/domtap/domtap/internal/mcp/steps"
)

func TestClassesOfTools(t *testing.T) {
	for classes, want := range map[string]int{"core": 10, "page": 8, "storage": 1, "all": 18, "network": 1, "webmcp": 2, "core,page": 13, " page , core ": 13, "search": 1, "core,search": 11} {
		got, err := Select(classes)
		if err != nil || len(got) != want {
			t.Errorf("%q has %d tools (%v), want %d", classes, len(got), err, want)
		}
	}
	for _, classes := range []string{"", "everything", "core,"} {
		if _, err := Select(classes); err == nil || !strings.Contains(err.Error(), "use core, page, storage, search, network, webmcp or all") {
			t.Errorf("%q: %v", classes, err)
		}
	}
}

func TestToolsThatSearch(t *testing.T) {
	for classes, want := range map[string]bool{"all": true, "search": true, "core, search": true, "core": false, "page,core": false, "nonsense": false} {
		if got := Selects(classes, Search); got != want {
			t.Errorf("%s has tools that search: %v", classes, got)
		}
	}
	all, err := Select(All)
	if rest := WithoutSearch(all); err != nil || len(rest) != len(all)-1 || strings.Contains(Unknown("browser_search", nil, rest), "browser_search {") {
		t.Errorf("%d of %d tools are left, %v: %s", len(rest), len(all), err, Unknown("browser_search", nil, rest))
	}
}

// arguments maps the tools to their argument types.
var arguments = map[string]any{
	"browser_navigate": navigateArgs{}, "browser_tab": tabArgs{}, "browser_get_elements_compact": compactArgs{}, "browser_interact": interactArgs{},
	"browser_fill_form": formArgs{}, "browser_wait": waitArgs{}, "browser_read_page": pageArgs{}, "browser_get_dom": domArgs{},
	"browser_screenshot": shotArgs{}, "browser_extract": extractArgs{}, "browser_batch": batchArgs{}, "browser_find": findArgs{}, "browser_log": logArgs{},
	"browser_search": searchArgs{}, "browser_storage": storageArgs{}, "browser_route": routeArgs{}, "browser_page_tools": pageToolsArgs{}, "browser_call_page_tool": callPageToolArgs{},
}

// A schema contains only arguments that its tool reads, and its enumerations list exactly the words that the tool accepts.
func TestSchemasSayWhatToolsRead(t *testing.T) {
	all, err := Select(All)
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range all {
		read := jsonNames(reflect.TypeOf(arguments[tool.Name]))
		for name := range properties(t, tool.Schema) {
			if !slices.Contains(read, name) {
				t.Errorf("%s does not read %q, which its schema names; it reads %q", tool.Name, name, read)
			}
		}
		if bytes.ContainsAny(tool.Schema, "\n\t") {
			t.Errorf("%s: white space in a schema is tokens: %s", tool.Name, tool.Schema)
		}
	}
	sameWords(t, "browser_interact", "action", steps.Actions())
	sameWords(t, "browser_tab", "action", args.Names(tabActions))
	sameWords(t, "browser_wait", "state", args.Names(states))
	sameWords(t, "browser_read_page", "mode", args.Names(modes))
	sameWords(t, "browser_navigate", "show", args.Names(shows))
	sameWords(t, "browser_navigate", "wait_until", args.Names(waits))
	sameWords(t, "browser_get_elements_compact", "format", args.Names(formats))
	sameWords(t, "browser_screenshot", "format", args.Names(pictures))
	sameWords(t, "browser_storage", "action", args.Names(storageActions))
	sameWords(t, "browser_storage", "area", args.Names(stores))
	sameWords(t, "browser_search", "kind", args.Names(searchKinds))
	sameWords(t, "browser_route", "action", args.Names(routeActions))
}

// Every habitual call of another server's tool is answered with a valid call of domtap's tools.
func TestCallsOfOtherServersBecomeCallsThatToolsRead(t *testing.T) {
	all, err := Select(All)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range aliases.Names() {
		for _, raw := range []string{`{}`, `{"ref":"e12","element":"Sign in","text":"x","url":"https://a.example/","key":"Enter","values":["a"],"submit":true}`, `null`, `[]`} {
			call, known := aliases.Translate(name, json.RawMessage(raw))
			if !known {
				t.Fatalf("%s is unknown", name)
			}
			if call.Tool == "" {
				if call.Note == "" {
					t.Errorf("%s: neither a call nor a note", name)
				}
				continue
			}
			into := reflect.New(reflect.TypeOf(arguments[call.Tool])).Interface()
			if err := args.Decode(args.Marshal(call.Arguments), into); err != nil {
				t.Errorf("%s %s became %v: %v", name, raw, call, err)
			}
			if !complete(call.Tool, args.Marshal(call.Arguments)) {
				t.Errorf("%s %s became %v, which lacks a required argument", name, raw, call)
			}
			if got := Unknown(name, json.RawMessage(raw), all); !strings.Contains(got, "call "+call.Tool+" {") {
				t.Errorf("%s is answered with %q", name, got)
			}
		}
	}
	for _, tool := range table {
		example := json.RawMessage(definitions.Example(tool.Name))
		into := reflect.New(reflect.TypeOf(arguments[tool.Name])).Interface()
		if err := args.Decode(example, into); len(example) == 0 || err != nil || !complete(tool.Name, example) {
			t.Errorf("the example of %s: %s, %v", tool.Name, example, err)
		}
	}
}

// A drag has a destination and waypoints, each an element or a point.
func TestDragsOfModels(t *testing.T) {
	var a args.Object[steps.Arguments]
	if err := json.Unmarshal([]byte(`{"action":"drag","ref":4,"value":"e9","waypoints":["[6]","120,40"]}`), &a); err != nil {
		t.Fatal(err)
	}
	got, err := a.V.Step(new(args.Clamps))
	want := &domtapv1.DragStep{
		Target: &domtapv1.Target{Ref: proto.Uint32(4)}, To: &domtapv1.Target{Ref: proto.Uint32(9)},
		Waypoints: []*domtapv1.Target{{Ref: proto.Uint32(6)}, {X: proto.Float64(120), Y: proto.Float64(40)}},
	}
	if err != nil || !proto.Equal(got.GetDrag(), want) {
		t.Errorf("got %v, %v; want %v", got, err, want)
	}
}

func jsonNames(t reflect.Type) []string {
	var names []string
	for i := range t.NumField() {
		names = append(names, t.Field(i).Tag.Get("json"))
	}
	return names
}

// properties returns the properties of a schema.
func properties(t *testing.T, schema []byte) map[string]any {
	t.Helper()
	var s struct {
		Type       string         `json:"type"`
		Properties map[string]any `json:"properties"`
	}
	if err := json.Unmarshal(schema, &s); err != nil || s.Type != "object" {
		t.Fatalf("%s: %v", schema, err)
	}
	return s.Properties
}

// sameWords compares an enumeration of a schema with the words that the tool accepts.
func sameWords(t *testing.T, tool, property string, known []string) {
	t.Helper()
	defined, _ := definitions.Of(tool)
	raw := defined.Schema
	from := strings.Index(raw, `"`+property+`":{"type":"string","enum":`)
	if from < 0 {
		t.Fatalf("%s: no enumeration of %s", tool, property)
	}
	var listed []string
	list := raw[from+len(property)+27:]
	if err := json.Unmarshal([]byte(list[:strings.IndexByte(list, ']')+1]), &listed); err != nil {
		t.Fatal(err)
	}
	slices.Sort(listed)
	if !slices.Equal(listed, known) {
		t.Errorf("%s: the schema lists %q for %s, and the tool knows %q", tool, listed, property, known)
	}
}

func TestAnswersSayWhichPartsTheyLack(t *testing.T) {
	c := &Call{}
	c.addMetadata(&domtapv1.ViewMetadata{LateFrames: []string{"F1", "F2"}, Signals: []*domtapv1.Signal{{Kind: "hidden_text", Where: "footer"}}})
	if want := []string{"frames that did not answer in time: 2; read again", "signal: hidden text, footer"}; !slices.Equal(c.lines, want) {
		t.Errorf("the notes are %q, want %q", c.lines, want)
	}
}
