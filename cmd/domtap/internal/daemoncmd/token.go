package daemoncmd

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/domtap/domtap/cmd/domtap/internal/cli"
	"github.com/domtap/domtap/cmd/domtap/internal/exit"
	"github.com/domtap/domtap/internal/endpoint"
	"github.com/domtap/domtap/internal/server/rpc/identity"
	"github.com/domtap/domtap/internal/server/rpc/listen"
)

// Token returns the command token.
func Token(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "token",
		Short: "Print the bearer token of the daemon's TCP address",
		Long: `Print the bearer token that clients send over TCP. The daemon creates the token when it first listens on
TCP. Anyone with the token controls the browser. Keep it out of logs and command lines.`,
		Example: `  grpcurl -plaintext -H "authorization: Bearer $(domtap token)" 127.0.0.1:7411 list`,
		Args:    cli.Args(),
	}
	a.Flags.Register(cmd)
	cmd.AddCommand(newToken(a))
	cli.OnlySubcommands(cmd)
	cmd.RunE = a.WithoutDaemon(func(context.Context, endpoint.Target, []string) error {
		at, err := a.Places()
		if err != nil {
			return err
		}
		token, err := listen.ReadToken(at.Token)
		if errors.Is(err, fs.ErrNotExist) {
			return exit.Errorf(exit.Denied, "domtap serve creates the token when it first listens on TCP", "no token in %s yet", at.Token)
		}
		if err != nil {
			return exit.Errorf(exit.Denied, "", "%w", err)
		}
		return a.Printer().ShowValue(token, token+"\n")
	})
	return cmd
}

// createdToken is the JSON output of domtap token new.
type createdToken struct {
	Name  string `json:"name"`
	Token string `json:"token"`
	// Line is the line for the clients file.
	Line string `json:"line"`
}

func newToken(a *cli.App) *cobra.Command {
	var file string
	var rights cli.Choice
	cmd := &cobra.Command{
		Use:   "new NAME",
		Short: "Create a token for a named client with its own sessions",
		Long: `Create a token for the client NAME and print it. The token is printed only once, because only its SHA-256
is stored. With --clients, the line with the SHA-256 is added to the file, and a running domtap serve
--clients reads it immediately. Without --clients, the line is printed on standard error. To revoke the
token, delete the line.

A client sees only its own sessions and tabs. All tokens of a name see the same sessions and tabs. With
--rights read, a token can read and list, but not open, act or change. The client named operator sees
everything.`,
		Example: `  domtap token new alice --clients ~/.config/domtap/clients > alice.token
  domtap token new operator --rights read --clients ~/.config/domtap/clients`,
		Args: cli.Args("NAME"),
	}
	cmd.Flags().StringVar(&file, "clients", "", "add the token to this file of clients, created if missing")
	cli.ChoiceFlag(cmd, &rights, "rights", "", "the rights of the client; read allows only reading and listing", "all", "read")
	a.Flags.RegisterOutput(cmd)
	cli.BindEnv(cmd.Flags(), "clients")
	cmd.RunE = cli.Work(func(cmd *cobra.Command, args []string) error {
		if err := cli.FromEnv(cmd.Flags(), a.Lookup); err != nil {
			return err
		}
		made, err := makeToken(args[0], rights.Value)
		if err != nil {
			return err
		}
		if file != "" {
			if err := addLine(file, made.Line); err != nil {
				return err
			}
		} else {
			a.Note("add this line to the file of domtap serve --clients:\n%s", strings.TrimSuffix(made.Line, "\n"))
		}
		return a.Printer().ShowValue(made, made.Token+"\n")
	})
	return cmd
}

func makeToken(name, rights string) (createdToken, error) {
	token, err := listen.NewToken()
	if err != nil {
		return createdToken{}, err
	}
	may := identity.All
	if rights == "read" {
		may = identity.Read
	}
	who := identity.ClientPrincipal(name, may)
	if name == identity.OperatorName {
		who = identity.OperatorWith(may)
	}
	if who.Name() == "" {
		return createdToken{}, exit.Errorf(exit.Usage, "for example: domtap token new alice", "invalid name %q: use 1 to 32 letters, digits, - and _", name)
	}
	return createdToken{Name: name, Token: token, Line: identity.Entry{Principal: who, Sum: identity.TokenSum(token)}.Line()}, nil
}

// addLine adds a line to a valid clients file that other users cannot read.
func addLine(path, line string) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600)
	if err != nil {
		return exit.Errorf(exit.Failure, "", "open the file of clients: %w", err)
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
		return exit.Errorf(exit.Failure, "", "add to the file of clients %s: %w", path, err)
	}
	return nil
}
