import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { deriveSpec } from '#domain/registry/derived-spec.ts';
import { TemplateSpec } from '#domain/registry/spec.ts';
import { checkSchema } from '#domain/registry/variables/check.ts';
import { validateVariables } from '#domain/registry/variables/variables.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import { makeWorkRoot, requireTools } from '../support.ts';
import { useTool } from './opentofu-support.ts';

const tools = await requireTools();
const work = makeWorkRoot();
afterAll(work.remove);

type Case = readonly [declaration: string, value: JsonValue];

const validation = (condition: string) => `
  validation {
    condition     = ${condition}
    error_message = "No."
  }`;
const strict = 'nullable = false';
const withDefault = 'type = string\ndefault = "d"';

/** Null values that the tools accept. */
const taken: readonly Case[] = [
  ['type = string', null],
  [withDefault, null],
  ['type = string\ndefault = null', null],
  ['type = string\nnullable = true', null],
  [`${withDefault}\n${strict}`, null],
  [`${withDefault}\n${strict}${validation('contains(["d"], var.v)')}`, null],
  ['type = bool', null],
  [`type = string${validation('var.v == null || length(coalesce(var.v, "x")) < 5')}`, null],
  ['type = any', null],
  ['', null],
  ['type = list(string)', null],
  ['type = list(string)', [null]],
  [`type = list(string)\n${strict}`, ['a', null]],
  [`type = list(string)${validation('length(var.v) == 1 || length(var.v) > 0')}`, [null]],
  [`type = list(string)${validation('length(var.v) > 0')}`, [null]],
  ['type = list(list(string))', [null, [null]]],
  ['type = list(any)', [null, 1]],
  ['type = set(string)', [null, 'a']],
  ['type = set(object({ a = string }))', [{ a: null }, null]],
  ['type = map(string)', { k: null }],
  ['type = map(any)', { k: null }],
  ['type = map(object({ x = bool }))', { k: { x: null } }],
  ['type = map(object({ x = bool }))', { k: null }],
  ['type = object({ a = string, b = number })', { a: null, b: 1 }],
  [`type = object({ a = string, b = object({ c = list(number) }) })\n${strict}`, { a: 'a', b: { c: [null] } }],
  ['type = object({ a = optional(string), b = optional(number, 3) })', { a: null, b: null }],
  ['type = tuple([string, number])', [null, null]],
  ['type = list(object({ name = string, new_bits = number }))', [{ name: null, new_bits: 8 }]],
];

/** What they refuse. */
const refused: readonly Case[] = [
  [`type = string\n${strict}`, null],
  ['type = string\nnullable = "false"', null],
  [`type = list(string)\n${strict}`, null],
  [`type = any\n${strict}`, null],
  [`type = string${validation('contains(["a"], var.v)')}`, null],
  [`type = string\ndefault = "a"${validation('can(regex("a", var.v))')}`, null],
  [`type = number${validation('var.v >= 0')}`, null],
  [`type = list(string)${validation('length(var.v) >= 0')}`, null],
  ['type = object({ a = string, b = number })', { a: null }],
  ['type = tuple([string, number])', [null]],
];

const declare = ([declaration]: Case, name = 'v') =>
  `variable "${name}" {\n${declaration.replaceAll('var.v', `var.${name}`)}\n}\noutput "${name}" {\n  value = jsonencode(var.${name})\n}\n`;

function derive(files: Record<string, string>) {
  const { spec } = deriveSpec(TemplateSpec.parse({ executor: { kind: 'opentofu', files } }), files);
  return spec.variables;
}

const isValid = (each: Case) => {
  const schema = derive({ 'main.tf': declare(each) });
  expect(checkSchema(schema)).toEqual([]);
  return validateVariables(schema, { v: each[1] }).valid;
};

/** Plans by hand. Returns the planned outputs; null if the tool refuses. */
function planBare(path: string, main: string, values: Record<string, JsonValue>): Record<string, JsonValue> | null {
  const directory = mkdtempSync(join(tmpdir(), 'coordinator-bare-'));
  const call = (...given: string[]) =>
    spawnSync(path, given, {
      cwd: directory,
      encoding: 'utf8',
      env: { PATH: process.env['PATH'], HOME: directory },
    });
  try {
    writeFileSync(join(directory, 'main.tf'), main);
    writeFileSync(join(directory, 'given.tfvars.json'), JSON.stringify(values));
    const { status } = call('plan', '-input=false', '-no-color', '-var-file=given.tfvars.json', '-out=plan');
    if (status !== 0) return null;
    const { planned_values: planned } = JSON.parse(call('show', '-json', 'plan').stdout);
    const outputs: [string, { value: JsonValue }][] = Object.entries(planned.outputs);
    return Object.fromEntries(outputs.map(([name, { value }]) => [name, value]));
  } finally {
    rmSync(directory, { recursive: true });
  }
}

describe('a schema that is derived from the files', () => {
  it.each(taken)('accepts null as the tools do: %s given %j', (...each) => {
    expect(isValid(each)).toBe(true);
  });

  it.each(refused)('refuses null as the tools do: %s given %j', (...each) => {
    expect(isValid(each)).toBe(false);
  });
});

describe.each(tools)('null as a variable of $name $version', ({ name, version, path }) => {
  const { deploy } = useTool(work.path, { name, version });
  const main = taken.map((each, index) => declare(each, `v${index}`)).join('');
  const values = Object.fromEntries(taken.map(([, value], index) => [`v${index}`, value]));

  it('reaches the tool as null wherever the bare tool accepts it', async () => {
    const bare = planBare(path, main, values);
    expect(bare).toMatchObject({ v0: 'null', v1: 'null', v2: 'null', v4: '"d"', v11: '[null]' });
    const files = { 'main.tf': main };
    const { valid, variables } = validateVariables(derive(files), values);
    expect(valid).toBe(true);
    const { result } = await deploy({ executor: { kind: 'opentofu', files }, variables });
    expect(Object.fromEntries(Object.entries(result.outputs ?? {}).map(([key, { value }]) => [key, value]))).toEqual(
      bare,
    );
  });

  it.each(refused)('is refused by the bare tool, too: %s given %j', (...each) => {
    expect(planBare(path, declare(each), { v: each[1] })).toBeNull();
  });
});
