package main

import (
	"context"

	"github.com/hashicorp/terraform-plugin-go/tfprotov5"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// provider answers without doing anything. What it embeds is never called.
type provider struct {
	tfprotov5.ProviderServer
	schema *Provider
}

func (p *provider) GetMetadata(context.Context, *tfprotov5.GetMetadataRequest) (*tfprotov5.GetMetadataResponse, error) {
	response := &tfprotov5.GetMetadataResponse{}
	for name := range p.schema.Resources {
		response.Resources = append(response.Resources, tfprotov5.ResourceMetadata{TypeName: name})
	}
	for name := range p.schema.Data {
		response.DataSources = append(response.DataSources, tfprotov5.DataSourceMetadata{TypeName: name})
	}
	return response, nil
}

func (p *provider) GetProviderSchema(context.Context, *tfprotov5.GetProviderSchemaRequest) (*tfprotov5.GetProviderSchemaResponse, error) {
	all := func(blocks map[string]*Block, isData bool) map[string]*tfprotov5.Schema {
		schemas := map[string]*tfprotov5.Schema{}
		for name, block := range blocks {
			schemas[name] = &tfprotov5.Schema{Block: schemaOf(block, isData)}
		}
		return schemas
	}
	return &tfprotov5.GetProviderSchemaResponse{
		Provider:          &tfprotov5.Schema{Block: schemaOf(p.schema.Config, false)},
		ProviderMeta:      &tfprotov5.Schema{Block: schemaOf(p.schema.Meta, false)},
		ResourceSchemas:   all(p.schema.Resources, false),
		DataSourceSchemas: all(p.schema.Data, true),
	}, nil
}

func (p *provider) GetResourceIdentitySchemas(context.Context, *tfprotov5.GetResourceIdentitySchemasRequest) (*tfprotov5.GetResourceIdentitySchemasResponse, error) {
	return &tfprotov5.GetResourceIdentitySchemasResponse{}, nil
}

func (p *provider) PrepareProviderConfig(_ context.Context, request *tfprotov5.PrepareProviderConfigRequest) (*tfprotov5.PrepareProviderConfigResponse, error) {
	return &tfprotov5.PrepareProviderConfigResponse{PreparedConfig: request.Config}, nil
}

func (p *provider) ConfigureProvider(context.Context, *tfprotov5.ConfigureProviderRequest) (*tfprotov5.ConfigureProviderResponse, error) {
	return &tfprotov5.ConfigureProviderResponse{}, nil
}

func (p *provider) StopProvider(context.Context, *tfprotov5.StopProviderRequest) (*tfprotov5.StopProviderResponse, error) {
	return &tfprotov5.StopProviderResponse{}, nil
}

func (p *provider) ValidateResourceTypeConfig(context.Context, *tfprotov5.ValidateResourceTypeConfigRequest) (*tfprotov5.ValidateResourceTypeConfigResponse, error) {
	return &tfprotov5.ValidateResourceTypeConfigResponse{}, nil
}

func (p *provider) ValidateDataSourceConfig(context.Context, *tfprotov5.ValidateDataSourceConfigRequest) (*tfprotov5.ValidateDataSourceConfigResponse, error) {
	return &tfprotov5.ValidateDataSourceConfigResponse{}, nil
}

func (p *provider) UpgradeResourceState(_ context.Context, request *tfprotov5.UpgradeResourceStateRequest) (*tfprotov5.UpgradeResourceStateResponse, error) {
	kind := typeOf(p.schema.Resources[request.TypeName], false)
	value, err := request.RawState.Unmarshal(kind)
	if err != nil {
		return nil, err
	}
	state, err := tfprotov5.NewDynamicValue(kind, value)
	return &tfprotov5.UpgradeResourceStateResponse{UpgradedState: &state}, err
}

func (p *provider) ReadResource(_ context.Context, request *tfprotov5.ReadResourceRequest) (*tfprotov5.ReadResourceResponse, error) {
	return &tfprotov5.ReadResourceResponse{NewState: request.CurrentState, Private: request.Private}, nil
}

// ImportResourceState finds every id, and nothing but the id.
func (p *provider) ImportResourceState(_ context.Context, request *tfprotov5.ImportResourceStateRequest) (*tfprotov5.ImportResourceStateResponse, error) {
	block := p.schema.Resources[request.TypeName]
	kind := typeOf(block, false)
	members := map[string]tftypes.Value{}
	for name := range block.Attributes {
		members[name] = tftypes.NewValue(tftypes.DynamicPseudoType, nil)
	}
	for name, inner := range block.Blocks {
		members[name] = tftypes.NewValue(tftypes.Tuple{}, []tftypes.Value{})
		if !hasAttributes(inner) {
			members[name] = tftypes.NewValue(tftypes.List{ElementType: typeOf(inner, false)}, []tftypes.Value{})
		}
	}
	members["id"] = tftypes.NewValue(tftypes.String, request.ID)
	imported, err := tfprotov5.NewDynamicValue(kind, tftypes.NewValue(kind, members))
	if err != nil {
		return nil, err
	}
	state, err := fill(&imported, block, kind, request.TypeName)
	return &tfprotov5.ImportResourceStateResponse{
		ImportedResources: []*tfprotov5.ImportedResource{{TypeName: request.TypeName, State: state}},
	}, err
}

// Real providers know these while they plan, because configurations make a resource of each.
var known = set("domain_validation_options")

// PlanResourceChange leaves unknown what is read and was left out, until the resource is made.
func (p *provider) PlanResourceChange(_ context.Context, request *tfprotov5.PlanResourceChangeRequest) (*tfprotov5.PlanResourceChangeResponse, error) {
	block := p.schema.Resources[request.TypeName]
	planned, err := change(request.ProposedNewState, block, typeOf(block, false), tftypes.Value.IsNull, func(name string, attribute *Attribute) tftypes.Value {
		if known[name] {
			return invent(request.TypeName, name, attribute.Shape, "planned")
		}
		return tftypes.NewValue(tftypes.DynamicPseudoType, tftypes.UnknownValue)
	})
	return &tfprotov5.PlanResourceChangeResponse{PlannedState: planned}, err
}

func (p *provider) ApplyResourceChange(_ context.Context, request *tfprotov5.ApplyResourceChangeRequest) (*tfprotov5.ApplyResourceChangeResponse, error) {
	block := p.schema.Resources[request.TypeName]
	state, err := fill(request.PlannedState, block, typeOf(block, false), request.TypeName)
	return &tfprotov5.ApplyResourceChangeResponse{NewState: state}, err
}

func (p *provider) ReadDataSource(_ context.Context, request *tfprotov5.ReadDataSourceRequest) (*tfprotov5.ReadDataSourceResponse, error) {
	block := p.schema.Data[request.TypeName]
	state, err := fill(request.Config, block, typeOf(block, true), request.TypeName)
	return &tfprotov5.ReadDataSourceResponse{State: state}, err
}

// change gives a value to each attribute that is read and is open. Null as a whole, the resource is destroyed.
func change(
	given *tfprotov5.DynamicValue, block *Block, kind tftypes.Type,
	isOpen func(tftypes.Value) bool, valueOf func(name string, attribute *Attribute) tftypes.Value,
) (*tfprotov5.DynamicValue, error) {
	value, err := given.Unmarshal(kind)
	if err != nil || value.IsNull() {
		return given, err
	}
	members := map[string]tftypes.Value{}
	if err := value.As(&members); err != nil {
		return nil, err
	}
	for name, attribute := range block.Attributes {
		if attribute.Shape != nil && isOpen(members[name]) {
			members[name] = valueOf(name, attribute)
		}
	}
	changed, err := tfprotov5.NewDynamicValue(kind, tftypes.NewValue(kind, members))
	return &changed, err
}

func fill(given *tfprotov5.DynamicValue, block *Block, kind tftypes.Type, typeName string) (*tfprotov5.DynamicValue, error) {
	value, err := given.Unmarshal(kind)
	if err != nil {
		return nil, err
	}
	seed := digest(typeName, value)
	isOpen := func(value tftypes.Value) bool { return value.IsNull() || !value.IsKnown() }
	return change(given, block, kind, isOpen, func(name string, attribute *Attribute) tftypes.Value {
		return invent(typeName, name, attribute.Shape, seed)
	})
}
