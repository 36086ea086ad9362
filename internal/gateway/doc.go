// Package gateway serves domtap's calls over HTTP to clients without gRPC: curl and browsers. One
// handler supports the Connect protocol (a POST of JSON is a call) and gRPC-Web. It runs the same
// services behind the same interceptors as the gRPC server, so calls have the same results, codes and
// details.
//
// What it guarantees:
//
//   - A call needs the bearer token, which is checked before the body is read.
//   - A request must name this server in its Host header: an IP address, localhost, or a configured
//     name. Other names (DNS rebinding) are refused. Over TLS, the certificate ensures the name.
//   - A request of a page of another origin is refused, unless the origin is configured.
//   - A stream is sent message by message and ends when its client goes. A stream whose client does not
//     read is ended, as over gRPC, and does not affect others; its memory is one view and the bounded
//     buffers of a socket.
//   - Stop lets calls under way finish; afterwards no goroutine of the package is left.
//
// The caller makes the listener with package listen, and gives the Server to server.Server.Beside.
package gateway
