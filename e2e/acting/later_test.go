package acting

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/testenv"
)

// TestALaterStepWaitsForWhatAnEarlierOneBrings searches and clicks a result in one turn. The results arrive late; the old results are
// removed first.
func TestALaterStepWaitsForWhatAnEarlierOneBrings(t *testing.T) {
	s := staged(t, `<!doctype html><title>Search</title><button id=go>Search</button><ul id=list><li>Old <button>Open</button></ul><p id=said></p>
<script>go.onclick = () => { list.innerHTML = ""; setTimeout(() => {
	list.innerHTML = "<li>Fern <button onclick='said.textContent = \"Fern is open\"'>Open</button></li><li>Moss <button>Open</button></li>" }, 1200) }</script>`)
	open := &domtapv1.Step{Action: &domtapv1.Step_Click{Click: &domtapv1.ClickStep{Target: &domtapv1.Target{Text: "Open", Within: "Fern"}}}}
	answer, err := s.d.Actions.Interact(t.Context(), &domtapv1.InteractRequest{TabId: s.tab, Steps: []*domtapv1.Step{click(s.at("Search")), open}})
	if err != nil || len(answer.GetResults()) != 2 || !answer.GetResults()[1].GetOk() {
		t.Fatal(answer.GetResults(), err)
	}
	if !strings.Contains(s.d.All(s.tab).String(), "Fern is open") {
		t.Error("the result of the search was not opened")
	}
}

// TestAPageThatComesBackSaysWhatIsNew submits a form that the server returns with error messages, in elements that have no role and look
// like other text. The answer to the click must contain the messages. The answer to a click that leads to another page must not
// contain them.
func TestAPageThatComesBackSaysWhatIsNew(t *testing.T) {
	form := func(w http.ResponseWriter, r *http.Request) {
		name := r.FormValue("name")
		if name == "Ada" {
			testenv.HTML(`<!doctype html><title>Booked</title><h1>Thank you</h1><p>We look forward to it.</p><p>Your number is 12.</p><a href="/">Back</a>`)(w, r)
			return
		}
		complaint := ""
		if r.URL.RawQuery != "" {
			complaint = "<div>The last room has just gone.</div>"
		}
		testenv.HTML(fmt.Sprintf(`<!doctype html><title>Book</title><h1>Book a room</h1>%s<p>Three nights.</p><p>Two guests.</p><form><label>Name <input name=name value="%s"></label>
<label>Mail <input name=mail></label><button>Book</button></form><a href="/help">Help</a><p>Imprint</p>`, complaint, name))(w, r)
	}
	d := testenv.Apart(t)
	tab := d.Open(testenv.Pages(t, map[string]http.HandlerFunc{"/": form}))
	book := func(steps ...*domtapv1.Step) (texts []string) {
		t.Helper()
		steps = append(steps, &domtapv1.Step{Action: &domtapv1.Step_Click{Click: &domtapv1.ClickStep{Target: &domtapv1.Target{Role: "button", Name: "Book"}}}})
		answer, err := d.Actions.Interact(t.Context(), &domtapv1.InteractRequest{TabId: tab, Steps: steps, Format: domtapv1.Format_FORMAT_DENSE_DIFF, Brief: true})
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range answer.GetOutcome() {
			texts = append(texts, o.GetText())
		}
		return texts
	}
	if got := strings.Join(book(), ", "); got != "The last room has just gone." {
		t.Errorf("the answer says %q", got)
	}
	name := &domtapv1.Step{Action: &domtapv1.Step_Fill{Fill: &domtapv1.FillStep{Target: &domtapv1.Target{Label: "Name"}, Text: "Ada"}}}
	if got := book(name); len(got) > 0 {
		t.Errorf("the answer that has another page says %q, too", got)
	}
}
