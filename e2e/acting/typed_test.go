package acting

import (
	"fmt"
	"strings"
	"testing"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/testenv"
)

// takers holds fields that reject typed text in different ways, and fields that transform it.
const takers = `
	<input name=other aria-label=Other><div id=log></div>
	<input name=late onfocus="setTimeout(() => document.querySelector('[name=other]').focus(), 0)">
	<input name=midway oninput="this.value.length === 2 && document.querySelector('[name=other]').focus()">
	<input name=onkey onkeydown="document.querySelector('[name=other]').focus()">
	<input name=readonly onfocus="this.readOnly = true">
	<input name=disabled onkeydown="this.disabled = true">
	<input name=frozen onkeydown="this.readOnly = true">
	<input name=prevented onkeydown="event.preventDefault()">
	<input name=filtered onkeypress="/\d/.test(event.key) || event.preventDefault()">
	<input name=unwritten onbeforeinput="event.preventDefault()">
	<label><input name=plan role=combobox size=1 style="opacity:0" value=Team oninput="this.value = ''"> Plan</label>
	<input name=reset oninput="this.value = ''">
	<input name=later oninput="setTimeout(() => this.value = '', 0)">
	<input name=short maxlength=3>
	<input name=full maxlength=3 value=abc>
	<input name=secret type=password maxlength=3>
	<textarea name=area maxlength=5></textarea>
	<input name=number type=number>
	<input name=gone oninput="this.value.length === 2 && this.remove()">
	<div contenteditable role=textbox aria-label=editor style="min-height:20px" onbeforeinput="event.preventDefault()"></div>

	<input name=phone oninput="const d = this.value.replace(/\D/g, ''); this.value = d.length > 3 ? '(' + d.slice(0, 3) + ') ' + d.slice(3) : d">
	<input name=masked onkeypress="event.preventDefault(); this.value += event.key.toUpperCase()">
	<input name=country oninput="if (this.value === 'de') this.value = 'Germany'">
	<textarea name=chat onkeydown="if (event.key === 'Enter') { event.preventDefault(); document.querySelector('#log').textContent += this.value + ';'; this.value = '' }"></textarea>
	<input name=once onkeydown="if (event.key === 'Enter') this.remove()">
	<input name=tags oninput="if (this.value.endsWith(',')) this.value = ''">
	<input name=price type=number value=7><input name=mail type=email value=a>
	<input name=pin type=password>
	<input name=select value=old onfocus="setTimeout(() => this.select(), 0)">
	<input name=leave><select name=list><option>France<option>Germany</select>
	<input name=from><input name=to aria-label=To>
	<input name=find oninput="const o = document.querySelector('[name=overlay]'); o.value = this.value; o.focus()"><input name=overlay aria-label=Overlay>
	<textarea name=catcher style="position:fixed;width:1px;height:1px;opacity:.01" oninput="document.querySelector('#log').textContent += this.value; this.value = ''"></textarea>
	<script>value = (name) => document.querySelector("[name=" + name + "]").value</script>`

// TestTypeReportsMissingText types into fields that reject text. The result must not be ok if the text did not arrive.
func TestTypeReportsMissingText(t *testing.T) {
	s := staged(t, takers)
	for _, c := range []struct {
		at, text  string
		delivered domtapv1.Delivered
		says      []string
	}{
		{"midway", "abcd", part, []string{"2 of 4 characters", `textbox "Other"`, "(ref "}},
		{"onkey", "abc", none, []string{"none of 3", `textbox "Other"`, "(ref "}},
		{"disabled", "abc", none, []string{"none of 3", "disabled"}},
		{"frozen", "abc", none, []string{"none of 3", "read-only"}},
		{"prevented", "abc", none, []string{"none of 3", "prevented the keys"}},
		{"filtered", "ab", none, []string{"none of 2", "prevented the keys"}},
		{"unwritten", "abc", none, []string{"none of 3", "prevented the keys"}},
		{"reset", "abc", none, []string{"none of 3", "reset it"}},
		{"later", "a", none, []string{"none of 1", "reset it"}},
		{"short", "abcdefgh", part, []string{"3 of 8 characters", "maxlength is 3", `the field holds "abc"`}},
		{"full", "d", none, []string{"none of 1", "maxlength is 3"}},
		{"secret", "hunter2", part, []string{"3 of 7 characters", "maxlength is 3"}},
		{"area", "a\nbcdefg", part, []string{"5 of 8 characters", "maxlength is 5"}},
		{"number", "abc", none, []string{"none of 3", "numbers only"}},
		{"gone", "abcd", part, []string{"2 of 4 characters", "the page removed it"}},
		{"editor", "abc", none, []string{"none of 3", "prevented the keys"}},
	} {
		s.eval(`document.querySelector("[name=other]").value = ""`)
		r, err := s.try(t.Context(), typing(s.at(c.at), c.text))
		said := r.GetError()
		if err != nil {
			said, r = err.Error(), &domtapv1.StepResult{Delivered: none, Reason: testenv.Reason(err)}
		}
		if r.GetOk() || r.GetDelivered() != c.delivered || r.GetReason() != "NOT_DELIVERED" {
			t.Errorf("typing %q into %s gives %v, want %v", c.text, c.at, r, c.delivered)
		}
		for _, words := range c.says {
			if !strings.Contains(said, words) {
				t.Errorf("typing %q into %s says %q, not %q", c.text, c.at, said, words)
			}
		}
		if strings.Contains(said, "hun") {
			t.Errorf("a password is told: %s", said)
		}
		s.is(`value("other")`, "") // text for one field must not go into another
	}
	s.refused(typing(s.at("readonly"), "abc"), "NOT_ACTIONABLE", "read-only")
	// The timer fires before the first key or between two keys. On a busy machine it may fire after all of them.
	r, err := s.try(t.Context(), typing(s.at("late"), "abc"))
	whole := s.eval(`value("late")`) == "abc"
	if r.GetOk() != whole || !whole && !strings.Contains(r.GetError()+fmt.Sprint(err), `"Other"`) {
		t.Errorf("a field that hands the focus on says %v, %v", r, err)
	}
	s.is(`value("other")`, "")
}

// TestFillReportsRejectedValues fills fields that reject the value.
func TestFillReportsRejectedValues(t *testing.T) {
	s := staged(t, takers)
	s.refused(fill(s.at("unwritten"), "abc"), "NOT_DELIVERED", "none of 3", "prevented")
	s.refused(fill(s.at("reset"), "abc"), "NOT_DELIVERED", "none of 3", "reset it")
	s.refused(fill(s.at("plan"), "abc"), "NOT_DELIVERED", "none of 3", "reset it") // a drawn select
	s.refused(fill(s.at("editor"), "abc"), "NOT_DELIVERED", "prevented")
	s.refused(fill(s.at("readonly"), "abc"), "NOT_ACTIONABLE", "read-only")
	s.do(fill(s.at("prevented"), "abc")) // the page prevents keys, but not values
	s.is(`value("prevented")`, "abc")
}

const (
	part = domtapv1.Delivered_DELIVERED_PART
	none = domtapv1.Delivered_DELIVERED_NONE
)

// TestTypeReportsWhatArrived types into fields that transform their input.
func TestTypeReportsWhatArrived(t *testing.T) {
	s := staged(t, takers)
	for _, c := range []struct{ at, text, says, expression, want string }{
		{"phone", "5551234", `holds "(555) 1234"`, `value("phone")`, "(555) 1234"},
		{"masked", "ab1", `holds "AB1"`, `value("masked")`, "AB1"},
		{"country", "de", `holds "Germany"`, `value("country")`, "Germany"},
		{"chat", "hello\n", "then the page emptied it", `document.querySelector("#log").textContent`, "hello;"},
		{"chat", "a\nb\n", "then the page emptied it", `document.querySelector("#log").textContent`, "hello;a;b;"},
		{"chat", "c\nd", `holds "d"`, `document.querySelector("#log").textContent`, "hello;a;b;c;"},
		{"once", "bye\n", "then the element left the page", `document.querySelector("[name=once]")`, "null"},
		{"tags", "red,", "then the page emptied it", `value("tags")`, ""},
		{"price", ".5", "", `value("price")`, "7.5"},
		{"mail", "@b.c", "", `value("mail")`, "a@b.c"},
		{"pin", "hunter2", "", `value("pin")`, "hunter2"},
		{"select", "new", "", `value("select").endsWith("new")`, "true"},
		{"leave", "bye\tGermany", "", `value("leave") + value("list")`, "byeGermany"},
		{"from", "a\tb", `textbox "To" (ref `, `value("from") + value("to")`, "ab"},
		{"find", "abc", `textbox "Overlay" (ref `, `value("overlay")`, "abc"},
		{"catcher", "xyz", "shows no text itself", `document.querySelector("#log").textContent`, "hello;a;b;c;xyz"},
	} {
		r, err := s.try(t.Context(), typing(s.at(c.at), c.text))
		if err != nil || !r.GetOk() || r.GetDelivered() != domtapv1.Delivered_DELIVERED_ALL || !strings.Contains(r.GetSummary(), c.says) {
			t.Errorf("typing %q into %s gives %v, %v, want %q", c.text, c.at, r, err, c.says)
		}
		if strings.Contains(r.GetSummary(), "hunter") {
			t.Errorf("a password is told: %v", r)
		}
		s.is(c.expression, c.want)
	}
}

// TestPressReportsOnlyKnownOutcomes presses keys at elements.
func TestPressReportsOnlyKnownOutcomes(t *testing.T) {
	s := staged(t, takers+`<canvas tabindex=0 aria-label=Game role=application onkeydown="pressed = event.key" width=50 height=50></canvas>
		<button onkeydown="event.preventDefault()">Handled</button>`)
	for _, c := range []struct {
		at, key string
		repeat  int32
		says    string
	}{
		{"from", "Tab", 1, `the focus is on textbox "To" (ref `},
		{"from", "a", 1, "ok"},
		{"from", "ArrowLeft", 1, "ok"},
		{"prevented", "a", 1, "the page handled the key itself"},
		{"full", "d", 1, "its maxlength is 3"},
		{"Handled", "Enter", 1, "the page handled the key itself"},
		{"Game", "ArrowUp", 2, "ok"},
	} {
		if said := s.do(key(s.at(c.at), c.key, c.repeat)); !strings.Contains(said, c.says) {
			t.Errorf("pressing %s at %s says %q, not %q", c.key, c.at, said, c.says)
		}
	}
	s.is("pressed", "ArrowUp")
	s.refused(key(s.at("onkey"), "a", 1), "NOT_DELIVERED", `textbox "Other" (ref `)
	s.is(`value("other")`, "")
}

// TestTypeStopsWhereTheDocumentEnds types two lines; the first makes the page leave its document. The second must not reach any other
// element.
func TestTypeStopsWhereTheDocumentEnds(t *testing.T) {
	s := staged(t, `<input aria-label=Outer><iframe srcdoc="<input aria-label=Inner onkeydown=&quot;if (event.key === 'Enter') {
		const outer = parent.document.querySelector('input'); frameElement.remove(); outer.focus() }&quot;>"></iframe>`)
	r, err := s.try(t.Context(), typing(s.at("Inner"), "one\ntwo"))
	if err != nil || r.GetOk() || r.GetDelivered() != part || !strings.Contains(r.GetError(), "its document is gone") {
		t.Errorf("lines that lose their document give %v, %v", r, err)
	}
	s.is(`document.querySelector("input").value`, "")
}

// TestKeysReportWhatTheTextHides presses keys that change a secret, or the format of a text, which the page's elements do not show.
func TestKeysReportWhatTheTextHides(t *testing.T) {
	s := staged(t, `<label>Secret <input id=secret type=password value=ab></label><div id=editor contenteditable role=textbox aria-label=Editor><p>hello</div>
		<script>editor.onkeydown = (e) => { if (e.ctrlKey && e.key === "b") { e.preventDefault(); getSelection().selectAllChildren(editor); document.execCommand("bold") }
			if (e.key === "Shift") editor.firstChild.className = editor.firstChild.dataset.at = "active" }</script>`)
	act := func(step *domtapv1.Step) (string, domtapv1.Verdict) {
		r, err := s.d.Actions.Interact(t.Context(), &domtapv1.InteractRequest{TabId: s.tab, Steps: []*domtapv1.Step{step}})
		if err != nil {
			t.Fatal(err)
		}
		return r.GetResults()[0].GetSummary(), r.GetVerdict()
	}
	secret, editor := &domtapv1.Target{Label: "Secret"}, &domtapv1.Target{Label: "Editor"}
	s.do(click(secret))
	for _, c := range []struct {
		step *domtapv1.Step
		says string
		want domtapv1.Verdict
	}{
		{key(secret, "c", 1), "its text changed", domtapv1.Verdict_VERDICT_CHANGED},
		{key(nil, "Backspace", 1), "its text changed", domtapv1.Verdict_VERDICT_CHANGED},
		{key(secret, "Shift", 1), "ok", domtapv1.Verdict_VERDICT_NO_CHANGE},
		{fill(secret, "other"), "ok", domtapv1.Verdict_VERDICT_CHANGED},
		{key(editor, "Control+b", 1), "the format of its text changed", domtapv1.Verdict_VERDICT_CHANGED},
		{key(editor, "Shift", 1), "ok", domtapv1.Verdict_VERDICT_NO_CHANGE},
	} {
		if said, verdict := act(c.step); !strings.HasSuffix(said, c.says) || verdict != c.want {
			t.Errorf("%s, %v", said, verdict)
		}
	}
}
