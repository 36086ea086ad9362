package acting

import (
	"fmt"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// TestSelectChoosesOptions selects by value and by label.
func TestSelectChoosesOptions(t *testing.T) {
	s := staged(t, `<select name=one><option value=a>Apple</option><option value=b>Big  pear</option><option value=c disabled>Cherry</option></select>
		<select name=many multiple><option value=1 selected>One</option><option value=2>Two</option><option value=3>Three</option></select>
		<select name=late></select><button>No</button><div role=listbox tabindex=0 aria-label=aria>x</div>
		<script>
			log = []; for (const type of ["input", "change"]) addEventListener(type, (e) => log.push(e.target.name + ":" + type), true)
			values = (name) => [...document.querySelector("[name=" + name + "]").selectedOptions].map((o) => o.value).join()
		</script>`)
	for _, c := range []struct {
		name   string
		values []string
		want   string
	}{
		{"one", []string{"b"}, "b"}, {"one", []string{"Apple"}, "a"}, {"one", []string{"big pear"}, "b"},
		{"many", []string{"2", "Three"}, "2,3"}, {"many", nil, ""}, {"many", []string{"1"}, "1"},
	} {
		s.do(selecting(s.at(c.name), c.values...))
		s.is(`values("`+c.name+`")`, c.want)
	}
	s.is(`log.slice(0, 4).join()`, "one:input,one:change,one:input,one:change")
	if said := s.do(selecting(s.at("one"), "b")); !strings.Contains(said, "already selected") {
		t.Errorf("selecting what is selected says %q", said)
	}
	s.refused(selecting(s.at("one"), "Banana"), "NOT_ACTIONABLE", `"Apple"`, `"Big pear"`)
	s.refused(selecting(s.at("one"), "c"), "NOT_ACTIONABLE", "disabled")
	s.refused(selecting(s.at("one"), "a", "b"), "INVALID", "one value")
	s.refused(selecting(s.at("No"), "a"), "NOT_ACTIONABLE", "not a select")
	s.refused(selecting(s.at("aria"), "a"), "NOT_ACTIONABLE", "no options appeared")
	s.is(`values("one")`, "b")
	late := s.at("late")
	s.eval(`setTimeout(() => document.querySelector("[name=late]").add(new Option("Here", "h")), 300)`)
	s.do(selecting(late, "Here"))
	s.is(`values("late")`, "h")
}

// TestCheckMakesChecked checks and unchecks every kind of toggle.
func TestCheckMakesChecked(t *testing.T) {
	s := staged(t, `<style>.h { position: absolute; opacity: 0; width: 0; height: 0 } .n { display: none }</style>
		<label><input type=checkbox id=a> Plain</label>
		<input type=checkbox id=b class=h><label for=b>Hidden</label>
		<input type=checkbox id=c class=n><label for=c>Gone</label>
		<label><input type=radio name=r id=d> First</label><label><input type=radio name=r id=e> Second</label>
		<div role=switch tabindex=0 id=f aria-checked=false aria-label=Switch onclick="setTimeout(() => this.setAttribute('aria-checked', this.getAttribute('aria-checked') !== 'true'), 100)">o</div>
		<div role=checkbox tabindex=0 id=g aria-checked=mixed aria-label=Mixed onclick="this.setAttribute('aria-checked', this.getAttribute('aria-checked') === 'mixed' ? 'false' : this.getAttribute('aria-checked') !== 'true')">o</div>
		<div role=checkbox tabindex=0 id=h aria-checked=false aria-label=Stuck>o</div>
		<button role=switch id=i class=h aria-checked=false style="overflow:hidden;clip:rect(0 0 0 0)" onclick="this.setAttribute('aria-checked', this.getAttribute('aria-checked') !== 'true')"></button><label for=i>Express <i></i></label>
		<ul role=tree><li role=treeitem aria-selected=false id=j onclick="this.setAttribute('aria-selected', this.getAttribute('aria-selected') !== 'true')">
		<span role=checkbox aria-label="Of an item" style="display:inline-block;width:20px;height:20px"></span></li></ul>
		<button>Plain button</button>
		<script>clicks = 0; addEventListener("click", () => clicks++); is = (id) => { const n = document.getElementById(id); return n.checked ?? n.getAttribute("aria-checked") ?? n.getAttribute("aria-selected") }</script>`)
	for _, c := range []struct{ text, id string }{{"Plain", "a"}, {"Hidden", "b"}, {"Gone", "c"}, {"First", "d"}, {"Second", "e"}, {"Switch", "f"}, {"Mixed", "g"}, {"Express", "i"}, {"Of an item", "j"}} {
		at := s.at(c.text)
		s.do(check(at))
		s.is("is('"+c.id+"')", "true")
		before := s.eval("clicks")
		if said := s.do(check(at)); !strings.Contains(said, "already checked") {
			t.Errorf("%s: checking again says %q", c.text, said)
		}
		s.is("clicks", before)
		if c.id == "d" || c.id == "e" {
			s.refused(uncheck(at), "NOT_ACTIONABLE", "another button of its group")
			continue
		}
		s.do(uncheck(at))
		s.is("is('"+c.id+"')", "false")
	}
	if said := s.do(uncheck(s.at("First"))); !strings.Contains(said, "already unchecked") {
		t.Errorf("unchecking a radio button that is not checked says %q", said)
	}
	// The click arrived, so the call does not fail. The result reports the effect.
	if r, err := s.try(t.Context(), check(s.at("Stuck"))); err != nil || r.GetOk() || r.GetDelivered() != domtapv1.Delivered_DELIVERED_PART || !strings.Contains(r.GetError(), "did not change its state") {
		t.Errorf("a box that does not become checked: %v, %v", r, err)
	}
	s.refused(check(s.at("Plain button")), "NOT_ACTIONABLE", "not a checkbox")
}

// TestANumberThatIsNoRefNamesItsElement passes the number of a day as a ref. The error must name the element that has the number as its
// text.
func TestANumberThatIsNoRefNamesItsElement(t *testing.T) {
	s := staged(t, `<button>Back</button><button>1400</button>`)
	day := s.at("1400")
	s.refused(click(&domtapv1.Target{Ref: proto.Uint32(1400)}), "INVALID", fmt.Sprintf("ref %d has the text \"1400\"", day.GetRef()))
}
