import { describe, expect, it } from 'vitest';
import { deriveSpec, withoutDerived } from '#domain/registry/derived-spec.ts';
import { checkVersion } from '#domain/registry/publication/publication-check.ts';
import { TemplateSpec } from '#domain/registry/spec.ts';
import { proposeSpec } from '#domain/registry/spec-proposal.ts';
import { checkSchema } from '#domain/registry/variables/check.ts';
import { validateVariables } from '#domain/registry/variables/variables.ts';

const main = `
variable "size" {
  type        = number
  description = "How many"
  default     = "3"
  validation {
    condition     = var.size >= 1 && var.size < 10
    error_message = "1 to 9"
  }
}
variable "region" {
  type        = string
  description = <<-EOT
    Where it runs
    EOT
  validation {
    condition     = contains(["eu", "us"], var.region)
    error_message = "eu or us"
  }
}
variable "name" {
  type = string
  validation {
    condition     = length(var.name) > 2 && can(regex("^[a-z]+\\\\d$", var.name))
    error_message = "a name"
  }
  validation {
    condition     = startswith(var.name, "x")
    error_message = "begins with x"
  }
}
variable "token" {
  type      = string
  sensitive = true
  default   = "unset"
}
variable "nodes" {
  type = list(object({
    host = string # where
    port = optional(number, 80)
    tags = optional(set(string))
  }))
  default = [{ host = "a" }, {
    host = "b"
    port = 8080
  }]
}
variable "pair" { type = tuple([string, bool]) }
variable "anything" {}
variable "labels" {
  type    = map(any)
  default = {}
}
output "id" {
  description = "The id"
  value       = 1
}
output "key" {
  value     = var.token
  sensitive = true
}
`;

/** The schema of a variable that may be null as a whole. */
const orNull = ({ type, ...schema }: { type: string; [keyword: string]: unknown }) => ({
  ...schema,
  type: [type, 'null'],
  'x-offers-null': false,
});

describe('a spec that is proposed from files', () => {
  const proposal = proposeSpec({ 'main.tf': main, 'README.md': '# Nodes' });

  it('has the types, descriptions, defaults and validations of the variables', () => {
    expect(proposal.variables).toEqual({
      type: 'object',
      properties: {
        size: {
          type: 'number',
          description: 'How many',
          default: 3,
          minimum: 1,
          exclusiveMaximum: 10,
          'x-error-messages': { minimum: '1 to 9', exclusiveMaximum: '1 to 9' },
        },
        region: {
          type: 'string',
          description: 'Where it runs',
          enum: ['eu', 'us'],
          'x-error-messages': { enum: 'eu or us' },
        },
        name: {
          type: 'string',
          minLength: 3,
          pattern: '^[a-z]+\\d$',
          'x-error-messages': { minLength: 'a name', pattern: 'a name' },
        },
        token: orNull({ type: 'string', writeOnly: true }),
        nodes: orNull({
          type: 'array',
          items: {
            type: ['object', 'null'],
            properties: {
              host: { type: ['string', 'null'] },
              port: { type: ['number', 'null'], default: 80 },
              tags: { type: ['array', 'null'], items: { type: ['string', 'null'] }, uniqueItems: true },
            },
            required: ['host'],
          },
          default: [{ host: 'a' }, { host: 'b', port: 8080 }],
        }),
        pair: orNull({
          type: 'array',
          prefixItems: [{ type: ['string', 'null'] }, { type: ['boolean', 'null'] }],
          minItems: 2,
          maxItems: 2,
        }),
        anything: {},
        labels: orNull({ type: 'object', additionalProperties: {}, default: {} }),
      },
      required: ['region', 'name', 'pair', 'anything'],
    });
    expect(checkSchema(proposal.variables)).toEqual([]);
  });

  it('keeps the message of each validation, and variables that break it get that message', () => {
    const given = { size: 10, region: 'mars', name: 'X', pair: ['a', true], anything: 1 };
    expect(validateVariables(proposal.variables, given).errors).toEqual([
      { path: '/size', message: '1 to 9' },
      { path: '/region', message: 'eu or us' },
      { path: '/name', message: 'a name' },
    ]);
  });

  it('has the outputs and the readme, and notes a validation that only the tool can check', () => {
    expect(proposal.outputs).toEqual({ id: { description: 'The id' }, key: { sensitive: true } });
    expect(proposal.readme).toBe('# Nodes');
    expect(proposal.notes).toEqual([
      expect.objectContaining({ path: '/variables/properties/name', file: 'main.tf', line: 27 }),
    ]);
  });

  it('comes from the files that the requested tool reads, or that the only possible tool reads', () => {
    const files = {
      'main.tf': 'terraform {\n  required_version = ">= 1.5"\n}\nvariable "a" {}\n',
      'main.tofu': 'variable "b" {}\n',
    };
    const named = (proposed: ReturnType<typeof proposeSpec>) => Object.keys(Object(proposed.variables['properties']));
    expect(named(proposeSpec(files, '', { name: 'opentofu' }))).toEqual(['b']);
    expect(named(proposeSpec(files, '', { name: 'terraform' }))).toEqual(['a']);
    const never = { ...files, 'main.tf': files['main.tf'].replace('>= 1.5', '> 2.0, < 1.0') };
    expect(named(proposeSpec(never))).toEqual(['b']);
    const spec = TemplateSpec.parse({ executor: { kind: 'opentofu', files }, tool: { name: 'opentofu' } });
    const derived = deriveSpec(spec, files).spec;
    expect(checkVersion(derived, files).errors).toEqual([]);
    expect(derived.variables).toMatchObject({ properties: { b: {} } });
  });

  it('comes from the files of the preferred tool if both can run them, and notes that the other reads other variables', () => {
    const files = { 'main.tf': 'variable "a" {}\n', 'main.tofu': 'variable "b" {}\n' };
    const proposed = proposeSpec(files);
    expect(proposed).toMatchObject({ tool: 'opentofu', variables: { properties: { b: {} } } });
    expect(proposed.notes).toEqual([{ path: '/tool', message: expect.stringContaining('for Terraform') }]);
    const spec = TemplateSpec.parse({ executor: { kind: 'opentofu', files } });
    expect(deriveSpec(spec, files).notes).toEqual(proposed.notes);
    expect(proposeSpec(files, '', { name: 'terraform' })).toMatchObject({ tool: 'terraform', notes: [] });
    const same = { 'main.tf': 'variable "a" {}\n', 'main.tofu': 'variable "a" {} # also for OpenTofu\n' };
    expect(proposeSpec(same)).toMatchObject({ tool: 'opentofu', notes: [] });
  });

  it('comes from the directory of a repository, in JSON too', () => {
    const files = {
      'stack/a.tf.json': '{"variable": {"a": {"type": "list(string)", "default": ["x"], "description": "A"}}}',
      'stack/readme.md': 'hi',
    };
    expect(proposeSpec(files, 'stack')).toMatchObject({
      variables: {
        properties: {
          a: orNull({ type: 'array', items: { type: ['string', 'null'] }, default: ['x'], description: 'A' }),
        },
      },
      readme: 'hi',
    });
  });

  it('has the values of variables files as defaults, and makes these variables optional', () => {
    const names = ['by_block', 'by_file', 'by_json', 'by_auto', 'by_nobody'];
    const blocks = names.map((name) => `variable "${name}" {\n  type = string\n}\n`);
    const files = {
      'stack/main.tf': blocks.join('').replace('string', 'string\n  default = "block"'),
      'stack/terraform.tfvars': 'by_file = "file"\nby_json = "file"\nby_auto = "file"\nundeclared = 1\n',
      'stack/terraform.tfvars.json': '{"by_json": "json ${x}", "by_auto": "json"}',
      'stack/b.auto.tfvars.json': '{"by_auto": "auto b"}',
      'stack/a.auto.tfvars': 'by_auto = "auto a"\n',
      'stack/other.tfvars': 'by_nobody = "not read"\n',
      'terraform.tfvars': 'by_nobody = "not read"\n',
    };
    const { variables, notes } = proposeSpec(files, 'stack');
    expect(variables).toEqual({
      type: 'object',
      properties: {
        by_block: orNull({ type: 'string', default: 'block' }),
        by_file: orNull({ type: 'string', default: 'file' }),
        by_json: orNull({ type: 'string', default: 'json ${x}' }),
        by_auto: orNull({ type: 'string', default: 'auto b' }),
        by_nobody: orNull({ type: 'string' }),
      },
      required: ['by_nobody'],
    });
    expect(notes).toEqual([]);
  });

  it('shows no default that is secret, null, an expression, too exact or of another type, and makes its variable optional', () => {
    const files = {
      'main.tf': `
variable "secret" { sensitive = true }
variable "none" { default = "block" }
variable "computed" {}
variable "exact" { type = number }
variable "exact_json" {}
variable "other" { type = list(number) }
`,
      'terraform.tfvars': `
secret   = "hunter2"
none     = null
computed = "a" == "b"
exact    = 0.12345678901234567890
other    = ["x"]
`,
      'terraform.tfvars.json': '{"exact_json": [12345678901234567890]}',
    };
    const proposal = proposeSpec(files);
    expect(proposal.variables).toEqual({
      type: 'object',
      properties: {
        secret: { writeOnly: true },
        none: {},
        computed: {},
        exact: orNull({ type: 'number' }),
        exact_json: {},
        other: orNull({ type: 'array', items: { type: ['number', 'null'] } }),
      },
    });
    expect(proposal.notes.map(({ path, file, line }) => [path, file, line])).toEqual([
      ['/variables/properties/computed', 'terraform.tfvars', 4],
      ['/variables/properties/exact', 'terraform.tfvars', 5],
      ['/variables/properties/exact_json', 'terraform.tfvars.json', undefined],
      ['/variables/properties/other', 'terraform.tfvars', 6],
    ]);
    expect(JSON.stringify(proposal)).not.toContain('hunter2');
    const spec = TemplateSpec.parse({ executor: { kind: 'opentofu', files } });
    expect(deriveSpec(spec, files).notes).toEqual(proposal.notes);
  });

  it('has defaults that are converted to the type of the variable, as the tools do', () => {
    const types = {
      nodes: 'list(object({ host = string, port = optional(number, "80"), zone = optional(string) }))',
      flags: 'map(bool)',
      pair: 'tuple([string, number])',
      zones: 'set(string)',
      twice: 'set(string)',
      tiny: 'string',
    };
    const blocks = Object.entries(types).map(([name, type]) => `variable "${name}" {\n  type = ${type}\n}\n`);
    const values = {
      nodes: [{ host: 1, port: '8080', zone: null, more: true }],
      flags: { on: 'true', off: false },
      pair: [true, '1.50'],
      zones: ['a', 2],
      twice: ['1', 1],
      tiny: 1e-7,
    };
    const { variables, notes } = proposeSpec({
      'main.tf': blocks.join(''),
      'terraform.tfvars.json': JSON.stringify(values),
    });
    expect(checkSchema(variables)).toEqual([]);
    expect(validateVariables(variables, {}).variables).toEqual({
      nodes: [{ host: '1', port: 8080, more: true }],
      flags: { on: true, off: false },
      pair: ['true', 1.5],
      zones: ['a', '2'],
    });
    expect(notes.map(({ path }) => path)).toEqual(['/variables/properties/twice', '/variables/properties/tiny']);
  });

  it('is derived anew for the next version if an earlier release had ignored variables files', () => {
    const files = {
      'main.tf': 'variable "region" {\n  type = string\n}\nvariable "size" {\n  default = 1\n}\n',
      'terraform.tfvars': 'region = "eu-1"\nsize = 2\n',
    };
    const specOf = (properties: object, required: string[]) =>
      TemplateSpec.parse({
        variables: { type: 'object', properties, required },
        executor: { kind: 'opentofu', files },
      });
    const region = { type: 'string' };
    expect(withoutDerived(specOf({ region, size: { default: 1 } }, ['region']), files)).toEqual({});
    expect(withoutDerived(deriveSpec(specOf({}, []), files).spec, files)).toEqual({});
    const typed = withoutDerived(specOf({ region, size: { default: 3 } }, ['region']), files);
    expect(typed?.variables).toMatchObject({ properties: { size: { default: 3 } } });
  });

  it('is derived anew for the next version if an earlier release had ignored messages or read the files as the other tool', () => {
    const files = {
      'main.tf':
        'variable "size" {\n  type = number\n  validation {\n    condition     = var.size <= 5\n    error_message = "At most five."\n  }\n}\n',
      'main.tofu':
        'variable "size" {\n  type = number\n  default = 1\n  validation {\n    condition     = var.size <= 5\n    error_message = "At most five."\n  }\n}\n',
    };
    const sizes = { type: 'number', maximum: 5 };
    const specOf = (size: object, required: string[]) =>
      TemplateSpec.parse({
        variables: { type: 'object', properties: { size }, required },
        executor: { kind: 'opentofu', files },
      });
    for (const derived of [specOf({ ...sizes, default: 1 }, []), specOf(sizes, ['size'])])
      expect(withoutDerived(derived, files)).toEqual({});
    const typed = withoutDerived(specOf({ ...sizes, maximum: 4, default: 1 }, []), files);
    expect(typed?.variables).toMatchObject({ properties: { size: { maximum: 4 } } });
  });

  it('is derived anew for the next version if an earlier release had derived a schema that refuses null', () => {
    const files = {
      'main.tf': `
variable "nodes" { type = list(object({ host = string, tags = optional(set(string)) })) }
variable "any" {
  type     = any
  nullable = false
}
variable "kind" {
  type     = string
  default  = "a"
  nullable = false
  validation {
    condition     = contains(["a", "b"], var.kind)
    error_message = "a or b"
  }
}
`,
    };
    const specOf = (properties: object, required: string[]) =>
      TemplateSpec.parse({
        variables: { type: 'object', properties, required },
        executor: { kind: 'opentofu', files },
      });
    const tags = { type: 'array', items: { type: 'string' }, uniqueItems: true };
    const host = { type: 'object', properties: { host: { type: 'string' }, tags }, required: ['host'] };
    const kind = { type: 'string', enum: ['a', 'b'], default: 'a', 'x-error-messages': { enum: 'a or b' } };
    const earlier = { nodes: { type: 'array', items: host }, any: {}, kind };
    const { 'x-error-messages': _, ...silent } = kind;
    for (const properties of [earlier, { ...earlier, kind: silent }])
      expect(withoutDerived(specOf(properties, ['nodes', 'any']), files)).toEqual({});
    expect(withoutDerived(deriveSpec(specOf({}, []), files).spec, files)).toEqual({});
    const typed = withoutDerived(specOf({ ...earlier, any: { type: ['string', 'null'] } }, ['nodes', 'any']), files);
    expect(typed?.variables).toMatchObject({ properties: { any: { type: ['string', 'null'] } } });
    expect(Object.keys(typed?.variables?.['properties'] ?? {})).toEqual(['any']);
  });
});
