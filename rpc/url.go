package rpc

import "github.com/domtap/domtap/rpc/check"

// AllowURL is the URL policy, for actor.Config.AllowURL: tabs may go to http:, https: and data: URLs
// and to about:blank. Its errors are *actor.Error of kind Invalid or Refused.
func AllowURL(url string) error { return check.AllowURL(url) }
