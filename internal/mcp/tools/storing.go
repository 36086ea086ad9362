package tools

import (
	"context"
	"fmt"
	"strings"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/mcp/args"
	"github.com/domtap/domtap/internal/plural"
)

// storageArgs holds the arguments of browser_storage.
type storageArgs struct {
	Action string `json:"action"`
	Area   string `json:"area"`
	Name   string `json:"name"`
	Value  string `json:"value"`
	Origin string `json:"origin"`
	Domain string `json:"domain"`
	Tab    string `json:"tab"`
	// All confirms a deletion of all entries.
	All args.Bool `json:"all"`
}

// storageLines limits the listed entries.
const storageLines = 200

// store implements the actions of browser_storage for one area. Names and values come from pages and are untrusted.
type store struct {
	// get lists entries. If the call has a name, it lists only entries with that name.
	get func(ctx context.Context, c *Call, a *storageArgs, values bool) (lines []string, err error)
	set func(ctx context.Context, c *Call, a *storageArgs) error
	// remove deletes the named entries, or all.
	remove func(ctx context.Context, c *Call, a *storageArgs) (note string, err error)
}

var stores = map[string]store{
	"cookies": {listCookies, setCookie, deleteCookies},
	"local":   {listLocal, setLocal, deleteLocal},
	"session": {listSession, setSession, deleteSession},
}

var storageActions = map[string]func(context.Context, *Call, *storageArgs, store) error{
	"list": func(ctx context.Context, c *Call, a *storageArgs, s store) error {
		return listStored(ctx, c, a, s, false)
	},
	"get": func(ctx context.Context, c *Call, a *storageArgs, s store) error {
		return listStored(ctx, c, a, s, true)
	},
	"set":    setStored,
	"delete": deleteStored,
}

// storage lists and changes stored data of pages. Only the action get shows values.
func storage(ctx context.Context, c *Call) error {
	a, err := read[storageArgs](c)
	if err != nil {
		return err
	}
	if a.Area == "" {
		a.Area = "cookies"
	}
	area, known := stores[strings.ToLower(a.Area)]
	if !known {
		return inputf("area must be one of %s", strings.Join(args.Names(stores), ", "))
	}
	do, known := storageActions[strings.ToLower(a.Action)]
	if !known {
		return inputf("action must be one of %s", strings.Join(args.Names(storageActions), ", "))
	}
	return do(ctx, c, a, area)
}

func listStored(ctx context.Context, c *Call, a *storageArgs, s store, values bool) error {
	if values && a.Name == "" {
		return inputf("name is missing: get shows the value of one entry; list shows the names")
	}
	lines, err := s.get(ctx, c, a, values)
	if err != nil {
		return err
	}
	if len(lines) == 0 {
		c.addLine("none")
	}
	if more := len(lines) - storageLines; more > 0 {
		c.addLine("%d more are not shown; name a domain or an origin", more)
		lines = lines[:storageLines]
	}
	c.addPageText(strings.Join(append(lines, ""), "\n"))
	return nil
}

func setStored(ctx context.Context, c *Call, a *storageArgs, s store) error {
	if a.Name == "" {
		return inputf("name is missing: what to set")
	}
	if err := s.set(ctx, c, a); err != nil {
		return err
	}
	c.addLine("set")
	return nil
}

func deleteStored(ctx context.Context, c *Call, a *storageArgs, s store) error {
	if a.Name == "" && a.Domain == "" && !a.All.Value {
		return inputf("name is missing: what to delete; all: true deletes everything")
	}
	note, err := s.remove(ctx, c, a)
	if err != nil {
		return err
	}
	c.addLine("%s", note)
	return nil
}

// unfolded escapes line breaks, so that a value stays on one line.
var unfolded = strings.NewReplacer("\n", `\n`, "\r", `\r`)

// line formats an entry on one line. The caller appends the value, if any.
func line(format string, values ...any) string { return oneLine(fmt.Sprintf(format, values...)) }

func filter(a *storageArgs) *domtapv1.CookieFilter {
	return &domtapv1.CookieFilter{Name: a.Name, Domain: a.Domain}
}

func listCookies(ctx context.Context, c *Call, a *storageArgs, values bool) (lines []string, err error) {
	answer, err := c.Daemon.Storage.ListCookies(ctx, &domtapv1.ListCookiesRequest{SessionId: c.Session.Browser, Filter: filter(a), Values: values})
	for _, one := range answer.GetCookies() {
		k := one.GetCookie()
		text := line("%s (%s%s", k.GetName(), k.GetDomain(), k.GetPath())
		if k.GetHttpOnly() {
			text += ", http-only"
		}
		text += line(", %s)", plural.Of(one.GetValueBytes(), "byte"))
		if values {
			text += " = " + unfolded.Replace(k.GetValue())
		}
		lines = append(lines, text)
	}
	return lines, err
}

func setCookie(ctx context.Context, c *Call, a *storageArgs) error {
	if a.Domain == "" {
		return inputf("domain is missing: the host that gets the cookie, such as example.com")
	}
	_, err := c.Daemon.Storage.SetCookies(ctx, &domtapv1.SetCookiesRequest{SessionId: c.Session.Browser,
		Cookies: []*domtapv1.Cookie{{Name: a.Name, Value: a.Value, Domain: a.Domain, Path: "/", Expires: -1}}})
	return err
}

func deleteCookies(ctx context.Context, c *Call, a *storageArgs) (string, error) {
	all := a.Name == "" && a.Domain == ""
	answer, err := c.Daemon.Storage.DeleteCookies(ctx, &domtapv1.DeleteCookiesRequest{SessionId: c.Session.Browser, Filter: filter(a), All: all})
	return fmt.Sprintf("deleted: %d", answer.GetDeleted()), err
}

// entriesOf formats the entries of an origin, one per line.
func entriesOf(o *domtapv1.StoredOrigin) (lines []string) {
	for _, e := range o.GetEntries() {
		text := line("%s (%s, %s)", e.GetName(), o.GetOrigin(), plural.Of(e.GetValueBytes(), "byte"))
		if e.Value != nil {
			text += " = " + unfolded.Replace(e.GetValue())
		}
		lines = append(lines, text)
	}
	return lines
}

// edit returns the change that the arguments describe.
func (a *storageArgs) edit(remove bool) *domtapv1.StorageEdit {
	switch {
	case !remove:
		return &domtapv1.StorageEdit{Set: []*domtapv1.StorageEntry{{Name: a.Name, Value: a.Value}}}
	case a.Name != "":
		return &domtapv1.StorageEdit{Delete: []string{a.Name}}
	}
	return &domtapv1.StorageEdit{Clear: true}
}

func listLocal(ctx context.Context, c *Call, a *storageArgs, values bool) (lines []string, err error) {
	answer, err := c.Daemon.Storage.GetLocalStorage(ctx, &domtapv1.GetLocalStorageRequest{SessionId: c.Session.Browser, Origin: a.Origin, Name: a.Name, Values: values})
	for _, o := range answer.GetOrigins() {
		lines = append(lines, entriesOf(o)...)
	}
	return lines, err
}

func editLocal(ctx context.Context, c *Call, a *storageArgs, remove bool) error {
	if a.Origin == "" {
		return inputf("origin is missing: such as https://example.com")
	}
	_, err := c.Daemon.Storage.EditLocalStorage(ctx, &domtapv1.EditLocalStorageRequest{SessionId: c.Session.Browser, Origin: a.Origin, Edit: a.edit(remove)})
	return err
}

func setLocal(ctx context.Context, c *Call, a *storageArgs) error { return editLocal(ctx, c, a, false) }

func deleteLocal(ctx context.Context, c *Call, a *storageArgs) (string, error) {
	return "deleted", editLocal(ctx, c, a, true)
}

func listSession(ctx context.Context, c *Call, a *storageArgs, values bool) ([]string, error) {
	tab, err := c.tab(a.Tab)
	if err != nil {
		return nil, err
	}
	answer, err := c.Daemon.Storage.GetSessionStorage(ctx, &domtapv1.GetSessionStorageRequest{TabId: tab, Origin: a.Origin, Name: a.Name, Values: values})
	return entriesOf(answer.GetStorage()), err
}

func editSession(ctx context.Context, c *Call, a *storageArgs, remove bool) error {
	tab, err := c.tab(a.Tab)
	if err != nil {
		return err
	}
	_, err = c.Daemon.Storage.EditSessionStorage(ctx, &domtapv1.EditSessionStorageRequest{TabId: tab, Origin: a.Origin, Edit: a.edit(remove)})
	return err
}

func setSession(ctx context.Context, c *Call, a *storageArgs) error {
	return editSession(ctx, c, a, false)
}

func deleteSession(ctx context.Context, c *Call, a *storageArgs) (string, error) {
	return "deleted", editSession(ctx, c, a, true)
}
