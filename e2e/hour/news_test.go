package hour

import (
	"fmt"
	"slices"
	"strings"
)

// news serves the news of a small town: sections of stories, polls that count one vote, comments with likes and replies, a weather box in a
// frame, and dialogs for cookies and a newsletter that appear first.
func news(s *Site) {
	n := &newsState{likes: map[string]int{}}
	done := func(err error) (newsMe, error) {
		if err == nil {
			s.saved = n.saved
		}
		return n.me(), err
	}
	for _, pattern := range []string{"GET /section/{name}", "GET /story/{id}"} {
		s.page(pattern, "news.html")
	}
	s.page("GET /weather", "news-weather.html")
	answers(s, "GET /api/me", func(struct{}) (newsMe, error) { return n.me(), nil })
	answers(s, "POST /api/stories", func(in struct{ Section string }) ([]newsStory, error) { return newsOf(in.Section), nil })
	answers(s, "POST /api/story", func(in struct{ ID string }) (newsPage, error) { return n.page(in.ID) })
	answers(s, "POST /api/consent", func(in struct{ Kinds []string }) (newsMe, error) {
		n.saved.Cookies = append([]string{"necessary"}, in.Kinds...)
		slices.Sort(n.saved.Cookies)
		n.saved.Cookies = slices.Compact(n.saved.Cookies)
		return done(nil)
	})
	answers(s, "POST /api/letter", func(in struct{ Email string }) (newsMe, error) {
		if in.Email != "" && !strings.Contains(in.Email, "@") {
			return n.me(), refused("That is no email address.")
		}
		n.asked, n.saved.Letter = true, in.Email
		return done(nil)
	})
	answers(s, "POST /api/weather", func(in struct{ Place, Unit string }) (newsMe, error) {
		n.saved.Weather = ""
		if in != (struct{ Place, Unit string }{"Tidewater", "C"}) {
			n.saved.Weather = in.Place + ", " + in.Unit
		}
		return done(nil)
	})
	answers(s, "POST /api/vote", func(in struct{ Poll, Option string }) (newsMe, error) { return done(n.vote(in.Poll, in.Option)) })
	answers(s, "POST /api/comments", func(in struct {
		Story string
		Sort  string
		From  int
	}) (newsTalk, error) {
		return n.talk(in.Story, in.Sort, in.From), nil
	})
	answers(s, "POST /api/like", func(in struct {
		Story string
		ID    int
	}) (newsMe, error) {
		return done(n.like(in.Story, in.ID))
	})
	answers(s, "POST /api/comment", func(in struct {
		newsPost
		Rules bool
	}) (newsMe, error) {
		return done(n.comment(in.newsPost, in.Rules))
	})
}

type newsStory struct {
	ID      string `json:"id"`
	Section string `json:"section"`
	Title   string `json:"title"`
}

type newsPage struct {
	newsStory
	Text []string `json:"text"`
	Poll []string `json:"poll"`
}

type newsComment struct {
	ID    int    `json:"id"`
	Name  string `json:"name"`
	Text  string `json:"text"`
	Likes int    `json:"likes"`
	Liked bool   `json:"liked"`
}

type newsTalk struct {
	Total    int           `json:"total"`
	Comments []newsComment `json:"comments"`
}

// newsPost is a new comment.
type newsPost struct {
	Story string `json:"story"`
	To    string `json:"to,omitempty"`
	Name  string `json:"name"`
	Text  string `json:"text"`
}

type newsSaved struct {
	Cookies  []string   `json:"cookies,omitempty"`
	Letter   string     `json:"letter,omitempty"`
	Weather  string     `json:"weather,omitempty"`
	Votes    []string   `json:"votes,omitempty"`
	Likes    []string   `json:"likes,omitempty"`
	Comments []newsPost `json:"comments,omitempty"`
}

// newsMe is the state of the reader.
type newsMe struct {
	Consent bool     `json:"consent"`
	Asked   bool     `json:"asked"`
	Place   string   `json:"place"`
	Unit    string   `json:"unit"`
	Votes   []string `json:"votes"`
}

// newsState is the state of the backend. likes holds the reader's likes, by story and comment.
type newsState struct {
	asked bool
	likes map[string]int
	saved newsSaved
}

func (n *newsState) me() newsMe {
	me := newsMe{Consent: len(n.saved.Cookies) > 0, Asked: n.asked, Place: "Tidewater", Unit: "C", Votes: append([]string{}, n.saved.Votes...)}
	if place, unit, ok := strings.Cut(n.saved.Weather, ", "); ok {
		me.Place, me.Unit = place, unit
	}
	return me
}

func (n *newsState) page(id string) (newsPage, error) {
	stories := newsOf("")
	i := slices.IndexFunc(stories, func(story newsStory) bool { return story.ID == id })
	if i < 0 {
		return newsPage{}, refused("There is no such story.")
	}
	return newsPage{stories[i], newsText(stories[i]), newsPolls[id]}, nil
}

var newsPolls = map[string][]string{
	"front":        {"On foot", "By bicycle", "By bus", "By ferry", "By car"},
	"slipway":      {"Leave it as it is", "A ramp of stone", "A floating pontoon", "A full rebuild"},
	"bins":         {"Weekly", "Every other week"},
	"market-hours": {"Keep Saturday", "Move to Sunday", "Both days"},
}

func (n *newsState) vote(poll, option string) error {
	switch {
	case !slices.Contains(newsPolls[poll], option):
		return refused("Choose an answer first.")
	case slices.ContainsFunc(n.saved.Votes, func(v string) bool { return strings.HasPrefix(v, poll+": ") }):
		return refused("You have voted here already.")
	}
	n.saved.Votes = append(slices.Clone(n.saved.Votes), poll+": "+option)
	return nil
}

// talk returns ten of the comments on a story: the reader's own first, then the others in order.
func (n *newsState) talk(story, sort string, from int) newsTalk {
	all := newsComments(story)
	for i := range all {
		own := n.likes[fmt.Sprintf("%s/%d", story, all[i].ID)]
		all[i].Likes += own
		all[i].Liked = own > 0
	}
	if sort == "Most liked" {
		slices.SortStableFunc(all, func(a, b newsComment) int { return b.Likes - a.Likes })
	}
	var own []newsComment
	for i, c := range n.saved.Comments {
		if c.Story == story {
			text := c.Text
			if c.To != "" {
				text = "@" + c.To + " " + text
			}
			own = append(own, newsComment{ID: 1000 + i, Name: c.Name, Text: text})
		}
	}
	all = append(own, all...)
	from = min(max(from, 0), len(all))
	return newsTalk{len(all), all[from:min(from+10, len(all))]}
}

// like adds or withdraws a like for a comment.
func (n *newsState) like(story string, id int) error {
	all := newsComments(story)
	i := slices.IndexFunc(all, func(c newsComment) bool { return c.ID == id })
	if i < 0 {
		return refused("You cannot like this comment.")
	}
	key, word := fmt.Sprintf("%s/%d", story, id), story+": "+all[i].Name
	n.likes[key] = 1 - n.likes[key]
	n.saved.Likes = slices.DeleteFunc(slices.Clone(n.saved.Likes), func(l string) bool { return l == word })
	if n.likes[key] > 0 {
		n.saved.Likes = append(n.saved.Likes, word)
	}
	return nil
}

func (n *newsState) comment(c newsPost, rules bool) error {
	c.Name, c.Text = strings.TrimSpace(c.Name), strings.TrimSpace(c.Text)
	switch {
	case c.Name == "":
		return refused("Sign with your name.")
	case len(strings.Fields(c.Name)) < 2:
		return refused("Sign with your first and last name.")
	case len(strings.Fields(c.Text)) < 3:
		return refused("Write three words at least.")
	case strings.Contains(c.Text, "http"):
		return refused("Comments have no links.")
	case !rules:
		return refused("Agree to the house rules first.")
	}
	n.saved.Comments = append(slices.Clone(n.saved.Comments), c)
	return nil
}

// newsComments returns the comments of other readers on a story.
func newsComments(story string) (all []newsComment) {
	names := strings.Split("Ines Calder,Tom Rook,Bram Ode,Wilma Stead,Petra Voss,Hal Moor,Nadia Finch,Otto Brand,Grace Pell,Bram Odell-Carr,Finn Salter,Maud Ely,"+
		"Jon Quill,Ruth Amble,Sam Tarn,Elsie Wold,Bea Odell,Carl Dune,Vera Holt,Ivo Marsh,Kit Lorne,Dora Penn,Abe Stroud,Bram Odell,"+
		"Lena Crag,Max Thorne,Una Brook,Rob Heath,Tess Weir,Gus Fenn,Amy Ness,Paul Craig,Zoe Hythe,Leo Strand", ",")
	texts := []string{
		"About time that somebody wrote this down.", "I walk past there every day and had no idea.", "My grandfather would have laughed.",
		"Has anybody asked those who live next door?", "Good piece, but the map is upside down.", "We had the same talk twenty years ago.",
		"I would rather see the money go to the school.",
	}
	for i, name := range names {
		all = append(all, newsComment{ID: i + 1, Name: name, Text: texts[(i*3+len(story))%len(texts)], Likes: (i*17 + len(story)) % 41})
	}
	return all
}

// newsText returns the text of a story.
func newsText(story newsStory) []string {
	if story.ID == "slipway" {
		return []string{
			"The old slipway at the end of Ferry Road has been closed since a winter storm took eleven metres of it. On Thursday the council looked at what may come in its place.",
			"Three plans were on the table, each with a drawing, a price and a group of people in the room who had come to speak for it.",
			"The first is a ramp of stone, as there was before. It would cost 3.6 million and be done in a year, and the boat builders would have their way to the water again.",
			"The second is a floating pontoon that rises with the tide. It would cost 4.2 million. The rowers like it; the boat builders say that nobody can pull a hull over it.",
			"The third is a full rebuild with a new wall, at 5.9 million, half of which the county would pay if the town asks before March.",
			"The engineers whom the council had asked were brief. Stone, they wrote, would go the way of the old ramp within fifteen years, and a rebuild brings more traffic than Ferry Road can bear. They recommend the plan that moves with the sea.",
			"The mayor, who had earlier spoken for the ramp of stone, said that she would read the report again over the weekend. The council decides on 3 December.",
		}
	}
	return []string{
		story.Title + ": that is what people in Tidewater talked of this week, at the bakery as much as in the town hall.",
		"Those who know the matter say that it has been long in coming. Others had heard of it only on Monday, from a note on a door.",
		"There was a meeting, with tea, and a list of questions that nobody could answer in full.",
		"A spokesman said that there was no cause for haste. A neighbour said that there was.",
		"Figures from last year give some idea: the number rose by a tenth, then fell by as much, and nobody is sure why.",
		"What comes next will be known before the end of the month. We shall report.",
	}
}

// newsOf returns the stories of a section, or all stories.
func newsOf(section string) []newsStory {
	stories := []newsStory{
		{"dredger", "Harbour", "The dredger is back, and so is the noise"}, {"lamps", "Harbour", "New lamps for the east mole"}, {"seals", "Harbour", "Seals move into the marina"},
		{"bins", "Council", "How often should the bins be emptied?"}, {"slipway", "Council", "Three plans for the old slipway"}, {"benches", "Council", "Forty benches, and where they go"},
		{"choir", "Schools", "A choir of four hundred"}, {"lunch", "Schools", "Lunch from the harbour"}, {"maths", "Schools", "The maths club that nobody leaves"},
		{"anchor", "Courts", "Whose anchor was it?"}, {"parrot", "Courts", "The parrot may stay"}, {"hedge", "Courts", "A hedge goes to court"},
		{"herring", "Cooking", "Herring for people who dislike herring"}, {"plums", "Cooking", "What to do with the plums"}, {"bread", "Cooking", "A loaf in forty minutes"},
		{"salt", "Gardens", "Plants that bear salt"}, {"moss", "Gardens", "In praise of moss"}, {"pears", "Gardens", "Pears against a wall"},
		{"lantern", "Books", "A novel of lighthouse keepers"}, {"atlas", "Books", "The atlas of small islands"}, {"poems", "Books", "Poems from the night ferry"},
		{"rex", "Film", "The Rex opens its balcony"}, {"silent", "Film", "Silent films with a loud piano"}, {"storm", "Film", "Storm footage, slowly"},
		{"eights", "Rowing", "The eights want the slipway back"}, {"oars", "Rowing", "Who painted the oars?"}, {"regatta", "Rowing", "A regatta in the rain"},
		{"draw", "Football", "Another draw for Tidewater"}, {"keeper", "Football", "The keeper who bakes"}, {"pitch", "Football", "A pitch below the sea"},
		{"dinghy", "Sailing", "Dinghies for everybody"}, {"round", "Sailing", "Round the island, backwards"}, {"knots", "Sailing", "Seven knots to know"},
		{"bowls", "Bowls", "The green reopens"}, {"final", "Bowls", "A final of five hours"}, {"jack", "Bowls", "Lost: one jack"},
		{"quota", "Fishing", "Quotas, explained with buckets"}, {"nets", "Fishing", "Nets that fall apart on purpose"}, {"crab", "Fishing", "A good year for crab"},
		{"beds", "Tourism", "More guests, fewer beds"}, {"tower", "Tourism", "The tower gets a lift"}, {"map", "Tourism", "A map that shows the hills"},
		{"tide", "Energy", "Power from the tide race"}, {"roofs", "Energy", "A hundred roofs in the sun"}, {"heat", "Energy", "Warmth from the sea"},
		{"slipway-cafe", "Shops", "Slipway Café changes hands"}, {"market-hours", "Shops", "Saturday or Sunday for the market?"}, {"rope", "Shops", "The last rope maker"},
	}
	if section == "" {
		return stories
	}
	return slices.DeleteFunc(stories, func(story newsStory) bool { return !strings.EqualFold(story.Section, section) })
}
