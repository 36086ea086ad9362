package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/domtap/domtap/cmd/domtap/internal/exit"
	"github.com/domtap/domtap/rpc/identity"
	"github.com/domtap/domtap/rpc/listen"
)

// newToken is what `domtap token new -o json` prints.
type newToken struct {
	Name  string `json:"name"`
	Token string `json:"token"`
	// Line is that for the list of clients.
	Line string `json:"line"`
}

func newTokenCommand(a *app) *cobra.Command {
	var file string
	var rights choice
	cmd := &cobra.Command{
		Use:   "new NAME",
		Short: "Make a token for a named client, which has sessions of its own",
		Long: `Make a token for a client of that name, and print it: this once, because only its SHA-256 is kept. With --clients a
line with that is added to the file, which domtap serve --clients reads at once; without, the line is printed on standard
error. To revoke the token, delete the line.

A client sees its own sessions and tabs alone. A second token of the same name sees the same: with --rights read it can
look and list, but not open, act or change. The name operator is who sees everything.`,
		Example: `  domtap token new alice --clients ~/.config/domtap/clients > alice.token
  domtap token new operator --rights read --clients ~/.config/domtap/clients`,
		Args: cobra.ExactArgs(1),
	}
	cmd.Flags().StringVar(&file, "clients", "", "the list of clients to add it to, made when it is missing")
	choiceFlag(cmd, &rights, "rights", "", "what the client may do", "all", "read")
	choiceFlag(cmd, &a.common.output, "output", "o", "how to print", outputText, outputJSON)
	alsoEnv(cmd.Flags(), "clients")
	cmd.RunE = doing(func(cmd *cobra.Command, args []string) error {
		if err := fromEnv(cmd.Flags(), a.env); err != nil {
			return err
		}
		made, err := makeToken(args[0], rights.value)
		if err != nil {
			return err
		}
		if file != "" {
			if err := addLine(file, made.Line); err != nil {
				return err
			}
		} else if _, err := fmt.Fprintf(a.complaints, "add this line to the file of domtap serve --clients:\n%s", made.Line); err != nil {
			return err
		}
		p := a.printer()
		if p.json {
			return p.value(made)
		}
		return p.text(made.Token + "\n")
	})
	return cmd
}

func makeToken(name, rights string) (newToken, error) {
	token, err := listen.NewToken()
	if err != nil {
		return newToken{}, err
	}
	may := identity.All
	if rights == "read" {
		may = identity.Read
	}
	who := identity.Client(name, may)
	if name == identity.OperatorName {
		who = identity.OperatorWith(may)
	}
	if who.Name() == "" {
		return newToken{}, exit.Errorf(exit.Usage, "for example: domtap token new alice", "%q is no name: it must be 1 to 32 letters, digits, - and _", name)
	}
	return newToken{Name: name, Token: token, Line: identity.Entry{Principal: who, Sum: identity.Sum(token)}.Line()}, nil
}

// addLine adds a line to a list of clients that nobody else may read, and which is good so far.
func addLine(path, line string) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600)
	if err != nil {
		return exit.Errorf(exit.Failure, "", "open the list of clients: %w", err)
	}
	list, err := listen.ReadPrivate(path)
	if err == nil {
		_, err = identity.Parse(list)
	}
	if err == nil && len(list) > 0 && list[len(list)-1] != '\n' {
		line = "\n" + line
	}
	if err == nil {
		_, err = file.WriteString(line)
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return exit.Errorf(exit.Failure, "", "add to the list of clients %s: %w", path, err)
	}
	return nil
}
