import { afterAll, describe, expect, it } from 'vitest';
import { packArtifact, unpackArtifact } from '#executors/attempt/artifact.ts';
import type { OpenTofuExecutor } from '#executors/protocol/request.ts';
import { makeWorkRoot, requireTools } from '../../support.ts';
import { loggedCommands, type Planned, useTool } from '../opentofu-support.ts';
import { unpackPlan, type WrittenEntry, writeZip, writeZipWithLocator } from './zip-writer.ts';

/** A provider runs beside the tool while it plans, and could exchange the plan file. */
const tools = await requireTools();
const work = makeWorkRoot();
afterAll(work.remove);

const executor: OpenTofuExecutor = {
  kind: 'opentofu',
  directory: 'live',
  files: {
    'live/main.tf':
      'variable "n" {}\nvariable "k" {}\nvariable "z" {\n  default = 5\n}\nvariable "d" {\n  default = 1\n}\nvariable "own" {}\nmodule "m" {\n  source = "../m"\n}\nresource "terraform_data" "x" {\n  input = var.n\n}\n',
    'live/own.auto.tfvars': 'own = [{ a = "b" }]\n',
    'live/backend.tf': 'terraform {\n  cloud {}\n}\n',
    'm/main.tf': 'resource "terraform_data" "y" {}\n',
    'm/y_override.tf': 'resource "terraform_data" "y" {\n  input = 1\n}\n',
    'm/readme.md': '',
  },
};
const variables = {
  n: 'twelve',
  k: { list: [1, 0.1, 12345678901, -5, null, true, 'ä'], text: 'e\u0301', empty: {} },
  z: null,
  undeclared: 1,
};
const program = 'resource "terraform_data" "z" {\n  provisioner "local-exec" {\n    command = "id"\n  }\n}\n';

type Forge = (entries: WrittenEntry[]) => WrittenEntry[];
const edit = (name: string, change: (content: Buffer) => Buffer | string): Forge => {
  return (entries) =>
    entries.map((entry) => (entry.name === name ? { name, content: Buffer.from(change(entry.content)) } : entry));
};
const editText = (name: string, from: string | RegExp, to: string) =>
  edit(name, (content) => {
    const text = content.toString('latin1');
    if (text.replace(from, to) === text) throw new Error(`${name} has no ${from}`);
    return Buffer.from(text.replace(from, to), 'latin1');
  });
const append = (...bytes: number[]) => edit('tfplan', (content) => Buffer.concat([content, Buffer.from(bytes)]));
const text = (value: string) => [value.length, ...Buffer.from(value)];

const forgeries: [string, Forge][] = [
  ['another file', (entries) => [...entries, { name: 'tfconfig/m-/z.tf', content: Buffer.from(program) }]],
  ['a provisioner in a file', edit('tfconfig/m-/main.tf', (content) => content + program)],
  ['a file of the same length', editText('tfconfig/m-/main.tf', 'var.n', 'var.k')],
  ['no file', (entries) => entries.filter(({ name }) => name !== 'tfconfig/m-m/y_override.tf')],
  ['a file twice', (entries) => [...entries, { name: 'tfconfig/m-/main.tf', content: Buffer.from(program) }]],
  [
    'a file with another name',
    (entries) => [...entries, { name: 'tfconfig/m-/../m-/z.tf', content: Buffer.from(program) }],
  ],
  [
    'another module',
    (entries) => [
      ...editText('tfconfig/modules.json', /\]\s*$/, ',{"Key":"z","Dir":"z"}]')(entries),
      { name: 'tfconfig/m-z/main.tf', content: Buffer.from(program) },
    ],
  ],
  ['a module in another directory', editText('tfconfig/modules.json', '"../m"\n', '"."\n')],
  [
    'a module whose directory is said twice',
    editText('tfconfig/modules.json', '"Dir": "../m"', '"Dir": "../m", "dir": "."'),
  ],
  ['no list of modules', (entries) => entries.filter(({ name }) => name !== 'tfconfig/modules.json')],
  ['another backend', editText('tfplan', '\x04http', '\x04etcd')],
  ['a setting of the backend', editText('tfplan', /(\xa7address)\xc0/, '$1\xa1')],
  ['a second backend', append(0x6a, ...text('\n\x05local'))],
  ['another workspace', editText('tfplan', 'default', 'defaulu')],
  ['another value of a variable', editText('tfplan', /("string"\xa6)twelve/, '$1eleven')],
  ['another number in a variable', editText('tfplan', /\xa30\.1/, '\xa30.2')],
  ['a variable less', editText('tfplan', /\x12(.)\n\x01n/, '\x62$1\n\x01n')],
  ['a variable twice', append(0x12, ...text('\n\x01n'), 0x12, ...text('\n\x01n'))],
  ['a value of a variable that was not given', append(0x12, ...text('\n\x01d'))],
  ['another operation', append(0x88, 0x01, 0x01)],
  ['a target', append(0x2a, ...text('terraform_data.x'))],
  ['a resource to exclude', append(0x32, ...text('terraform_data.x'))],
  ['a state store', append(0xea, 0x01, 0x00)],
  ['no plan', (entries) => entries.filter(({ name }) => name !== 'tfplan')],
  ['a damaged plan', append(0x0a)],
];

describe.each(tools)('a plan file of $name $version', ({ name, version }) => {
  const { plan, apply } = useTool(work.path, { name, version });
  let made: Promise<Planned> | null = null;
  const planOnce = () => {
    made ??= plan({ executor, variables });
    return made;
  };
  /** Packs a plan file as if the plan phase had found nothing wrong. */
  const applyFile = async (change: (file: Buffer) => Promise<Buffer> | Buffer) => {
    const { plan: planned } = await planOnce();
    const { facts, files } = unpackArtifact(planned.artifact, planned.digest);
    const file = await change(files.get('plan') ?? Buffer.alloc(0));
    return apply(packArtifact(facts, new Map([...files, ['plan', file]])), { executor, variables });
  };

  it("is applied if it is the tool's own, or an equivalent archive", async () => {
    for (const change of [(file: Buffer) => file, async (file: Buffer) => writeZip(await unpackPlan(file))]) {
      const { result, sink } = await applyFile(change);
      expect(result, sink.text()).toMatchObject({ outcome: 'succeeded' });
    }
  });

  it.each(forgeries)('is refused before an apply if it has %s', async (_, forge) => {
    const { result, sink } = await applyFile(async (file) => writeZip(forge(await unpackPlan(file))));
    expect(result).toMatchObject({ outcome: 'failed', reason: 'artifact_mismatch' });
    expect(result.message).toContain("the plan file is not the tool's own");
    expect(loggedCommands(sink)).not.toContain('apply');
    expect(sink.states).toEqual([]);
  });

  it('is refused before an apply if it has other addresses than those of the options', async () => {
    const addresses = { target: ['terraform_data.x', ' module.m '], replace: ['module.m . terraform_data.y'] };
    const { replace, target } = addresses;
    const changes = { executor, variables, replace, options: { target } };
    const { plan: planned } = await plan(changes);
    const { facts, files } = unpackArtifact(planned.artifact, planned.digest);
    const entries = await unpackPlan(files.get('plan') ?? Buffer.alloc(0));
    const applied = async (forge: Forge) => {
      const file = writeZip(forge(entries));
      const { result } = await apply(packArtifact(facts, new Map([...files, ['plan', file]])), changes);
      return [result.outcome, result.message];
    };
    const refused = expect.stringContaining('it has other options');
    const other = editText('tfplan', '\x2a\x10terraform_data.x', '\x2a\x10terraform_data.z');
    expect(await applied(other)).toEqual(['failed', refused]);
    expect(await applied((whole) => whole)).toEqual(['succeeded', null]);
  });

  it('is refused if it has a second central directory', async () => {
    const { result, sink } = await applyFile(async (file) => writeZipWithLocator(await unpackPlan(file), 'comment'));
    expect(result).toMatchObject({ outcome: 'failed', reason: 'artifact_mismatch' });
    expect(loggedCommands(sink)).not.toContain('apply');
  });

  it('is refused if bytes follow it', async () => {
    const { result } = await applyFile((file) => Buffer.concat([file, file]));
    expect(result).toMatchObject({ outcome: 'failed', reason: 'artifact_mismatch' });
  });
});
