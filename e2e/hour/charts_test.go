package hour

import (
	"encoding/csv"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// chartsSeries lists the kinds of boats, in the order of the figures.
var chartsSeries = []string{"Ferries", "Cargo", "Sailing", "Fishing"}

// chartsFigures maps years to the number of boats by series and month. The last year is incomplete.
var chartsFigures = map[string][][]int{
	"2024": {
		{542, 595, 569, 658, 650, 757, 731, 766, 668, 685, 605, 543},
		{491, 454, 437, 440, 457, 494, 533, 477, 520, 486, 466, 466},
		{232, 202, 233, 325, 348, 529, 575, 486, 359, 293, 255, 278},
		{260, 237, 263, 338, 358, 330, 330, 358, 317, 325, 278, 280},
	},
	"2025": {
		{579, 632, 606, 598, 687, 697, 768, 706, 705, 625, 642, 580},
		{431, 491, 474, 477, 494, 531, 473, 514, 460, 523, 503, 503},
		{269, 239, 270, 362, 385, 469, 515, 523, 396, 330, 292, 218},
		{297, 274, 300, 278, 298, 367, 367, 298, 354, 265, 315, 317},
	},
	"2026": {
		{616, 572, 643, 635, 724, 734, 708, 743, 645, 662},
		{468, 431, 511, 514, 531, 471, 510, 551, 497, 463},
		{209, 276, 307, 302, 422, 506, 552, 463, 433, 367},
		{237, 311, 337, 315, 335, 307, 307, 335, 294, 302},
	},
}

// chartsRule notifies a user when a series exceeds its threshold.
type chartsRule struct {
	Name      string `json:"name"`
	Series    string `json:"series"`
	When      string `json:"when"`
	Months    int    `json:"months"`
	Severity  string `json:"severity"`
	Mail      string `json:"mail"`
	Phone     string `json:"phone"`
	Pager     bool   `json:"pager"`
	QuietFrom string `json:"quietFrom"`
	QuietTo   string `json:"quietTo"`
	Note      string `json:"note"`
	On        bool   `json:"on"`
}

// charts serves statistics about boats, with a threshold for each series, rules that require one, and exports of the figures.
func charts(s *Site) {
	type threshold struct {
		Series string `json:"series"`
		Value  int    `json:"value"`
	}
	type export struct {
		Period string   `json:"period"`
		Series []string `json:"series"`
	}
	type state struct {
		Thresholds []threshold  `json:"thresholds"`
		Rules      []chartsRule `json:"rules"`
		Exports    []export     `json:"exports"`
	}
	type everything struct {
		state
		Series  []string           `json:"series"`
		Figures map[string][][]int `json:"figures"`
	}
	type file struct {
		Name string `json:"name"`
		Text string `json:"text"`
	}
	now := state{
		Thresholds: []threshold{{"Ferries", 750}, {"Cargo", 520}, {"Sailing", 0}, {"Fishing", 360}},
		Rules: []chartsRule{
			{Name: "Ferry peak", Series: "Ferries", When: "above", Months: 1, Severity: "Warning", Mail: "ops@quay.example", On: true},
			{Name: "Quiet cargo", Series: "Cargo", When: "below", Months: 3, Severity: "Info", Mail: "cargo@quay.example", On: true},
			{Name: "Fishing limit", Series: "Fishing", When: "above", Months: 2, Severity: "High", Mail: "ops@quay.example", Pager: true},
		},
		Exports: []export{},
	}
	limit := func(series string) *threshold {
		i := slices.IndexFunc(now.Thresholds, func(t threshold) bool { return t.Series == series })
		if i < 0 {
			return nil
		}
		return &now.Thresholds[i]
	}
	rule := func(name string) int {
		return slices.IndexFunc(now.Rules, func(r chartsRule) bool { return strings.EqualFold(r.Name, name) })
	}
	answers(s, "GET /api/state", func(struct{}) (everything, error) {
		return everything{now, chartsSeries, chartsFigures}, nil
	})
	answers(s, "POST /api/threshold", func(in threshold) (state, error) {
		t := limit(in.Series)
		switch {
		case t == nil:
			return now, refused("There is no such series.")
		case in.Value < 0 || in.Value > 900:
			return now, refused("A threshold is between 0 and 900.")
		case in.Value%10 != 0:
			return now, refused("A threshold goes in steps of 10.")
		}
		t.Value = in.Value
		s.saved = now
		return now, nil
	})
	answers(s, "POST /api/rule", func(in chartsRule) (state, error) {
		in.Name = strings.TrimSpace(in.Name)
		if err := chartsCheck(in); err != nil {
			return now, err
		}
		if rule(in.Name) >= 0 {
			return now, refused("There is a rule of this name already.")
		}
		if t := limit(in.Series); t == nil || t.Value == 0 {
			return now, refused(in.Series + " has no threshold yet. Set one under Thresholds first.")
		}
		in.On = true
		now.Rules = append(now.Rules, in)
		s.saved = now
		return now, nil
	})
	answers(s, "POST /api/switch", func(in chartsRule) (state, error) {
		i := rule(in.Name)
		if i < 0 {
			return now, refused("This rule is no longer there.")
		}
		now.Rules[i].On = in.On
		s.saved = now
		return now, nil
	})
	answers(s, "POST /api/remove", func(in chartsRule) (state, error) {
		now.Rules = slices.DeleteFunc(now.Rules, func(r chartsRule) bool { return r.Name == in.Name })
		s.saved = now
		return now, nil
	})
	answers(s, "POST /api/export", func(in export) (file, error) {
		text, err := chartsCSV(in.Period, in.Series)
		if err != nil {
			return file{}, err
		}
		now.Exports = append(now.Exports, in)
		s.saved = now
		return file{"boats-" + in.Period + ".csv", text}, nil
	})
}

var (
	chartsMail  = regexp.MustCompile(`^\S+@\S+\.\S+$`)
	chartsPhone = regexp.MustCompile(`^\+?[0-9 ]{6,}$`)
)

// chartsCheck returns an error for an invalid new rule.
func chartsCheck(r chartsRule) error {
	grave := r.Severity == "High" || r.Severity == "Critical"
	switch {
	case len(r.Name) < 3 || len(r.Name) > 40:
		return refused("Give the rule a name of 3 to 40 letters.")
	case !slices.Contains(chartsSeries, r.Series):
		return refused("Choose the series that the rule watches.")
	case r.When != "above" && r.When != "below":
		return refused("Choose whether the rule is for above or below the threshold.")
	case r.Months < 1 || r.Months > 12:
		return refused("A rule counts 1 to 12 months in a row.")
	case r.Severity == "":
		return refused("Choose a severity.")
	case r.Mail == "" && r.Phone == "" && !r.Pager:
		return refused("Choose at least one way to tell somebody.")
	case r.Mail != "" && !chartsMail.MatchString(r.Mail):
		return refused("The mail address is not complete.")
	case r.Phone != "" && !chartsPhone.MatchString(r.Phone):
		return refused("The phone number has digits and spaces only.")
	case r.Pager && !grave:
		return refused("Only rules of the severity High or Critical may page the watch.")
	case (r.QuietFrom == "") != (r.QuietTo == ""):
		return refused("Quiet hours need a beginning and an end.")
	}
	return nil
}

// chartsCSV returns the figures of a period such as "2025" or "2025-Q3", one month per line.
func chartsCSV(period string, series []string) (string, error) {
	year, quarter, part := strings.Cut(period, "-Q")
	figures := chartsFigures[year]
	if figures == nil {
		return "", refused("There are no figures of this period.")
	}
	if len(series) == 0 {
		return "", refused("All series are hidden, so there is nothing to export.")
	}
	from, to := 0, len(figures[0])
	if part {
		q, err := strconv.Atoi(quarter)
		if err != nil || q < 1 || q > 4 || q*3-3 >= to {
			return "", refused("There are no figures of this quarter.")
		}
		from, to = q*3-3, min(q*3, to)
	}
	var text strings.Builder
	w := csv.NewWriter(&text)
	_ = w.Write(append([]string{"month"}, series...))
	for m := from; m < to; m++ {
		row := []string{fmt.Sprintf("%s-%02d", year, m+1)}
		for _, name := range series {
			k := slices.Index(chartsSeries, name)
			if k < 0 {
				return "", refused("There is no series " + name + ".")
			}
			row = append(row, strconv.Itoa(figures[k][m]))
		}
		_ = w.Write(row)
	}
	w.Flush()
	return text.String(), nil
}
