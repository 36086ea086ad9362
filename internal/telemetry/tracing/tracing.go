// Package tracing sends spans of calls and of tab turns to an OpenTelemetry collector, by OTLP over gRPC. It implements the tracers that
// packages server and actor declare. A daemon without a collector creates no spans.
//
// The package guarantees that attributes are bounded: methods, codes, peers, and kinds of turns. They never contain page content, text
// typed by a client, or URLs of tabs.
package tracing

import (
	"context"
	"errors"
	"fmt"
	"net/url"

	"go.opentelemetry.io/contrib/instrumentation/google.golang.org/grpc/otelgrpc"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	"go.opentelemetry.io/otel/sdk/trace"
	oteltrace "go.opentelemetry.io/otel/trace"
	"google.golang.org/grpc/stats"
)

// Traces sends the spans of one daemon. Its methods are safe for concurrent use.
type Traces struct {
	provider *trace.TracerProvider
	tracer   oteltrace.Tracer
}

// New sends spans to an endpoint: http://HOST:PORT, or https://HOST:PORT with TLS. The standard environment variables OTEL_* configure
// headers, sampler, batches and resource. ctx limits the start. The caller must call Close.
func New(ctx context.Context, endpoint, version string) (*Traces, error) {
	if err := Check(endpoint); err != nil {
		return nil, err
	}
	out, err := otlptracegrpc.New(ctx, otlptracegrpc.WithEndpointURL(endpoint))
	if err != nil {
		return nil, fmt.Errorf("send traces to %s: %w", endpoint, err)
	}
	return start(ctx, trace.WithBatcher(out), version)
}

// Check returns an error for an invalid endpoint.
func Check(endpoint string) error {
	u, err := url.Parse(endpoint)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return errors.New("the endpoint of the collector is http://HOST:PORT, or https://HOST:PORT with TLS, such as http://127.0.0.1:4317")
	}
	return nil
}

func start(ctx context.Context, out trace.TracerProviderOption, version string) (*Traces, error) {
	about, err := resource.New(ctx, resource.WithAttributes(attribute.String("service.name", "domtap"), attribute.String("service.version", version)),
		resource.WithTelemetrySDK(), resource.WithFromEnv())
	if err != nil {
		return nil, fmt.Errorf("describe the daemon to the collector (OTEL_RESOURCE_ATTRIBUTES): %w", err)
	}
	provider := trace.NewTracerProvider(out, trace.WithResource(about))
	return &Traces{provider: provider, tracer: provider.Tracer("github.com/domtap/domtap")}, nil
}

// Close sends the remaining spans. It gives up when ctx ends.
func (t *Traces) Close(ctx context.Context) error { return t.provider.Shutdown(ctx) }

// Calls returns a handler that creates a span for each call of a gRPC server. If the client sent a W3C traceparent, the span is part of the
// client's trace.
func (t *Traces) Calls() stats.Handler {
	return otelgrpc.NewServerHandler(otelgrpc.WithTracerProvider(t.provider), otelgrpc.WithPropagators(propagation.TraceContext{}))
}

// Turn implements actor.Tracer.
func (t *Traces) Turn(ctx context.Context, what, tab string) (begun func(), end func(error)) {
	_, span := t.tracer.Start(ctx, "turn "+what, oteltrace.WithAttributes(attribute.String("domtap.tab", tab)))
	return func() { span.AddEvent("its turn") }, func(err error) {
		if err != nil {
			span.SetStatus(codes.Error, "failed") // the message could quote the page
		}
		span.End()
	}
}
