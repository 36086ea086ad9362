package main

import "testing"

// A command line creates only the command that it names, so the names in the table must equal the names of the commands.
func TestCommandsAreMadeByTheirNames(t *testing.T) {
	a := newApp(nil, nil, nil, nil)
	total := 0
	for _, g := range groups() {
		total += len(g.commands)
		for _, c := range g.commands {
			only := newRoot(a, c.Name, "--help").Commands()
			if len(only) != 1 || only[0].Name() != c.Name || only[0].GroupID != g.id {
				t.Errorf("the command line %q makes %d commands, of which it should make %q of the group %s alone", c.Name, len(only), c.Name, g.id)
			}
		}
	}
	for _, args := range [][]string{nil, {"help", "open"}, {"--help"}, {"opne"}, {"__complete", "open", ""}} {
		if made := len(newRoot(a, args...).Commands()); made != total {
			t.Errorf("the command line %q makes %d of %d commands", args, made, total)
		}
	}
}
