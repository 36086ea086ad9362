// Package client connects to a domtap daemon, opens tabs, reads them, acts on them, and follows them through lost connections and restarts.
//
//	c, err := client.Connect(ctx, client.Options{Start: true})
//	tab, err := c.Open(ctx, "https://example.com")
//	text, err := tab.Read(ctx)
//	_, err = tab.Act(ctx, client.Click(client.Named("link", "More information...")))
//	for update, err := range tab.Follow(ctx, client.FollowOptions{}) { … }
//
// A Tab also navigates, waits, fills forms, answers dialogs, extracts data and takes screenshots. Click, Type, Drag and similar functions
// create the steps of Act; ForText, ForURL and similar functions create the conditions of Wait. For everything else, a Client has the
// generated stubs of all services, whose comments document each call.
//
// The package guarantees that all methods are safe for concurrent use, that no goroutine outlives its call, and that a Follow yields all
// changes in order, without gaps or repetitions, even if the connection is lost. Errors of calls are gRPC statuses; Reason returns the
// reason in such an error.
//
// Callers must call Close, which closes the connection, and must leave the loop of a Follow or cancel its context to end it.
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

// Options identifies the daemon to connect to. The zero value selects this user's daemon, which is found in the same way as by the command
// line.
type Options struct {
	// Address is unix:///PATH or HOST:PORT. If empty, it is $DOMTAP_ADDR unless StateDir is set, or else the daemon's socket. For a cluster
	// it may list several nodes: HOST:PORT,HOST:PORT. The client uses the first node that answers, and switches to another one when that
	// node is unavailable or has reported that it is cut off.
	Address string
	// Token is the bearer token, which only TCP needs. If empty, the token is read from TokenFile.
	Token string
	// TokenFile is the path of the file that contains the token. If empty, it is $DOMTAP_TOKEN_FILE, or else the file of this user's
	// daemon.
	TokenFile string
	// TLSCA is a PEM file with the certificate authority that signed the daemon's certificate. If empty, it is $DOMTAP_TLS_CA. If that is
	// also empty, the system's authorities are used, and connections on loopback do not use TLS. Connections to other TCP addresses always
	// use TLS.
	TLSCA string
	// StateDir is the state directory of a separate instance (domtap --state-dir). If empty, it is $DOMTAP_STATE_DIR, or else the default
	// directories are used.
	StateDir string
	// Start starts a daemon if none listens on the socket. The daemon outlives this program. Start has no effect with a TCP address.
	Start bool
	// Program is the domtap program to start. If empty, it is looked up in $PATH.
	Program string
	// Agent is the name of this client in the daemon's log.
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
	Storage  domtapv1.StorageServiceClient
	Search   domtapv1.SearchServiceClient
	Network  domtapv1.NetworkServiceClient
	Cluster  domtapv1.ClusterServiceClient
	Timeline domtapv1.TimelineServiceClient
	Tools    domtapv1.ToolServiceClient

	conn *grpc.ClientConn
}

// Connect finds a daemon, or starts one if Options.Start is set. Without Start it does not wait for the connection: the first call
// connects, and so does the next call after a lost connection. The caller must close the Client.
func Connect(ctx context.Context, o Options) (*Client, error) {
	c, err := connect(ctx, o)
	if unmet, ok := errors.AsType[*endpoint.Error](err); ok && unmet.Hint != "" {
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

// find returns the address of the daemon and the locations of its files. An explicit address does not need the files.
func (o *Options) find() (endpoint.Places, endpoint.Target, error) {
	if o.StateDir == "" { // an address in the environment must not override the program's choice of an instance
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

// orEnv returns the option, or else the environment variable.
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
			return fmt.Errorf("find the domtap program to start a daemon: put it into $PATH, or set Program: %w", err)
		}
		program = found
	}
	args, err := endpoint.ServeArgs(at)
	if err != nil {
		return err
	}
	return endpoint.Launch(ctx, program, at, args)
}

// New returns a Client on a connection of the caller. Responses may be as large as 64 MiB, and the connection should accept that size
// (grpc.MaxCallRecvMsgSize).
func New(conn *grpc.ClientConn) *Client {
	return &Client{
		Tabs:     domtapv1.NewTabServiceClient(conn),
		Dom:      domtapv1.NewDomServiceClient(conn),
		Actions:  domtapv1.NewActionServiceClient(conn),
		Pages:    domtapv1.NewPageServiceClient(conn),
		Sessions: domtapv1.NewSessionServiceClient(conn),
		Context:  domtapv1.NewContextServiceClient(conn),
		Storage:  domtapv1.NewStorageServiceClient(conn),
		Search:   domtapv1.NewSearchServiceClient(conn),
		Network:  domtapv1.NewNetworkServiceClient(conn),
		Timeline: domtapv1.NewTimelineServiceClient(conn),
		Tools:    domtapv1.NewToolServiceClient(conn),
		Cluster:  domtapv1.NewClusterServiceClient(conn),
		conn:     conn,
	}
}

// WithClientID returns a context that sets the client id of calls whose requests have no client_id field or leave it empty. The id appears
// in timelines and is used for pauses.
func WithClientID(ctx context.Context, id string) context.Context {
	return endpoint.WithClientID(ctx, id)
}

// Close ends the connection and every call on it. Tabs stay open.
func (c *Client) Close() error { return c.conn.Close() }

// isClosed reports whether the Client was closed.
func (c *Client) isClosed() bool { return c.conn != nil && c.conn.GetState() == connectivity.Shutdown }

// Reason returns the reason in an error of the daemon, such as STALE_REF or PAGE_LOST. It returns an empty string if there is no reason or
// the daemon did not answer.
func Reason(err error) string {
	if failed, ok := errors.AsType[*StepError](err); ok {
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
