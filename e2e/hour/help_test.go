package hour

import "strings"

// helpReturn is a return that the chat has taken.
type helpReturn struct {
	Order  string `json:"order"`
	Reason string `json:"reason"`
	How    string `json:"how"`
}

// help serves questions with answers, and a chat in a frame that takes returns step by step.
func help(s *Site) {
	s.page("GET /chat", "help_chat.html")
	type answer struct {
		Text    string   `json:"text"`
		Choices []string `json:"choices,omitempty"`
	}
	var taken helpReturn
	step := ""
	answers(s, "POST /api/chat", func(in struct{ Text string }) (answer, error) {
		text := strings.ToLower(strings.TrimSpace(in.Text))
		switch {
		case step == "" || text == "start again":
			step = "topic"
			return answer{"Hello! What is it about?", []string{"A parcel", "A return", "Something else"}}, nil
		case step == "topic" && text == "a return":
			step = "order"
			return answer{Text: "Which order? Write its number."}, nil
		case step == "topic":
			return answer{"I only know about returns today.", []string{"A return"}}, nil
		case step == "order" && text != "4471":
			return answer{Text: "I do not know that order. A number has four digits."}, nil
		case step == "order":
			step, taken.Order = "word", text
			return answer{Text: "What is the word of the day?"}, nil
		case step == "word" && text != "herring":
			return answer{Text: "That is not it. You find it on the help page."}, nil
		case step == "word":
			step = "reason"
			return answer{"Why does it come back?", []string{"Broken", "Too large", "Changed my mind"}}, nil
		case step == "reason":
			step, taken.Reason = "how", in.Text
			return answer{"How do you send it?", []string{"Parcel shop", "Collection"}}, nil
		case step == "how":
			step, taken.How = "end", in.Text
			s.saved = taken
			return answer{Text: "Your return R-88 is noted. Thank you!"}, nil
		}
		return answer{Text: "Is there anything else?", Choices: []string{"Start again"}}, nil
	})
}
