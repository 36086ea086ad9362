package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/testenv"
)

// cardPages holds pages of cards without roles. A click on a button writes the text of its card, which an attribute of the card contains,
// into the title.
var cardPages = map[string]string{
	"words between":   `<p>Mark each.</p>` + cards(`<div><button title="%[1]s">Odd</button> <b>%[1]s</b> <button>Even</button></div>`, "13", "22", "35"),
	"words before":    `<h2>Starters</h2>` + cards(`<div><div>%[1]s</div><div><button title="%[1]s">Odd</button></div></div>`, "13", "22", "35"),
	"words behind":    `<p>Buy:</p><div>` + cards(`<div><button title="%[1]s">Odd</button><span>%[1]s</span></div>`, "13", "22", "35") + `</div>`,
	"in one parent":   cards(`<span>%[1]s</span><button title="%[1]s">Odd</button>`, "13", "22", "35"),
	"after a caption": `<p>Buy:</p>` + cards(`<button title="%[1]s">Odd</button><span>%[1]s</span><br>`, "13", "22", "35"),
	"shadow roots": cards(`<x-card><template shadowrootmode=open><div><slot></slot><button title="%[1]s">Odd</button></div></template><span>%[1]s</span></x-card>`,
		"13", "22", "35"),
	"columns of cards": cards(`<div><span>%[1]s</span><div><div><span>Docs</span><button title="%[1]s">Odd</button></div></div></div>`, "13", "22", "35"),
	"one card in a section": `<section><h2>13</h2><div><div>One</div><button title=13>Odd</button></div></section><section><h2>All</h2>` +
		cards(`<div><div>%[1]s</div><button title="%[1]s">Odd</button></div>`, "22", "35") + `</section>`,
}

// cards repeats a card for each of the words.
func cards(card string, words ...string) string {
	var b strings.Builder
	for _, w := range words {
		fmt.Fprintf(&b, card, w)
	}
	return b.String()
}

const tellsClick = `<!doctype html><title>-</title>%s<script>addEventListener("click", (e) => { document.title = e.composedPath()[0].title }, true)</script>`

// TestWithinTellsCardsOfDivsApart checks that a button is clicked in the card with the requested text.
func TestWithinTellsCardsOfDivsApart(t *testing.T) {
	d := testenv.Apart(t)
	handlers := map[string]http.HandlerFunc{}
	for name, page := range cardPages {
		handlers["/"+strings.ReplaceAll(name, " ", "-")] = testenv.HTML(fmt.Sprintf(tellsClick, page))
	}
	url := serve(t, handlers)
	for name := range cardPages {
		t.Run(name, func(t *testing.T) {
			tab := d.Open(url + "/" + strings.ReplaceAll(name, " ", "-"))
			for _, within := range []string{"13", "22", "35"} {
				if _, err := turn(t, d, tab, clickAt(&domtapv1.Target{Role: "button", Name: "Odd", Within: within})); err != nil {
					t.Errorf("within %s: %v", within, err)
				}
				if got := testenv.Evaluate[string](t, d, "document.title"); got != within {
					t.Errorf("within %s: reached %s", within, got)
				}
			}
		})
	}
}

// TestWithinRefusesToGuess expects an error if the text is in no card with a button, or in several.
func TestWithinRefusesToGuess(t *testing.T) {
	d := testenv.Apart(t)
	url := serve(t, map[string]http.HandlerFunc{
		"/missing": testenv.HTML(fmt.Sprintf(tellsClick, `<div><div><span>Ada</span><button>Edit</button></div><div><span>Bob</span><button>View</button></div>
			<div><span>Cyd</span></div></div>`)),
		"/twice": testenv.HTML(fmt.Sprintf(tellsClick, `<div>`+cards(`<div><span>%s</span><button>Edit</button></div>`, "Ada", "Bob")+`</div><section><div>`+
			cards(`<div><span>%s</span><button>Edit</button></div>`, "Ada", "Cyd")+`</div></section>`)),
		"/flat": testenv.HTML(fmt.Sprintf(tellsClick, `<span>Ada</span><button>Edit</button><span>Bob</span><button>Edit</button><span>Cyd</span>`)),
	})
	for _, c := range []struct{ page, within, reason string }{
		{"/missing", "Bob", "TARGET_NOT_FOUND"},
		{"/missing", "Cyd", "TARGET_NOT_FOUND"},
		{"/twice", "Ada", "AMBIGUOUS_TARGET"},
		{"/flat", "Bob", "TARGET_NOT_FOUND"},
	} {
		tab := d.Open(url + c.page)
		_, err := turn(t, d, tab, clickAt(&domtapv1.Target{Role: "button", Name: "Edit", Within: c.within}))
		if reason := testenv.Reason(err); reason != c.reason {
			t.Errorf("%s within %s: %v", c.page, c.within, err)
		}
	}
}

// changesMarkup changes a page at random n times without a visible effect: it adds boxes around elements, classes, and a paragraph at the
// start.
const changesMarkup = `(seed, n) => {
	const random = (n) => (seed = (seed * 48271) % 2147483647) % n;
	for (let i = 0; i < n; i++) {
		const all = [...document.body.querySelectorAll(":not(script, template)")];
		const el = all[random(all.length)], box = document.createElement("div");
		switch (random(4)) {
			case 0: el.className = "c" + i; break;
			case 1: document.body.prepend(Object.assign(document.createElement("p"), { textContent: "News " + seed })); break;
			case 2: if (el.parentNode === document.body && el.tagName === "DIV") { box.append(...el.childNodes); el.append(box); break; } // falls through
			default: el.before(box); box.append(el);
		}
	}
	return n;
}`

// TestContextsDoNotDependOnMarkup changes the markup of pages of cards while they are followed. No context may change.
func TestContextsDoNotDependOnMarkup(t *testing.T) {
	d := testenv.Apart(t)
	handlers := map[string]http.HandlerFunc{}
	for name, page := range cardPages {
		handlers["/"+strings.ReplaceAll(name, " ", "-")] = testenv.HTML(fmt.Sprintf(tellsClick, page))
	}
	url := serve(t, handlers)
	contexts := func(tab string) string {
		all, err := d.Dom.GetDom(t.Context(), &domtapv1.GetDomRequest{TabId: tab, FullSnapshot: true, IncludeAttributes: []string{"title"}})
		if err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		for _, e := range all.GetElements() {
			if e.GetRole() == "button" {
				fmt.Fprintf(&out, "%s ‹%s› ", e.GetAttributes()["title"], e.GetContext())
			}
		}
		return out.String()
	}
	for name := range cardPages {
		t.Run(name, func(t *testing.T) {
			tab := d.Open(url + "/" + strings.ReplaceAll(name, " ", "-"))
			was := contexts(tab)
			if !strings.Contains(was, "13 ‹13") && !strings.Contains(was, "One") {
				t.Errorf("the contexts are %s", was)
			}
			for seed := 1; seed <= 4; seed++ {
				testenv.Evaluate[int](t, d, fmt.Sprintf("(%s)(%d, 5)", changesMarkup, 100*seed))
				if now := contexts(tab); now != was {
					t.Errorf("seed %d: the contexts are\n%s, and were\n%s, on\n%s", seed, now, was, testenv.Evaluate[string](t, d, "document.body.innerHTML"))
				}
			}
		})
	}
}
