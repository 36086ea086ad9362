// Package gateway serves domtap's calls over HTTP to clients without gRPC: curl and browsers. One
// handler supports the Connect protocol (a POST of JSON is a call) and gRPC-Web. It runs the same
// services behind the same interceptors as the gRPC server, so calls have the same results, codes and
// details.
//
// Guarantees:
//
//   - A call needs the bearer token, which is checked before the body is read.
//   - A request must name this server in its Host header: an IP address, localhost, or a configured
//     name. Other names (DNS rebinding) are refused. Over TLS, the certificate ensures the name.
//   - A request from a page of another origin is refused, unless the origin is configured.
//   - A stream is sent message by message and ends when its client disconnects. As over gRPC, a stream is ended if its client does not
//     read, and it does not affect others. Its memory is one view and the bounded buffers of a socket.
//   - Stop lets calls in flight finish. Afterwards no goroutine of the package is left.
//
// The caller creates the listener with package listen, and passes the Server to server.Server.Beside.
package gateway
