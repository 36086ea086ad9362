package hour

import (
	"slices"
	"strings"
)

// joinForm is an application for membership.
type joinForm struct {
	Name     string   `json:"name"`
	Email    string   `json:"email"`
	Born     string   `json:"born"`
	Kind     string   `json:"kind"`
	Boats    []string `json:"boats"`
	Knows    string   `json:"knows"`
	Password string   `json:"password"`
	Again    string   `json:"again"`
	Rules    bool     `json:"rules"`
}

// joinAnswer is a member number, or the errors by field.
type joinAnswer struct {
	Number string            `json:"number,omitempty"`
	Bad    map[string]string `json:"bad"`
}

// join takes applications to a rowing club, and tells all errors of a form together.
func join(s *Site) {
	cookies := "not asked"
	answers(s, "POST /api/cookies", func(in struct{ Choice string }) (struct{}, error) {
		cookies = in.Choice
		return struct{}{}, nil
	})
	answers(s, "POST /api/join", func(in joinForm) (joinAnswer, error) {
		bad := in.check()
		if len(bad) > 0 {
			return joinAnswer{Bad: bad}, nil
		}
		s.saved = map[string]any{"member": in, "cookies": cookies}
		return joinAnswer{Number: "R-2231"}, nil
	})
}

func (in joinForm) check() map[string]string {
	bad := map[string]string{}
	add := func(wrong bool, field, text string) {
		if wrong && bad[field] == "" {
			bad[field] = text
		}
	}
	add(in.Name == "", "name", "We need your name.")
	add(!strings.Contains(in.Email, "@"), "email", "This is no email address.")
	add(len(in.Born) != 10 || in.Born[2] != '/', "born", "Write the date as DD/MM/YYYY.")
	add(in.Kind == "", "kind", "Choose a membership.")
	add(in.Kind == "Youth" && len(in.Born) == 10 && in.Born[6:] < "2009", "kind", "Youth is for those under 18.")
	add(!slices.Contains([]string{"Greta Voss", "Ben Ritter"}, in.Knows), "knows", "Greta Voss and Ben Ritter introduce new members. Name one of them.")
	add(len(in.Password) < 12, "password", "A password has 12 characters or more.")
	add(!strings.ContainsAny(in.Password, "0123456789"), "password", "A password has a digit.")
	add(in.Again != in.Password, "again", "The passwords differ.")
	add(!in.Rules, "rules", "Accept the rules.")
	return bad
}
