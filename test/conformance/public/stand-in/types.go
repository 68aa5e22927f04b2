package main

import (
	"regexp"
	"sort"

	"github.com/hashicorp/terraform-plugin-go/tfprotov5"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

var secret = regexp.MustCompile(`(password|secret|token|private_key|connection_string)s?$`)

// schemaOf makes a schema whose attributes are dynamic. The tools cannot put off reading a data source with dynamic attributes in blocks, so those
// are typed.
func schemaOf(block *Block, isData bool) *tfprotov5.SchemaBlock {
	return nestedSchema(block, isData, false)
}

func nestedSchema(block *Block, isData, isTyped bool) *tfprotov5.SchemaBlock {
	schema := &tfprotov5.SchemaBlock{}
	for _, name := range sorted(block.Attributes) {
		schema.Attributes = append(schema.Attributes, &tfprotov5.SchemaAttribute{
			Name: name, Type: block.Attributes[name].kind(isTyped), Optional: true,
			Computed: block.Attributes[name].Shape != nil, Sensitive: secret.MatchString(name),
		})
	}
	for _, name := range sorted(block.Blocks) {
		schema.BlockTypes = append(schema.BlockTypes, &tfprotov5.SchemaNestedBlock{
			TypeName: name, Block: nestedSchema(block.Blocks[name], isData, isData),
			Nesting: tfprotov5.SchemaNestedBlockNestingModeList,
		})
	}
	return schema
}

func (attribute *Attribute) kind(isTyped bool) tftypes.Type {
	switch {
	case !isTyped:
		return tftypes.DynamicPseudoType
	case attribute.IsList:
		return tftypes.List{ElementType: tftypes.String}
	}
	return tftypes.String
}

// typeOf is the type of the values of a schema: a list whose elements have dynamic types is dynamic as a whole.
func typeOf(block *Block, isData bool) tftypes.Type {
	return nestedType(block, isData, false)
}

func nestedType(block *Block, isData, isTyped bool) tftypes.Type {
	types := map[string]tftypes.Type{}
	for name, attribute := range block.Attributes {
		types[name] = attribute.kind(isTyped)
	}
	for name, inner := range block.Blocks {
		types[name] = tftypes.DynamicPseudoType
		if isData || !hasAttributes(inner) {
			types[name] = tftypes.List{ElementType: nestedType(inner, isData, isData)}
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
