package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"

	"github.com/hashicorp/go-version"
)

// A source without a host is looked for in the registry of each tool.
var registries = []string{"registry.terraform.io", "registry.opentofu.org"}

// layMirror lays every provider that the configurations name, in a version that each of them takes.
func layMirror(directory string, roots []string) error {
	all := &reading{providers: map[string]*Provider{}, constraints: map[string][]string{}, shapes: map[*Block]*Shape{}}
	wanted := map[string][][]string{}
	for _, root := range roots {
		all.constraints = map[string][]string{}
		m, err := all.openModule(root, nil)
		if err != nil {
			return fmt.Errorf("%s: %w", root, err)
		}
		m.noteUses()
		for source, constraints := range all.constraints {
			wanted[source] = append(wanted[source], constraints)
		}
	}
	all.joinShapes()
	for source, provider := range all.providers {
		versions := map[string]bool{}
		for _, constraints := range append(wanted[source], nil) {
			versions[chooseVersion(constraints)] = true
		}
		for each := range versions {
			if err := layProvider(directory, source, each, provider); err != nil {
				return err
			}
		}
	}
	return nil
}

var number = regexp.MustCompile(`\d+(\.\d+){0,2}`)

// chooseVersion returns the highest of those that a constraint names, or is next to, that satisfies all.
func chooseVersion(constraints []string) string {
	chosen, _ := version.NewVersion("1.0.0")
	together, err := version.NewConstraint(strings.Join(constraints, ","))
	if len(constraints) == 0 || err != nil {
		return chosen.String()
	}
	chosen = nil
	for _, text := range number.FindAllString(strings.Join(constraints, ","), -1) {
		named, _ := version.NewVersion(text)
		part := named.Segments()
		for _, candidate := range []string{
			fmt.Sprintf("%d.%d.%d", part[0], part[1], part[2]),
			fmt.Sprintf("%d.%d.%d", part[0], part[1], part[2]+1),
			fmt.Sprintf("%d.%d.0", part[0], part[1]+1),
		} {
			each, _ := version.NewVersion(candidate)
			if together.Check(each) && (chosen == nil || each.GreaterThan(chosen)) {
				chosen = each
			}
		}
	}
	if chosen == nil {
		return "1.0.0"
	}
	return chosen.String()
}

func layProvider(directory, source, chosen string, provider *Provider) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	text, err := json.MarshalIndent(provider, "", " ")
	if err != nil {
		return err
	}
	places := registries
	if parts := strings.Split(source, "/"); len(parts) == 3 {
		places, source = parts[:1], strings.Join(parts[1:], "/")
	}
	for _, host := range places {
		place := filepath.Join(directory, host, filepath.FromSlash(source), chosen, runtime.GOOS+"_"+runtime.GOARCH)
		if err := os.MkdirAll(place, 0o755); err != nil {
			return err
		}
		name := fmt.Sprintf("terraform-provider-%s_v%s", filepath.Base(source), chosen)
		if err := os.Link(program, filepath.Join(place, name)); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(place, schemaFile), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}
