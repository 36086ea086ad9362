package hour

import (
	"encoding/json"
	"html/template"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// wikiCell is a heading that spans one or more columns and rows.
type wikiCell struct {
	Text       string
	Cols, Rows int
}

// wikiRow has cells, or is the title of a group that spans all columns. Rows further down are initially hidden.
type wikiRow struct {
	Group string
	Cols  int
	Cells []string
	Far   bool
}

type wikiTable struct {
	Caption string
	Head    [][]wikiCell
	Rows    []wikiRow
}

type wikiPair struct{ Key, Value string }

// wikiLink is a link to an article.
type wikiLink struct {
	Slug string `json:"slug"`
	Text string `json:"text"`
}

type wikiArticle struct {
	Slug, Title string
	Text        []string
	Box         []wikiPair
	Tables      []*wikiTable
	See         []string
	source      string
}

// wikiView is the data of the template: an article, or search results.
type wikiView struct {
	Title, Query string
	Article      *wikiArticle
	Links        []wikiLink
	Watched      bool
}

// wikiDay is the answer to the question of the day.
type wikiDay struct {
	Answer string `json:"answer"`
	Right  bool   `json:"right"`
}

// wikiQuiz holds the answers to the quiz.
type wikiQuiz struct {
	Name    string    `json:"name"`
	Answers [5]string `json:"answers"`
	Right   int       `json:"right"`
}

type wikiSaved struct {
	Day     *wikiDay  `json:"day,omitempty"`
	Quiz    *wikiQuiz `json:"quiz,omitempty"`
	Watched []string  `json:"watched,omitempty"`
}

// wikiShelf holds the articles and the reader's input.
type wikiShelf struct {
	articles []*wikiArticle
	page     *template.Template
	saved    wikiSaved
}

// wiki serves an encyclopaedia of islands with long tables, a search with suggestions, a question of the day, and a quiz whose answers are
// in the tables of several articles.
func wiki(s *Site) {
	b := &wikiShelf{articles: wikiParse(wikiData), page: template.Must(template.ParseFS(pages, "wiki_page.html"))}
	s.page("GET /quiz", "wiki_quiz.html")
	s.handle("GET /wiki/{slug}", b.show)
	s.handle("GET /search", b.search)
	s.handle("GET /api/suggest", b.suggest)
	answers(s, "GET /api/names", func(struct{}) ([2][]string, error) {
		return [2][]string{b.column("regatta", 2), b.column("governors", 1)}, nil
	})
	answers(s, "POST /api/watch", func(in struct{ Slug string }) (bool, error) {
		if b.article(in.Slug) == nil {
			return false, refused("There is no such article.")
		}
		at, there := slices.BinarySearch(b.saved.Watched, in.Slug)
		if there {
			b.saved.Watched = slices.Delete(b.saved.Watched, at, at+1)
		} else {
			b.saved.Watched = slices.Insert(b.saved.Watched, at, in.Slug)
		}
		s.saved = b.saved
		return !there, nil
	})
	answers(s, "POST /api/day", func(in struct{ Answer string }) (wikiDay, error) {
		day, err := wikiDayOf(in.Answer)
		if err == nil {
			b.saved.Day = &day
			s.saved = b.saved
		}
		return day, err
	})
	answers(s, "POST /api/quiz", func(in wikiQuiz) ([5]bool, error) {
		marks, err := wikiMark(&in)
		if err == nil {
			b.saved.Quiz = &in
			s.saved = b.saved
		}
		return marks, err
	})
}

// wikiNumber removes the unit after a number.
func wikiNumber(text string) string {
	text = strings.TrimSpace(text)
	if text == "" || text[0] < '0' || text[0] > '9' {
		return text
	}
	for _, unit := range []string{"metres", "minutes", "min", "m"} {
		text = strings.TrimSpace(strings.TrimSuffix(text, unit))
	}
	return text
}

func wikiDayOf(answer string) (wikiDay, error) {
	answer = wikiNumber(answer)
	if _, err := strconv.Atoi(answer); err != nil {
		return wikiDay{}, refused("Enter a whole number.")
	}
	return wikiDay{Answer: answer, Right: answer == "41"}, nil
}

// wikiMark reports which answers are correct, and spells these as the encyclopaedia does.
func wikiMark(in *wikiQuiz) ([5]bool, error) {
	var marks [5]bool
	in.Name, in.Right = strings.TrimSpace(in.Name), 0
	if in.Name == "" {
		return marks, refused("Tell us your name first.")
	}
	for i, right := range []string{"Saint Brae", "1923", "Piet Ostler", "Ida Quill", "118"} {
		in.Answers[i] = wikiNumber(in.Answers[i])
		switch {
		case in.Answers[i] == "":
			return marks, refused("Question " + strconv.Itoa(i+1) + " has no answer yet.")
		case strings.EqualFold(in.Answers[i], right):
			in.Answers[i], marks[i] = right, true
			in.Right++
		}
	}
	return marks, nil
}

func (b *wikiShelf) article(slug string) *wikiArticle {
	at := slices.IndexFunc(b.articles, func(a *wikiArticle) bool { return a.Slug == slug })
	if at < 0 {
		return nil
	}
	return b.articles[at]
}

// column returns the distinct cells of a column, sorted.
func (b *wikiShelf) column(slug string, at int) []string {
	var cells []string
	for _, row := range b.article(slug).Tables[0].Rows {
		if row.Cells[at] != "–" {
			cells = append(cells, row.Cells[at])
		}
	}
	slices.Sort(cells)
	return slices.Compact(cells)
}

func (b *wikiShelf) render(w http.ResponseWriter, v wikiView) {
	w.Header().Set("content-type", "text/html; charset=utf-8")
	_ = b.page.Execute(w, v)
}

func (b *wikiShelf) show(w http.ResponseWriter, r *http.Request) {
	a := b.article(r.PathValue("slug"))
	if a == nil {
		http.NotFound(w, r)
		return
	}
	v := wikiView{Title: a.Title, Article: a, Watched: slices.Contains(b.saved.Watched, a.Slug)}
	for _, slug := range a.See {
		v.Links = append(v.Links, wikiLink{Slug: slug, Text: b.article(slug).Title})
	}
	b.render(w, v)
}

// search lists the articles that contain a text.
func (b *wikiShelf) search(w http.ResponseWriter, r *http.Request) {
	query := strings.TrimSpace(r.FormValue("q"))
	v := wikiView{Title: "Search", Query: query}
	for _, a := range b.articles {
		if query != "" && strings.Contains(strings.ToLower(a.source), strings.ToLower(query)) {
			v.Links = append(v.Links, wikiLink{Slug: a.Slug, Text: a.Title})
		}
	}
	b.render(w, v)
}

// suggest returns suggestions for the first letters: titles, then the first cells of table rows.
func (b *wikiShelf) suggest(w http.ResponseWriter, r *http.Request) {
	query := strings.ToLower(strings.TrimSpace(r.FormValue("q")))
	links := []wikiLink{}
	for _, a := range b.articles {
		if query != "" && strings.Contains(strings.ToLower(a.Title), query) {
			links = append(links, wikiLink{Slug: a.Slug, Text: a.Title})
		}
	}
	for _, a := range b.articles {
		for _, row := range a.Tables {
			if name := row.first(query); query != "" && name != "" {
				links = append(links, wikiLink{Slug: a.Slug, Text: name + " (in: " + a.Title + ")"})
			}
		}
	}
	w.Header().Set("content-type", "application/json")
	_ = json.NewEncoder(w).Encode(links[:min(len(links), 8)])
}

// first returns the first cell of a row that begins with the query.
func (t *wikiTable) first(query string) string {
	for _, row := range t.Rows {
		if len(row.Cells) > 0 && strings.HasPrefix(strings.ToLower(row.Cells[0]), query) {
			return row.Cells[0]
		}
	}
	return ""
}

// wikiParse parses the articles. A line begins with its kind: "=" an article, p text, b a line of the box, t a table, h its head, g a group
// of rows, r a row, l a link.
func wikiParse(text string) []*wikiArticle {
	var all []*wikiArticle
	var a *wikiArticle
	for line := range strings.Lines(text) {
		kind, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		cells := strings.Split(rest, " | ")
		if kind == "=" {
			a = &wikiArticle{Slug: cells[0], Title: cells[1]}
			all = append(all, a)
		}
		a.source += rest + "\n"
		switch kind {
		case "p":
			a.Text = append(a.Text, rest)
		case "b":
			a.Box = append(a.Box, wikiPair{cells[0], cells[1]})
		case "l":
			a.See = append(a.See, rest)
		case "t":
			a.Tables = append(a.Tables, &wikiTable{Caption: rest})
		case "h", "g", "r":
			a.Tables[len(a.Tables)-1].add(kind, cells)
		}
	}
	return all
}

// add adds a line to a table.
func (t *wikiTable) add(kind string, cells []string) {
	switch kind {
	case "h":
		var head []wikiCell
		for _, c := range cells {
			head = append(head, wikiHead(c))
		}
		t.Head = append(t.Head, head)
	case "g":
		cols := 0
		for _, c := range t.Head[0] {
			cols += c.Cols
		}
		t.Rows = append(t.Rows, wikiRow{Group: cells[0], Cols: cols, Far: len(t.Rows) >= 12})
	case "r":
		t.Rows = append(t.Rows, wikiRow{Cells: cells, Far: len(t.Rows) >= 12})
	}
}

// wikiHead parses a heading: "Text>2" spans two columns, "Text^2" two rows.
func wikiHead(text string) wikiCell {
	c := wikiCell{Cols: 1, Rows: 1}
	name, cols, wide := strings.Cut(text, ">")
	if wide {
		c.Cols, _ = strconv.Atoi(cols)
	}
	name, rows, high := strings.Cut(name, "^")
	if high {
		c.Rows, _ = strconv.Atoi(rows)
	}
	c.Text = name
	return c
}

// wikiData holds the articles.
const wikiData = `= saltmere | Saltmere Islands
p The Saltmere Islands are thirty-six inhabited islands and some two hundred rocks in a shallow northern sea. They have governed themselves since 1862.
p Most people live from fish, ferries and, since the railway of Orla closed, from visitors who come to see where it ran.
b Capital | Orla Harbour
b Islands | 36 inhabited
b Inhabitants (2021) | 146,752
b Currency | Saltmere crown
b Head | Governor
l islands
l governors
l orla
l climate
= islands | List of islands
p The inhabited islands by group. People were counted in 2011 and in 2021, each time on the first Sunday of May.
t Inhabited islands
h Island^2 | Inhabitants>2 | Area, km²^2 | Highest point, m^2
h 2011 | 2021
g North group
r Orla | 18,240 | 19,615 | 21.7 | 327
r Brant Holm | 2,508 | 2,487 | 57.7 | 261
r Skerrow Rock | 4,198 | 4,152 | 53.7 | 365
r Great Fulmar | 5,210 | 5,487 | 49.3 | 390
r Little Fulmar | 2,688 | 2,507 | 57.0 | 328
r Harrow Isle | 5,272 | 5,302 | 48.1 | 318
r Tansy | 1,263 | 1,051 | 16.7 | 320
r Mickle Ness | 4,392 | 4,689 | 13.4 | 89
r Ravensay | 980 | 794 | 7.5 | 612
g West group
r Gannet Holm | 5,176 | 5,069 | 44.7 | 148
r Dunmoor | 1,748 | 1,555 | 59.3 | 142
r Ling Island | 3,081 | 3,184 | 41.1 | 170
r Oxskerry | 1,939 | 2,162 | 27.2 | 385
r Saint Brae | 5,120 | 4,688 | 9.1 | 130
r Fennay | 1,456 | 1,726 | 1.5 | 378
r Pollock Isle | 5,384 | 5,698 | 55.3 | 219
r Quern | 1,752 | 1,968 | 43.1 | 175
r Hestray | 2,682 | 2,458 | 45.7 | 216
g South group
r Marrowby | 1,358 | 1,227 | 58.8 | 63
r Lower Wick | 1,096 | 1,054 | 5.8 | 308
r Ternsay | 5,630 | 5,521 | 34.8 | 90
r Calder Isle | 1,340 | 958 | 61.7 | 323
r Black Mull | 6,153 | 6,146 | 52.4 | 170
r Inver Holm | 3,844 | 4,008 | 32.4 | 80
r Sandray | 2,258 | 2,119 | 59.7 | 23
r Petrel Island | 3,997 | 3,927 | 49.2 | 92
r Wether | 4,572 | 4,824 | 63.4 | 53
g Outer group
r Long Auk | 6,125 | 6,395 | 54.3 | 65
r Far Skarn | 6,488 | 6,487 | 44.6 | 310
r Eynort | 959 | 1,122 | 20.4 | 634
r Bishop's Chair | 4,075 | 4,240 | 22.5 | 143
r Kelda | 6,310 | 5,899 | 21.5 | 260
r Sule Rock | 5,240 | 5,026 | 28.0 | 104
r Vallay | 4,100 | 4,409 | 3.1 | 193
r Noss Head | 5,154 | 5,274 | 43.6 | 114
r Eldray | 3,536 | 3,524 | 57.9 | 225
l saltmere
l lighthouses
l ferries
= lighthouses | List of lighthouses
p Lighthouses with a keeper or without one, in the order in which a ship sees them on the way round. Heights are those of the tower, not of the light above the sea.
t Lighthouses
h Island^2 | Light^2 | Built^2 | Tower, m^2 | Automatic since^2 | Range, nautical miles>2
h White | Red
r Brant Holm | Mole | 1892 | 27 | 1965 | 11 | –
r Eynort | Mole | 1916 | 19 | 1962 | 14 | 9
r Ternsay | Mole | 1827 | 26 | 1968 | 19 | 5
r Sandray | Head | 1891 | 36 | 1996 | 24 | 12
r Great Fulmar | Mole | 1828 | 31 | 1994 | 21 | 6
r Great Fulmar | Lower light | 1844 | 14 | 1992 | 7 | –
r Hestray | North end | 1823 | 47 | 1983 | 15 | –
r Kelda | Upper light | 1919 | 42 | 1995 | 21 | 9
r Skerrow Rock | Head | 1880 | 41 | 1977 | 9 | 7
r Harrow Isle | North end | 1868 | 34 | 1981 | 11 | –
r Ling Island | Upper light | 1821 | 13 | 1986 | 22 | 11
r Marrowby | Upper light | 1858 | 44 | 1976 | 16 | –
r Black Mull | Head | 1822 | 43 | 1965 | 20 | –
r Bishop's Chair | Mole | 1848 | 41 | 1993 | 20 | 8
r Vallay | Mole | 1884 | 26 | 1991 | 20 | –
r Vallay | Lower light | 1890 | 11 | 1989 | 9 | –
r Pollock Isle | Point | 1868 | 45 | 1985 | 17 | 6
r Sule Rock | Point | 1893 | 19 | 1965 | 18 | 12
r Calder Isle | Mole | 1932 | 11 | 1975 | 23 | –
r Petrel Island | Upper light | 1930 | 45 | 1987 | 24 | 11
r Lower Wick | Point | 1879 | 15 | 1976 | 9 | 9
r Fennay | Point | 1836 | 23 | 1982 | 16 | 6
r Eldray | North end | 1844 | 12 | 1973 | 21 | –
r Far Skarn | Head | 1840 | 43 | 1984 | 12 | –
r Little Fulmar | Upper light | 1876 | 44 | 1992 | 19 | 7
r Noss Head | North end | 1933 | 27 | 1991 | 17 | –
r Saint Brae | Point | 1923 | 19 | 1984 | 11 | 12
r Inver Holm | Mole | 1904 | 22 | 1982 | 24 | 9
r Mickle Ness | North end | 1886 | 14 | 1990 | 12 | –
r Oxskerry | Point | 1867 | 23 | 1977 | 17 | –
r Dunmoor | Head | 1837 | 36 | 1978 | 14 | 11
r Gannet Holm | North end | 1888 | 9 | 1988 | 9 | –
r Orla | Mole | 1844 | 47 | 1974 | 10 | –
r Orla | Lower light | 1864 | 15 | 1971 | 7 | –
r Long Auk | Upper light | 1865 | 30 | 1972 | 16 | –
r Ravensay | North end | 1897 | 41 | 1984 | 13 | –
l islands
l storm
= ferries | Ferry lines
p The lines of the winter timetable. Some are sailed by two companies with ships of different speed.
t Lines
h Line | From | To | Minutes | Company | Sailings a week
r 1 | Dunmoor | Hestray | 121 | Northern Boats | 15
r 2 | Vallay | Tansy | 65 | Island Council | 5
r 3 | Orla | Eynort | 135 | Orla Steam Packet | 21
r 4 | Orla | Oxskerry | 34 | Brae Line | 5
r 5 | Orla | Sandray | 42 | Orla Steam Packet | 10
r 6 | Mickle Ness | Fennay | 86 | Brae Line | 6
r 7 | Ternsay | Dunmoor | 79 | Island Council | 8
r 8 | Kelda | Eynort | 65 | Brae Line | 9
r 9 | Orla | Bishop's Chair | 120 | Orla Steam Packet | 13
r 10 | Orla | Ling Island | 58 | Northern Boats | 7
r 11 | Ternsay | Tansy | 105 | Northern Boats | 16
r 12 | Orla | Wether | 92 | Brae Line | 11
r 13 | Calder Isle | Kelda | 70 | Northern Boats | 12
r 14 | Noss Head | Dunmoor | 77 | Island Council | 10
r 15 | Eynort | Far Skarn | 40 | Island Council | 15
r 16 | Orla | Eynort | 118 | Northern Boats | 20
r 17 | Orla | Eynort | 126 | Brae Line | 13
r 18 | Orla | Saint Brae | 59 | Orla Steam Packet | 7
r 19 | Orla | Eldray | 40 | Island Council | 9
r 20 | Orla | Petrel Island | 106 | Island Council | 4
r 21 | Tansy | Mickle Ness | 117 | Island Council | 19
r 22 | Dunmoor | Brant Holm | 34 | Northern Boats | 4
r 23 | Harrow Isle | Little Fulmar | 116 | Northern Boats | 12
r 24 | Sandray | Skerrow Rock | 124 | Orla Steam Packet | 20
r 25 | Orla | Ravensay | 55 | Brae Line | 6
r 26 | Dunmoor | Ling Island | 54 | Island Council | 3
r 27 | Marrowby | Skerrow Rock | 133 | Brae Line | 19
r 28 | Orla | Calder Isle | 21 | Orla Steam Packet | 3
r 29 | Skerrow Rock | Great Fulmar | 34 | Northern Boats | 2
r 30 | Orla | Sule Rock | 148 | Northern Boats | 13
r 31 | Inver Holm | Orla | 87 | Orla Steam Packet | 20
r 32 | Orla | Gannet Holm | 94 | Orla Steam Packet | 21
l islands
l orla
= governors | Governors of the Saltmere Islands
p Governors take office on the first day of the year that is given and leave on the last day of the year before the next.
t Governors
h No. | Name | In office>2 | Party
r 1 | Angus Rendall | 1862 | 1865 | Fishers
r 2 | Ida Hammond | 1866 | 1871 | Union
r 3 | Agnes Flett | 1872 | 1878 | Union
r 4 | Nell Tulloch | 1879 | 1882 | Free Islands
r 5 | Agnes Brae | 1883 | 1888 | Fishers
r 6 | Conrad Isbister | 1889 | 1894 | Fishers
r 7 | Hilda Sorley | 1895 | 1900 | none
r 8 | Thomas Marwick | 1901 | 1907 | none
r 9 | Hilda Quill | 1908 | 1911 | none
r 10 | Agnes Garrioch | 1912 | 1919 | Free Islands
r 11 | Angus Isbister | 1920 | 1927 | Union
r 12 | Lewis Marwick | 1928 | 1931 | none
r 13 | Elspeth Tulloch | 1932 | 1936 | none
r 14 | Ida Quill | 1937 | 1940 | Fishers
r 15 | Magnus Drever | 1941 | 1948 | Fishers
r 16 | Ida Rendall | 1949 | 1955 | Free Islands
r 17 | Conrad Rendall | 1956 | 1959 | Union
r 18 | Vera Quill | 1960 | 1963 | Union
r 19 | Angus Flett | 1964 | 1968 | none
r 20 | Ida Tulloch | 1969 | 1974 | none
r 21 | Conrad Sorley | 1975 | 1979 | Free Islands
r 22 | Agnes Ostler | 1980 | 1985 | Union
r 23 | Marta Garrioch | 1986 | 1989 | Union
r 24 | Oscar Garrioch | 1990 | 1996 | Fishers
r 25 | Nell Quill | 1997 | 2002 | none
r 26 | Lewis Quill | 2003 | 2007 | Free Islands
r 27 | Thomas Linklater | 2008 | 2011 | Union
r 28 | Hilda Tulloch | 2012 | 2017 | Union
r 29 | Hilda Marwick | 2018 | 2022 | none
r 30 | Marta Hammond | 2023 | today | Fishers
l saltmere
= orla | Orla Harbour
p Orla Harbour is the capital and the only town with traffic lights, of which there are three. The railway began here, and so do most ferry lines.
b Island | Orla
b Town since | 1704
b Mayor | Nils Garrioch
b Quays | 7
b Twin town | Whitby
t Mayors since 1980
h Mayor | From | To
r Angus Tulloch | 1980 | 1984
r Lewis Quill | 1984 | 1987
r Hilda Rendall | 1987 | 1993
r Conrad Fenwick | 1993 | 1999
r Nell Rendall | 1999 | 2002
r Ruth Ostler | 2002 | 2006
r Ruth Ostler | 2006 | 2012
r Magnus Linklater | 2012 | 2018
r Oscar Flett | 2018 | 2021
r Oscar Tulloch | 2021 | 2026
l railway
l ferries
= climate | Climate of the Saltmere Islands
p Mild, wet and above all windy. Values of Orla, means of the years 1991 to 2020.
t Orla by month
h Month^2 | Temperature, °C>2 | Rain^2 | Days with gales^2
h Low | High
r January | 3 | 9 | 121 mm | 12
r February | 3 | 10 | 95 mm | 7
r March | 4 | 11 | 73 mm | 6
r April | 5 | 12 | 64 mm | 1
r May | 8 | 13 | 76 mm | 9
r June | 10 | 16 | 84 mm | 9
r July | 12 | 18 | 103 mm | 5
r August | 12 | 17 | 49 mm | 11
r September | 11 | 17 | 116 mm | 2
r October | 8 | 14 | 83 mm | 3
r November | 6 | 11 | 140 mm | 4
r December | 4 | 10 | 90 mm | 11
l saltmere
l storm
= herring | Herring fishery
p Tonnes landed in all harbours. Until 1994 the catch was counted in barrels, which are converted here.
t Catch by year
h Year^2 | Boats^2 | Tonnes>3
h Landed | Eaten here | Exported
r 1980 | 147 | 15,613 | 2,185 | 13,428
r 1981 | 89 | 16,388 | 2,329 | 14,059
r 1982 | 63 | 16,827 | 2,444 | 14,383
r 1983 | 95 | 16,663 | 1,862 | 14,801
r 1984 | 105 | 12,709 | 2,792 | 9,917
r 1985 | 79 | 13,809 | 1,653 | 12,156
r 1986 | 125 | 9,377 | 1,382 | 7,995
r 1987 | 70 | 8,381 | 2,920 | 5,461
r 1988 | 151 | 11,029 | 2,741 | 8,288
r 1989 | 112 | 14,765 | 2,187 | 12,578
r 1990 | 102 | 10,800 | 2,497 | 8,303
r 1991 | 117 | 9,218 | 1,948 | 7,270
r 1992 | 101 | 13,196 | 2,841 | 10,355
r 1993 | 88 | 19,273 | 2,713 | 16,560
r 1994 | 178 | 14,394 | 2,184 | 12,210
r 1995 | 165 | 19,483 | 2,807 | 16,676
r 1996 | 69 | 12,909 | 2,882 | 10,027
r 1997 | 161 | 23,870 | 2,205 | 21,665
r 1998 | 111 | 17,650 | 1,422 | 16,228
r 1999 | 171 | 12,445 | 1,630 | 10,815
r 2000 | 164 | 15,137 | 2,276 | 12,861
r 2001 | 79 | 20,978 | 2,436 | 18,542
r 2002 | 172 | 16,620 | 2,697 | 13,923
r 2003 | 98 | 9,101 | 2,766 | 6,335
r 2004 | 156 | 17,149 | 2,103 | 15,046
r 2005 | 153 | 17,120 | 2,056 | 15,064
r 2006 | 183 | 13,285 | 1,804 | 11,481
r 2007 | 125 | 15,420 | 1,227 | 14,193
r 2008 | 125 | 23,780 | 1,879 | 21,901
r 2009 | 64 | 15,863 | 1,435 | 14,428
r 2010 | 185 | 14,885 | 2,519 | 12,366
r 2011 | 172 | 21,380 | 1,602 | 19,778
r 2012 | 175 | 13,892 | 2,298 | 11,594
r 2013 | 63 | 12,658 | 2,296 | 10,362
r 2014 | 100 | 15,661 | 1,397 | 14,264
r 2015 | 106 | 17,148 | 1,806 | 15,342
r 2016 | 110 | 20,623 | 2,418 | 18,205
r 2017 | 146 | 13,757 | 1,502 | 12,255
r 2018 | 154 | 8,649 | 2,405 | 6,244
r 2019 | 165 | 20,418 | 2,859 | 17,559
r 2020 | 170 | 15,911 | 2,846 | 13,065
r 2021 | 74 | 10,767 | 1,277 | 9,490
r 2022 | 96 | 14,295 | 1,318 | 12,977
r 2023 | 102 | 17,919 | 2,384 | 15,535
r 2024 | 83 | 18,400 | 2,513 | 15,887
r 2025 | 183 | 8,702 | 2,809 | 5,893
l gull
l saltmere
= gull | Saltmere grey gull
p A gull the colour of wet slate that nests nowhere else. It follows the herring and, since there are ferries, the ferries.
b Length | 44 cm
b Span | 108 cm
b Eggs | 2 or 3
b Food | herring, chips
b State | near threatened
t Breeding pairs
h Island | 2005 | 2015 | 2025
r Bishop's Chair | 140 | 346 | 138
r Ravensay | 459 | 641 | 62
r Brant Holm | 285 | 475 | 650
r Eynort | 639 | 460 | 757
r Lower Wick | 743 | 587 | 803
r Quern | 563 | 30 | 766
r Harrow Isle | 28 | 222 | 600
r Sule Rock | 257 | 198 | 100
r Vallay | 27 | 568 | 818
r Sandray | 318 | 482 | 810
r Marrowby | 422 | 230 | 718
r Skerrow Rock | 575 | 134 | 403
r Petrel Island | 303 | 335 | 696
r Orla | 855 | 157 | 186
r Inver Holm | 489 | 244 | 661
r Eldray | 519 | 599 | 753
r Oxskerry | 622 | 311 | 821
r Pollock Isle | 74 | 167 | 686
r Fennay | 574 | 467 | 546
r Mickle Ness | 443 | 74 | 576
l herring
= railway | Orla Light Railway
p A narrow-gauge railway from Orla Harbour round the island, built for fish and closed piece by piece.
b Gauge | 762 mm
b Length | 31.4 km
b Opened | 1888
b Closed | 1961
t Stations
h Station | km | Above the sea, m | Opened | Closed
r Harbour | 0.0 | 133 | 1892 | 1932
r Fish Market | 2.0 | 50 | 1889 | 1945
r Gasworks | 3.5 | 55 | 1889 | 1945
r Marl Lane | 5.4 | 133 | 1901 | 1950
r Upper Orla | 6.4 | 92 | 1902 | 1944
r Cold Well | 7.7 | 114 | 1890 | 1930
r Thornhope | 9.0 | 130 | 1893 | 1921
r Dunmoor Road | 11.2 | 39 | 1896 | 1957
r Kirk | 12.5 | 32 | 1896 | 1939
r Abbot's Dyke | 13.3 | 28 | 1898 | 1934
r Dunmoor Halt | 14.6 | 99 | 1896 | 1939
r Peat Cutting | 16.5 | 100 | 1898 | 1922
r Summit | 18.6 | 66 | 1902 | 1922
r Heron Pool | 20.7 | 60 | 1896 | 1938
r Mill of Sorn | 22.1 | 75 | 1888 | 1954
r Sorn | 24.0 | 55 | 1895 | 1940
r Sands | 25.3 | 24 | 1900 | 1956
r Lighthouse Road | 27.2 | 73 | 1890 | 1952
r Old Battery | 28.7 | 100 | 1901 | 1934
r Creel Bay | 29.9 | 68 | 1902 | 1950
r Creel Bay Pier | 31.9 | 132 | 1895 | 1951
l orla
= storm | Great Storm of 1911
p In the night to 14 January 1911 a storm from the north-west took roofs, boats and two lighthouses. It is why houses on the islands have no eaves.
b Date | 13 and 14 January 1911
b Wind | force 12
b Lost boats | 148
t Damage
h Island^2 | Lost>3
h Boats | Roofs | Sheep
r Orla | 20 | 148 | 77
r Long Auk | 7 | 64 | 260
r Eynort | 9 | 67 | 195
r Hestray | 3 | 146 | 280
r Inver Holm | 21 | 153 | 358
r Brant Holm | 0 | 42 | 231
r Tansy | 20 | 159 | 244
r Calder Isle | 3 | 52 | 60
r Ling Island | 0 | 131 | 305
r Fennay | 1 | 39 | 212
r Noss Head | 20 | 125 | 190
r Eldray | 7 | 50 | 158
r Dunmoor | 16 | 119 | 236
r Pollock Isle | 20 | 108 | 116
r Skerrow Rock | 13 | 69 | 39
r Ternsay | 10 | 99 | 325
r Little Fulmar | 19 | 88 | 220
r Far Skarn | 0 | 47 | 67
l lighthouses
l climate
= regatta | Saltmere Regatta
p Rowed and sailed round Orla on the last Saturday of July since 1975. In 2001 and 2020 there was none.
t Winners
h Year | Boat | Skipper | Home island | Time
r 1975 | Kittiwake | Mona Quill | Lower Wick | 5:38
r 1976 | Fair Copy | Dag Hammond | Harrow Isle | 4:49
r 1977 | Old Debt | Bo Marwick | Quern | 4:59
r 1978 | Wet Slate | Liv Fenwick | Saint Brae | 4:21
r 1979 | Old Debt | Fay Tulloch | Brant Holm | 3:04
r 1980 | Second Thought | Liv Fenwick | Pollock Isle | 5:47
r 1981 | Old Debt | Piet Ostler | Petrel Island | 4:17
r 1982 | Wet Slate | Dag Hammond | Brant Holm | 4:13
r 1983 | Second Thought | Jean Linklater | Eldray | 3:01
r 1984 | Kittiwake | Fay Tulloch | Harrow Isle | 4:06
r 1985 | Fair Copy | Mona Quill | Ravensay | 5:58
r 1986 | Moonraker | Dag Hammond | Pollock Isle | 4:40
r 1987 | Salt and Vinegar | Bo Marwick | Gannet Holm | 5:02
r 1988 | Moonraker | Piet Ostler | Quern | 3:22
r 1989 | Fair Copy | Carl Isbister | Fennay | 5:46
r 1990 | Kittiwake | Rab Sorley | Marrowby | 3:16
r 1991 | Moonraker | Jean Linklater | Skerrow Rock | 5:53
r 1992 | Old Debt | Fay Tulloch | Bishop's Chair | 5:36
r 1993 | Ida's Boat | Liv Fenwick | Brant Holm | 3:27
r 1994 | Old Debt | Carl Isbister | Mickle Ness | 5:53
r 1995 | Last Ferry | Fay Tulloch | Harrow Isle | 3:55
r 1996 | Last Ferry | Bo Marwick | Petrel Island | 5:15
r 1997 | Last Ferry | Piet Ostler | Great Fulmar | 3:02
r 1998 | Salt and Vinegar | Fay Tulloch | Quern | 5:52
r 1999 | Moonraker | Ingrid Flett | Ravensay | 4:33
r 2000 | Second Thought | Jean Linklater | Quern | 3:13
r 2001 | not held | – | – | –
r 2002 | Salt and Vinegar | Bo Marwick | Dunmoor | 3:48
r 2003 | Sprat | Carl Isbister | Oxskerry | 5:20
r 2004 | Wet Slate | Rab Sorley | Ling Island | 4:43
r 2005 | Wet Slate | Carl Isbister | Harrow Isle | 5:40
r 2006 | Ida's Boat | Jean Linklater | Ternsay | 3:48
r 2007 | Moonraker | Dag Hammond | Bishop's Chair | 5:11
r 2008 | Ida's Boat | Fay Tulloch | Skerrow Rock | 4:10
r 2009 | Old Debt | Rab Sorley | Petrel Island | 3:21
r 2010 | Ida's Boat | Jean Linklater | Ravensay | 4:46
r 2011 | Kittiwake | Mona Quill | Kelda | 5:06
r 2012 | Ida's Boat | Oona Rendall | Marrowby | 5:44
r 2013 | Second Thought | Fay Tulloch | Far Skarn | 5:49
r 2014 | Fair Copy | Sam Drever | Lower Wick | 5:14
r 2015 | Wet Slate | Dag Hammond | Wether | 3:12
r 2016 | Salt and Vinegar | Piet Ostler | Inver Holm | 3:15
r 2017 | Old Debt | Liv Fenwick | Noss Head | 4:18
r 2018 | Old Debt | Oona Rendall | Wether | 4:37
r 2019 | Sprat | Mona Quill | Tansy | 4:33
r 2020 | not held | – | – | –
r 2021 | Old Debt | Piet Ostler | Calder Isle | 5:12
r 2022 | Wet Slate | Bo Marwick | Bishop's Chair | 5:32
r 2023 | Old Debt | Ingrid Flett | Fennay | 4:44
r 2024 | Second Thought | Carl Isbister | Oxskerry | 3:02
r 2025 | Wet Slate | Bo Marwick | Sandray | 4:18
l orla`
