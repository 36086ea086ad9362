package acting

import (
	"strings"
	"testing"
)

// TestActionsWaitUntilTheElementIsActionable acts on elements that are not ready yet.
func TestActionsWaitUntilTheElementIsActionable(t *testing.T) {
	s := staged(t, "")
	for name, page := range map[string]string{
		"disabled":    `<button disabled>Go</button><script>later = (b) => b.disabled = false</script>`,
		"aria":        `<div aria-disabled=true><button>Go</button></div><script>later = (b) => b.parentNode.removeAttribute("aria-disabled")</script>`,
		"covered":     `<button>Go</button><div id=veil style="position:fixed;inset:0"></div><script>later = () => veil.remove()</script>`,
		"hidden":      `<button>Go</button><script>later = () => {}; let once = true; document.querySelector("button").onmousemove = (e) => { if (once) { once = false; e.target.style.visibility = "hidden"; setTimeout(() => e.target.style.visibility = "", 300) } }</script>`,
		"transition":  `<button style="position:absolute;left:0;transition:left .3s linear">Go</button><script>later = () => {}; hide = (b) => { b.offsetLeft; b.style.left = "400px" }</script>`,
		"below":       `<div style="height:3000px"></div><button>Go</button><script>later = () => {}</script>`,
		"nested":      `<div style="height:100px;overflow:auto"><div style="height:500px"></div><div style="height:50px;width:80px;overflow:auto"><div style="height:300px;width:400px"></div><button style="margin-left:200px">Go</button></div></div><div style="height:2000px"></div><script>later = () => {}</script>`,
		"sticky":      `<div style="position:sticky;top:0;height:60%;background:#eee;z-index:1">Head</div><button style="margin-top:20px">Go</button><div style="height:3000px"></div><script>later = () => {}; hide = (b) => b.scrollIntoView()</script>`,
		"transformed": `<div style="transform:rotate(30deg) scale(.5);width:300px;margin:100px"><button style="width:100px">Go</button></div><script>later = () => {}</script>`,
		"evasive":     `<button style="position:absolute;left:0;top:0">Go</button><script>later = () => {}; let n = 0; document.querySelector("button").onmouseenter = (e) => { if (n++ < 2) e.target.style.left = 150 * n + "px" }</script>`,
	} {
		s.show(`<title>waiting</title>` + page + `<script>got = 0; const b = document.querySelector("button"); b.addEventListener("click", (e) => { if (e.isTrusted) got++ })</script>`)
		at := s.at("Go")
		s.eval(`(typeof hide === "function" && hide(b), setTimeout(() => later(b), 400), 0)`)
		if _, err := s.try(t.Context(), click(at)); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := s.eval("got"); got != "1" {
			t.Errorf("%s: the button got %s clicks", name, got)
		}
	}
}

// TestClickFollowsAMovingElement clicks buttons that never stop moving.
func TestClickFollowsAMovingElement(t *testing.T) {
	s := staged(t, "")
	for name, page := range map[string]string{
		"animation": `<style>@keyframes m { from { left: 0 } to { left: 500px } } button { position: absolute; width: 120px; animation: m 4s linear infinite alternate }</style><button>Go</button>`,
		"script":    `<button style="position:absolute;width:120px">Go</button><script>const step = (t) => { document.querySelector("button").style.left = 200 + 150 * Math.sin(t / 700) + "px"; requestAnimationFrame(step) }; requestAnimationFrame(step)</script>`,
	} {
		s.show(page + `<script>got = 0; document.querySelector("button").onclick = () => got++</script>`)
		if _, err := s.try(t.Context(), click(s.at("Go"))); err != nil {
			t.Errorf("%s: %v", name, err)
		} else if got := s.eval("got"); got != "1" {
			t.Errorf("%s: the button got %s clicks", name, got)
		}
	}
}

// TestRefusesWithTheReason checks that an error names the obstacle.
func TestRefusesWithTheReason(t *testing.T) {
	type refused struct {
		page string
		says []string
	}
	sideBySide(t, map[string]refused{
		"dialog": {`<button>Go</button><div role=dialog aria-label=Cookies style="position:fixed;inset:0;background:#fff">We use <button>Accept</button></div>`, []string{`covered by dialog "Cookies"`}},
		"modal":  {`<button>Go</button><dialog aria-label=Login>x<script>document.currentScript.parentNode.showModal()</script></dialog>`, []string{`covered by dialog "Login"`}},
		"button": {`<button>Go</button><button style="position:fixed;inset:0">Other</button>`, []string{`covered by button "Other" (ref `}},
		"shadow": {`<button>Go</button><x-veil id=v></x-veil><script>v.attachShadow({mode: "open"}).innerHTML = "<div id=inner style='position:fixed;inset:0'></div>"</script>`, []string{"<div id=inner>"}},
		"off":    {`<button disabled>Go</button>`, []string{"disabled"}},
		"deaf":   {`<button style="pointer-events:none">Go</button>`, []string{"pointer-events"}},
	}, func(s *stage, c refused) {
		s.show(c.page + `<script>got = 0; addEventListener("click", () => got++, true)</script>`)
		s.refused(click(s.at("Go")), "NOT_ACTIONABLE", c.says...)
		s.is("got", "0")
	})
}

// TestNeverClicksAnother swaps the element under the pointer at every moment of a click.
func TestNeverClicksAnother(t *testing.T) {
	s := staged(t, "")
	const buttons = `<style>button { position: absolute; left: 0; top: 0; width: 200px; height: 60px }</style><button id=a>Keep</button><button id=z style="display:none">Delete</button>
		<script>hits = []; kept = false; a.onclick = () => kept = true; for (const type of ["pointerdown", "mousedown", "mouseup", "click", "dblclick"]) z.addEventListener(type, () => hits.push(type)); swap = () => { z.style.display = "" }</script>`
	for _, when := range []string{
		`a.addEventListener("mouseenter", swap)`,
		`a.addEventListener("mousemove", () => requestAnimationFrame(swap))`,
		`a.addEventListener("mousemove", () => setTimeout(swap, 1))`,
		`a.addEventListener("pointerdown", swap)`,
		`a.addEventListener("mousedown", swap)`,
		`a.addEventListener("mousedown", () => a.remove())`,
		`addEventListener("pointerdown", swap, true)`,
		`setInterval(() => z.style.display = z.style.display ? "" : "none", 3)`,
	} {
		s.show(buttons + `<script>` + when + `</script>`)
		at := s.at("Keep")
		r, err := s.try(t.Context(), click(at))
		if clicked := strings.HasSuffix(r.GetSummary(), ": ok"); err == nil && clicked != (s.eval("kept") == "true") {
			t.Errorf("%s: it says %q, but the button kept: %s", when, r.GetSummary(), s.eval("kept"))
		}
		for _, got := range strings.Split(s.eval("hits.join()"), ",") {
			if got == "click" || got == "mousedown" || got == "pointerdown" {
				t.Errorf("%s: the other button got %s", when, s.eval("hits.join()"))
				break
			}
		}
	}
}
