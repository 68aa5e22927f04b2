import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { ModuleSource } from '#domain/connections/module-sources/model.ts';
import { InitCache } from '#executors/opentofu/initialization/init-cache.ts';
import { ProviderStore } from '#executors/opentofu/providers/provider-store.ts';
import type { OpenTofuExecutor } from '#executors/protocol/request.ts';
import { makeRequest, makeWorkRoot, requireTools, run, type TestRequest } from '../support.ts';
import { loggedCommands } from './opentofu-support.ts';

const tools = await requireTools();
const work = makeWorkRoot();
afterAll(work.remove);

const executor: OpenTofuExecutor = {
  kind: 'opentofu',
  files: {
    'main.tf':
      'variable "n" { default = 1 }\nmodule "m" {\n  source = "./m"\n}\nresource "terraform_data" "x" { input = var.n }\n',
    'm/main.tf': 'resource "terraform_data" "y" {}\n',
  },
};
let versions = 0;
const newVersion = () => `version-${process.pid}-${++versions}`;

describe.each(tools)('the initialization with $name $version', ({ name, version }) => {
  const tool = { name, version };
  const plan = (changes: Partial<TestRequest>) =>
    run(makeRequest({ workRoot: work.path, executor, phase: 'plan', tool, ...changes }));
  const commandsOf = async (changes: Partial<TestRequest>) => loggedCommands((await plan(changes)).sink);

  it('runs once per template version: later plans and applies use the cache', async () => {
    const templateVersion = newVersion();
    const first = await plan({ templateVersion });
    expect(loggedCommands(first.sink)).toEqual(['init', 'plan']);
    const second = await plan({ templateVersion, runId: 'run-2', attemptId: 'attempt-2', variables: { n: 2 } });
    expect(loggedCommands(second.sink)).toEqual(['plan']);
    const { artifact = null, digest } = second.result.plan ?? {};
    const apply = { templateVersion, phase: 'apply' as const, artifact, planDigest: digest, variables: { n: 2 } };
    const applied = await plan(apply);
    expect(applied.result).toMatchObject({ outcome: 'succeeded', resourceCount: 2 });
    expect(loggedCommands(applied.sink)).toEqual(['apply']);
  });

  it('runs once for two runs of a version that start at the same time', async () => {
    const templateVersion = newVersion();
    const [one, other] = await Promise.all([commandsOf({ templateVersion }), commandsOf({ templateVersion })]);
    expect([...one, ...other].filter((command) => command === 'init')).toHaveLength(1);
  });

  it('runs again for other files, versions, credentials, module connections or egress policies', async () => {
    const templateVersion = newVersion();
    const credentials = (value: string) => [{ name: 'CLOUD_KEY', value, sensitive: true }];
    const mine = { templateVersion, environment: credentials('mine') };
    expect(await commandsOf(mine)).toContain('init');
    expect(await commandsOf(mine)).not.toContain('init');
    const others: Partial<TestRequest>[] = [
      { ...mine, templateVersion: newVersion() },
      { ...mine, executor: { ...executor, files: { ...executor.files, 'other.tf': '' } } },
      { ...mine, environment: credentials('theirs') },
      { ...mine, environment: [] },
      { ...mine, moduleSources: [moduleSource('connection 1')] },
      { ...mine, moduleSources: [moduleSource('connection 2')] },
      { ...mine, egress: { policy: 'internet', allow: [] } },
    ];
    for (const other of others) expect(await commandsOf(other)).toContain('init');
  });

  it('is shared between attempts whose tokens have the same identity, and with no others', async () => {
    const templateVersion = newVersion();
    const tokens = (token: string, identity?: string): Partial<TestRequest> => ({
      templateVersion,
      environment: [{ name: 'TOKEN', value: token, sensitive: true, identity }],
      environmentFiles: [{ name: 'TOKEN_FILE', text: token, identity }],
    });
    expect(await commandsOf(tokens('token-of-the-first', 'connection 1'))).toContain('init');
    expect(await commandsOf(tokens('token-of-the-second', 'connection 1'))).not.toContain('init');
    expect(await commandsOf(tokens('token-of-the-third', 'connection 2'))).toContain('init');
    expect(await commandsOf(tokens('token-of-the-third'))).toContain('init');
  });

  it('is not cached if init failed', async () => {
    const broken = { ...executor, files: { 'main.tf': 'module "m" { source = "./missing" }' } };
    const request = { templateVersion: newVersion(), executor: broken };
    for (const _ of [1, 2]) {
      const { result, sink } = await plan(request);
      expect(result).toMatchObject({ outcome: 'failed', reason: 'init_failed' });
      expect(loggedCommands(sink)).toContain('init');
    }
  });

  it('cannot be changed by the template that uses it, or through its lock file', async () => {
    const templateVersion = newVersion();
    const meddle =
      'for f in .terraform/x .terraform/modules/modules.json .terraform/terraform.tfstate; do echo x > $f && echo wrote-$f; done; rm -rf .terraform/modules && echo removed; mv .terraform other && echo moved; echo meddled; true';
    const files = {
      ...executor.files,
      'act.tf': `resource "terraform_data" "act" {\n  provisioner "local-exec" { command = "${meddle}" }\n}\n`,
    };
    const meddling: Partial<TestRequest> = { templateVersion, executor: { kind: 'opentofu', files } };
    const planned = await plan(meddling);
    const { artifact = null, digest } = planned.result.plan ?? {};
    const { sink } = await plan({ ...meddling, phase: 'apply', artifact, planDigest: digest });
    expect(sink.text()).toContain('meddled');
    // The sandbox's directory may be a link, which the template can move. The target of the link must stay unchanged.
    expect(sink.text()).not.toMatch(/\): (wrote-|removed)/);
    const again = await plan(meddling);
    expect(again.result).toMatchObject({ outcome: 'succeeded' });
    expect(loggedCommands(again.sink)).toEqual(['plan']);
  });

  it('runs again for an apply on a machine that has not cached it', async () => {
    const elsewhere = makeWorkRoot();
    const templateVersion = newVersion();
    const { result } = await plan({ templateVersion });
    const { artifact = null, digest } = result.plan ?? {};
    const there = { workRoot: elsewhere.path, choice: { usesGroups: false } };
    const applied = await plan({ templateVersion, phase: 'apply', artifact, planDigest: digest, ...there });
    await elsewhere.remove();
    expect(applied.result).toMatchObject({ outcome: 'succeeded' });
    expect(loggedCommands(applied.sink)).toEqual(['init', 'apply']);
  });
});

/** A connection that opens modules; the template need not use it. */
const moduleSource = (identity: string): ModuleSource => ({
  kind: 'git',
  url: 'https://git.example.com/',
  credential: { kind: 'password', username: 'git', password: 'the-token-of-a-connection' },
  identity,
});

describe('the initialization cache', () => {
  const directory = mkdtempSync(join(tmpdir(), 'coordinator-test-kept-'));
  const open = (name: string) => {
    const drafts = mkdtempSync(join(directory, 'drafts-'));
    const store = new ProviderStore(join(directory, `providers-${name}`), drafts);
    return new InitCache(join(directory, name), drafts, store, 0);
  };
  afterAll(() => rmSync(directory, { recursive: true }));

  it('has keys that cannot be derived from credentials without the secret of this worker', () => {
    const [one, other] = [open('a'), open('b')];
    expect(one.keyOf({ v: 1 }, ['secret'])).toBe(open('a').keyOf({ v: 1 }, ['secret']));
    expect(one.keyOf({ v: 1 }, ['secret'])).not.toBe(other.keyOf({ v: 1 }, ['secret']));
    expect(one.keyOf({ v: 1 }, ['secret'])).not.toBe(one.keyOf({ v: 1 }, ['Secret']));
    expect(one.keyOf({ v: 1 }, ['secret'])).not.toBe(one.keyOf({ v: 2 }, ['secret']));
  });

  it('stays empty if making an entry failed, and the next attempt tries again', async () => {
    const cache = open('c');
    const key = cache.keyOf({ v: 1 }, {});
    await expect(cache.obtain(key, () => Promise.reject(new Error('no network')))).rejects.toThrow('no network');
    expect(readdirSync(join(directory, 'c')).filter((name) => name !== 'key')).toEqual([]);
    const drafts = readdirSync(directory).filter((name) => name.startsWith('drafts-'));
    expect(drafts.flatMap((name) => readdirSync(join(directory, name)))).toEqual([]);
    const made = await cache.obtain(key, async () => ({ lock: Buffer.from('lock'), modules: '', providers: [] }));
    expect(existsSync(made.data)).toBe(true);
    expect((await cache.find(key))?.lock?.toString()).toBe('lock');
  });
});
