import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { assemblyRunReasons, nodeReasons, nodeStatuses, nodeWaitingCodes } from '#domain/assemblies/model.ts';
import { AssemblySpec } from '#domain/assemblies/spec/spec.ts';
import { addPerson, addTeam } from '#test/support/access/people.ts';
import { Caller } from '#test/support/api/caller.ts';
import { startApi, type TestApi } from '#test/support/api/http-api.ts';
import { runShell } from '#test/support/programs/shell.ts';
import { codeBlocks, tableUnder } from './markdown.ts';

const file = 'docs/assemblies.md';
let api: TestApi;
let environment: { TOKEN: string; TEAM: string };
let directory: string;
beforeAll(async () => {
  api = await startApi();
  const { teamId: TEAM } = await addTeam(api.orm);
  const password = 'correct horse battery';
  const { email } = await addPerson(api, 'maintainer', { teams: { [TEAM]: 'admin' } }, password);
  const { body } = await new Caller(api.url, {}).post('/auth/sessions', { email, password });
  environment = { TOKEN: body.token, TEAM };
  directory = mkdtempSync(join(tmpdir(), 'coordinator-assemblies-'));
});
afterAll(async () => {
  await api?.close();
  rmSync(directory, { recursive: true, force: true });
});

describe('the page about assemblies', () => {
  it('has commands that build, validate, publish and compare an assembly', { timeout: 120_000 }, async () => {
    const blocks = codeBlocks(file).filter(({ info }) => info === 'sh assemblies');
    const script = blocks.map(({ text }) => `echo '--'\n${text}`).join('');
    const input = `cd ${directory}\n${script}`.replaceAll(
      /http:\/\/127\.0\.0\.1:8080(?:\/api\/v1)?/g,
      `${api.url}/api/v1`,
    );
    const { code, output, errors } = await runShell(['-eu'], environment, { shell: 'sh', input, withinMs: 110_000 });
    expect({ code, errors }, output).toEqual({ code: 0, errors: '' });
    const [, , saved = '', unreadable, validated = '', published = '', compared = '', ...rest] = output.split('--\n');
    expect(saved).toMatch(/"revision":1,"source":"# Our landscape/);
    expect(unreadable).toMatch(/"error":"spec: line \d+, column \d+: /);
    const [valid, invalid] = validated.trim().split('\n');
    expect(JSON.parse(valid!)).toMatchObject({ valid: true, errors: [] });
    expect(JSON.parse(invalid!)).toMatchObject({ valid: false, errors: [{ path: '/nodes/network/template' }] });
    const [first, list, latest] = published.trim().split('\n');
    expect(JSON.parse(list!).versions).toHaveLength(1);
    expect(JSON.parse(latest!)).toEqual(JSON.parse(first!));
    expect(compared).toMatch(/"key":"service","change":"removed"/);
    expect(compared).toContain('<svg');
    const [started = [], wanted = [], ended = []] = rest.map((text) =>
      text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
    );
    const [run, { nodes }, { events }] = started;
    expect(run).toMatchObject({ version: '1.0.0', operation: 'apply' });
    expect(nodes.map(({ key }: { key: string }) => key)).toEqual(['network', 'service']);
    expect(events[0].type).toBe('assembly_run.admitted');
    const [plan, only, destroy] = wanted;
    expect([plan.operation, only.only]).toEqual(['plan', ['network']]);
    expect(destroy.error).toMatch(/^no run of this assembly has deployed anything/);
    expect(ended[0]).toMatchObject({ cancel_reason: 'wrong place' });
    expect(ended[1].error).toMatch(/^the assembly run has not ended \(/);
  });

  it('explains every status and reason of a node, and every code for which it waits', () => {
    const rows = (skip: number) =>
      tableUnder(file, '### What a node says', skip).map(([code = '', meaning]) => [code.replaceAll('`', ''), meaning]);
    expect(rows(0).map(([status]) => status)).toEqual(nodeStatuses);
    expect(rows(1).map(([code]) => code)).toEqual(nodeWaitingCodes);
    expect(Object.fromEntries(rows(2))).toEqual(nodeReasons);
  });

  it('explains every reason why an assembly run ends without success', () => {
    const rows = tableUnder(file, '### What a run says').map(([code = '', meaning]) => [
      code.replaceAll('`', ''),
      meaning,
    ]);
    expect(Object.fromEntries(rows)).toEqual(assemblyRunReasons);
  });

  it('shows a spec that has the right form', () => {
    const [block] = codeBlocks(file).filter(({ info }) => info === 'yaml');
    expect(AssemblySpec.safeParse(parse(block?.text ?? '')).error).toBeUndefined();
  });

  it('explains every field of a spec and of its nodes', () => {
    const names = (skip: number) =>
      tableUnder(file, '## The spec', skip).map(([name = '']) => name.replaceAll('`', ''));
    expect(names(0).sort()).toEqual(Object.keys(AssemblySpec.shape).sort());
    const { nodes } = AssemblySpec.parse({ nodes: { a: { template: 'x' } } });
    expect(names(1)).toEqual(expect.arrayContaining(Object.keys(nodes['a'] ?? {})));
    for (const name of ['instance', 'when', 'approval', 'timeout', 'retry']) expect(names(1)).toContain(name);
  });
});
