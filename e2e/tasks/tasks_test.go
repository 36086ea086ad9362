package tasks

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"text/tabwriter"

	"github.com/domtap/domtap/internal/tokens"
)

// task is a task with its application, the policy, and the expected final state of the backend.
type task struct {
	name, app string
	do        func(a *agent)
	saved     map[string]string
}

var tasks = []task{
	{"sign in, wrong then right", "sign-in", signIn, map[string]string{"sign-in": `{"email":"ada@harbour.example","password":"correct horse"}`}},
	{"edit a row in a modal", "orders", editOrder, map[string]string{"orders": `{"id":1014,"customer":"Alan Dijkstra","status":"Shipped"}`}},
	{"find a person by a paged search", "people", findPerson, map[string]string{"person": `{"id":"595","name":"Margaret Liskov"}`}},
	{"create a workspace in a wizard", "wizard", createWorkspace, map[string]string{"workspace": `{"plan":"Crew","email":"ada@harbour.example","name":"Ada Lovelace","team":"Pilots"}`}},
	{"move a card on a board", "board", moveCard, map[string]string{"board": `{"To do":["Write the manual","Translate the manual","Order cake"],"In progress":["Measure memory"],"Done":["Choose a name","Fix the crash on start"]}`}},
	{"order two lamps with a voucher", "cart", orderLamps, map[string]string{"cart": `{"lines":["2 Compass lamp","1 Hatch lamp"],"total":51.300000000000004}`}},
	{"book a berth in a calendar", "calendar", bookBerth, map[string]string{"berth": `{"day":"17 December 2026","time":"10:30"}`}},
	{"change settings that fail at first", "settings", changeSettings, map[string]string{"settings": `{"Weekly summary":true}`, "profile": `{"name":"Ada Lovelace","language":"Deutsch"}`, "left": ""}},
	{"rename a file in a tree", "tree", renameFile, map[string]string{"file": `"src/internal/todo.txt"`}},
	{"answer and archive mail", "mail", answerMail, map[string]string{"mail": `{"to":"alan.turing@harbour.example","subject":"Re: Lunch on Thursday?","text":"Gladly, at noon."}`, "archive": `"Ropes at half the price"`, "star": `"The compiler works"`}},
}

func signIn(a *agent) {
	a.form(button("Sign in"), [][2]string{{"E-mail", "ada@harbour.example"}, {"Password", "wrong horse"}}, outcome{"alert", "Wrong e-mail or password"})
	a.form(button("Sign in"), [][2]string{{"Password", "correct horse"}}, outcome{"heading", "Welcome back, Ada"})
}

func editOrder(a *agent) {
	a.click(button("Edit").by("1014"), outcome{"dialog", "Edit order 1014"})
	a.choose(control{role: "combobox", name: "Status"}, "Shipped")
	a.click(button("Save"), outcome{"", "Shipped"})
	a.atMost(110, "saving a row of a table that is drawn again", unfenced)
}

func findPerson(a *agent) {
	a.enter(control{role: "searchbox", name: "Search"}, "li", false, outcome{"status", "page 1 of 3"}, outcome{"", "Alan Liskov"})
	a.click(button("Next"), outcome{"status", "page 2 of 3"}, outcome{"", "Margaret Liskov"})
	a.click(link("Margaret Liskov"), outcome{"heading", "Margaret Liskov"})
}

func createWorkspace(a *agent) {
	a.form(button("Continue"), [][2]string{{"E-mail", "ada@harbour"}}, outcome{"invalid", "Enter a valid e-mail address"}, outcome{"invalid", "Enter your name"})
	a.form(button("Continue"), [][2]string{{"E-mail", "ada@harbour.example"}, {"Full name", "Ada Lovelace"}}, outcome{"heading", "Choose a team"})
	a.click(control{role: "radio", name: "Crew"})
	a.form(button("Continue"), [][2]string{{"Team name", "Pilots"}}, outcome{"heading", "Review"})
	a.click(button("Create workspace"), outcome{"invalid", "Accept the terms to go on"})
	a.click(control{role: "checkbox", name: "I accept the terms"})
	a.click(button("Create workspace"), outcome{"heading", "Your workspace is ready"})
}

func moveCard(a *agent) {
	card := func(name string) control { return control{role: "listitem", name: name} }
	a.drag(card("Fix the crash on start"), card("Choose a name"), outcome{"status", "Moved “Fix the crash on start” to Done"}, outcome{"heading", "Done (2)"})
}

func orderLamps(a *agent) {
	a.click(button("Add to cart").by("Compass lamp"), outcome{"", "Cart (1)"})
	a.atMost(25, "a changed label", diffOf)
	a.click(button("Add to cart").by("Hatch lamp"), outcome{"", "Cart (2)"})
	a.click(button("Cart (2)"), outcome{"heading", "Your cart"})
	a.enter(control{role: "spinbutton", name: "Quantity", near: "Compass lamp"}, "2", true, outcome{"", "57.00"})
	a.form(button("Apply"), [][2]string{{"Voucher", "WINTER"}}, outcome{"status", "Unknown voucher"})
	a.form(button("Apply"), [][2]string{{"Voucher", "SPRING"}}, outcome{"status", "10 % off"}, outcome{"", "51.30"})
	a.click(button("Order now"), outcome{"heading", "Thank you for your order"})
}

func bookBerth(a *agent) {
	a.click(button("Next month"), outcome{"", "November 2026"})
	a.click(button("Next month"), outcome{"", "December 2026"})
	a.click(button("17 December 2026"), outcome{"heading", "17 December 2026"})
	a.click(button("10:30"), outcome{"heading", "Booked: 17 December 2026, 10:30"})
}

func changeSettings(a *agent) {
	a.click(control{role: "switch", name: "Weekly summary"}, outcome{"toast", "Could not save, try again"})
	a.click(control{role: "switch", name: "Weekly summary"}, outcome{"toast", "Saved"})
	a.choose(control{role: "combobox", name: "Language"}, "Deutsch")
	a.form(button("Save profile"), [][2]string{{"Display name", "Ada Lovelace"}}, outcome{"toast", "Your profile is updated"})
	a.click(button("Leave workspace"), outcome{"dialog", "Leave “Harbour”?"})
	a.click(button("Stay"))
}

func renameFile(a *agent) {
	item := func(name string) control { return control{role: "treeitem", name: name} }
	a.click(item("src"), outcome{"", "internal"})
	a.click(item("internal"), outcome{"", "notes.txt"})
	a.click(item("notes.txt"))
	a.press("F2", outcome{"", "New name"})
	a.enter(textbox("New name"), "todo.txt", true, outcome{"status", "Renamed notes.txt to todo.txt"})
}

func answerMail(a *agent) {
	a.click(button("Archive").by("Ropes at half the price"), outcome{"toast", "Archived “Ropes at half the price”"})
	a.click(button("Star").by("The compiler works"), outcome{"", "Unstar"})
	a.click(link("Alan Turing: Lunch on Thursday?"), outcome{"heading", "Lunch on Thursday?"})
	a.click(button("Reply"), outcome{"", "Send"})
	a.form(button("Send"), [][2]string{{"Message", "Gladly, at noon."}}, outcome{"toast", "Message sent"})
}

// unfenced returns an answer without the tags around page text.
func unfenced(answer string) string { return fencePattern.ReplaceAllString(answer, "") }

// solve has the policy solve all tasks, each in a separate session, and returns a row for each.
func solve(t *testing.T, begin func(t *testing.T) *session) []result {
	t.Helper()
	var rows []result
	for _, one := range tasks {
		a := &agent{}
		t.Run(one.app, func(t *testing.T) {
			a.t, a.session = t, begin(t)
			defer func() {
				if t.Failed() || os.Getenv("DOMTAP_TRANSCRIPTS") != "" {
					t.Logf("\n%s", a.transcript.String())
				}
			}()
			s := newSite(t)
			defer func() {
				for _, missed := range a.unsaid {
					t.Errorf("the answer to the action does not say %s", missed)
				}
			}()
			a.open(s.base + "/" + one.app + ".html")
			one.do(a)
			a.solved = true
			for what, want := range one.saved {
				if got := s.got(what); got != want {
					a.solved = false
					t.Errorf("%s was saved as %s, want %s", what, got, want)
				}
			}
		})
		rows = append(rows, a.result)
	}
	return rows
}

// definitions returns the token cost of a server's tool definitions, which a model reads in each turn.
func definitions(t *testing.T, s *session) int {
	t.Helper()
	list, err := s.client.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(list.Tools)
	if err != nil {
		t.Fatal(err)
	}
	return tokens.Count(string(text))
}

// TestTasks solves ten tasks over MCP. Run it with -v for the table.
func TestTasks(t *testing.T) {
	rows := solve(t, startDomtap(t))
	var table strings.Builder
	w := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "task\tsolved\tcalls\ttokens\toutcomes shown\tsaid\tmissed")
	var all result
	for i, r := range rows {
		fmt.Fprintf(w, "%s\t%v\t%d\t%d\t%d of %d\t%d\t%s\n", tasks[i].name, r.solved, r.calls, r.tokens, r.shown, r.wanted, r.said, strings.Join(r.missed, ", "))
		all = sum(all, r)
	}
	fmt.Fprintf(w, "all\t\t%d\t%d\t%d of %d\t%d\t\n", all.calls, all.tokens, all.shown, all.wanted, all.said)
	_ = w.Flush()
	t.Logf("\n%s", table.String())
	for i, r := range rows {
		for _, violation := range r.violations {
			t.Errorf("%s: %s", tasks[i].name, violation)
		}
	}
}

// TestSideBySide solves the same tasks with domtap and with Playwright MCP. Run it with -v for the table.
func TestSideBySide(t *testing.T) {
	peer := startPlaywright(t)
	begin := startDomtap(t)
	ours := solve(t, begin)
	theirs := solve(t, peer)
	var table strings.Builder
	w := tabwriter.NewWriter(&table, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "task\tdomtap: calls\ttokens\toutcomes\tPlaywright: calls\ttokens\toutcomes\t")
	var all, peers result
	row := func(name string, a, b result) {
		fmt.Fprintf(w, "%s\t%d\t%d\t%s\t%d\t%d\t%s\t\n", name, a.calls, a.tokens, a.outcomes(), b.calls, b.tokens, b.outcomes())
	}
	for i := range tasks {
		row(tasks[i].name, ours[i], theirs[i])
		all, peers = sum(all, ours[i]), sum(peers, theirs[i])
	}
	row("all", all, peers)
	_ = w.Flush()
	t.Logf("\n%sdefinitions of the tools: %d tokens, Playwright MCP %d", table.String(), definitions(t, begin(t)), definitions(t, peer(t)))
}

// outcomes formats the number of outcomes that the answers showed.
func (r result) outcomes() string {
	text := fmt.Sprintf("%d of %d", r.shown, r.wanted)
	if !r.solved {
		text += ", not solved"
	}
	return text
}

func sum(a, b result) result {
	return result{
		calls: a.calls + b.calls, tokens: a.tokens + b.tokens, wanted: a.wanted + b.wanted, shown: a.shown + b.shown, said: a.said + b.said,
		solved: (a.calls == 0 || a.solved) && b.solved,
	}
}
