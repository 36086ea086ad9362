package compact

import (
	"strconv"
	"strings"
	"testing"

	"github.com/domtap/domtap/compact/dense"
	"github.com/domtap/domtap/diff"
	"github.com/domtap/domtap/dom"
	"github.com/domtap/domtap/internal/elementcontext"
	"github.com/domtap/domtap/internal/golden"
	"github.com/domtap/domtap/view"
)

// TestTranscripts prints the pages in testdata/*.txtar and compares the results. A file has a comment and sections, each after a line "--
// name --". For LINES:
//
//	page      the URL and, on the second line, the title
//	history   title @ URL of the pages before and of this one
//	options   words such as max_elements=3 next=c1
//	elements  one element a line, as read by parseElement
//	lines     what is to come out
//
// For TREE: the same with tree instead of lines. Elements are indented by two spaces more than their parents, and the option fold=REF
// prints that element without its descendants.
//
// For DENSE: the same with dense instead of tree. The option interactive excludes structural elements from the view, mention=needed or
// mention=none the lines without refs, and brief prints runs as one line.
//
// For DIFF: old and new contain elements, and diff the expected text. For DENSE_DIFF: the same with dense_diff instead of diff. Elements
// are indented by two spaces more than their parents, and the views exclude structural elements. brief instead of dense_diff has the same
// changes, printed briefly.
func TestTranscripts(t *testing.T) {
	golden.Each(t, "testdata/*.txtar", 1, func(t *testing.T, archived *golden.Archive) {
		a := archive{archived}
		section, got := "diff", ""
		if _, ok := a.Section("dense_diff"); ok {
			section, got = "dense_diff", a.denseDiff(t, false)
		} else if _, ok := a.Section("brief"); ok {
			section, got = "brief", a.denseDiff(t, true)
		} else if _, ok := a.Section("old"); ok {
			got = Diff(diff.Compute(a.elements(t, "old"), a.elements(t, "new")))
		} else if _, ok := a.Section("tree"); ok {
			section, got = "tree", a.tree(t)
		} else if _, ok := a.Section("dense"); ok {
			section, got = "dense", a.dense(t)
		} else {
			section, got = "lines", a.lines(t)
		}
		a.Compare(t, section, got)
	})
}

// archive is the archive of a test case.
type archive struct{ *golden.Archive }

func (a archive) elements(t *testing.T, name string) []*dom.Element {
	t.Helper()
	text, _ := a.Section(name)
	var out []*dom.Element
	for line := range strings.Lines(text) {
		out = append(out, parseElement(t, strings.TrimSpace(line)))
	}
	return out
}

// lines prints the archive's page.
func (a archive) lines(t *testing.T) string {
	t.Helper()
	h, o := a.header(t)
	all := a.nested(t, "elements")
	v, err := view.Of(&dom.Snapshot{Elements: dom.ListOf(all)}, o)
	if err != nil {
		t.Fatal(err)
	}
	v.Contexts = elementcontext.Distinguish(all, v.Elements.Slice())
	return Lines(h, v)
}

// nested returns the elements of a section with their parents.
func (a archive) nested(t *testing.T, section string) []*dom.Element {
	t.Helper()
	all := a.elements(t, section)
	text, _ := a.Section(section)
	var path []*dom.Element
	for line := range strings.Lines(text) {
		e := all[0]
		all = append(all[1:], e)
		e.Depth = (len(line) - len(strings.TrimLeft(line, " "))) / 2
		if path = append(path[:e.Depth], e); e.Depth > 0 {
			e.Parent = path[e.Depth-1].Ref
		}
	}
	return all
}

// dense prints the archive's page as DENSE.
func (a archive) dense(t *testing.T) string {
	t.Helper()
	h, o := a.header(t)
	all := a.nested(t, "elements")
	words, _ := a.Section("options")
	mention := dense.MentionAll
	for _, word := range strings.Fields(words) {
		switch word {
		case "interactive":
			o.InteractiveOnly = true
		case "mention=needed":
			mention = dense.MentionNeeded
		case "mention=none":
			mention = dense.MentionNone
		}
	}
	v, err := view.Of(&dom.Snapshot{Elements: dom.ListOf(all)}, o)
	if err != nil {
		t.Fatal(err)
	}
	p := dense.NewPage(dense.Options{Base: NewBase(h.URL), HRefs: strings.Contains(words, "hrefs"), Brief: strings.Contains(words, "brief")}, all, all)
	h.Links = p.Home()
	checkDense(t, h, v.Elements.Slice(), all)
	return Dense(h, v, p.Lines(v.Elements.Slice(), mention))
}

// denseDiff prints the changes between the archive's pages as DENSE_DIFF.
func (a archive) denseDiff(t *testing.T, brief bool) string {
	t.Helper()
	h, o := a.header(t)
	o.InteractiveOnly = true
	side := func(section string) dense.Side {
		all := a.nested(t, section)
		v, err := view.Of(&dom.Snapshot{Elements: dom.ListOf(all)}, o)
		if err != nil {
			t.Fatal(err)
		}
		return dense.Side{Page: dense.NewPage(dense.Options{Base: NewBase(h.URL)}, all, all), Shown: v.Elements.Slice()}
	}
	if brief {
		return checkBriefDiff(t, side("old"), side("new"))
	}
	return checkDenseDiff(t, side("old"), side("new"))
}

// tree prints the archive's page as TREE.
func (a archive) tree(t *testing.T) string {
	t.Helper()
	h, o := a.header(t)
	all := a.nested(t, "elements")
	folded := Folded{}
	words, _ := a.Section("options")
	if _, after, ok := strings.Cut(words, "fold="); ok {
		ref, _ := strconv.Atoi(strings.Fields(after)[0])
		folded[dom.Ref(ref)] = 0
		shown := view.Fold(all, folded)
		folded[dom.Ref(ref)] = len(all) - len(shown)
		all = shown
	}
	v, err := view.Of(&dom.Snapshot{Elements: dom.ListOf(all)}, o)
	if err != nil {
		t.Fatal(err)
	}
	contexts := elementcontext.Distinguish(all, v.Elements.Slice())
	return Tree(h, v, NewOutline(NewBase(h.URL), v.Elements.Slice(), all, folded).With(contexts))
}

// header reads the header and the options of the archive's page.
func (a archive) header(t *testing.T) (Header, view.Options) {
	t.Helper()
	var h Header
	page, _ := a.Section("page")
	url, title, _ := strings.Cut(strings.TrimSpace(page), "\n")
	h.URL, h.Title = url, unquoted(title)
	history, _ := a.Section("history")
	for line := range strings.Lines(history) {
		title, url, _ := strings.Cut(line, "@")
		h.History = append(h.History, Visit{Title: strings.TrimSpace(title), URL: strings.TrimSpace(url)})
	}
	o := view.Options{Cost: Cost(NewBase(h.URL), nil, func(string) int { return 10 })}
	words, _ := a.Section("options")
	for _, word := range strings.Fields(words) {
		name, value, _ := strings.Cut(word, "=")
		switch name {
		case "max_elements":
			o.MaxElements, _ = strconv.Atoi(value)
		case "max_tokens":
			o.MaxTokens, _ = strconv.Atoi(value)
		case "next":
			h.Next = value
		case "interactive":
			o.InteractiveOnly = true
		case "fold", "mention", "hrefs", "brief":
		default:
			t.Fatalf("unknown option %q", word)
		}
	}
	return h, o
}

// parseElement parses `7 input "Email" type=email required`: ref, tag, text, then fields. Strings may be quoted as in Go. A state without a
// value is true. The default role is the role of the tag.
func parseElement(t *testing.T, line string) *dom.Element {
	t.Helper()
	e := &dom.Element{Parent: dom.NoRef}
	for i, rest := 0, line; rest != ""; i++ {
		var word string
		word, rest = cutWord(rest)
		name, value, given := strings.Cut(word, "=")
		value = unquoted(value)
		switch {
		case i == 0:
			ref, err := strconv.ParseUint(word, 10, 32)
			if err != nil {
				t.Fatalf("%q starts with no ref", line)
			}
			e.Ref = dom.Ref(ref)
		case i == 1:
			e.Tag = unquoted(word)
		case strings.HasPrefix(word, `"`):
			e.Text = unquoted(word)
		case !given:
			setField(t, e, name, "true")
		default:
			setField(t, e, name, value)
		}
	}
	if e.Role == "" {
		e.Role = NativeRole(e.Tag, e.Type, e.Href != "")
	}
	return e
}

// unquoted returns the value of a Go string, or else the text unchanged.
func unquoted(s string) string {
	if u, err := strconv.Unquote(s); err == nil {
		return u
	}
	return s
}

// cutWord splits off the first word, which may contain a quoted string with spaces.
func cutWord(s string) (word, rest string) {
	quoted := false
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\' && quoted:
			i++
		case s[i] == '"':
			quoted = !quoted
		case s[i] == ' ' && !quoted:
			return s[:i], strings.TrimLeft(s[i:], " ")
		}
	}
	return s, ""
}

func setField(t *testing.T, e *dom.Element, name, value string) {
	t.Helper()
	texts := map[string]*string{
		"role": &e.Role, "href": &e.Href, "name": &e.Name, "type": &e.Type, "value": &e.Value,
	}
	states := map[string]*dom.Tri{
		"checked": &e.States.Checked, "disabled": &e.States.Disabled, "expanded": &e.States.Expanded,
		"selected": &e.States.Selected, "pressed": &e.States.Pressed, "required": &e.States.Required,
		"readonly": &e.States.Readonly, "focused": &e.States.Focused, "invalid": &e.States.Invalid,
	}
	tris := map[string]dom.Tri{"": dom.Absent, "false": dom.False, "true": dom.True, "mixed": dom.Mixed}
	tri, isTri := tris[value]
	switch {
	case texts[name] != nil:
		*texts[name] = value
	case states[name] != nil && isTri:
		*states[name] = tri
	case name == "structural":
		e.Kind = dom.Structural
	case name == "covered":
		e.Covered = true
	case name == "level":
		e.Level, _ = strconv.Atoi(value)
	case name == "join":
		e.Join, _ = strconv.Atoi(value)
	case name == "hints":
		e.Hints = value
	case name == "depth":
		e.Depth, _ = strconv.Atoi(value)
	case name == "in_viewport":
		e.InViewport = value == "true"
	default:
		t.Fatalf("unknown field %s=%q", name, value)
	}
}
