package acting

import (
	"strings"
	"testing"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// TestKeysAreThoseOfAKeyboard checks the events of keys and chords.
func TestKeysAreThoseOfAKeyboard(t *testing.T) {
	s := staged(t, `<input placeholder=F><script>
		log = []
		for (const type of ["keydown", "keypress", "keyup", "beforeinput", "compositionstart", "compositionend"])
			document.querySelector("input").addEventListener(type, (e) => log.push(type + ":" + (type[0] === "k" ?
				[e.key, e.code, e.keyCode, e.location, (e.shiftKey ? "s" : "") + (e.ctrlKey ? "c" : "")].join(",") : e.data)))
		take = () => { const all = log.join(" "); log = []; return all }
	</script>`)
	f := s.at("F")
	for _, c := range []struct{ chord, want string }{
		{"a", "keydown:a,KeyA,65,0, keypress:a,KeyA,97,0, beforeinput:a keyup:a,KeyA,65,0,"},
		{"A", "keydown:A,KeyA,65,0,s keypress:A,KeyA,65,0,s beforeinput:A keyup:A,KeyA,65,0,s"},
		{"?", "keydown:?,Slash,191,0,s keypress:?,Slash,63,0,s beforeinput:? keyup:?,Slash,191,0,s"},
		{"+", "keydown:+,Equal,187,0,s keypress:+,Equal,43,0,s beforeinput:+ keyup:+,Equal,187,0,s"},
		{"Numpad7", "keydown:7,Numpad7,103,3, keypress:7,Numpad7,55,3, beforeinput:7 keyup:7,Numpad7,103,3,"},
		{"ArrowLeft", "keydown:ArrowLeft,ArrowLeft,37,0, keyup:ArrowLeft,ArrowLeft,37,0,"},
		{"Control+Shift+K", "keydown:Control,ControlLeft,17,1,c keydown:Shift,ShiftLeft,16,1,sc keydown:K,KeyK,75,0,sc keyup:K,KeyK,75,0,sc keyup:Shift,ShiftLeft,16,1,c keyup:Control,ControlLeft,17,1,"},
		{"é", "beforeinput:é"},
		{"漢", "compositionstart: beforeinput:漢 beforeinput:漢 compositionend:漢"},
	} {
		s.do(key(f, c.chord, 0))
		s.is("take()", c.want)
	}
	s.refused(key(f, "Hyper+a", 0), "INVALID", "Alt, Control")
	s.refused(key(f, "Entr", 0), "INVALID", "Enter")
}

// TestChordsEdit uses the editing commands of the keyboard.
func TestChordsEdit(t *testing.T) {
	s := staged(t, `<input placeholder=F value="one two">`)
	f := s.at("F")
	s.do(typing(f, "!"))
	s.is(`document.querySelector("input").value`, "one two!")
	s.do(key(f, "Backspace", 3))
	s.is(`document.querySelector("input").value`, "one t")
	s.do(key(nil, "ControlOrMeta+a", 0))
	s.do(key(nil, "x", 2))
	s.is(`document.querySelector("input").value`, "xx")
	s.do(key(nil, "Control+z", 0))
	s.is(`document.querySelector("input").value`, "one t")
	s.do(key(nil, "Home", 0))
	s.do(key(nil, "Shift+ArrowRight", 4))
	s.do(key(nil, "Delete", 0))
	s.is(`document.querySelector("input").value`, "t")
}

// TestTextReachesEveryKindOfField types into and fills every element that accepts text.
func TestTextReachesEveryKindOfField(t *testing.T) {
	s := staged(t, `<input placeholder=text value=old><input type=number placeholder=number value=7><input type=email placeholder=email value="a@b.c">
		<textarea placeholder=area>old</textarea><div contenteditable aria-label=rich role=textbox style="min-height:20px">old <b>bold</b></div>
		<input type=date name=date><input type=time name=time><input type=range name=range min=0 max=100 step=5 value=20><input type=color name=color>
		<label>Labelled <input value=old></label><input type=password placeholder=secret><input maxlength=3 placeholder=short>
		<script>
			log = []
			for (const type of ["beforeinput", "input", "change"]) addEventListener(type, (e) => log.push(e.target.name + ":" + type + (e.isTrusted ? "" : "!")), true)
			value = (sel) => { const n = document.querySelector(sel); return n.value === undefined ? n.innerText : n.value }
		</script>`)
	for _, c := range []struct{ at, fill, sel, want string }{
		{"text", "new", `[placeholder=text]`, "new"},
		{"text", "", `[placeholder=text]`, ""},
		{"number", "42.5", `[placeholder=number]`, "42.5"},
		{"email", "x@y.z", `[placeholder=email]`, "x@y.z"},
		{"area", "one\ntwo 👍 漢字", `textarea`, "one\ntwo 👍 漢字"},
		{"rich", "first\nsecond", `[contenteditable]`, "first\nsecond"},
		{"rich", "", `[contenteditable]`, ""},
		{"date", "2026-11-21", `[name=date]`, "2026-11-21"},
		{"time", "09:30", `[name=time]`, "09:30"},
		{"range", "52", `[name=range]`, "50"},
		{"color", "#FF8800", `[name=color]`, "#ff8800"},
		{"Labelled", "new", `label input`, "new"},
		{"secret", "hunter2", `[type=password]`, "hunter2"},
	} {
		s.do(fill(s.at(c.at), c.fill))
		s.is("value('"+c.sel+"').replace(/\\n$/, '')", c.want)
	}
	s.is(`log.filter((e) => e.startsWith("range")).join()`, "range:input!,range:change!")
	if r, err := s.try(t.Context(), fill(s.at("short"), "12345")); err != nil || r.GetOk() || !strings.Contains(r.GetError(), `received 3 of 5 characters (the field holds "123"): its maxlength is 3`) {
		t.Errorf("a field that cuts its text says %v, %v", r, err)
	}
	for _, c := range []struct{ at, text, sel, want string }{
		{"number", "9", `[placeholder=number]`, "42.59"},
		{"area", "!", `textarea`, "one\ntwo 👍 漢字!"},
		{"rich", "typed", `[contenteditable]`, "typed"},
		{"text", "Grüße, 世界 👋 ok", `[placeholder=text]`, "Grüße, 世界 👋 ok"},
		{"text", strings.Repeat("long ", 60), `[placeholder=text]`, "Grüße, 世界 👋 ok" + strings.Repeat("long ", 60)},
	} {
		s.do(typing(s.at(c.at), c.text))
		s.is("value('"+c.sel+"')", c.want)
	}
	s.refused(fill(s.at("date"), "21.11.2026"), "INVALID", "2026-11-21")
	s.is(`value("[name=date]")`, "2026-11-21")
	s.refused(fill(s.at("color"), "red"), "INVALID", "#1a2b3c")
}

// TestEditorsTakeText fills a rich text editor that handles every input itself.
func TestEditorsTakeText(t *testing.T) {
	s := staged(t, `<div contenteditable role=textbox aria-label=Editor style="min-height:20px;white-space:pre-wrap"></div><script>
		const ed = document.querySelector("div"); let model = "start", from = 0, to = 0
		const draw = () => { ed.textContent = model; if (ed.firstChild) getSelection().collapse(ed.firstChild, from) }
		document.addEventListener("selectionchange", () => { const r = getSelection().rangeCount && getSelection().getRangeAt(0); if (r && ed.contains(r.startContainer)) {
			const all = new Range(); all.selectNodeContents(ed); all.setEnd(r.startContainer, r.startOffset); from = all.toString().length; to = from + r.toString().length } })
		ed.addEventListener("beforeinput", (e) => { e.preventDefault(); const put = e.inputType === "insertLineBreak" ? "\n" : e.inputType.startsWith("delete") ? "" : e.data || ""
			model = model.slice(0, from) + put + model.slice(to); from = to = from + put.length; draw() })
		draw(); get = () => JSON.stringify(model)
	</script>`)
	ed := s.at("Editor")
	s.do(fill(ed, "Hello\nworld"))
	s.is("get()", `"Hello\nworld"`)
	s.do(typing(ed, ", again"))
	s.is("get()", `"Hello\nworld, again"`)
	s.do(fill(ed, ""))
	s.is("get()", `""`)
}

// TestTextIsRefused checks that elements which accept no text stay unchanged, and that the error has the reason.
func TestTextIsRefused(t *testing.T) {
	const page = `<button>B</button><input placeholder=ro readonly value=1><input placeholder=off disabled value=1><input placeholder=thief onfocus="document.querySelector('[placeholder=other]').focus()"><input placeholder=other>
		<input type=checkbox aria-label=box>`
	type refused struct {
		at, says string
		step     func(at *domtapv1.Target) *domtapv1.Step
	}
	filled := func(at *domtapv1.Target) *domtapv1.Step { return fill(at, "password") }
	sideBySide(t, map[string]refused{
		"a button":           {"B", "takes no text", filled},
		"a checkbox":         {"box", "check", filled},
		"read-only":          {"ro", "read-only", filled},
		"disabled":           {"off", "disabled", func(at *domtapv1.Target) *domtapv1.Step { return typing(at, "x") }},
		"the focus moves on": {"thief", "focus", filled},
	}, func(s *stage, c refused) {
		s.show(page)
		s.refused(c.step(s.at(c.at)), "NOT_ACTIONABLE", c.says)
		s.is(`[...document.querySelectorAll("input")].map((i) => i.value).join()`, "1,1,,,on")
	})
}

// TestTypingFollowsAutoTabbingFields types a code into fields that each accept one character.
func TestTypingFollowsAutoTabbingFields(t *testing.T) {
	s := staged(t, `<input maxlength=1 placeholder=1><input maxlength=1 placeholder=2><input maxlength=1 placeholder=3><script>
		for (const i of document.querySelectorAll("input")) i.oninput = () => i.nextElementSibling && i.nextElementSibling.focus && i.nextElementSibling.focus()
	</script>`)
	s.do(typing(s.at("1"), "369"))
	s.is(`[...document.querySelectorAll("input")].map((i) => i.value).join()`, "3,6,9")
}

// TestFillOfFieldsThatEnterKeysThemselves fills fields whose page prevents the keys and inserts each character itself, and one that
// restores its old value.
func TestFillOfFieldsThatEnterKeysThemselves(t *testing.T) {
	s := staged(t, `<input aria-label=Amount value=3><input aria-label=Kept type=number value=3 oninput="setTimeout(() => this.value = 3)">
		<script>
			amount = document.querySelector("[aria-label=Amount]")
			amount.onkeydown = (e) => {
				if (!/^\d$/.test(e.key)) return
				e.preventDefault()
				const { selectionStart: from, selectionEnd: to, value } = amount
				amount.value = value.slice(0, from) + e.key + value.slice(to)
				amount.setSelectionRange(from + 1, from + 1)
			}
		</script>`)
	for _, n := range []string{"12", "7", "450"} {
		if r := s.do(fill(s.at("Amount"), n)); strings.Contains(r, "holds") {
			t.Errorf("fill with %s says %s", n, r)
		}
		s.is("amount.value", n)
	}
	s.refused(fill(s.at("Kept"), "12"), "NOT_DELIVERED", "the page reset it")
}

// TestFillOfFieldsThatListenForCharacters fills a field whose page enters each character itself, takes a currency sign for the digit on its
// key, and shows its own value when the field loses the focus.
func TestFillOfFieldsThatListenForCharacters(t *testing.T) {
	s := staged(t, `<input aria-label=Price><button>Next</button><script>
		price = document.querySelector("input"); digits = ""
		price.onkeydown = (e) => { code = e.keyCode }
		price.onkeypress = (e) => {
			e.preventDefault()
			if (price.selectionStart !== price.selectionEnd) digits = ""
			if (code >= 48 && code <= 57) digits += code - 48
			price.value = "$" + digits
		}
		price.onblur = () => { price.value = digits && "$" + digits }</script>`)
	for _, text := range []string{"12", "$35", "78"} {
		s.do(fill(s.at("Price"), text))
		s.eval(`price.blur()`)
		s.is("price.value", "$"+strings.Trim(text, "$"))
	}
}

// TestFillOfFieldsForTags fills a field that makes tags of its text, named by the label of the hidden field that it replaces.
func TestFillOfFieldsForTags(t *testing.T) {
	s := staged(t, `<form><label for=h>Keywords</label><div id=tags><b>one</b><span id=w style="display: inline-block; width: 90px; height: 20px" contenteditable role=textbox aria-label="New tag"></span></div><input id=h style="display:none"></form><script>
		w.oninput = () => {
			const tag = document.createElement("b")
			tag.textContent = w.textContent
			w.textContent = ""
			if (tag.textContent !== "refused") w.before(tag)
		}</script>`)
	keywords := &domtapv1.Target{Label: "Keywords"}
	if r := s.do(fill(keywords, "two")); !strings.Contains(r, "then the page emptied it") {
		t.Errorf("fill says %s", r)
	}
	s.is("tags.textContent", "onetwo")
	if r := s.form(false, fields("Keywords", "three")...); !r.GetResults()[0].GetOk() {
		t.Errorf("the form says %s", said(r))
	}
	s.refused(fill(keywords, "refused"), "NOT_DELIVERED", "the page reset it")
}

// TestFillOfAFieldThatLosesTheFocusOnce fills a field that loses the focus when its page opens a calendar. Wherever the key arrives, the
// answer must be about the value of the field.
func TestFillOfAFieldThatLosesTheFocusOnce(t *testing.T) {
	s := staged(t, `<input aria-label=Date><script>
		date = document.querySelector("input"); open = false
		date.onfocus = () => { if (!open) setTimeout(() => date.blur()); open = true }</script>`)
	for range 6 {
		r, err := s.try(t.Context(), fill(s.at("Date"), "12/14/2026"))
		if held := s.eval("date.value") == "12/14/2026"; held != (err == nil && r.GetOk()) {
			t.Errorf("the date is entered: %v; the answer is %v, %v", held, r, err)
		}
		s.eval(`open = false; date.value = ""; date.blur()`)
	}
}

// TestFillIsHeardAsTyping fills fields of pages that listen to keys, and sliders that listen to their release. It reads the values after
// the page's handlers have run.
func TestFillIsHeardAsTyping(t *testing.T) {
	s := staged(t, `<input placeholder=kept><input placeholder=cleared><input placeholder=later><input type=range aria-label=slider value=5>
		<script>
			log = []
			const at = (name) => document.querySelector("[placeholder=" + name + "]")
			for (const type of ["keydown", "beforeinput", "input", "keyup", "change"]) at("kept").addEventListener(type, (e) => log.push(type + (e.key || "")))
			let kept = ""
			at("kept").addEventListener("keyup", () => kept = at("kept").value)
			at("kept").addEventListener("blur", () => at("kept").value = kept)
			at("cleared").onkeyup = () => at("cleared").value = ""
			at("later").onkeyup = () => setTimeout(() => at("later").value = "")
			released = ""
			document.querySelector("[type=range]").onpointerup = (e) => released = e.target.value
		</script>`)
	s.do(fill(s.at("kept"), "Ada L"))
	s.do(fill(s.at("slider"), "70"))
	s.is(`at("kept").value`, "Ada L")
	s.is("log.join()", "keydownL,beforeinput,input,keyupL,change")
	s.is("released", "70")
	for _, name := range []string{"cleared", "later"} {
		s.refused(fill(s.at(name), "Ada"), "NOT_DELIVERED", "the page reset it")
	}
}
