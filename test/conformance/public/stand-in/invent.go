package main

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// The values that a resource gets follow from its arguments, so that the same configuration always gets the same.

// The two sides of a comparison work in directories of other names.
var workingDirectory = regexp.MustCompile(`(/[^\s"']+)?/work/`)

func digest(typeName string, value tftypes.Value) string {
	sum := sha256.Sum256([]byte(typeName + workingDirectory.ReplaceAllString(describe(value), "/work/")))
	return hex.EncodeToString(sum[:5])
}

func describe(value tftypes.Value) string {
	if value.IsNull() || !value.IsKnown() {
		return "null"
	}
	members, items := map[string]tftypes.Value{}, []tftypes.Value{}
	var text strings.Builder
	switch {
	case value.As(&members) == nil:
		for _, name := range sorted(members) {
			fmt.Fprintf(&text, "%q:%s,", name, describe(members[name]))
		}
	case value.As(&items) == nil:
		for _, item := range items {
			fmt.Fprintf(&text, "%s;", describe(item))
		}
	default:
		return value.String()
	}
	return "{" + text.String() + "}"
}

var (
	plural = regexp.MustCompile(`(^|_)(ids|arns|names|zones|addresses|blocks|subnets|servers|ips|endpoints|hosts|groups|domains|urls)$`)
	counts = regexp.MustCompile(`(^|_)(port|size|count|number)$`)
)

func invent(typeName, name string, shape *Shape, seed string) tftypes.Value {
	if len(shape.Members) > 0 && shape.Format == "" {
		types, members := map[string]tftypes.Type{}, map[string]tftypes.Value{}
		for member, inner := range shape.Members {
			if inner == nil {
				inner = &Shape{}
			}
			members[member] = invent(typeName, member, inner, seed)
			types[member] = members[member].Type()
		}
		return tftypes.NewValue(tftypes.Object{AttributeTypes: types}, members)
	}
	if shape.Format == "" && (shape.Element != nil || plural.MatchString(name)) {
		return inventList(typeName, name, shape, seed)
	}
	if counts.MatchString(name) {
		return tftypes.NewValue(tftypes.Number, 8080)
	}
	if shape.Format == "jsondecode" {
		text, _ := json.Marshal(plain(invent(typeName, name, shape.Decoded, seed)))
		return tftypes.NewValue(tftypes.String, string(text))
	}
	return tftypes.NewValue(tftypes.String, inventText(typeName, name, shape.Format, seed))
}

func inventList(typeName, name string, shape *Shape, seed string) tftypes.Value {
	element := shape.Element
	if element == nil {
		element = &Shape{}
	}
	length := max(shape.Length, 3)
	if len(element.Members) > 0 {
		length = max(shape.Length, 1)
	}
	types, items := []tftypes.Type{}, []tftypes.Value{}
	for index := range length {
		item := invent(typeName, strings.TrimSuffix(name, "s"), element, fmt.Sprintf("%s-%d", seed, index))
		types, items = append(types, item.Type()), append(items, item)
	}
	return tftypes.NewValue(tftypes.Tuple{ElementTypes: types}, items)
}

// plain is an invented value as encoding/json takes it.
func plain(value tftypes.Value) any {
	members, items, text := map[string]tftypes.Value{}, []tftypes.Value{}, ""
	switch {
	case value.As(&members) == nil:
		object := map[string]any{}
		for name, member := range members {
			object[name] = plain(member)
		}
		return object
	case value.As(&items) == nil:
		list := []any{}
		for _, item := range items {
			list = append(list, plain(item))
		}
		return list
	case value.As(&text) == nil:
		return text
	}
	return 8080
}

func inventText(typeName, name, format, seed string) string {
	switch {
	case format == "base64decode":
		return base64.StdEncoding.EncodeToString([]byte(name + seed))
	case strings.Contains(name, "cidr"):
		return "10.0.0.0/16"
	case strings.HasSuffix(name, "ip") || strings.HasSuffix(name, "ip_address") || strings.HasSuffix(name, "ipv4_address"):
		return "192.0.2.10"
	case name == "json":
		return "{}"
	case name == "id":
		return typeName + "-" + seed
	}
	return name + "-" + seed
}
