package render

import (
	"slices"
	"strings"
	"testing"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

func TestPageTextHasNoTerminalControlCharacters(t *testing.T) {
	for text, want := range map[string]string{
		"a\x1b]0;x\x07b":          "a\ufffd]0;x\ufffdb",
		"a\u009b31mb":             "a\ufffd31mb",
		"a\u202eb\u2066c":         "a\ufffdb\ufffdc",
		"a\u2028b":                "a\ufffdb",
		"a\u061cb\u200fc":         "a\ufffdb\ufffdc",
		"a\u2800\u3164\U000e0041": "a\ufffd\ufffd\ufffd",
		"soft\u00adhyphen\u200b.": "softhyphen.",
		"❤\ufe0f 1\ufe0f\u20e3":   "❤\ufe0f 1\ufe0f\u20e3",
		"❤\ufe0f\u200d🔥👨\u200d👩":  "❤\ufe0f\u200d🔥👨\u200d👩",
		"می\u200cخواهم":           "می\u200cخواهم",
		"a\ufe0f\ufe01\ufe02":     "a\ufe0f\ufffd\ufffd",
		"a\u200db":                "a\ufffdb",
		"keeps\ttabs\nlines":      "keeps\ttabs\nlines",
		"Käse → 日本":               "Käse → 日本",
	} {
		if got := Clean(text); got != want {
			t.Errorf("Clean(%q) = %q, want %q", text, got, want)
		}
	}
}

// TestAWriterCleansWhatComesInParts writes a text in parts of every length.
func TestAWriterCleansWhatComesInParts(t *testing.T) {
	const text = "Käse → 日本\u202e❤\ufe0f\u200d🔥\u009b\x1b[2J\ufe0f\ufe0f\xff."
	for length := 1; length <= len(text); length++ {
		var out strings.Builder
		w := NewWriter(&out)
		for part := range slices.Chunk([]byte(text), length) {
			if n, err := w.Write(part); n != len(part) || err != nil {
				t.Fatal(n, err)
			}
		}
		if want := Clean(text); out.String() != want {
			t.Errorf("in parts of %d: %+q, want %+q", length, out.String(), want)
		}
		if NewWriter(w) != w || Raw(w) != &out || Exact(w) != &out {
			t.Error("the stream of the writer is another")
		}
	}
}

func TestDiffsAreText(t *testing.T) {
	d := &domtapv1.Diff{
		AddedCount: 12, RemovedCount: 1, ChangedCount: 1,
		Added: []*domtapv1.Element{
			{Ref: 5, Tag: "button", Text: "New Button"}, {Ref: 6, Tag: "input", Type: "text"}, {Ref: 7, Tag: "input", Type: "text", Text: "Name"},
		},
		Removed: []*domtapv1.RemovedElement{{Ref: 2, Tag: "a", Text: "Old\nLink"}},
		Changed: []*domtapv1.ChangedElement{{Ref: 9, Element: &domtapv1.Element{Tag: "input", Type: "checkbox", Text: "Gift wrap"},
			Fields: []*domtapv1.FieldChange{{Field: "checked", Old: "false", New: "true"}, {Field: "value", New: "x"}}}},
		Moved: []*domtapv1.MovedElement{{Ref: 3, FromIndex: 1, ToIndex: 4}},
	}
	want := `Changes: +12 -1 ~1 >1
Added:
  [5] <button>New Button</button>
  [6] <input type="text">
  [7] <input type="text"> Name
  … and 9 more
Removed:
  [2] <a>Old Link</a>
Changed:
  [9] <input type="checkbox"> Gift wrap: checked false → true, value (none) → x
Moved:
  [3] 1 → 4
`
	if got := Diff(d); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := Diff(&domtapv1.Diff{}); got != "" {
		t.Errorf("an empty diff is %q", got)
	}
}

func TestDiffsAreColouredBySection(t *testing.T) {
	got := Colour("Changes: +1 -1\nAdded:\n  [1] a\nRemoved:\n  [2] b\n\nNavigated: x\n")
	want := bold + "Changes: +1 -1" + normal + "\n" +
		green + "Added:" + normal + "\n" + green + "  [1] a" + normal + "\n" +
		red + "Removed:" + normal + "\n" + red + "  [2] b" + normal + "\n\n" +
		bold + "Navigated: x" + normal + "\n"
	if got != want {
		t.Errorf("got %q\nwant %q", got, want)
	}
}

func TestDenseDiffsAreColouredByLine(t *testing.T) {
	got := Colour("click: ok\n+ [1] a\n~ [2] b ← c\n- [3] d\n\nURL: x\n[4] e\n")
	want := bold + "click: ok" + normal + "\n" + green + "+ [1] a" + normal + "\n" + yellow + "~ [2] b ← c" + normal + "\n" +
		red + "- [3] d" + normal + "\n\nURL: x\n[4] e\n"
	if got != want {
		t.Errorf("got %q\nwant %q", got, want)
	}
}

func TestOutcomesSayWhatTheActionDid(t *testing.T) {
	tab := &domtapv1.Tab{Id: "t1", Url: "https://x.example/", Title: "X", Dialog: &domtapv1.Dialog{Message: "Sure?"}}
	for verdict, want := range map[domtapv1.Verdict]string{
		domtapv1.Verdict_VERDICT_NO_CHANGE: "click: ok\nNo change\n",
		domtapv1.Verdict_VERDICT_CHANGED:   "click: ok\n",
		domtapv1.Verdict_VERDICT_NAVIGATED: "click: ok\nNavigated: https://x.example/ | X\n",
		domtapv1.Verdict_VERDICT_DIALOG:    "click: ok\nDialog: Sure?\n",
		domtapv1.Verdict_VERDICT_NEW_TAB:   "click: ok\nNew tab: t7\nCommands stay on t1; pass --tab t7 for the new tab\n",
	} {
		answer := &domtapv1.InteractResponse{Verdict: verdict, Tab: tab, NewTabId: "t7", Results: []*domtapv1.StepResult{{Ok: true, Summary: "click: ok"}}}
		if got := Outcome(answer); got != want {
			t.Errorf("%v: got %q, want %q", verdict, got, want)
		}
	}
	hung := &domtapv1.InteractResponse{
		Verdict: domtapv1.Verdict_VERDICT_NO_CHANGE, Tab: &domtapv1.Tab{Id: "t1", Status: domtapv1.TabStatus_TAB_STATUS_UNRESPONSIVE},
		Results: []*domtapv1.StepResult{{Ok: true, Summary: "click: ok, but then the page stopped answering"}},
	}
	if got := Outcome(hung); got != "click: ok, but then the page stopped answering\nThe page does not answer; the changes are unknown\n" {
		t.Errorf("of a page that hangs: %q", got)
	}
}
