import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { Executor } from '#executors/client/executor.ts';
import { chooseTool, discoverTools } from '#executors/client/tools.ts';
import { makeRequest, makeWorkRoot, RecordingSink, requireTools } from './support.ts';

const work = makeWorkRoot();
const directory = mkdtempSync(join(tmpdir(), 'coordinator-test-tools-'));
chmodSync(directory, 0o755);
afterAll(work.remove);
afterAll(() => rmSync(directory, { recursive: true, force: true }));
const [real] = await requireTools();
if (!real) throw new Error('requireTools found no tool');

/** Puts a program into the directory. It reports the version if asked for it, and otherwise prints it and fails. */
function add(path: string, version: string | null, mode = 0o755): void {
  const answer = version === null ? 'nonsense' : JSON.stringify({ terraform_version: version });
  const script = `#!/bin/sh\nif [ "$1" = version ]; then echo '${answer}'; exit 0; fi\necho "this is ${version}"\nexit 1\n`;
  mkdirSync(dirname(join(directory, path)), { recursive: true });
  writeFileSync(join(directory, path), script);
  chmodSync(join(directory, path), mode);
}

const program = real.name === 'opentofu' ? 'tofu' : 'terraform';
const namesOf = (tools: readonly { name: string; version: string }[]) =>
  tools.map(({ name, version }) => `${name} ${version}`);

describe('the tools of a worker', () => {
  it('are those on its search path and all versions in its directory, by the version that each reports', async () => {
    add(`${real.name}/9.1.0/${program}`, '9.1.0');
    add(`${real.name}/latest/${program}`, '9.2.0-rc1');
    add(`${real.name}/9.1.0-copy/${program}`, '9.1.0');
    add(`${real.name}/broken/${program}`, null);
    add(`${real.name}/closed/${program}`, '9.3.0', 0o644);
    add(`${real.name}/other/program`, '9.4.0');
    const found = namesOf(await discoverTools({ searchPath: dirname(real.path), directory }));
    expect(found).toContain(`${real.name} ${real.version}`);
    expect(found.filter((name) => name.startsWith(`${real.name} 9.`))).toEqual([
      `${real.name} 9.1.0`,
      `${real.name} 9.2.0-rc1`,
    ]);
  });

  it('change while the worker runs, when an operator adds, replaces or removes some', async () => {
    const find = async () => namesOf(await discoverTools({ searchPath: '', directory }));
    const path = `terraform/8/terraform`;
    add(path, '8.0.0');
    expect(await find()).toContain('terraform 8.0.0');
    add(path, '8.0.1-longer');
    expect(await find()).toContain('terraform 8.0.1-longer');
    rmSync(join(directory, 'terraform', '8'), { recursive: true });
    expect(await find()).not.toContain('terraform 8.0.1-longer');
  });

  it('change within seconds when an operator adds one to the search path or removes it', async () => {
    const searchPath = join(directory, 'on-path');
    const find = async () => namesOf(await discoverTools({ searchPath, directory: null }));
    expect(await find()).toEqual([]);
    add('on-path/terraform', '7.0.0');
    await expect.poll(find).toEqual(['terraform 7.0.0']);
    rmSync(searchPath, { recursive: true });
    expect(await find()).toEqual([]);
  });

  it('are found in a directory with any name', async () => {
    const odd = join(directory, 'odd: "directory"\n$(x)');
    add(`odd: "directory"\n$(x)/${real.name}/9:1/${program}`, '9.7.0');
    add(`odd: "directory"\n$(x)/${real.name}/-v/${program}`, '9.7.1');
    const found = namesOf(await discoverTools({ searchPath: '', directory: odd }));
    expect(found).toEqual([`${real.name} 9.7.1`, `${real.name} 9.7.0`]);
  });

  it('are chosen by name and exact version', async () => {
    const tools = await discoverTools({ searchPath: dirname(real.path), directory });
    expect(chooseTool(tools, { name: real.name, version: '9.1.0' }).path).toContain(directory);
    expect(() => chooseTool(tools, { name: real.name, version: '9.9.9' })).toThrow(/has no \w+ 9\.9\.9/);
  });
});

it('an attempt runs with the version in its request, and not with the one on the search path', async () => {
  add(`${real.name}/9.1.0/${program}`, '9.1.0');
  const executor = await Executor.start({
    directory: work.path,
    isolation: 'sandbox',
    user: null,
    cores: 2,
    addedPaths: [],
    hiddenPaths: [],
    toolsDirectory: directory,
    providerMirror: null,
    providerNetworkMirror: null,
    providersDirect: false,
    deniedAddresses: [],
  });
  try {
    expect(namesOf(await executor.findTools())).toContain(`${real.name} 9.1.0`);
    const files = { 'main.tf': 'output "a" {\n  value = 1\n}\n' };
    const request = makeRequest({
      workRoot: work.path,
      executor: { kind: 'opentofu', files },
      phase: 'plan',
      tool: { name: real.name, version: '9.1.0' },
    });
    const sink = new RecordingSink();
    const result = await executor.execute(request, sink, new AbortController().signal);
    expect(result).toMatchObject({ outcome: 'failed', reason: 'init_failed' });
    expect(sink.text()).toContain('this is 9.1.0');
  } finally {
    await executor.close();
  }
});
