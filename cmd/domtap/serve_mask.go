package main

import (
	"github.com/spf13/pflag"

	"github.com/domtap/domtap/actor/sessions"
	"github.com/domtap/domtap/cmd/domtap/internal/exit"
)

// registerMask defines the flag that says what is masked in every session.
func (s *serveFlags) registerMask(f *pflag.FlagSet) {
	f.StringArrayVar(&s.masks, "mask", nil, `what no answer tells of any session's pages: "values" of fields, or a CSS selector; may be repeated`)
	alsoEnv(f, "mask")
}

// checkMask checks it.
func (s *serveFlags) checkMask() (err error) {
	if s.Browser.Mask, err = sessions.ParseMask(s.masks); err != nil {
		return exit.Errorf(exit.Usage, `for example --mask values --mask ".balance"`, "--mask %w", err)
	}
	return nil
}
