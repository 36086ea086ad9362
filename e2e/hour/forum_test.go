package hour

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// forumMe is the user who is logged in.
const forumMe = "harbour_ada"

// forumTitles lists the threads, newest first, each with its board.
const forumTitles = `Fog horns: brass or electric?|Gear
Ferry timetable for the winter|Harbour
Lost: one red oar, near the slip|Harbour
Anchor chain, how much is enough|Gear
A cat lives in my sail locker|Chat
Teak decks and bare feet|Hull
Who has a key to the crane|Harbour
Diesel bug, again|Engine
Best soup on a cold watch|Chat
Bilge pump runs at night|Engine
Splicing old rope to new|Gear
Mooring fees go up in January|Harbour
Second hand outboard, what to ask|Engine
Paint that keeps barnacles off|Hull
Names for a small grey boat|Chat
Rowing to the island and back|Trips
Compass off by eight degrees|Gear
The herring are back|Chat
Solar panel on a wooden coachroof|Gear
Night sailing with children|Trips
Where to buy bronze screws|Hull
Propeller hums at 1400 turns|Engine
Slip closed for repairs on Monday|Harbour
Three days in the marshes|Trips
Is my mast too tall for the bridge|Gear
Cushions that do not smell|Hull
Swans and the pontoon|Chat
Impeller in pieces, where did they go|Engine
Leaking porthole, third try|Hull
Which knot for a wet towel|Chat
Tender keeps capsizing|Gear
Harbour supper, who brings what|Harbour
Stove will not light in the wind|Gear
Which varnish survives a winter outdoors?|Hull
Leaking hatch, first try|Hull
Stern gland drips more than it should|Engine
Round the cape in a day|Trips
Old charts, new buoys|Trips
Thermos or kettle|Chat
Rigging knife or multi-tool|Gear
Lightning and a wooden mast|Gear`

// forumWritten lists the comments of two threads: thread, number, number of the parent, author, score and text.
const forumWritten = `29|1|0|sandbar_joe|12|Was the rim really dry when you bedded it? Two days of sun at least.
29|2|1|pelican71|3|Dry as a biscuit. I had a heater on it overnight.
29|3|1|old_gannet|7|A heater drives the damp outward, and the next day it is back. Wait longer.
29|4|0|tidewright|18|Butyl tape. Two rounds of it, then tighten the screws in three goes over a week.
29|5|4|marlin_k|5|How thick, and does it stand the sun?
29|6|5|tidewright|6|Three millimetres. The frame covers it, so the sun never gets there.
29|7|4|gullwing|2|I would never lay butyl tape again. Mine crept out in the first hot summer.
29|8|0|net_mender|9|Polysulphide, the grey one in the tin. Nothing else lasts.
29|9|8|sandbar_joe|1|It does not get on with acrylic panes, though.
29|10|9|pelican71|4|Mine are glass, so that would do.
29|11|8|dory_dan|-6|What a lot of amateurs. Let a yard do it.
29|12|11|brackish|8|No yard needed: I put six portholes on butyl tape in spring, and not a drop came in since. Do the same.
29|13|12|net_mender|1|Tell us again after the second winter.
29|14|0|quayside_deals|-2|Porthole seals of all sizes at half the price, this week only, write to me for the list!
29|15|0|keelhaul|6|Silicone is fine if you clean with spirit first. I also sold my old portholes here last year.
29|16|15|winch_wife|10|Silicone is why it leaks for the third time. Scrape it all off and take butyl tape.
29|17|16|keelhaul|-1|Mine has held since 2019.
29|18|16|pelican71|2|That is what I feared.
29|19|0|harbour_ada|1|Same trouble on my port side, so I follow this.
29|20|19|old_gannet|3|See whether the deck bends when somebody walks on it.
29|21|0|loft_lena|4|Before all that, pour a glass of water round each screw. Mine came in there.
34|1|0|marlin_k|11|Spar varnish from the tin with the ship. Seven coats, and no shortcuts.
34|2|1|loft_lena|4|Seven is a lot of weekends. I gave up after four and it looked the same.
34|3|1|keelhaul|2|Linseed oil is for cricket bats, in case anybody says it.
34|4|0|brackish|7|Whatever you take, round the edges. It always lifts there.
34|5|4|loft_lena|9|Raw linseed oil, hot, three times. It never lifts because there is nothing to lift.
34|6|5|marlin_k|0|And it goes black.
34|7|5|loft_lena|3|Not when you wipe it off after ten minutes.
34|8|0|gullwing|5|A cover of canvas beats every varnish.
34|9|8|winch_wife|6|It does, if the air can get under it.`

// forumPool lists texts for generated comments.
const forumPool = `Ask the harbour master, she keeps a list.
I had that last year and it went away by itself.
Take a picture next time, then we can tell.
That depends on how much you want to spend.
Mine is from 1974 and still goes.
Grease it, wait a day, grease it again.
You will find it in the shed behind the crane.
I would not, but I am careful.
We did it in October and it was lovely.
Somebody should write this down for beginners.
It was the battery. It is always the battery.
Try it at low water first.
The second one is better, and quieter.
Nobody has answered that in twenty years.
I have a spare one, come by on Sunday.
Twice as long as you think.`

// forumAuthors lists the authors: name, member since, town and number of posts.
const forumAuthors = `sandbar_joe|2018|Wells|412
pelican71|2021|Oban|58
old_gannet|2011|Ryde|2210
tidewright|2016|Fowey|1804
marlin_k|2019|Leith|377
gullwing|2004|Poole|951
net_mender|2012|Whitby|644
dory_dan|2020|Deal|29
brackish|2009|Maldon|133
quayside_deals|2026|unknown|3
keelhaul|2014|Hull|720
winch_wife|2013|Cowes|1490
harbour_ada|2025|Wells|6
loft_lena|2015|Rye|268`

type forumThread struct {
	ID      int    `json:"id"`
	Title   string `json:"title"`
	Board   string `json:"board"`
	Author  string `json:"author"`
	Score   int    `json:"score"`
	Answers int    `json:"answers"`
}

// forumComment is a comment. With parent 0, it replies to the thread itself.
type forumComment struct {
	ID     int    `json:"id"`
	Parent int    `json:"parent"`
	Author string `json:"author"`
	Score  int    `json:"score"`
	Text   string `json:"text"`
}

type forumAuthor struct {
	Name  string `json:"name"`
	Since string `json:"since"`
	Town  string `json:"town"`
	Posts string `json:"posts"`
}

type forumVote struct {
	Comment int `json:"comment"`
	Value   int `json:"value"`
}

// forumReply is a reply, with the comment that it quotes.
type forumReply struct {
	To    int    `json:"to"`
	Quote int    `json:"quote,omitempty"`
	Text  string `json:"text"`
}

type forumReport struct {
	Comment int    `json:"comment"`
	Reason  string `json:"reason"`
	Note    string `json:"note,omitempty"`
}

// forumSaved holds the member's votes, replies and other actions.
type forumSaved struct {
	Votes    []forumVote   `json:"votes,omitempty"`
	Replies  []forumReply  `json:"replies,omitempty"`
	Reports  []forumReport `json:"reports,omitempty"`
	Followed []string      `json:"followed,omitempty"`
	Muted    []string      `json:"muted,omitempty"`
}

// forumBoard holds the threads, and the comments by the number of their thread.
type forumBoard struct {
	threads  []forumThread
	comments map[int][]forumComment
	authors  []forumAuthor
	done     forumSaved
	rules    bool
}

// forum serves a board for boat owners: 41 threads, nested comments, votes, quotes, reports, and profiles of the authors. The first reply
// is refused until the rules are confirmed.
func forum(s *Site) {
	b := forumFill()
	answers(s, "POST /api/threads", func(in struct{ After int }) ([]forumThread, error) {
		from := min(max(in.After, 0), len(b.threads))
		return b.threads[from:min(from+12, len(b.threads))], nil
	})
	answers(s, "POST /api/thread", func(in struct{ ID int }) ([]forumComment, error) { return b.comments[in.ID], nil })
	answers(s, "POST /api/author", func(in struct{ Name string }) (forumAuthor, error) {
		at := slices.IndexFunc(b.authors, func(a forumAuthor) bool { return a.Name == in.Name })
		if at < 0 {
			return forumAuthor{}, refused("There is no such member.")
		}
		return b.authors[at], nil
	})
	keep := func(err error) (forumSaved, error) {
		if err == nil {
			s.saved = b.done
		}
		return b.done, err
	}
	answers(s, "POST /api/vote", func(in forumVote) (forumSaved, error) { return keep(b.vote(in)) })
	answers(s, "POST /api/report", func(in forumReport) (forumSaved, error) { return keep(b.report(in)) })
	answers(s, "POST /api/reply", func(in struct {
		forumReply
		Rules bool
	}) (forumSaved, error) {
		return keep(b.reply(in.forumReply, in.Rules))
	})
	answers(s, "POST /api/follow", func(in struct{ Name string }) (forumSaved, error) {
		b.done.Followed = forumToggle(b.done.Followed, in.Name)
		return keep(nil)
	})
	answers(s, "POST /api/mute", func(in struct{ Name string }) (forumSaved, error) {
		b.done.Muted = forumToggle(b.done.Muted, in.Name)
		return keep(nil)
	})
}

// forumToggle adds a name to a sorted list, or removes it if it is there.
func forumToggle(names []string, name string) []string {
	if at := slices.Index(names, name); at >= 0 {
		return slices.Delete(names, at, at+1)
	}
	names = append(names, name)
	slices.Sort(names)
	return names
}

// forumFill returns the board. Comment n of thread t has the number 100t+n.
func forumFill() *forumBoard {
	b := &forumBoard{comments: map[int][]forumComment{}}
	for _, line := range strings.Split(forumAuthors, "\n") {
		f := strings.Split(line, "|")
		b.authors = append(b.authors, forumAuthor{Name: f[0], Since: f[1], Town: f[2], Posts: f[3]})
	}
	for _, line := range strings.Split(forumWritten, "\n") {
		f := strings.Split(line, "|")
		var n [5]int
		for _, i := range []int{0, 1, 2, 4} {
			n[i], _ = strconv.Atoi(f[i])
		}
		c := forumComment{ID: n[0]*100 + n[1], Author: f[3], Score: n[4], Text: f[5]}
		if n[2] > 0 {
			c.Parent = n[0]*100 + n[2]
		}
		b.comments[n[0]] = append(b.comments[n[0]], c)
	}
	for i, line := range strings.Split(forumTitles, "\n") {
		title, board, _ := strings.Cut(line, "|")
		t := i + 1
		if b.comments[t] == nil {
			b.comments[t] = forumMade(t)
		}
		b.threads = append(b.threads, forumThread{ID: t, Title: title, Board: board, Author: forumName(t * 5), Score: t*13%29 + 1, Answers: len(b.comments[t])})
	}
	return b
}

// forumName returns an author who writes in many threads.
func forumName(n int) string {
	names := []string{"sandbar_joe", "old_gannet", "tidewright", "marlin_k", "gullwing", "net_mender", "keelhaul", "winch_wife", "loft_lena"}
	return names[n%len(names)]
}

// forumMade returns the generated comments of a thread.
func forumMade(t int) []forumComment {
	pool := strings.Split(forumPool, "\n")
	var made []forumComment
	for n := 1; n <= 4+t*7%6; n++ {
		c := forumComment{ID: t*100 + n, Author: forumName(t + n*4), Score: t * n * 7 % 15, Text: pool[(t*5+n*7)%len(pool)]}
		if n%3 != 1 {
			c.Parent = t*100 + n - 1
		}
		made = append(made, c)
	}
	return made
}

// comment returns the comment with a number, or nil.
func (b *forumBoard) comment(id int) *forumComment {
	list := b.comments[id/100]
	at := slices.IndexFunc(list, func(c forumComment) bool { return c.ID == id })
	if at < 0 {
		return nil
	}
	return &list[at]
}

// vote counts a vote for a comment, or for a thread if the number ends in 00. The value 0 withdraws the vote.
func (b *forumBoard) vote(in forumVote) error {
	c := b.comment(in.Comment)
	switch {
	case c == nil && (in.Comment%100 != 0 || in.Comment < 100 || in.Comment > len(b.threads)*100):
		return refused("This comment is no longer there.")
	case c != nil && c.Author == forumMe:
		return refused("You cannot vote for your own comment.")
	case in.Value < -1 || in.Value > 1:
		return refused("A vote is up or down.")
	}
	b.done.Votes = slices.DeleteFunc(b.done.Votes, func(v forumVote) bool { return v.Comment == in.Comment })
	if in.Value != 0 {
		b.done.Votes = append(b.done.Votes, in)
	}
	slices.SortFunc(b.done.Votes, func(x, y forumVote) int { return cmp.Compare(x.Comment, y.Comment) })
	return nil
}

// report reports a comment to the moderators.
func (b *forumBoard) report(in forumReport) error {
	in.Note = strings.TrimSpace(in.Note)
	switch {
	case b.comment(in.Comment) == nil:
		return refused("This comment is no longer there.")
	case !slices.Contains([]string{"rude", "advertising", "off topic", "other"}, in.Reason):
		return refused("Choose a reason.")
	case in.Reason == "other" && in.Note == "":
		return refused("Tell the moderators in a few words what is wrong.")
	}
	b.done.Reports = append(b.done.Reports, in)
	return nil
}

// reply adds a reply to a comment.
func (b *forumBoard) reply(in forumReply, rules bool) error {
	in.Text = strings.Join(strings.Fields(in.Text), " ")
	b.rules = b.rules || rules
	switch {
	case b.comment(in.To) == nil:
		return refused("This comment is no longer there.")
	case in.Text == "":
		return refused("Your reply is empty.")
	case !b.rules:
		return refused("Before your first reply, confirm that you know the rules of the board.")
	}
	b.done.Replies = append(b.done.Replies, in)
	t := in.To / 100
	b.comments[t] = append(b.comments[t], forumComment{ID: t*100 + len(b.comments[t]) + 1, Parent: in.To, Author: forumMe, Text: in.Text})
	return nil
}
