package render

import (
	"strconv"

	"github.com/domtap/domtap/internal/profile"
)

// Profiles returns a table of login profiles.
func Profiles(all []profile.Info) string {
	return table("PROFILE\tSAVED\tBYTES\tKEY", all, func(p profile.Info) []string {
		key := "identity"
		if p.ByPassphrase {
			key = "passphrase"
		}
		return []string{p.Name, p.Saved.UTC().Format("2006-01-02 15:04"), strconv.FormatInt(p.Bytes, 10), key}
	})
}
