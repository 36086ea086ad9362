package discovery

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// Error says why no browser was selected, and what to do about it.
type Error struct {
	// Reason says why, and Remedy what to do next. Each is one line.
	Reason, Remedy string
	// Choices lists the browsers to choose from, if there are several.
	Choices []Browser
}

func (e *Error) Error() string { return e.Reason + ": " + e.Remedy }

// Choose finds browsers and returns the one that choice selects: a name, a profile folder, or an address as in Browser.Choice. An empty
// choice selects the only browser. The error is an *Error.
func (f *Finder) Choose(ctx context.Context, choice string) (Browser, error) {
	if strings.ContainsAny(choice, `/\`) && !strings.HasPrefix(choice, "http://") {
		one := *f
		one.Folders, one.Ports = []Folder{unnamed(choice)}, nil
		return one.Find(ctx).choose(choice, true)
	}
	return f.Find(ctx).choose(choice, false)
}

func (r Result) choose(choice string, folder bool) (Browser, error) {
	var fits []Browser
	for _, b := range r.Found {
		if choice == "" || folder || choice == b.Choice() || choice == b.Folder.Name {
			fits = append(fits, b)
		}
	}
	switch {
	case len(fits) == 1:
		return fits[0], nil
	case len(fits) > 1:
		return Browser{}, &Error{fmt.Sprintf("%d running browsers allow debugging", len(fits)), remedyOf(fits), fits}
	case len(r.Found) > 0:
		return Browser{}, &Error{fmt.Sprintf("no running browser %q allows debugging", choice), remedyOf(r.Found), r.Found}
	}
	return Browser{}, r.noneError(choice)
}

// remedyOf names browsers to choose from.
func remedyOf(found []Browser) string {
	var all []string
	for _, b := range found {
		all = append(all, fmt.Sprintf("--browser %s: %s", quoted(b.Choice()), b))
	}
	return "choose one: " + strings.Join(all, "; ")
}

// quoted quotes a word for a shell, if necessary.
func quoted(word string) string {
	if strings.ContainsAny(word, " ()&$") {
		return `"` + word + `"`
	}
	return word
}

// noneError says why no browser was found. Its remedy names the page with the switch of each browser that is installed.
func (r Result) noneError(choice string) *Error {
	looked := fmt.Sprintf("looked in %d profile folders", r.Looked)
	if len(r.Ports) > 0 {
		looked += fmt.Sprintf(" and at the ports %d to %d", r.Ports[0], r.Ports[len(r.Ports)-1])
	}
	if r.Looked == 1 && choice != "" {
		looked = "looked in " + choice
	}
	reason := "no running browser allows debugging (" + looked + ")"
	if len(r.Stale) > 0 {
		reason += "; the file DevToolsActivePort in " + r.Stale[0].Path + " is of a browser that has ended"
	}
	var pages []string
	for _, folder := range r.Installed {
		if page := folder.Scheme + "://inspect/#remote-debugging"; !slices.Contains(pages, page) {
			pages = append(pages, page)
		}
	}
	if len(pages) == 0 {
		pages = []string{"chrome://inspect/#remote-debugging"}
	}
	return &Error{reason, "in the browser, open " + strings.Join(pages, " or ") + " and switch on remote debugging (Chrome 144 or later); or start a browser with " +
		`--remote-debugging-port=9222 --user-data-dir=FOLDER, where FOLDER is not its default profile folder, because Chrome 136 and later ignore the port for that one`, nil}
}
