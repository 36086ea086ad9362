package hour

import (
	"fmt"
	"slices"
	"strings"
)

// mailLetter is a mail in the inbox.
type mailLetter struct {
	ID      int    `json:"id"`
	From    string `json:"from"`
	At      string `json:"at"`
	Subject string `json:"subject"`
	Text    string `json:"text"`
	Unread  bool   `json:"unread"`
	Star    bool   `json:"star"`
}

// mailSent is a mail that was sent.
type mailSent struct {
	To      []string `json:"to"`
	Subject string   `json:"subject"`
	Text    string   `json:"text"`
}

// mailInbox lists the mails: sender, time, subject and text; unread ones begin with "*".
const mailInbox = `*Ines Okafor|09:41|Crane permit|The permit for the crane is number QC-5517. It ends on Friday.
Tide Bulletin|08:00|High water on Monday|High water at 11:20 and 23:44.
*Ben Achterberg|Sun|Oars|I found two of your oars. Which colour are they?
Ines Okafor|Sun|Lunch|Soup at noon?
Harbour Office|Sat|Invoice 2207|Berth 14, November: 212.50, due on the 20th.
*Tide Bulletin|Sat|High water on Sunday|High water at 10:31 and 22:55.
Ben Ritter|Fri|Keys|The keys are in the blue box.
Harbour Office|Fri|Invoice 2198|Crane, two hours: 96.00, due on the 17th.
Ines Okafor|Thu|Crane permit|I have asked for a permit. No number yet.
Tide Bulletin|Thu|Low water on Friday|Low water at 04:40 and 17:02.`

// mail serves an inbox. A mail needs recipients from the address book, a subject, and a text.
func mail(s *Site) {
	var sent []mailSent
	var archived []string
	var letters []mailLetter
	people := []string{"Ines Okafor", "Ben Achterberg", "Ben Ritter", "Harbour Office", "Tide Bulletin", "Greta Voss"}
	for i, line := range strings.Split(mailInbox, "\n") {
		f := strings.Split(strings.TrimPrefix(line, "*"), "|")
		letters = append(letters, mailLetter{ID: i + 1, From: f[0], At: f[1], Subject: f[2], Text: f[3], Unread: line[0] == '*'})
	}
	type shown struct {
		Mail   []mailLetter `json:"mail"`
		People []string     `json:"people"`
	}
	done := func(err error) (shown, error) {
		var starred []string
		for _, m := range letters {
			if m.Star {
				starred = append(starred, m.From+": "+m.Subject)
			}
		}
		if err == nil && (sent != nil || archived != nil || starred != nil) {
			s.saved = map[string]any{"sent": sent, "archived": archived, "starred": starred}
		}
		return shown{letters, people}, err
	}
	with := func(change func(m *mailLetter)) func(struct{ ID int }) (shown, error) {
		return func(in struct{ ID int }) (shown, error) {
			i := slices.IndexFunc(letters, func(m mailLetter) bool { return m.ID == in.ID })
			if i < 0 {
				return done(refused("This mail is gone."))
			}
			change(&letters[i])
			return done(nil)
		}
	}
	answers(s, "GET /api/mail", func(struct{}) (shown, error) { return done(nil) })
	answers(s, "POST /api/read", with(func(m *mailLetter) { m.Unread = false }))
	answers(s, "POST /api/star", with(func(m *mailLetter) { m.Star = !m.Star }))
	answers(s, "POST /api/archive", with(func(m *mailLetter) {
		archived = append(archived, m.From+": "+m.Subject)
		letters = slices.DeleteFunc(slices.Clone(letters), func(other mailLetter) bool { return other.ID == m.ID })
	}))
	answers(s, "POST /api/send", func(in mailSent) (shown, error) {
		switch {
		case len(in.To) == 0:
			return done(refused("Choose a recipient from the list."))
		case strings.TrimSpace(in.Text) == "":
			return done(refused(fmt.Sprintf("Write something to %s.", in.To[0])))
		}
		sent = append(sent, in)
		return done(nil)
	})
}
