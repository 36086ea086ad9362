package tasks

import (
	"net/http"
	"strings"
	"testing"

	"github.com/domtap/domtap/internal/testenv"
	"github.com/domtap/domtap/internal/tokens"
)

// TestAnAnswerSaysWhichTextChanged clicks buttons that change texts which no view of interactive elements lists. The report of the change
// must cost at most 25 tokens and make a second read of all elements unnecessary.
func TestAnAnswerSaysWhichTextChanged(t *testing.T) {
	page := `<title>Counter</title><button onclick="n.textContent = +n.textContent + 1">Add</button><p>In the cart: <b id=n>0</b></p>
		<ul><li>Milk <button>Remove</button><li>Bread <button>Remove</button></ul>` // equal names, for which the page knows its texts
	url := testenv.Pages(t, map[string]http.HandlerFunc{"/": func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte(page))
	}})
	a := &agent{t: t, session: startDomtap(t)(t)}
	a.do(domtap{}.open(url + "/"))
	ref := domtap{}.ref(a.do(domtap{}.look()), button("Add"))
	for _, want := range []string{"In the cart: 1", "In the cart: 2"} {
		answer := a.do(domtap{}.click(ref))
		_, said, _ := strings.Cut(answer, "<page nonce=")
		_, said, _ = strings.Cut(fencePattern.ReplaceAllString(said, ""), ">\n")
		if !strings.Contains(said, "! text: "+want+"\n") {
			t.Errorf("the answer does not say %q:\n%s", want, answer)
		}
		if n := tokens.Count(said); n > 25 {
			t.Errorf("%d tokens for one text:\n%s", n, said)
		}
		t.Logf("%d tokens in all, %d of the page:\n%s", tokens.Count(answer), tokens.Count(said), answer)
	}
	looked := a.do(call{"browser_get_elements_compact", arguments{"interactive_only": false}})
	if !strings.Contains(looked, "In the cart: 2") {
		t.Fatalf("a look does not have the text:\n%s", looked)
	}
	if answer := a.do(domtap{}.click(ref)); strings.Count(answer, "In the cart: 3") != 1 {
		t.Errorf("a client that has read the texts is to be told once:\n%s", answer)
	}
}
