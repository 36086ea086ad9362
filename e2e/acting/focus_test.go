package acting

import (
	"strings"
	"testing"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// TestTypingWithoutATargetGoesToTheFocus types into the focused element, and is refused if that accepts no text.
func TestTypingWithoutATargetGoesToTheFocus(t *testing.T) {
	s := staged(t, `<title>Focus</title><input aria-label=From><input aria-label=To><button>Go</button>
<div contenteditable=true role=textbox aria-label=Story></div>
<div id=host></div><iframe srcdoc="<input aria-label=Framed>"></iframe>
<script>host.attachShadow({mode: 'closed'}).innerHTML = '<input aria-label=Shadowed>'</script>`)
	s.refused(typing(nil, "Oslo"), "NOT_ACTIONABLE", "no element has the focus", "does not listen for keys")
	for _, name := range []string{"From", "To", "Story", "Shadowed", "Framed"} {
		s.do(click(s.at(name)))
		if got, want := s.do(typing(nil, "Oslo")), `type "`+name+`": ok`; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	s.is(`[...document.querySelectorAll('input')].map(e => e.value).join() + ',' + document.querySelector('[role=textbox]').textContent`, "Oslo,Oslo,Oslo")
	s.do(key(s.at("Go"), "Shift", 0))
	s.refused(typing(nil, "Oslo"), "NOT_ACTIONABLE", `button "Go"`, "takes no text")
}

// TestKeysOfDrawings presses keys on elements of SVG and MathML.
func TestKeysOfDrawings(t *testing.T) {
	s := staged(t, `<svg width=50 height=50 onkeydown="took.push(event.key)"><g tabindex=0 role=button aria-label=Block><rect width=40 height=40></rect></g><g role=button aria-label=Fixed><rect x=42 width=8 height=8></rect></g></svg>
<math tabindex=0 role=button aria-label=Sum onkeydown="took.push(event.key)"><mi>x</mi></math><script>var took = []</script>`)
	for _, name := range []string{"Block", "Sum"} {
		if got, want := s.do(key(s.at(name), "ArrowRight", 0)), `press "ArrowRight": ok`; !strings.HasPrefix(got, want) {
			t.Errorf("%s: got %q", name, got)
		}
	}
	s.refused(key(s.at("Fixed"), "ArrowRight", 0), "NOT_ACTIONABLE")
	s.is("took.join()", "ArrowRight,ArrowRight")
}

// shortcuts is a page with document-level keys: / moves the focus to the search, and x is handled without a visible effect.
const shortcuts = `<input aria-label=Search><input aria-label=Secret type=password><canvas tabindex=0 aria-label=Game width=50 height=50></canvas><iframe srcdoc="<p>Frame<script>onkeydown = (e) => parent.note(e)</script>"></iframe><script>
	var log = [], search = document.querySelector("input"), note = (e) => log.push(e.key + (e.isTrusted ? "" : "fake"))
	document.addEventListener("keydown", (e) => { note(e); if (document.activeElement === document.body && e.key === "/") { e.preventDefault(); search.focus() } if (e.ctrlKey && e.key === "k") e.preventDefault() })
	var take = () => { const all = log.join(""); log = []; return all }
</script>`

// TestKeysOfTheDocument types and presses while no field has the focus. The answer must report which element received the keys, and their
// effect.
func TestKeysOfTheDocument(t *testing.T) {
	s := staged(t, shortcuts)
	for _, c := range []struct {
		before     string
		step       *domtapv1.Step
		says, keys string
	}{
		{"", typing(nil, "j?"), "type: ok, to the document", "j?"},
		{"", key(nil, "?", 0), `press "?": ok, to the document`, "?"},
		{"", key(nil, "Control+k", 0), `press "Control+k": ok, to the document; the page handled the key itself`, "Controlk"},
		{"", key(nil, "j", 3), `press "j": ok, to the document`, "jjj"},
		{"", typing(nil, "/abc"), `type: ok, to the document; the page handled 1 of 4 keys itself; textbox "Search" (ref 0) holds "abc"`, "/abc"},
		{"", key(nil, "d", 0), `press "d": ok, on textbox "Search" (ref 0)`, "d"},
		{`document.querySelector("canvas").focus()`, typing(nil, "wasd"), `type "Game": ok, on <canvas> "Game" (ref 2)`, "wasd"},
		{`document.querySelector("canvas").focus()`, key(nil, "ArrowUp", 0), `press "ArrowUp": ok, on <canvas> "Game" (ref 2)`, "ArrowUp"},
		{`document.querySelector("[type=password]").focus()`, typing(nil, "hunter2"), `type "Secret": ok`, "hunter2"},
		{`document.querySelector("iframe").contentWindow.focus()`, key(nil, "q", 0), `press "q": ok, to the document`, "q"},
	} {
		if c.before != "" {
			s.eval(c.before)
		}
		if got := s.do(c.step); !strings.HasPrefix(got, c.says) || strings.Contains(got, "hunter") {
			t.Errorf("%v says %q, not %q", c.step, got, c.says)
		}
		s.is("take()", c.keys)
	}
	s.is("search.value", "abcd")
	// The browser would insert text that no key can type at the last position of the caret.
	s.eval("document.activeElement.blur()")
	s.refused(typing(nil, "a漢"), "NOT_ACTIONABLE", "漢", "no key types")
	s.refused(key(nil, "漢", 0), "NOT_ACTIONABLE", "漢")
	s.is(`take() + document.querySelector("[type=password]").value`, "hunter2")
}

// TestKeysOfAFieldThatIsNotListed types into the hidden field of a custom editor.
func TestKeysOfAFieldThatIsNotListed(t *testing.T) {
	s := staged(t, `<button onclick="catcher.focus()">Edit</button><textarea id=catcher aria-hidden=true tabindex=-1 style="position:absolute;left:-9999px;opacity:0;width:1px;height:1px"></textarea><script>
		var text = ""; catcher.oninput = () => { text += catcher.value; catcher.value = "" }</script>`)
	s.do(click(s.at("Edit")))
	if got := s.do(typing(nil, "draw é")); !strings.Contains(got, "ok") {
		t.Errorf("got %q", got)
	}
	s.is("text", "draw é")
}

// TestTypingWithoutATargetReplacesTheSelection types where the page has put the caret, and over text that the page has selected.
func TestTypingWithoutATargetReplacesTheSelection(t *testing.T) {
	s := staged(t, `<input aria-label=Name value=Pictures><div contenteditable=true role=textbox aria-label=Story>old words</div><script>
		var field = document.querySelector("input"), story = document.querySelector("div")
		var select = (from, to) => { field.value = "Pictures"; field.focus(); field.setSelectionRange(from, to) }</script>`)
	for _, c := range []struct{ selection, text, want, says string }{
		{"select(0, 8)", "Photos", "Photos", `type "Name": ok`},
		{"select(0, 8)", "Pictures", "Pictures", `type "Name": ok`},
		{"select(3, 3)", "-", "Pic-tures", `type "Name": ok`},
		{"select(0, 3)", "Fix", "Fixtures", `type "Name": ok`},
	} {
		s.eval(c.selection)
		if got := s.do(typing(nil, c.text)); got != c.says {
			t.Errorf("%v says %q", c, got)
		}
		s.is("field.value", c.want)
	}
	s.eval("select(0, 8)")
	s.do(typing(s.at("Name"), "!"))
	s.is("field.value", "Pictures!")
	s.eval("story.focus(), getSelection().selectAllChildren(story)")
	s.do(typing(nil, "new"))
	s.is("story.textContent", "new")
}
