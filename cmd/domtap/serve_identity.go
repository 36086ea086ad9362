package main

import (
	"path/filepath"

	"github.com/spf13/pflag"

	"github.com/domtap/domtap/cmd/domtap/internal/exit"
)

// registerIdentity defines the flags that say who may call.
func (s *serveFlags) registerIdentity(f *pflag.FlagSet) {
	f.StringVar(&s.Access.ClientsFile, "clients", "", "a file with named clients, which have sessions of their own: a line \"NAME all|read sha256:SUM\" for each token (domtap token new); mode 0600")
	f.StringVar(&s.TLS.ClientCAFile, "tls-client-ca", "", "a PEM file with the authorities that sign clients' certificates, whose names are those of named clients")
	alsoEnv(f, "clients", "tls-client-ca")
}

// checkIdentity completes and checks them.
func (s *serveFlags) checkIdentity() (err error) {
	if s.TLS.ClientCAFile != "" && s.TLS.CertFile == "" {
		return exit.Errorf(exit.Usage, "give --tls-cert and --tls-key, too", "--tls-client-ca needs TLS")
	}
	if s.Access.ClientsFile != "" {
		s.Access.ClientsFile, err = filepath.Abs(s.Access.ClientsFile)
	}
	return err
}
