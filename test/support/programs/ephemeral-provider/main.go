// A provider for tests, with what no provider has that builds from the Go module proxy without a cloud: an ephemeral resource, and a
// resource with a write-only argument. Its state has a digest of the argument, so that a test sees what arrived.
package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/ephemeral"
	ephemeralschema "github.com/hashicorp/terraform-plugin-framework/ephemeral/schema"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

func main() {
	address := "mirror.test/hashicorp/ephemeral"
	if err := providerserver.Serve(context.Background(), newProvider, providerserver.ServeOpts{Address: address}); err != nil {
		os.Exit(1)
	}
}

type testProvider struct{}

func newProvider() provider.Provider { return testProvider{} }

func (testProvider) Metadata(_ context.Context, _ provider.MetadataRequest, answer *provider.MetadataResponse) {
	answer.TypeName = "ephemeral"
}
func (testProvider) Schema(context.Context, provider.SchemaRequest, *provider.SchemaResponse) {}
func (testProvider) Configure(context.Context, provider.ConfigureRequest, *provider.ConfigureResponse) {
}
func (testProvider) DataSources(context.Context) []func() datasource.DataSource { return nil }
func (testProvider) Resources(context.Context) []func() resource.Resource {
	return []func() resource.Resource{func() resource.Resource { return vault{} }}
}
func (testProvider) EphemeralResources(context.Context) []func() ephemeral.EphemeralResource {
	return []func() ephemeral.EphemeralResource{func() ephemeral.EphemeralResource { return token{} }}
}

// token gives a value that exists only while the tool runs.
type token struct{}

type tokenModel struct {
	Seed  types.String `tfsdk:"seed"`
	Value types.String `tfsdk:"value"`
}

func (token) Metadata(_ context.Context, _ ephemeral.MetadataRequest, answer *ephemeral.MetadataResponse) {
	answer.TypeName = "ephemeral_token"
}
func (token) Schema(_ context.Context, _ ephemeral.SchemaRequest, answer *ephemeral.SchemaResponse) {
	answer.Schema = ephemeralschema.Schema{Attributes: map[string]ephemeralschema.Attribute{
		"seed":  ephemeralschema.StringAttribute{Required: true},
		"value": ephemeralschema.StringAttribute{Computed: true},
	}}
}
func (token) Open(ctx context.Context, request ephemeral.OpenRequest, answer *ephemeral.OpenResponse) {
	var model tokenModel
	answer.Diagnostics.Append(request.Config.Get(ctx, &model)...)
	model.Value = types.StringValue("token-of-" + model.Seed.ValueString())
	answer.Diagnostics.Append(answer.Result.Set(ctx, &model)...)
}

// vault takes a value that the state never has.
type vault struct{}

type vaultModel struct {
	Version types.Int64  `tfsdk:"version"`
	Secret  types.String `tfsdk:"secret"`
	Digest  types.String `tfsdk:"digest"`
}

func (vault) Metadata(_ context.Context, _ resource.MetadataRequest, answer *resource.MetadataResponse) {
	answer.TypeName = "ephemeral_vault"
}
func (vault) Schema(_ context.Context, _ resource.SchemaRequest, answer *resource.SchemaResponse) {
	answer.Schema = schema.Schema{Attributes: map[string]schema.Attribute{
		"version": schema.Int64Attribute{Required: true},
		"secret":  schema.StringAttribute{Optional: true, WriteOnly: true},
		"digest":  schema.StringAttribute{Computed: true},
	}}
}
func (vault) Create(ctx context.Context, request resource.CreateRequest, answer *resource.CreateResponse) {
	store(ctx, request.Config, &answer.State, &answer.Diagnostics)
}
func (vault) Read(context.Context, resource.ReadRequest, *resource.ReadResponse) {}
func (vault) Update(ctx context.Context, request resource.UpdateRequest, answer *resource.UpdateResponse) {
	store(ctx, request.Config, &answer.State, &answer.Diagnostics)
}
func (vault) Delete(context.Context, resource.DeleteRequest, *resource.DeleteResponse) {}

func store(ctx context.Context, config tfsdk.Config, state *tfsdk.State, problems *diag.Diagnostics) {
	var model vaultModel
	problems.Append(config.Get(ctx, &model)...)
	digest := sha256.Sum256([]byte(model.Secret.ValueString()))
	model.Digest = types.StringValue(hex.EncodeToString(digest[:]))
	model.Secret = types.StringNull()
	problems.Append(state.Set(ctx, &model)...)
}
