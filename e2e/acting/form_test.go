package acting

import (
	"fmt"
	"strings"
	"testing"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/testenv"
)

const everyField = `<title>Form</title><form id=f action="javascript:void 0" onsubmit="sent = JSON.stringify([...new FormData(this)]); document.title = 'Sent'">
<label>Name <input name=name value=old></label>
<label for=e>Email</label><input id=e name=email type=email>
<input name=born type=date aria-label="Date of birth">
<input name=at type=time placeholder="Arrival">
<input name=seats type=number aria-label=Seats>
<input name=volume type=range min=0 max=10 aria-label=Volume>
<input name=colour type=color aria-label=Colour>
<input name=zip>
<label>Note <textarea name=note></textarea></label>
<label>Country <select name=country><option value=se>Sweden<option value=no>Norway</select></label>
<label>Toppings <select name=top multiple><option>Ham<option>Olives<option>Basil</select></label>
<fieldset><legend>Shipping</legend><label><input type=radio name=ship value=post checked> Post</label><label><input type=radio name=ship value=courier> Courier</label></fieldset>
<fieldset><legend>Days</legend><label><input type=checkbox name=day value=mo checked> Monday</label><label><input type=checkbox name=day value=tu> Tuesday</label><label><input type=checkbox name=day value=we> Wednesday</label></fieldset>
<label><input type=checkbox name=terms> I agree</label><label><input type=checkbox name=ads checked> Send me ads</label>
<input type=file name=photo aria-label=Photo><div contenteditable=true role=textbox aria-label=Story>once</div>
<button type=button>Reset</button><button>Send it</button></form><script>let sent = ''</script>`

func fields(pairs ...string) []*domtapv1.FormField {
	var out []*domtapv1.FormField
	for i := 0; i < len(pairs); i += 2 {
		out = append(out, &domtapv1.FormField{Label: pairs[i], Value: pairs[i+1]})
	}
	return out
}

func (s *stage) form(submit bool, fields ...*domtapv1.FormField) *domtapv1.FillFormResponse {
	s.t.Helper()
	r, err := s.d.Actions.FillForm(s.t.Context(), &domtapv1.FillFormRequest{TabId: s.tab, Fields: fields, Submit: submit})
	if err != nil {
		s.t.Fatal(err)
	}
	return r
}

func said(r *domtapv1.FillFormResponse) string {
	var b strings.Builder
	for _, one := range r.GetResults() {
		b.WriteString(one.GetSummary() + " " + one.GetError() + "\n")
	}
	return b.String()
}

// TestFormsOfEveryKindOfField fills one field of each kind in one call, and submits the form.
func TestFormsOfEveryKindOfField(t *testing.T) {
	s := staged(t, everyField)
	list := append(fields("Name", "Ada", "email", "ada@example.com", "Date of birth", "1815-12-10", "Arrival", "09:30", "Seats", "4",
		"Volume", "7", "Colour", "#ff0000", "zip", "12345", "Note", "two\nlines", "Country", "Norway", "Shipping", "Courier",
		"I agree", "", "Send me ads", "false", "Story", "upon a time"),
		&domtapv1.FormField{Label: "Toppings", Values: []string{"Ham", "Basil"}}, &domtapv1.FormField{Label: "Days", Values: []string{"Tuesday", "Wednesday"}})
	r := s.form(true, list...)
	for _, one := range r.GetResults() {
		if !one.GetOk() {
			t.Errorf("%s: %s", one.GetSummary(), one.GetError())
		}
	}
	want := `[["name","Ada"],["email","ada@example.com"],["born","1815-12-10"],["at","09:30"],["seats","4"],["volume","7"],["colour","#ff0000"],["zip","12345"],` +
		`["note","two\nlines"],["country","no"],["top","Ham"],["top","Basil"],["ship","courier"],["day","tu"],["day","we"],["terms","on"],["photo",{}]]`
	s.is("sent", want)
	s.is("document.querySelector('[contenteditable]').textContent", "upon a time")
	if n := len(r.GetResults()); n != len(list)+1 || r.GetVerdict() != domtapv1.Verdict_VERDICT_CHANGED || !strings.HasPrefix(r.GetResults()[n-1].GetSummary(), `click "Send it": ok`) {
		t.Errorf("%v after\n%s", r.GetVerdict(), said(r))
	}
}

// TestFormsSayWhatIsWrongWithEachField fills the valid fields, reports the reason for each other field, and does not submit.
func TestFormsSayWhatIsWrongWithEachField(t *testing.T) {
	s := staged(t, everyField+`<label>Stubborn <input id=st></label><label>Phone <input id=ph></label><label>Twice <input></label><label>Twice <input></label><input name=dup><input name=dup><script>
		st.oninput = () => st.value = ''; ph.oninput = () => ph.value = ph.value.replace(/^(\d{3})(\d+)$/, '($1) $2')</script>`)
	list := append(fields("Name", "Ada", "Nothing", "x", "Country", "Denmark", "Shipping", "Pigeon", "Twice", "x", "Stubborn", "x", "Phone", "5551234", "I agree", "perhaps"),
		&domtapv1.FormField{Label: "Email", Type: "select", Value: "x"}, &domtapv1.FormField{Label: "Seats", Values: []string{"1", "2"}},
		&domtapv1.FormField{Label: "Photo", Value: "/etc/hostname"}, &domtapv1.FormField{Selector: "[[", Value: "x"}, &domtapv1.FormField{Label: "dup", Value: "x"})
	r := s.form(true, list...)
	for i, want := range []string{
		`fill "Name": ok `, `no field called "Nothing"; fields here: Name, Email, Date of birth, `, `Denmark`, `label "Shipping" has no single choice "Pigeon"; its choices: [`, `2 elements match label "Twice"`,
		`the field holds ""`, `fill "Phone": ok, holds "(555) 1234"`, `no single choice`, `not a select`, `takes one value`, `--upload-dir`, `selector`, `2 elements match field "dup"`, `submit: skipped`,
	} {
		one := r.GetResults()[i]
		if !strings.Contains(one.GetSummary()+" "+one.GetError(), want) {
			t.Errorf("field %d: %q, %q; want %q", i, one.GetSummary(), one.GetError(), want)
		}
		if ok := i == 0 || i == 6; one.GetOk() != ok {
			t.Errorf("field %d: ok is %v: %s", i, one.GetOk(), one.GetSummary())
		}
	}
	s.is("sent", "")
	s.is("document.querySelector('[name=name]').value", "Ada")
}

// TestFormsWithoutAButtonAreSentByEnter submits a search field without a button.
func TestFormsWithoutAButtonAreSentByEnter(t *testing.T) {
	s := staged(t, `<title>x</title><form onsubmit="document.title = q.value; return false"><input id=q aria-label=Search></form>`)
	if r := s.form(true, fields("Search", "tea")...); r.GetTab().GetTitle() != "tea" {
		t.Errorf("the page says %q\n%s", r.GetTab().GetTitle(), said(r))
	}
}

// TestFormsOfFrameworksAreFilled fills fields whose value is controlled by React and Vue.
func TestFormsOfFrameworksAreFilled(t *testing.T) {
	d := testenv.Apart(t)
	url := testenv.Serve(t, testenv.Apps(t, ""))
	for _, app := range []string{"react", "vue"} {
		s := &stage{t: t, d: d, tab: d.Open(url + "/" + app)}
		r := s.form(true, fields("What needs to be done?", "Feed the cat")...)
		if !strings.Contains(s.eval("document.body.innerText"), "Feed the cat") {
			t.Errorf("%s did not take it:\n%s", app, said(r))
		}
	}
}

// TestFormsByTheWordsBesideFields fills fields that have text beside or above them instead of a label. Errors must name the fields by that
// text.
func TestFormsByTheWordsBesideFields(t *testing.T) {
	s := staged(t, `<form><div><span>User name</span><input id=u></div><table><tr><td>What is 3 + 4?<td><input id=q></table><div>Born <select id=m><option>Month</select><select id=y><option>Year</select></div>
		<p>Vehicle<br><input id=v placeholder="Type here"></p><div><input type=radio name=s id=yes> Yes <input type=radio name=s id=no> No</div></form>`)
	r := s.form(false, fields("User name", "Ada", "What is 3 + 4?", "7", "Vehicle", "Tram", "No", "")...)
	s.is("[u.value, q.value, v.value, no.checked].join()", "Ada,7,Tram,true")
	for _, one := range r.GetResults() {
		if !one.GetOk() {
			t.Errorf("%s: %s", one.GetSummary(), one.GetError())
		}
	}
	if missing := said(s.form(false, fields("Password", "x")...)); !strings.Contains(missing, "fields here: User name, What is 3 + 4?, ref ") {
		t.Errorf("the fields are named otherwise: %s", missing)
	}
}

// TestAPartOfAWordNamesNoField refuses names that are only a part of a word of a field's name, for every step that names a field.
func TestAPartOfAWordNamesNoField(t *testing.T) {
	s := staged(t, `<label>Country <input></label><label>Discount <input></label><label>E-mail address <input></label><input placeholder=Counting>
		<input aria-label=數量與價格><label>Size <select><option>S<option>M</select></label><script>values = () => [...document.querySelectorAll("input,select")].map((one) => one.value).join()</script>`)
	for _, step := range []*domtapv1.Step{fill(&domtapv1.Target{Label: "Count"}, "7"), typing(&domtapv1.Target{Label: "Count"}, "7"), selecting(&domtapv1.Target{Label: "Si"}, "M")} {
		s.refused(step, "TARGET_NOT_FOUND", "the nearest: ")
	}
	if r := s.form(false, fields("Count", "7")...); !strings.Contains(said(r), `no field called "Count"; fields here: Country, Discount, `) {
		t.Error(said(r))
	}
	s.do(fill(&domtapv1.Target{Label: "mail"}, "a@b.c"))
	s.do(fill(&domtapv1.Target{Label: "價格"}, "5"))
	s.is("values()", ",,a@b.c,,5,S")
}

// TestFormsChooseByAPartOfAnOption names options by a part of the text that only one option contains, in a native select and in a list that
// opens on press.
func TestFormsChooseByAPartOfAnOption(t *testing.T) {
	s := staged(t, `<label>From <select id=from><option>Choose<option>New York (NYC)<option>New Orleans (MSY)</select></label><span id=l>Country</span>
		<div role=button tabindex=0 aria-haspopup=listbox aria-labelledby="l b" id=b>None</div><script>b.onmousedown = () => {
			const over = document.createElement("div"); over.style = "position:fixed;inset:0"; over.innerHTML = "<ul role=listbox><li role=option tabindex=-1>Canada<li role=option tabindex=-1>Peru</ul>"
			document.body.append(over); over.onclick = (e) => { if (e.target.role === "option") b.textContent = e.target.textContent; over.remove() } }</script>`)
	s.form(false, fields("From", "York", "Country", "Peru")...)
	s.is("from.value + b.textContent", "New York (NYC)Peru")
	if several := said(s.form(false, fields("From", "New")...)); !strings.Contains(several, `it has no option "New"`) {
		t.Errorf("a part of two options says %s", several)
	}
}

// TestFormTakesFiles passes files to the file inputs of a form, and to a field that accepts none.
func TestFormTakesFiles(t *testing.T) {
	s := staged(t, `<form onsubmit="event.preventDefault(); sent = [...new FormData(this)].map(([k, v]) => k + ':' + (v.name ?? v)).join()">
		<label>Name <input name=name></label> <label>Photo <input type=file name=photo></label>
		<label>Papers <input type=file name=papers multiple></label><button>Send</button></form>`)
	file := func(names ...string) (out []*domtapv1.UploadFile) {
		for _, name := range names {
			out = append(out, &domtapv1.UploadFile{Name: name, Content: []byte("content of " + name)})
		}
		return out
	}
	r := s.form(true, &domtapv1.FormField{Label: "Name", Value: "Ada"}, &domtapv1.FormField{Label: "Photo", Files: file("ada.png")},
		&domtapv1.FormField{Label: "Papers", Files: file("a.pdf", "b.pdf")})
	s.is("sent", "name:Ada,photo:ada.png,papers:a.pdf,papers:b.pdf")
	if t.Failed() {
		t.Log(said(r))
	}
	s.is(`document.querySelector("[name=photo]").files[0].size`, "18")
	if got := said(s.form(false, &domtapv1.FormField{Label: "Name", Files: file("ada.png")})); !strings.Contains(got, "takes no files") {
		t.Errorf("a text field with a file: %s", got)
	}
}

// TestFormRates chooses one of a group of unnamed stars that are not radio buttons, and one that has a name.
func TestFormRates(t *testing.T) {
	s := staged(t, `<meta charset=utf-8><div role=radiogroup aria-label=Rating id=stars></div><div role=group aria-label=Quantity><button onclick="size = 'less'">−</button><button onclick="size = 'more'">+</button></div><div role=group aria-label=Size><button onclick="size = 'S'">Small</button><button onclick="size = 'L'">Large</button></div><script>
		var size = "", rated = 0
		const draw = () => { stars.innerHTML = [1, 2, 3, 4, 5].map((i) => "<span style=cursor:pointer onclick='rate(" + i + ")'>" + (i <= rated ? "★" : "☆") + "</span>").join("") }
		const rate = (n) => { rated = n; draw() }
		draw()</script>`)
	for _, value := range []string{"4", "2"} { // the second time, there are two kinds of stars
		s.form(false, &domtapv1.FormField{Label: "Rating", Value: value})
		s.is("String(rated)", value)
	}
	s.form(false, &domtapv1.FormField{Label: "Size", Value: "large"})
	s.is("size", "L")
	for label, value := range map[string]string{"Rating": "6", "Quantity": "2"} {
		if got := said(s.form(false, &domtapv1.FormField{Label: label, Value: value})); !strings.Contains(got, "click the element for the value") {
			t.Errorf("%s = %s: %s", label, value, got)
		}
	}
	s.is("size", "L")
}

// drawnSelects holds custom comboboxes. The first shows its choice as the placeholder of a field that accepts no text. The second has a
// separate search field and shows chips. The third ignores its options.
const drawnSelects = `<style>.c { border: 1px solid; width: 300px } .c input { border: 0; width: 90px } .c span { margin: 2px }</style><form onsubmit="return false"><b id=lc>Country</b>
<div class=c role=combobox tabindex=0 id=c aria-labelledby=lc aria-expanded=false><input tabindex=-1 placeholder="Pick a country"></div><div role=listbox id=l hidden><div role=option>France</div><div role=option>Norway</div></div>
<b id=ls>Stops</b><div class=c role=combobox tabindex=-1 id=m aria-labelledby=ls aria-expanded=false><input></div><div role=listbox id=ml hidden></div>
<b id=lx>Colour</b><div class=c role=combobox tabindex=0 id=x aria-labelledby=lx aria-expanded=false>Red</div><div role=listbox id=xl hidden><div role=option>Red</div><div role=option>Blue</div></div></form><script>
	const open = (box, list, on) => { list.hidden = !on; box.setAttribute("aria-expanded", on) }
	c.onclick = () => open(c, l, l.hidden); l.onclick = (e) => { c.firstChild.placeholder = e.target.textContent; open(c, l, false) }
	x.onclick = () => open(x, xl, xl.hidden); xl.onclick = () => open(x, xl, false)
	const field = m.querySelector("input")
	field.oninput = () => { ml.innerHTML = ["Lyon", "Nice"].filter((one) => one.startsWith(field.value)).map((one) => "<div role=option>" + one + "</div>").join(""); open(m, ml, true) }
	ml.onclick = (e) => { const chip = document.createElement("span"); chip.textContent = e.target.textContent; field.before(chip); field.value = ""; open(m, ml, false) }
</script>`

// TestFormsPickOptionsOfDrawnSelects chooses in comboboxes that are not text fields. Entering text into an inner field would choose
// nothing.
func TestFormsPickOptionsOfDrawnSelects(t *testing.T) {
	s := staged(t, drawnSelects)
	r := s.form(false, fields("Country", "Norway", "Stops", "Nice")...)
	s.is(`c.firstChild.placeholder + c.firstChild.value + m.textContent + field.value`, "NorwayNice")
	for _, one := range r.GetResults() {
		if !one.GetOk() || !strings.HasSuffix(one.GetSummary(), ": ok") {
			t.Errorf("%s: %s", one.GetSummary(), one.GetError())
		}
	}
	s.do(fill(&domtapv1.Target{Label: "Country"}, "France"))
	s.is(`c.firstChild.placeholder`, "France")
	for label, want := range map[string]string{"Country=Peru": `has no option "Peru"`, "Colour=Blue": "does not show that it is chosen"} {
		name, value, _ := strings.Cut(label, "=")
		if got := s.form(false, fields(name, value)...); got.GetResults()[0].GetOk() || !strings.Contains(said(got), want) {
			t.Errorf("%s: %s", label, said(got))
		}
	}
}

// deafSelects holds comboboxes whose options do nothing when they are clicked. The page has other texts that equal options: a label, a
// paragraph, a search text that the page repeats, another list, and a mark that follows the pointer.
const deafSelects = `<style>[role=combobox] { border: 1px solid; display: block; width: 200px }</style><h2>News</h2><p>Red</p>
<button id=open role=combobox aria-label="Red colors" aria-expanded=true aria-controls=ol>Pick</button><div role=listbox id=ol><div role=option>Red</div><div role=option>Blue</div></div>
<h2>Sizes</h2><div role=listbox aria-label=Sizes><div role=option tabindex=0 onclick="ariaSelected = true">Large</div></div>
<h2>City</h2><input id=city aria-label=City role=combobox aria-expanded=false><p id=echo></p><div role=listbox id=cl hidden></div>
<h2>Fruit</h2><button id=fruit aria-label=Fruit role=combobox aria-expanded=false>Pick</button><p>Pear</p><div role=listbox id=fl hidden><div role=option aria-selected=true>Apple</div><div role=option aria-selected=false>Pear</div></div><script>
	const draw = () => {
		const found = ["Paris", "Parma", "Rome"].filter((one) => one.startsWith(city.value))
		cl.innerHTML = found.map((one) => "<div role=option>" + one + "</div>").join(""); cl.hidden = false; city.ariaExpanded = true
		echo.textContent = city.value && "Cities called " + city.value
	}
	city.onclick = city.oninput = draw
	fruit.onclick = () => { fl.hidden = false; fruit.ariaExpanded = true }
	fl.onpointermove = (e) => { if (e.target !== fl) for (const one of fl.children) one.ariaSelected = one === e.target }
</script>`

// TestFormsSayWhichOptionsTheFieldDoesNotTake selects options that do nothing. Other texts of the page must not be mistaken for the field's
// choice.
func TestFormsSayWhichOptionsTheFieldDoesNotTake(t *testing.T) {
	s := staged(t, deafSelects)
	for _, c := range []struct{ field, value, want string }{
		{"Red colors", "Red", "does not show that it is chosen"}, {"Red colors", "Large", `has no option "Large"; it has: [`},
		{"City", "Pari", "does not show that it is chosen"}, {"City", "Rom", "does not show that it is chosen"}, {"Fruit", "Pear", "does not show that it is chosen"},
	} {
		got, err := s.try(t.Context(), selecting(&domtapv1.Target{Label: c.field}, c.value))
		if err != nil || got.GetOk() || !strings.Contains(got.GetError(), c.want) {
			t.Errorf("%s: %v, %v", c.field, got, err)
		}
	}
}

// TestSelectOfAnOptionThatIsMissing selects an option that a combobox with a search does not have. The answer must list its options, and the
// typed text must not stay. The combobox is in a box with the same name.
func TestSelectOfAnOptionThatIsMissing(t *testing.T) {
	s := staged(t, `<label for=o>Owner</label><div role=combobox aria-label=Owner tabindex=-1 aria-expanded=false id=box><input id=o role=combobox></div><div role=listbox id=l hidden></div><script>
		const open = (on) => { l.hidden = !on; box.setAttribute("aria-expanded", on) }
		const draw = () => { open(true); l.innerHTML = ["Ada", "Grace"].filter((one) => one.includes(o.value)).map((one) => "<div role=option>" + one + "</div>").join("") }
		box.onclick = o.oninput = draw
		box.onkeydown = (e) => { if (e.key === "Escape") open(false) }
		l.onclick = (e) => { o.value = e.target.textContent; open(false) }</script>`)
	owner := &domtapv1.Target{Label: "Owner"}
	r, err := s.try(t.Context(), selecting(owner, "Zoe"))
	if want := `has no option "Zoe"; it has: `; err != nil || r.GetOk() || !strings.Contains(r.GetError(), want) || !strings.Contains(r.GetError(), `option "Grace"`) {
		t.Errorf("select says %v, %v; want %s", r, err, want)
	}
	s.is("o.value + l.hidden", "true")
	s.do(selecting(owner, "Grace"))
	s.is("o.value", "Grace")
}

// TestSlidersAreSetByKeys sets custom sliders. If the keys cannot reach a value, the error must contain the current value.
func TestSlidersAreSetByKeys(t *testing.T) {
	s := staged(t, `<div role=slider tabindex=0 aria-label=Rating aria-valuenow=2 data-step=1>x</div><div role=slider tabindex=0 aria-label=Price aria-valuenow=200 data-step=10 dir=rtl>x</div>
		<div role=slider tabindex=0 aria-label=Stars aria-valuenow=2 aria-valuetext="2 stars" data-step=1>x</div><div role=slider tabindex=0 aria-label=Stuck aria-valuenow=1 data-step=0>x</div><script>
		onkeydown = ({ key, target }) => { const d = { ArrowRight: 1, ArrowLeft: -1 }[key] * (target.dir ? -1 : 1) || 0
			target.ariaValueNow = Math.max(0, +target.ariaValueNow + d * target.dataset.step) }
		now = () => [...document.querySelectorAll("[role=slider]")].map((one) => one.ariaValueNow).join()</script>`)
	for _, c := range []struct{ name, value, now string }{{"Rating", "4", "4,200,2,1"}, {"Rating", "1", "1,200,2,1"}, {"Price", "450", "1,450,2,1"}, {"Price", "450", "1,450,2,1"}} {
		if got := s.do(fill(&domtapv1.Target{Label: c.name}, c.value)); !strings.HasPrefix(got, `fill "`+c.name+`": ok, `) {
			t.Errorf("%v: %s", c, got)
		}
		s.is("now()", c.now)
	}
	if got := s.form(false, fields("Rating", "3")...); !got.GetResults()[0].GetOk() {
		t.Error(said(got))
	}
	s.is("now()", "3,450,2,1")
	for _, c := range []struct{ name, value, says string }{{"Price", "455", `brought it to "4`}, {"Stars", "4", "press ArrowRight"}, {"Stuck", "4", "do not reach the value"}, {"Rating", "much", "press ArrowRight"}} {
		if got, err := s.try(t.Context(), fill(&domtapv1.Target{Label: c.name}, c.value)); err == nil && got.GetOk() || !strings.Contains(got.GetError()+fmt.Sprint(err), c.says) {
			t.Errorf("%v: %v, %v", c, got, err)
		}
	}
}

// TestFormsReportATextThatIsLost fills a field that drops its text when the focus leaves it, and fields of which only one holds a text. The form is
// not submitted.
func TestFormsReportATextThatIsLost(t *testing.T) {
	s := staged(t, `<form action="javascript:void 0" onsubmit="sent = true"><label>Town <input id=town onblur="this.value = ''"></label>
		<label>Tag <input id=tag onblur="if (this.value) { chips.append(this.value); this.value = '' }"></label><span id=chips></span>
		<label>Number <input id=number></label><label>Name <input id=named oninput="number.value = ''"></label><button>Send</button></form><script>sent = false</script>`)
	r := s.form(true, fields("Town", "Oslo", "Tag", "new", "Number", "12", "Name", "Ada")...)
	for i, says := range []string{`the page dropped "Oslo"`, `"Tag": ok`, `the page dropped "12"`, `"Name": ok`} {
		if one := r.GetResults()[i]; !strings.Contains(one.GetSummary()+one.GetError(), says) || one.GetOk() != strings.HasSuffix(says, "ok") {
			t.Errorf("%v", one)
		}
	}
	s.is("sent", "false")
}
