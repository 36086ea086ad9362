package hour

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// settings serves the account settings of a photo host: fields and switches that are saved together, a password, up to five API keys, and
// services that are connected with a key. The secret of a key is shown only once, when the key is created.
func settings(s *Site) {
	a := settingsNew()
	done := func(err error) (settingsShown, error) {
		if err == nil {
			s.saved = a.saved()
		}
		return a.shown(), err
	}
	answers(s, "GET /api/account", func(struct{}) (settingsShown, error) { return a.shown(), nil })
	answers(s, "POST /api/save", func(in map[string]string) (settingsShown, error) { return done(a.save(in)) })
	answers(s, "POST /api/password", func(in struct{ Old, New string }) (settingsShown, error) {
		return done(a.changePassword(in.Old, in.New))
	})
	answers(s, "POST /api/signout", func(in struct{ Device string }) (settingsShown, error) {
		a.devices = slices.DeleteFunc(a.devices, func(d string) bool { return d == in.Device })
		return done(nil)
	})
	answers(s, "POST /api/revoke", func(in struct{ Name string }) (settingsShown, error) { return done(a.revoke(in.Name)) })
	answers(s, "POST /api/connect", func(in struct{ Service, Key string }) (settingsShown, error) {
		return done(a.connect(in.Service, strings.TrimSpace(in.Key)))
	})
	answers(s, "POST /api/key", func(in settingsKey) (settingsShown, error) {
		secret, err := a.makeKey(in)
		shown, err := done(err)
		shown.Secret = secret
		return shown, err
	})
}

// settingsKey is an API key. It expires after a number of days; 0 means never.
type settingsKey struct {
	Name   string   `json:"name"`
	Scopes []string `json:"scopes"`
	Days   int      `json:"days"`
	Made   string   `json:"made"`
	Used   string   `json:"used"`
	secret string
}

// settingsAccount is the state of the backend. first holds the initial fields.
type settingsAccount struct {
	first, fields map[string]string
	password      string
	devices       []string
	keys          []settingsKey
	made          int
	connected     []string
}

// settingsShown is the data for the page.
type settingsShown struct {
	Fields    map[string]string `json:"fields"`
	Devices   []string          `json:"devices"`
	Keys      []settingsKey     `json:"keys"`
	Connected []string          `json:"connected"`
	Secret    string            `json:"secret,omitempty"`
}

// settingsSaved is the state by which a task is judged.
type settingsSaved struct {
	Changed   []string `json:"changed"`
	Password  string   `json:"password,omitempty"`
	Devices   int      `json:"devices"`
	Keys      []string `json:"keys"`
	Connected []string `json:"connected"`
}

const settingsPassword = "Lantern-Quay-88"

// settingsNew returns Ada's account.
func settingsNew() *settingsAccount {
	first := map[string]string{
		"name": "Ada Lovelace", "handle": "ada.l", "email": "ada@harbour.example", "bio": "Lighthouses, mostly at dusk.", "location": "Porthcurno",
		"website": "", "phone": "", "zone": "Europe/London", "colour": "Coral", "language": "en", "format": "en-GB", "density": "Cosy",
		"digest": "Weekly", "paused": "off", "quiet": "off", "from": "22:00", "to": "07:00", "hidden": "off", "download": "on",
	}
	for _, event := range strings.Fields("comment reply like mention tag follow invite album upload print storage signin password key news tips") {
		for _, channel := range []string{"email", "push", "sms"} {
			first[event+"."+channel] = "off"
		}
	}
	for _, on := range strings.Fields("comment.email comment.push reply.email reply.push mention.push follow.email invite.email invite.push print.email " +
		"storage.email signin.email signin.push password.email key.email news.email") {
		first[on] = "on"
	}
	return &settingsAccount{
		first: first, fields: maps.Clone(first), password: settingsPassword,
		devices: []string{"Firefox on Linux", "Photos app on Pixel", "Safari on iPad", "Chrome at the library"},
		keys: []settingsKey{
			{Name: "print-shop", Scopes: []string{"photos:read"}, Days: 365, Made: "2 Mar 2026", Used: "7 Nov 2026"},
			{Name: "phone-sync", Scopes: []string{"albums:read", "photos:read", "photos:write"}, Made: "14 Jun 2025", Used: "8 Nov 2026"},
			{Name: "ci-upload", Scopes: []string{"photos:write"}, Made: "9 Dec 2024", Used: "4 Mar 2026"},
			{Name: "old-laptop", Scopes: []string{"photos:read", "photos:write"}, Made: "3 Jan 2024", Used: "19 Feb 2026"},
			{Name: "school-project", Scopes: []string{"people:read", "photos:read"}, Made: "11 Oct 2023", Used: "26 Apr 2026"},
		},
		connected: []string{},
	}
}

func (a *settingsAccount) shown() settingsShown {
	return settingsShown{Fields: a.fields, Devices: a.devices, Keys: a.keys, Connected: a.connected}
}

func (a *settingsAccount) saved() settingsSaved {
	saved := settingsSaved{Changed: []string{}, Devices: len(a.devices), Keys: []string{}, Connected: slices.Clone(a.connected)}
	for _, field := range slices.Sorted(maps.Keys(a.fields)) {
		if a.fields[field] != a.first[field] {
			saved.Changed = append(saved.Changed, field+": "+a.fields[field])
		}
	}
	if a.password != settingsPassword {
		saved.Password = a.password
	}
	for _, k := range a.keys {
		saved.Keys = append(saved.Keys, fmt.Sprintf("%s, %s, %d days", k.Name, strings.Join(k.Scopes, " "), k.Days))
	}
	return saved
}

// save accepts either all changed fields or none of them.
func (a *settingsAccount) save(in map[string]string) error {
	next := maps.Clone(a.fields)
	for field, value := range in {
		if _, known := next[field]; !known {
			return refused(fmt.Sprintf("There is no setting %q.", field))
		}
		next[field] = strings.TrimSpace(value)
	}
	if err := settingsCheck(next); err != nil {
		return err
	}
	a.fields = next
	return nil
}

// settingsCheck returns an error for invalid fields.
func settingsCheck(fields map[string]string) error {
	switch handle := fields["handle"]; {
	case fields["name"] == "":
		return refused("Profile: your name is missing.")
	case len(handle) < 3:
		return refused("Profile: a handle has three letters or more.")
	case handle == "ada" || handle == "lovelace" || handle == "ada.lovelace":
		return refused("Profile: somebody else has the handle " + handle + ".")
	case !strings.Contains(fields["email"], "@"):
		return refused("Profile: that is no email address.")
	case fields["website"] != "" && !strings.HasPrefix(fields["website"], "https://"):
		return refused("Profile: a website begins with https://.")
	case fields["phone"] != "" && !strings.HasPrefix(fields["phone"], "+"):
		return refused("Profile: write the phone number with its country code, such as +44.")
	}
	for field, value := range fields {
		if strings.HasSuffix(field, ".sms") && value == "on" && fields["phone"] == "" {
			return refused("Notifications: a text message needs a phone number. Add one to your profile.")
		}
	}
	return nil
}

func (a *settingsAccount) changePassword(before, after string) error {
	switch {
	case before != a.password:
		return refused("The current password is wrong.")
	case before == after:
		return refused("Choose a password that you did not have before.")
	case len(after) < 12:
		return refused("A password has 12 characters or more.")
	}
	a.password = after
	return nil
}

func (a *settingsAccount) revoke(name string) error {
	i := slices.IndexFunc(a.keys, func(k settingsKey) bool { return k.Name == name })
	if i < 0 {
		return refused("That key is gone already.")
	}
	a.keys = slices.Delete(slices.Clone(a.keys), i, i+1)
	a.connected = slices.DeleteFunc(slices.Clone(a.connected), func(c string) bool { return strings.HasSuffix(c, ": "+name) })
	return nil
}

// makeKey creates a key and returns its secret.
func (a *settingsAccount) makeKey(k settingsKey) (string, error) {
	k.Name = strings.TrimSpace(k.Name)
	switch {
	case k.Name == "":
		return "", refused("Give the key a name.")
	case strings.Contains(k.Name, " "):
		return "", refused("The name of a key has no spaces.")
	case slices.ContainsFunc(a.keys, func(other settingsKey) bool { return other.Name == k.Name }):
		return "", refused("You have a key of that name.")
	case len(k.Scopes) == 0:
		return "", refused("Choose what the key may do.")
	case len(a.keys) >= 5:
		return "", refused("You have five keys, and there may be no more. Revoke one first.")
	}
	slices.Sort(k.Scopes)
	secrets := []string{"ksk_7mQ4vT9x0Lr2Wd", "ksk_2bN8cJ5hY6Ez1P", "ksk_9rF3kS0aG4Uo7M", "ksk_4tX6pC1nB8Hi5V"}
	k.secret, k.Made, k.Used = secrets[a.made%len(secrets)], "9 Nov 2026", "never"
	a.made++
	a.keys = append(slices.Clone(a.keys), k)
	return k.secret, nil
}

// connect connects a service with a key, which needs the rights to read photos and albums.
func (a *settingsAccount) connect(service, secret string) error {
	i := slices.IndexFunc(a.keys, func(k settingsKey) bool { return k.secret != "" && k.secret == secret })
	switch {
	case secret == "":
		return refused("Paste a key.")
	case i < 0:
		return refused("None of your keys is this one.")
	case !slices.Contains(a.keys[i].Scopes, "photos:read") || !slices.Contains(a.keys[i].Scopes, "albums:read"):
		return refused(service + " must be able to read photos and albums, and this key may not.")
	}
	a.connected = slices.DeleteFunc(slices.Clone(a.connected), func(c string) bool { return strings.HasPrefix(c, service+": ") })
	a.connected = append(a.connected, service+": "+a.keys[i].Name)
	slices.Sort(a.connected)
	return nil
}
