package main

import (
	"regexp"
	"sort"

	"github.com/hashicorp/terraform-plugin-go/tfprotov5"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

var secret = regexp.MustCompile(`(password|secret|token|private_key|connection_string)s?$`)

func schemaOf(block *Block) *tfprotov5.SchemaBlock {
	schema := &tfprotov5.SchemaBlock{}
	for _, name := range sorted(block.Attributes) {
		schema.Attributes = append(schema.Attributes, &tfprotov5.SchemaAttribute{
			Name: name, Type: tftypes.DynamicPseudoType, Optional: true,
			Computed: block.Attributes[name].Shape != nil, Sensitive: secret.MatchString(name),
		})
	}
	for _, name := range sorted(block.Blocks) {
		schema.BlockTypes = append(schema.BlockTypes, &tfprotov5.SchemaNestedBlock{
			TypeName: name, Block: schemaOf(block.Blocks[name]), Nesting: tfprotov5.SchemaNestedBlockNestingModeList,
		})
	}
	return schema
}

// typeOf is the type of the values of a schema: a list whose elements have dynamic types is dynamic as a whole.
func typeOf(block *Block) tftypes.Type {
	types := map[string]tftypes.Type{}
	for name := range block.Attributes {
		types[name] = tftypes.DynamicPseudoType
	}
	for name, inner := range block.Blocks {
		types[name] = tftypes.DynamicPseudoType
		if !hasAttributes(inner) {
			types[name] = tftypes.List{ElementType: typeOf(inner)}
		}
	}
	return tftypes.Object{AttributeTypes: types}
}

func hasAttributes(block *Block) bool {
	for _, inner := range block.Blocks {
		if hasAttributes(inner) {
			return true
		}
	}
	return len(block.Attributes) > 0
}

func sorted[T any](members map[string]T) []string {
	names := make([]string, 0, len(members))
	for name := range members {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}
