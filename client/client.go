// Package client talks to a domtap daemon: it connects, opens tabs, reads them, acts on them, and follows them through
// lost connections and restarts.
//
//	c, err := client.Connect(ctx, client.Options{Start: true})
//	tab, err := c.Open(ctx, "https://example.com")
//	text, err := tab.Read(ctx)
//	_, err = tab.Act(ctx, client.Click(client.Named("link", "More information...")))
//	for update, err := range tab.Follow(ctx, client.FollowOptions{}) { … }
//
// These moves are what most programs need. Everything else is one call away: a Client has the generated stubs of all
// services, whose comments say what each guarantees. Errors of calls are gRPC statuses; Reason reads the reason that
// the daemon gives with them.
//
// All methods may be called by many goroutines at once. The caller ends what it starts: Close ends the connection, and
// leaving the loop, or the end of its context, ends a Follow. The package starts no goroutine that outlives a call.
package client

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/status"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/endpoint"
)

// Options say which daemon to talk to. The zero value is this user's daemon, where the command line finds it.
type Options struct {
	// Address is unix:///PATH or HOST:PORT. Empty: $DOMTAP_ADDR unless StateDir is set, or else the daemon's socket.
	Address string
	// Token is the bearer token, which only TCP needs. Empty: it is read from TokenFile.
	Token string
	// TokenFile is where the token is kept. Empty: $DOMTAP_TOKEN_FILE, or else where this user's daemon keeps it.
	TokenFile string
	// TLSCA is a PEM file with the authority that signed the daemon's certificate. Empty: $DOMTAP_TLS_CA, or else those
	// of the system, and no TLS on loopback. Other TCP addresses are only ever spoken to over TLS.
	TLSCA string
	// StateDir is the state directory of an instance apart (domtap --state-dir). Empty: $DOMTAP_STATE_DIR, or else the
	// usual places.
	StateDir string
	// Start starts a daemon when none listens on the socket; it goes on when this program ends. Never for TCP.
	Start bool
	// Program is the domtap to start. Empty: the one in $PATH.
	Program string
	// Agent is what this client calls itself in the daemon's log.
	Agent string
}

// Client is a connection to a daemon, with the stubs of its services.
type Client struct {
	Tabs     domtapv1.TabServiceClient
	Dom      domtapv1.DomServiceClient
	Actions  domtapv1.ActionServiceClient
	Pages    domtapv1.PageServiceClient
	Sessions domtapv1.SessionServiceClient
	Context  domtapv1.ContextServiceClient

	conn *grpc.ClientConn
}

// Connect finds a daemon, and starts one when asked to. Without Start it does not wait for the connection, which is
// made by the first call and again whenever it is lost. The caller closes the Client.
func Connect(ctx context.Context, o Options) (*Client, error) {
	c, err := connect(ctx, o)
	var unmet *endpoint.Error
	if errors.As(err, &unmet) && unmet.Hint != "" {
		err = fmt.Errorf("%w (%s)", err, unmet.Hint)
	}
	return c, err
}

func connect(ctx context.Context, o Options) (*Client, error) {
	at, to, err := o.find()
	if err != nil {
		return nil, err
	}
	options := endpoint.Options{Token: o.Token, TokenFile: at.Token, TLSCA: orEnv(o.TLSCA, "DOMTAP_TLS_CA"), Agent: o.Agent}
	if o.Start {
		if err := endpoint.Ensure(ctx, to, at, options, o.launch); err != nil {
			return nil, err
		}
	}
	conn, err := endpoint.Dial(to, options)
	if err != nil {
		return nil, err
	}
	return New(conn), nil
}

// find says where the daemon is and where its files are. An address needs no place for them.
func (o *Options) find() (endpoint.Places, endpoint.Target, error) {
	if o.StateDir == "" { // an instance that the program chose is not another one by the environment
		o.Address = orEnv(o.Address, "DOMTAP_ADDR")
	}
	at, err := endpoint.FindPlaces(os.LookupEnv, orEnv(o.StateDir, "DOMTAP_STATE_DIR"))
	if file := orEnv(o.TokenFile, "DOMTAP_TOKEN_FILE"); file != "" {
		at.Token = file
	}
	if err != nil && (o.Address == "" || o.Start) {
		return at, endpoint.Target{}, err
	}
	to, err := endpoint.FindTarget(o.Address, at, os.LookupEnv)
	return at, to, err
}

// orEnv is what the program says, or else what the environment does.
func orEnv(value, name string) string {
	if value == "" {
		value = os.Getenv(name)
	}
	return value
}

// launch starts a daemon.
func (o Options) launch(ctx context.Context, at endpoint.Places) error {
	program := o.Program
	if program == "" {
		found, err := exec.LookPath("domtap")
		if err != nil {
			return fmt.Errorf("no domtap to start a daemon with: put it into $PATH, or set Program: %w", err)
		}
		program = found
	}
	args, err := endpoint.ServeArgs(at)
	if err != nil {
		return err
	}
	return endpoint.Launch(ctx, program, at, args)
}

// New makes a Client of a connection that the caller has made. Answers may be as large as 64 MiB, which the connection
// should take (grpc.MaxCallRecvMsgSize).
func New(conn *grpc.ClientConn) *Client {
	return &Client{
		Tabs:     domtapv1.NewTabServiceClient(conn),
		Dom:      domtapv1.NewDomServiceClient(conn),
		Actions:  domtapv1.NewActionServiceClient(conn),
		Pages:    domtapv1.NewPageServiceClient(conn),
		Sessions: domtapv1.NewSessionServiceClient(conn),
		Context:  domtapv1.NewContextServiceClient(conn),
		conn:     conn,
	}
}

// Close ends the connection and every call on it. Tabs stay open.
func (c *Client) Close() error { return c.conn.Close() }

// isClosed says that no call can work any more.
func (c *Client) isClosed() bool { return c.conn != nil && c.conn.GetState() == connectivity.Shutdown }

// Reason is the reason that the daemon gives with an error, such as STALE_REF or PAGE_LOST; empty: it gives none, or
// did not say a word.
func Reason(err error) string {
	var failed *StepError
	if errors.As(err, &failed) {
		return failed.Reason
	}
	var answered interface{ GRPCStatus() *status.Status }
	if !errors.As(err, &answered) {
		return ""
	}
	for _, detail := range answered.GRPCStatus().Details() {
		if info, ok := detail.(*errdetails.ErrorInfo); ok {
			return info.GetReason()
		}
	}
	return ""
}
