// Package gateway serves domtap's calls over HTTP to what speaks no gRPC: to curl and to browsers. One handler understands
// the Connect protocol (a POST of JSON is a call) and gRPC-Web; it runs the same services behind the same
// interceptors as the gRPC server, so a call does the same, and fails with the same code and details.
//
// What it guarantees:
//
//   - A call needs the bearer token. It is asked for before anything of the body is read.
//   - A request must name this server in its Host header: an IP address, localhost, or a name that was configured. Another
//     name that was made to lead here (DNS rebinding) is refused. Over TLS the certificate sees to that.
//   - A request that a page of another origin sends is refused, unless the origin was configured.
//   - A stream is sent message by message and ends when its client goes. One that does not read is given up as over
//     gRPC, and costs nobody else anything; what is kept for it is one view and a socket's buffers of bounded size.
//   - Stop lets the calls under way end, and none of the package's goroutines is left after it.
//
// The caller makes the listener, by the rules of package internal/server/listen, and gives the Server to rpc.Server.Beside.
package gateway
