package observer

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
	"unsafe"

	"github.com/domtap/domtap/dom"
)

// message joins the lines of a message and converts spaces to tabs; "·" stands for an empty value.
func message(lines ...string) string {
	for i, line := range lines {
		line = strings.ReplaceAll(line, " ", "\t")
		lines[i] = strings.ReplaceAll(strings.ReplaceAll(line, "·", ""), "_", " ")
	}
	return strings.Join(lines, "\n")
}

// example adds a link and a checked box, restores one element, moves one, changes one and removes one.
func example() string {
	return message(
		"doc 7 m 1700000000000.5 0 120 1280 800 http://h/ A_title",
		"-++*>~",
		"3 9 4 12",
		"^ · n0 2",
		"52 2061 28 528",
		"0",       // kind: only for the second
		"n0 5",    // parent of the second, and of the changed element: none
		"a input", // tag
		"", "", "", "", "", "", "", "", "", "", "", "", "",
		"· 9",
		"1 2", "3 4", "5 6", "7 8", "1 ·",
	)
}

func TestDecodeReadsThatStructureCameForContexts(t *testing.T) {
	for flags, want := range map[string]bool{"f": false, "fc": true, "fcm": true, "c": false} {
		m, err := Decode(message("doc 7 " + flags + " 1700000000000.5 0 120 1280 800 http://h/ T 0.5"))
		if err != nil || m.Patch.Contexts != want {
			t.Errorf("%s: %v, %v", flags, m.Patch.Contexts, err)
		}
	}
}

func TestDecodeReadsTheHeader(t *testing.T) {
	m, err := Decode(message("doc 7 u 1700000000000.5 0 120 1280 800 http://h/ A_title"))
	if err != nil {
		t.Fatal(err)
	}
	p := m.Patch
	if !m.Unacknowledged || !m.Empty || p.Document != "doc" || p.Sequence != 7 || p.URL != "http://h/" || p.Title != "A title" {
		t.Errorf("got %+v", m)
	}
	if p.Scroll != (dom.Box{Y: 120, Width: 1280, Height: 800}) || p.PageTime.UnixMicro() != 1700000000000500 {
		t.Errorf("got scroll %v at %v", p.Scroll, p.PageTime)
	}
}

// full is a message with one added link that has all kinds of fields, and its box.
func full() string {
	return message(
		"doc 1 fm 1.0 0 0 1280 800 http://h/ T",
		"++",
		"",
		"^ ·",
		"8252 2076",
		"", "", // kinds and parents: 8252 = tag role text href name … see below
		"a input", "link textbox", "Go_on Mail", "http://h/x", "", "", "", "you@h", "", "2", "", "id=f\x1fclass=c", "", "", "",
		"· ·", "1 2", "3 4", "5 6", "7 8", "· 1",
	)
}

func TestDecodeReadsHints(t *testing.T) {
	for sent, want := range map[string]string{
		"": "", "trash active": "trash active", "a  b ~c D (x) e-2": "a b e-2", "a b c d e": "a b c d",
		strings.Repeat("x", 49): "", "[3]": "", "-x 3d": "", "in valid\x01": "in",
	} {
		if got := hints(sent); got != want {
			t.Errorf("%q: %q, want %q", sent, got, want)
		}
	}
}

func TestDecodeReadsWholeTexts(t *testing.T) {
	whole := strings.Repeat("ä", 12_000)
	m, err := Decode(message("doc 1 f 1.0 0 0 1280 800 http://h/ T", "+", "", "^", "16400", "", "", "", "", whole[:200]+"…", "", "", "", "", "", "", "", "", "", whole))
	if err != nil {
		t.Fatal(err)
	}
	e := m.Patch.Ops[0].Element
	if !strings.HasPrefix(whole, strings.TrimRight(e.Whole, "\uFFFD")) || len(e.Whole) > maxWhole+3 || e.Left < 9_900 {
		t.Errorf("got %d bytes, %d characters left", len(e.Whole), e.Left)
	}
	if text := (&dom.Element{Text: "A"}).WholeText() + e.WholeText(); text != "A"+e.Whole {
		t.Errorf("the whole text is %.20q…", text)
	}
}

func TestDecodeReadsFieldsAndBoxes(t *testing.T) {
	// 8252 = FieldTag|FieldRole|FieldText|FieldHref|FieldAttributes, 2076 = FieldTag|FieldRole|FieldText|FieldStates
	mask := dom.FieldTag | dom.FieldRole | dom.FieldText | dom.FieldHref | dom.FieldAttributes
	if mask != 8252 {
		t.Fatalf("the mask of the example is %d", mask)
	}
	text := strings.Replace(full(), "you@h", "", 1)
	m, err := Decode(text)
	if err != nil {
		t.Fatal(err)
	}
	if len(m.Patch.Ops) != 2 || !m.Patch.Full || !m.Patch.Measured {
		t.Fatalf("got %+v", m.Patch)
	}
	a, input := m.Patch.Ops[0].Element, m.Patch.Ops[1].Element
	if a.Tag != "a" || a.Text != "Go on" || a.Href != "http://h/x" || a.Attributes["class"] != "c" {
		t.Errorf("got %+v", a)
	}
	if input.Role != "textbox" || input.States.Checked != dom.True {
		t.Errorf("got %+v", input)
	}
	if m.Patch.Ops[1].After.New != 0 || m.Patch.Ops[0].After.Ref != dom.NoRef {
		t.Errorf("got places %+v and %+v", m.Patch.Ops[0].After, m.Patch.Ops[1].After)
	}
	if len(m.Patch.Boxes) != 2 || m.Patch.Boxes[1].Box != (dom.Box{X: 2, Y: 4, Width: 6, Height: 8}) || m.Patch.Boxes[1].Place.New != 1 {
		t.Errorf("got boxes %+v", m.Patch.Boxes)
	}
	if m.Patch.Boxes[0].Covered || !m.Patch.Boxes[1].Covered {
		t.Errorf("the second box alone is covered: %+v", m.Patch.Boxes)
	}
}

func TestDecodeRefusesWhatMakesNoSense(t *testing.T) {
	good := strings.Replace(full(), "you@h", "", 1)
	for name, text := range map[string]string{
		"empty":                 "",
		"short header":          "doc\t1",
		"negative sequence":     strings.Replace(good, "\t1\tfm", "\t-1\tfm", 1),
		"huge number":           strings.Replace(good, "1280", "1e99", 1),
		"not a number":          strings.Replace(good, "1280", "NaN", 1),
		"unknown operation":     strings.Replace(good, "\n++\n", "\n+?\n", 1),
		"too few masks":         strings.Replace(good, "8252\t2076", "8252", 1),
		"mask of nothing":       strings.Replace(good, "8252", "0", 1),
		"mask of unknown field": strings.Replace(good, "8252", "131072", 1),
		"level out of range":    strings.Replace(good, "\n2\n", "\n262144\n", 1),
		"too few lines":         good[:strings.Index(good, "8252")],
		"too few boxes":         strings.Replace(good, "\t8", "", 1),
		"too few covers":        strings.TrimSuffix(good, "\t1"),
		"cover of no meaning":   strings.TrimSuffix(good, "1") + "2",
	} {
		if m, err := Decode(text); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: got %+v, %v", name, m, err)
		}
	}
}

// FuzzDecodeBoundsWhatItReads checks that Decode never panics, and that its result is bounded, contains only valid text without control
// characters, and refers only to elements that the patch adds.
func FuzzDecodeBoundsWhatItReads(f *testing.F) {
	f.Add(full())
	f.Add(example())
	f.Add("doc\t1\tu\t0\t0\t0\t0\t0\t\t")
	f.Add(noticeHeader + `{"id":1,"kind":"alert","text":"Wrong","detail":"","ref":-1,"gone":false}`)
	f.Fuzz(func(t *testing.T, text string) {
		m, err := Decode(text)
		if err != nil {
			if !errors.Is(err, ErrMalformed) {
				t.Fatalf("an error of another kind: %v", err)
			}
			return
		}
		for _, n := range m.Notices {
			if len(m.Notices) > maxNotices || n.Kind == 0 || len(n.Text+n.Detail) > 6*maxNotice || strings.ContainsAny(n.Text+n.Detail, "\n\t\x00") {
				t.Fatalf("a notice got through: %+v", n)
			}
		}
		if kept := partsOf(reflect.ValueOf(m), text); len(kept) > 0 {
			t.Fatalf("these keep the message: %q", kept)
		}
		adds := 0
		for _, op := range m.Patch.Ops {
			if op.Kind == dom.OpAdd {
				adds++
			}
			for _, place := range []dom.Place{op.After, op.Parent} {
				if place.New >= adds {
					t.Fatalf("%+v refers to an addition to come", op)
				}
			}
			e := op.Element
			for _, s := range []string{e.Tag, e.Role, e.Text, e.Href, e.Name, e.Type, e.Value, e.Placeholder} {
				if !utf8.ValidString(s) || strings.ContainsAny(s, "\n\t\x00") || len(s) > 3*maxField {
					t.Fatalf("a string got through: %q", s)
				}
			}
		}
		for _, b := range m.Patch.Boxes {
			if b.Place.New >= adds {
				t.Fatalf("%+v refers to an addition that is not there", b)
			}
		}
	})
}

// partsOf returns the strings in a value that share the memory of a message.
func partsOf(v reflect.Value, message string) []string {
	var parts []string
	switch v.Kind() {
	case reflect.String:
		s := v.String()
		from := uintptr(unsafe.Pointer(unsafe.StringData(message)))
		at := uintptr(unsafe.Pointer(unsafe.StringData(s)))
		if s != "" && from <= at && at < from+uintptr(len(message)) {
			parts = append(parts, s)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			parts = append(parts, partsOf(v.Field(i), message)...)
		}
	case reflect.Slice:
		for i := range v.Len() {
			parts = append(parts, partsOf(v.Index(i), message)...)
		}
	case reflect.Map:
		for key, value := range v.Seq2() {
			parts = append(append(parts, partsOf(key, message)...), partsOf(value, message)...)
		}
	}
	return parts
}

func TestNothingThatWasDecodedKeepsItsMessage(t *testing.T) {
	header := message("doc 7 s 1700000000000.5 0 120 1280 800 http://h/ A_title")
	for _, text := range []string{
		full(), message("1 · 1.0 0.5", "~", "3", "", "16", "", "", "", "", "Go_on"),
		header + "\n" + `{"css":"a.b","shown":true,"count":3,"enabled":2,"refs":[4,9]}`,
		noticeHeader + `{"id":1,"kind":"alert","text":"Wrong","detail":"here","ref":-1,"gone":false}`,
	} {
		m, err := Decode(text)
		if err != nil {
			t.Fatalf("%v: %q", err, text)
		}
		if kept := partsOf(reflect.ValueOf(m), text); len(kept) > 0 {
			t.Errorf("these keep the message %q: %q", text, kept)
		}
	}
}

func TestDecodeReadsWhatSelectorsMatch(t *testing.T) {
	header := message("doc 7 s 1700000000000.5 0 120 1280 800 http://h/ A_title")
	m, err := Decode(header + "\n" + `{"css":"a.b","shown":true,"count":3,"enabled":2,"refs":[4,9]}` + "\n" + `{"css":"[","invalid":true}`)
	if err != nil {
		t.Fatal(err)
	}
	found, known := m.Selected[dom.Selector{CSS: "a.b", Shown: true}]
	if !m.Empty || !known || found.Count != 3 || found.Enabled != 2 || len(found.Refs) != 2 || found.Refs[1] != 9 || found.Invalid {
		t.Errorf("got %+v", m)
	}
	if !m.Selected[dom.Selector{CSS: "["}].Invalid {
		t.Errorf("got %+v", m.Selected)
	}
	many := strings.Repeat("1,", 1000) + "1"
	for _, line := range []string{
		"", "x", "[]", `{"count":-1}`, `{"count":1,"enabled":2}`, `{"count":1e12}`, `{"count":1,"refs":[-1]}`,
		`{"count":1,"refs":[4294967295]}`, `{"count":1,"refs":[1.5]}`, `{"count":2000,"refs":[` + many + `]}`,
	} {
		if _, err := Decode(header + "\n" + line); !errors.Is(err, ErrMalformed) {
			t.Errorf("%.40q: %v", line, err)
		}
	}
}

func TestDecodeReadsWhatTheAgentTook(t *testing.T) {
	m, err := Decode(message("doc 7 f 1700000000000.5 0 120 1280 800 http://h/ A_title 1.25"))
	if err != nil || m.Patch.Took != 1250*time.Microsecond {
		t.Errorf("got %v, %v", m.Patch.Took, err)
	}
	for _, took := range []string{"x", "-1", "NaN", "1e12"} {
		if _, err := Decode(message("doc 7 f 1700000000000.5 0 120 1280 800 http://h/ A_title " + took)); !errors.Is(err, ErrMalformed) {
			t.Errorf("%q: %v", took, err)
		}
	}
}

// TestTheScriptsKnowTheWindow compares the agent's own constant with Window.
func TestTheScriptsKnowTheWindow(t *testing.T) {
	if !strings.Contains(source(t, ""), fmt.Sprintf("\nconst WINDOW = %d;\n", Window)) {
		t.Errorf("the scripts do not say that WINDOW is %d", Window)
	}
}

// TestDecodeReadsBriefHeaders reads a patch without the URL, the title and the scroll position.
func TestDecodeReadsBriefHeaders(t *testing.T) {
	m, err := Decode(message("8 · 1700000000000.5 0.25", "~", "7", "", "16", "", "", "", "", "New_text", ""))
	if err != nil {
		t.Fatal(err)
	}
	p := m.Patch
	if !m.Brief || m.Empty || p.Sequence != 8 || p.PageTime.UnixMicro() != 1700000000000500 || p.Took != 250*time.Microsecond {
		t.Errorf("got %+v", m)
	}
	if len(p.Ops) != 1 || p.Ops[0].Kind != dom.OpChange || p.Ops[0].Element.Text != "New text" {
		t.Errorf("got %+v", p.Ops)
	}
	for _, header := range []string{"8 f 1.0 0", "8 m 1.0 0", "-1 · 1.0 0", "8 · x 0", "8 · 1.0 x"} {
		if m, err := Decode(message(header, "~", "7", "", "16", "", "", "", "", "New_text")); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: got %+v, %v", header, m, err)
		}
	}
}

func TestDecodeReadsThatElementsWereLeftOut(t *testing.T) {
	for flags, want := range map[string]bool{"fl": true, "l": true, "f": false} {
		m, err := Decode(message("doc 8 "+flags+" 1.0 0 0 0 0 u t 0", "", ""))
		if err != nil || m.Patch.Limited != want {
			t.Errorf("flags %q: limited %v, %v", flags, m.Patch.Limited, err)
		}
	}
}

func TestTheScriptsKnowHowManyElementsToKeep(t *testing.T) {
	if !strings.Contains(Limits{Elements: 123}.Script(), `{"elements":123}`) || !strings.Contains(Limits{}.Script(), `{"elements":200000}`) {
		t.Error("the limits are not in the script")
	}
}
