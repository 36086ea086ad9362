// Package storagecmd provides the commands cookies and storage, which read and change individual entries of a session's storage.
package storagecmd

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/domtap/domtap/cmd/domtap/internal/cli"
	"github.com/domtap/domtap/cmd/domtap/internal/exit"
	"github.com/domtap/domtap/cmd/domtap/internal/render"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// client returns a client of the storage service.
func client(c *cli.Client) domtapv1.StorageServiceClient {
	return domtapv1.NewStorageServiceClient(c.Conn)
}

func usagef(hint, format string, args ...any) error {
	return exit.Errorf(exit.Usage, hint, format, args...)
}

// value returns an argument, or standard input if the argument is "-". Secrets belong there, because every user of the machine can read
// arguments.
func value(a *cli.App, argument string) (string, error) {
	if argument != "-" {
		return argument, nil
	}
	text, err := a.ReadFile("-")
	return strings.TrimSuffix(string(text), "\n"), err
}

// Cookies returns the command cookies with its subcommands.
func Cookies(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "cookies",
		Short: "List, set and delete cookies of a session",
		Long: `List, set and delete cookies of a session. Cookie values are secrets. Only get, and list with --values, print
them. These commands send no requests.`,
		Example: `  domtap cookies list --session work
  domtap cookies set theme dark --url https://example.com
  domtap cookies delete theme --domain example.com`,
	}
	cmd.AddCommand(listCookies(a), getCookie(a), setCookie(a), deleteCookies(a))
	cli.OnlySubcommands(cmd)
	return cmd
}

// filterFlags holds the flags that select cookies.
type filterFlags struct {
	cmd                     *cobra.Command
	session                 string
	domain, path, partition string
}

func (f *filterFlags) register(a *cli.App, cmd *cobra.Command) {
	f.cmd = cmd
	a.Flags.Register(cmd)
	a.SessionFlag(cmd, &f.session, "the session (default: the default session)")
	flags := cmd.Flags()
	flags.StringVar(&f.domain, "domain", "", "only cookies of this domain, without its subdomains")
	flags.StringVar(&f.path, "path", "", "only cookies of this path")
	flags.StringVar(&f.partition, "partition", "", "only cookies of this partition, such as https://example.com; empty means no partition")
}

func (f *filterFlags) filter(names []string) *domtapv1.CookieFilter {
	filter := &domtapv1.CookieFilter{Name: strings.Join(names, ""), Domain: f.domain, Path: f.path}
	if f.cmd.Flags().Changed("partition") {
		filter.PartitionKey = &f.partition
	}
	return filter
}

func listCookies(a *cli.App) *cobra.Command {
	var flags filterFlags
	var values bool
	cmd := &cobra.Command{
		Use:     "list [NAME]",
		Short:   "List the cookies of a session",
		Long:    "List the cookies of a session, or its cookies named NAME. With --json, print one StoredCookie per line.",
		Example: "  domtap cookies list --session work\n  domtap cookies list --domain example.com --values",
		Args:    cli.Args("[NAME]"), ValidArgsFunction: cobra.NoFileCompletions,
	}
	flags.register(a, cmd)
	cmd.Flags().BoolVar(&values, "values", false, "also print the values")
	cmd.RunE = a.WithClient(func(ctx context.Context, c *cli.Client, args []string) error {
		answer, err := client(c).ListCookies(ctx, &domtapv1.ListCookiesRequest{SessionId: flags.session, Filter: flags.filter(args), Values: values})
		if err != nil {
			return err
		}
		return cli.ShowEach(a.Printer(), answer.GetCookies(), func(all []*domtapv1.StoredCookie) string { return render.Cookies(all, values, time.Now()) })
	})
	return cmd
}

func getCookie(a *cli.App) *cobra.Command {
	var flags filterFlags
	cmd := &cobra.Command{
		Use:     "get NAME",
		Short:   "Print the value of a cookie",
		Long:    "Print the value of a cookie. If several cookies have the name, choose one with --domain, --path and --partition.",
		Example: "  domtap cookies get id --domain example.com",
		Args:    cli.Args("NAME"), ValidArgsFunction: cobra.NoFileCompletions,
	}
	flags.register(a, cmd)
	cmd.RunE = a.WithClient(func(ctx context.Context, c *cli.Client, args []string) error {
		answer, err := client(c).ListCookies(ctx, &domtapv1.ListCookiesRequest{SessionId: flags.session, Filter: flags.filter(args), Values: true})
		if err != nil {
			return err
		}
		switch all := answer.GetCookies(); len(all) {
		case 0:
			return exit.Errorf(exit.NotFound, "run domtap cookies list to list the cookies", "no cookie is named %q", args[0])
		case 1:
			return a.Printer().Show(all[0], func() string { return render.Clean(all[0].GetCookie().GetValue()) + "\n" })
		default:
			return usagef("choose one with --domain, --path and --partition; run domtap cookies list to list them", "%d cookies are named %q", len(all), args[0])
		}
	})
	return cmd
}

// cookieFlags holds the attributes of a cookie to set.
type cookieFlags struct {
	session, url, domain, path, sameSite, priority, partition string
	expires                                                   string
	secure, httpOnly                                          bool
}

func setCookie(a *cli.App) *cobra.Command {
	var flags cookieFlags
	cmd := &cobra.Command{
		Use:   "set NAME VALUE",
		Short: "Add or replace a cookie",
		Long: `Add a cookie, or replace the cookie with the same name, domain, path and partition. VALUE - reads standard
input, which keeps the value out of the list of processes.`,
		Example: `  domtap cookies set theme dark --url https://example.com
  pass session-id | domtap cookies set id - --domain .example.com --secure --http-only --expires 24h`,
		Args: cli.Args("NAME", "VALUE"), ValidArgsFunction: cobra.NoFileCompletions,
	}
	a.Flags.Register(cmd)
	a.SessionFlag(cmd, &flags.session, "the session (default: the default session)")
	f := cmd.Flags()
	f.StringVar(&flags.url, "url", "", "a page that gets the cookie; sets the domain, and --secure for https")
	f.StringVar(&flags.domain, "domain", "", "the host, such as example.com, or .example.com to include subdomains")
	f.StringVar(&flags.path, "path", "/", "the path below which the cookie is sent")
	f.StringVar(&flags.expires, "expires", "", "when the cookie expires, after a duration (24h) or at a time (2027-01-31T00:00:00Z) (default: with the session)")
	f.BoolVar(&flags.secure, "secure", false, "send the cookie only over https")
	f.BoolVar(&flags.httpOnly, "http-only", false, "hide the cookie from scripts")
	f.StringVar(&flags.sameSite, "same-site", "", "Strict, Lax or None (default: the browser's default)")
	f.StringVar(&flags.priority, "priority", "", "Low, Medium or High (default Medium)")
	f.StringVar(&flags.partition, "partition", "", "send the cookie only below this top-level site, such as https://example.com")
	cmd.RunE = a.WithClient(func(ctx context.Context, c *cli.Client, args []string) error {
		cookie, err := flags.cookie(time.Now())
		if err != nil {
			return err
		}
		cookie.Name = args[0]
		if cookie.Value, err = value(a, args[1]); err != nil {
			return err
		}
		_, err = client(c).SetCookies(ctx, &domtapv1.SetCookiesRequest{SessionId: flags.session, Cookies: []*domtapv1.Cookie{cookie}})
		return err
	})
	return cmd
}

// cookie returns the cookie without its name and value.
func (f *cookieFlags) cookie(now time.Time) (*domtapv1.Cookie, error) {
	c := &domtapv1.Cookie{Domain: f.domain, Path: f.path, Secure: f.secure, HttpOnly: f.httpOnly, SameSite: f.sameSite, Expires: -1}
	if f.url != "" {
		u, err := url.Parse(f.url)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			return nil, usagef("", "invalid --url %q: it must be one such as https://example.com", f.url)
		}
		if c.GetDomain() == "" {
			c.Domain = u.Hostname()
		}
		c.Secure = c.GetSecure() || u.Scheme == "https"
	}
	if c.GetDomain() == "" {
		return nil, usagef("", "missing --domain or --url")
	}
	if f.priority != "" {
		c.Priority = &f.priority
	}
	if f.partition != "" {
		c.PartitionKey = &f.partition
	}
	if f.expires != "" {
		until, err := time.Parse(time.RFC3339, f.expires)
		if err != nil {
			lives, err := time.ParseDuration(f.expires)
			if err != nil || lives <= 0 {
				return nil, usagef("", "invalid --expires %q: it must be a time such as 2027-01-31T00:00:00Z, or a duration such as 24h", f.expires)
			}
			until = now.Add(lives)
		}
		c.Expires = float64(until.Unix())
	}
	return c, nil
}

func deleteCookies(a *cli.App) *cobra.Command {
	var flags filterFlags
	var all bool
	cmd := &cobra.Command{
		Use:     "delete [NAME]",
		Short:   "Delete cookies and print their number",
		Long:    "Delete the cookies that match NAME and all flags, and print their number. --all deletes all cookies of the session.",
		Example: "  domtap cookies delete id --domain example.com\n  domtap cookies delete --all --session work",
		Args:    cli.Args("[NAME]"), ValidArgsFunction: cobra.NoFileCompletions,
	}
	flags.register(a, cmd)
	cmd.Flags().BoolVar(&all, "all", false, "delete all cookies of the session")
	cmd.RunE = a.WithClient(func(ctx context.Context, c *cli.Client, args []string) error {
		answer, err := client(c).DeleteCookies(ctx, &domtapv1.DeleteCookiesRequest{SessionId: flags.session, Filter: flags.filter(args), All: all})
		if err != nil {
			return err
		}
		return a.Printer().Show(answer, func() string { return fmt.Sprintf("deleted: %d\n", answer.GetDeleted()) })
	})
	return cmd
}
