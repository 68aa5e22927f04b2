import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { readStateFile } from '#domain/instances/state-file/state-file.ts';
import { deriveSpec } from '#domain/registry/derived-spec.ts';
import { TemplateSpec } from '#domain/registry/spec.ts';
import { validateVariables } from '#domain/registry/variables/variables.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import { makeWorkRoot, requireTools } from '../support.ts';
import { useTool } from './opentofu-support.ts';

const tools = await requireTools();
const work = makeWorkRoot();
afterAll(work.remove);

type Files = Record<string, string>;
type Values = Record<string, JsonValue>;

/** Runs the tool by hand in a directory of these files, and returns its outputs. */
function runBare(path: string, files: Files, options: readonly string[] = []): Values {
  const directory = mkdtempSync(join(tmpdir(), 'coordinator-bare-'));
  const call = (...given: string[]) =>
    execFileSync(path, given, {
      cwd: directory,
      encoding: 'utf8',
      stdio: 'pipe',
      maxBuffer: 64 * 1024 * 1024,
      env: { PATH: process.env['PATH'], HOME: directory },
    });
  try {
    for (const [name, content] of Object.entries(files)) writeFileSync(join(directory, name), content);
    call('init', '-no-color');
    call('apply', '-auto-approve', '-no-color', '-input=false', ...options);
    const outputs: [string, { value: JsonValue }][] = Object.entries(JSON.parse(call('output', '-json')));
    return Object.fromEntries(outputs.map(([name, { value }]) => [name, value]));
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/** A value as somebody writes it in a tfvars file. */
function toHcl(value: JsonValue): string {
  return JSON.stringify(value).replaceAll('${', '$\\u007b').replaceAll('%{', '%\\u007b');
}

const types = `
variable "text" { type = string }
variable "list" { type = list(string) }
variable "set" { type = set(string) }
variable "map" { type = map(number) }
variable "any" { type = any }
variable "untyped" {}
variable "tuple" { type = tuple([string, number, bool]) }
variable "converted" { type = number }
variable "flag" { type = string }
variable "left_out" { default = "default" }
variable "null_given" {
  type    = string
  default = "default"
}
variable "not_nullable" {
  type     = string
  default  = "default"
  nullable = false
}
variable "nested" {
  type = list(object({
    name = string
    size = optional(number, 3)
    deep = optional(object({ on = optional(bool, true), tags = optional(map(string), {}), none = optional(string) }), {})
  }))
}
locals {
  all = { text = var.text, list = var.list, set = var.set, map = var.map, any = var.any, untyped = var.untyped,
    tuple = var.tuple, converted = var.converted, flag = var.flag, left_out = var.left_out,
    null_given = var.null_given, not_nullable = var.not_nullable, nested = var.nested }
}
output "all" { value = local.all }
output "json" { value = jsonencode(local.all) }
output "lengths" { value = [length(var.text), length(var.list), length(var.set)] }
`;

const pem = '-----BEGIN KEY-----\nMIIB+/=\n\tx\r\n-----END KEY-----\n';
const given: Values = {
  text: '',
  list: [],
  set: ['b', 'a', 'b', '日本'],
  map: { 'a"b': 1.5, 'x.y[0]': 9007199254740991, '': -0.1 },
  any: { deep: [1, 'two', null, { three: [] }], empty: {} },
  untyped: ['a', 1, true],
  tuple: ['1', 2, false],
  converted: '5.50',
  flag: true,
  null_given: null,
  not_nullable: null,
  nested: [
    { name: 'a' },
    { name: 'b', size: 9, deep: { tags: { k: 'v' } } },
    { name: 'c', deep: { on: false, none: null } },
  ],
};
const texts: Record<string, string> = Object.fromEntries([
  ['quotes and backslashes', 'a "quoted" \\ \'text\' \\n \\u0041'],
  ['templates', '${var.text} $${x} %{ if true } %%{ $ % {'],
  ['a PEM text', pem],
  ['line and paragraph separators', 'a\u2028b\u2029c\u0085d\u00a0e\ufeff'],
  ['composed and decomposed letters', 'e\u0301 \u00e9 👩‍🚀'],
  ['64 KiB', 'x"${\\'.repeat(13_108)],
]);

describe.each(tools)('the variables of $name $version', ({ name, version, path }) => {
  const { plan, deploy } = useTool(work.path, { name, version });
  const run = async (files: Files, variables: Values) => {
    const { result } = await deploy({ executor: { kind: 'opentofu', files }, variables });
    return Object.fromEntries(Object.entries(result.outputs ?? {}).map(([key, { value }]) => [key, value]));
  };
  const compare = async (files: Files, variables: Values) => {
    const tfvars = Object.entries(variables).map(([key, value]) => `${key} = ${toHcl(value)}\n`);
    const bare = runBare(path, { ...files, 'given.vars': tfvars.join('') }, ['-var-file=given.vars']);
    const here = await run(files, variables);
    expect(here).toEqual(bare);
    return here;
  };

  it('have the same values as in the bare tool, for every type', async () => {
    const { all } = await compare({ 'main.tf': types }, given);
    expect(all).toMatchObject({
      left_out: 'default',
      null_given: null,
      not_nullable: 'default',
      converted: 5.5,
      flag: 'true',
    });
  });

  it('have the same values as in the bare tool, for every string', async () => {
    const main =
      'variable "x" { type = map(string) }\nvariable "y" {}\noutput "x" { value = var.x }\noutput "y" { value = var.y }\noutput "sizes" { value = [for each in var.x : length(each)] }\n';
    const named = Object.values(texts).map((text) => [text.slice(0, 100), text]);
    const { x } = await compare({ 'main.tf': main }, { x: texts, y: [Object.fromEntries(named)] });
    // The tools compose letters.
    expect(x).toEqual(Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, text.normalize('NFC')])));
  });

  it("take precedence over the repository's own files, in the order of the bare tool", async () => {
    const names = ['by_default', 'by_file', 'by_json', 'by_auto', 'by_run'];
    const main = names.map(
      (each) => `variable "${each}" {\n  default = "default"\n}\noutput "${each}" {\n  value = var.${each}\n}\n`,
    );
    const assign = (from: number, value: string) =>
      names
        .slice(from)
        .map((each) => `${each} = "${value}"\n`)
        .join('');
    const files = {
      'main.tf': main.join(''),
      'terraform.tfvars': assign(1, 'file'),
      'terraform.tfvars.json': JSON.stringify({ by_json: 'json', by_auto: 'json', by_run: 'json' }),
      'b.auto.tfvars': assign(3, 'auto b'),
      'a.auto.tfvars': assign(3, 'auto a'),
      'other.tfvars': assign(0, 'not read'),
    };
    expect(await compare(files, { by_run: 'run' })).toEqual({
      by_default: 'default',
      by_file: 'file',
      by_json: 'json',
      by_auto: 'auto b',
      by_run: 'run',
    });
  });

  it('have the same values as in the bare tool if a derived schema has the values of variables files as defaults', async () => {
    const files = {
      'main.tf': types
        .replace('variable "text" { type = string }', 'variable "text" {\n  type      = string\n  sensitive = true\n}')
        .replace(/output "json"[\s\S]*/, '')
        .replace('text = var.text', 'text = nonsensitive(var.text)'),
      'terraform.tfvars': Object.entries(given)
        .map(([key, value]) => `${key} = ${toHcl(value)}\n`)
        .join(''),
      'terraform.tfvars.json': JSON.stringify({ list: ['json ${x}', 1], untyped: { a: [1.5] } }),
    };
    const { spec } = deriveSpec(TemplateSpec.parse({ executor: { kind: 'opentofu', files } }), files);
    const { valid, variables } = validateVariables(spec.variables, {});
    expect(valid).toBe(true);
    expect(Object.keys(variables)).toContain('list');
    expect(Object.keys(variables)).not.toContain('text');
    expect(await run(files, variables)).toEqual(runBare(path, files));
  });

  it('become keys of resources in plans, states and replacements', async () => {
    const keys = [
      'a"b',
      '日本',
      'x[0]',
      'a.b',
      '${x}',
      '$${x}',
      '%%{',
      '%{y}',
      'back\\slash',
      'sp ace',
      "it's",
      'e\u0301',
      '\u2028',
      'tab\t',
      '\b\u007f\u00a0\u200d\ufeff\ue000',
      '👩‍🚀\u{e0001}',
    ];
    const files = {
      'main.tf':
        'variable "keys" { type = set(string) }\nresource "terraform_data" "each" {\n  for_each = var.keys\n  input    = each.key\n}\n',
    };
    const using = { executor: { kind: 'opentofu', files }, variables: { keys } } as const;
    const { plan: planned } = await plan(using);
    const { state } = await deploy(using);
    const addresses = planned.changes.map(({ address }) => address).sort();
    expect(addresses).toHaveLength(keys.length);
    const listed = readStateFile(state ?? Buffer.alloc(0)).resources.map(({ address }) => address);
    expect(listed.sort()).toEqual(addresses);
    const { plan: replaced } = await plan({ ...using, state, replace: addresses });
    expect(replaced.changes.map(({ address, action }) => [address, action]).sort()).toEqual(
      addresses.map((address) => [address, 'replace']),
    );
  });
});
