import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Executor } from '#executors/client/executor.ts';
import { platform, readLockFile } from '#executors/opentofu/providers/lock-file.ts';
import { sealPackage } from '#executors/opentofu/providers/package-hash.ts';
import type { ExecutionRequest } from '#executors/protocol/request.ts';
import { makeCertificate } from '#test/support/programs/certificate.ts';
import {
  archiveName,
  type NetworkMirror,
  packProvider,
  serveNetworkMirror,
} from '#test/support/programs/network-mirror.ts';
import { hasProviders } from '#test/support/programs/providers.ts';
import { readUntil } from '#test/support/read-until.ts';
import { makeRequest, RecordingSink, requireTools } from '../support.ts';
import { loggedCommands } from './opentofu-support.ts';

/** Connects to 127.0.0.1, but the tools ask the proxy of their sandbox for it. */
const address = '0.0.0.0';
const time = { name: 'time', version: '0.14.2' } as const;
const local = { name: 'local', version: '1.4.0' } as const;
const configuration = `
terraform {
  required_providers {
    time  = { source = "mirror.test/hashicorp/time" }
    local = { source = "mirror.test/hashicorp/local" }
  }
}
resource "time_static" "now" {}
resource "local_file" "note" {
  filename = "\${path.root}/note.txt"
  content  = "written at \${time_static.now.year}"
}
`;
const files = { 'main.tf': configuration };
const both = [local, time].map((each) => `GET /mirror.test/hashicorp/${each.name}/${archiveName(each)}`);
const tools = hasProviders() ? await requireTools() : [];
const directory = mkdtempSync(join(tmpdir(), 'coordinator-test-store-'));
chmodSync(directory, 0o755);
let certificate = '';
let mirror: NetworkMirror;
let versions = 0;

beforeAll(async () => {
  const made = makeCertificate(directory, address);
  certificate = readFileSync(made.cert, 'utf8');
  mirror = await serveNetworkMirror(made, address, [time, local]);
});
afterAll(async () => {
  await mirror.close();
  rmSync(directory, { recursive: true, force: true });
});

describe.each(tools)('providers from a network mirror, with $name $version', (installed) => {
  const tool = { name: installed.name, version: installed.version };
  const work = join(directory, `work-${tool.name}`);
  const store = join(work, 'providers');
  const honest = new Map<string, Buffer>();
  let open: Executor;

  const start = () =>
    Executor.start({
      directory: work,
      isolation: 'sandbox',
      user: null,
      cores: 2,
      addedPaths: [],
      hiddenPaths: [],
      deniedAddresses: [],
      toolsDirectory: null,
      providerMirror: null,
      providerNetworkMirror: mirror.url,
      providersDirect: false,
    });
  beforeAll(async () => {
    for (const [name, archive] of mirror.archives) honest.set(name, archive);
    open = await start();
  });
  beforeEach(() => {
    for (const [name, archive] of honest) mirror.archives.set(name, archive);
    mirror.isDown = false;
    mirror.requests.length = 0;
  });
  afterAll(() => open.close());

  async function execute(changes: Partial<ExecutionRequest>) {
    const sink = new RecordingSink();
    const { workRoot: _, ...request } = makeRequest({
      executor: { kind: 'opentofu', files },
      workRoot: '',
      phase: 'plan',
      timeoutMs: 120_000,
      tool,
      egress: { policy: 'allow', allow: [address] },
      environmentFiles: [{ name: 'SSL_CERT_FILE', text: certificate }],
      ...changes,
    });
    const result = await open.execute(request, sink, new AbortController().signal);
    return { sink, result };
  }
  const newVersion = () => `stored-${process.pid}-${++versions}`;
  const fetched = () => mirror.requests.filter((request) => /^GET .*\.zip$/.test(request)).sort();
  const inEnvironment = (name: string) => [{ name: 'ENVIRONMENT', value: name, sensitive: false }];
  /** Removes what the executor keeps, as on a new worker. */
  async function forget() {
    await open.close();
    rmSync(work, { recursive: true, force: true });
    open = await start();
  }

  it('are fetched by the first run, and by no later one, even if the mirror is down', async () => {
    const templateVersion = newVersion();
    const first = await execute({ templateVersion });
    expect(first.result, first.sink.text()).toMatchObject({ outcome: 'succeeded' });
    expect(fetched()).toEqual(both);
    const kept = first.result.modules;
    expect(Object.keys(kept?.locks ?? {})).toEqual([platform]);
    mirror.isDown = true;
    mirror.requests.length = 0;
    const { artifact = null, digest = null } = first.result.plan ?? {};
    const applied = await execute({ templateVersion, phase: 'apply', artifact, planDigest: digest });
    expect(applied.result, applied.sink.text()).toMatchObject({ outcome: 'succeeded', resourceCount: 2 });
    const state = applied.sink.states.at(-1)?.content ?? null;
    const later = await execute({ templateVersion, modules: kept, state });
    expect(later.result, later.sink.text()).toMatchObject({ outcome: 'succeeded' });
    expect(loggedCommands(later.sink)).toEqual(['plan']);
    expect(later.result.modules).toBeUndefined();
    for (const environment of [inEnvironment('one'), inEnvironment('two')]) {
      const other = await execute({ templateVersion, modules: kept, environment });
      expect(other.result, other.sink.text()).toMatchObject({ outcome: 'succeeded' });
    }
    expect(mirror.requests).toEqual([]);
    expect(open.providerCounts).toMatchObject({ hits: 4, fetches: 2, evictions: 0 });
  });

  /** Plans a new version as on a worker that has nothing yet, and returns what the version then keeps. */
  async function resolve(changes: Partial<ExecutionRequest> = {}) {
    const templateVersion = newVersion();
    const { result, sink } = await execute({ templateVersion, ...changes });
    expect(result, sink.text()).toMatchObject({ outcome: 'succeeded' });
    await forget();
    mirror.requests.length = 0;
    return { templateVersion, modules: result.modules };
  }

  // One tool is enough where the service alone decides.
  const isFirst = installed === tools[0];

  it.runIf(isFirst)(
    'are fetched once if ten runs in ten environments need them for the first time',
    async () => {
      const known = await resolve();
      const runs = Array.from({ length: 10 }, (_, index) =>
        execute({ ...known, environment: inEnvironment(`${index}`), attemptId: `attempt-${index}` }),
      );
      for (const { result, sink } of await Promise.all(runs))
        expect(result, sink.text()).toMatchObject({ outcome: 'succeeded' });
      expect(fetched()).toEqual(both);
      expect(readdirSync(store)).toHaveLength(2);
    },
    180_000,
  );

  it('are refused if the mirror has other bytes than when the version was published', async () => {
    const checked = await execute({ templateVersion: newVersion(), phase: 'detect', check: true });
    expect(checked.result.check, checked.sink.text()).toMatchObject({
      findings: [],
      unchecked: [expect.stringContaining('the version has no lock file, so this check made one')],
    });
    const known = { templateVersion: newVersion(), modules: checked.result.modules };
    await forget();
    mirror.archives.set(archiveName(time), packProvider({ ...time, license: 'poisoned' }));
    const poisoned = await execute(known);
    expect(poisoned.result).toMatchObject({ outcome: 'failed', reason: 'init_failed' });
    expect(poisoned.sink.text()).toMatch(/hashicorp\/time[\s\S]*checksums/);
    const facts = readdirSync(store).map((key) => readFileSync(join(store, key, 'facts.json'), 'utf8'));
    expect(facts.join()).not.toContain('hashicorp/time');
    mirror.archives.set(archiveName(time), honest.get(archiveName(time)) ?? Buffer.alloc(0));
    expect((await execute(known)).result).toMatchObject({ outcome: 'succeeded' });
  }, 120_000);

  it('that the check of a version fetched are used by its first run', async () => {
    await forget();
    const checked = await execute({ templateVersion: newVersion(), phase: 'detect', check: true });
    mirror.isDown = true;
    const first = await execute({ templateVersion: newVersion(), modules: checked.result.modules });
    expect(first.result, first.sink.text()).toMatchObject({ outcome: 'succeeded' });
    expect(fetched()).toEqual(both);
  }, 120_000);

  it('keep their versions on another platform, where the lock file gets new checksums', async () => {
    const { modules } = (await execute({ templateVersion: newVersion() })).result;
    const lock = modules?.locks[platform] ?? '';
    const locks = { other_arch: lock.replaceAll(/h1:[^"]*/g, `h1:${'A'.repeat(43)}=`) };
    const known = { templateVersion: newVersion(), modules: modules && { ...modules, locks } };
    const { result, sink } = await execute(known);
    expect(result, sink.text()).toMatchObject({ outcome: 'succeeded' });
    expect(readLockFile(Buffer.from(result.modules?.locks[platform] ?? ''))).toEqual(readLockFile(Buffer.from(lock)));
  });

  it('are refused if the lock file of the version has another checksum than the store', async () => {
    await execute({ templateVersion: newVersion() });
    const hash = `h1:${'A'.repeat(43)}=`;
    const lock = `provider "mirror.test/hashicorp/time" {\n  version = "0.14.2"\n  hashes = ["${hash}"]\n}\n`;
    const locked = { kind: 'opentofu' as const, files: { ...files, '.terraform.lock.hcl': lock } };
    const { result, sink } = await execute({ templateVersion: newVersion(), executor: locked });
    expect(result).toMatchObject({ outcome: 'failed', reason: 'init_failed' });
    expect(sink.text()).toMatch(/checksums/);
  });

  it('are fetched for an apply on another worker, exactly those of its plan', async () => {
    const templateVersion = newVersion();
    const { plan } = (await execute({ templateVersion })).result;
    await forget();
    const { artifact = null, digest = null } = plan ?? {};
    const { result, sink } = await execute({ templateVersion, phase: 'apply', artifact, planDigest: digest });
    expect(result, sink.text()).toMatchObject({ outcome: 'succeeded', resourceCount: 2 });
    expect(readdirSync(store)).toHaveLength(2);
  }, 120_000);

  it('are not fetched from a mirror that is down: the run says so, and a later one succeeds', async () => {
    const known = await resolve();
    mirror.isDown = true;
    const { result, sink } = await execute(known);
    expect(result).toMatchObject({ outcome: 'failed', reason: 'init_failed' });
    expect(sink.text()).toMatch(/fetching the provider mirror\.test\/hashicorp\/(time|local)[\s\S]*503/);
    expect(existsSync(store) ? readdirSync(store) : []).toEqual([]);
    mirror.isDown = false;
    expect((await execute(known)).result).toMatchObject({ outcome: 'succeeded' });
  }, 120_000);

  it.runIf(isFirst)(
    'are not given to a run that may not fetch them itself',
    async () => {
      const templateVersion = newVersion();
      const { result: first } = await execute({ templateVersion });
      const known = { templateVersion, modules: first.modules };
      mirror.requests.length = 0;
      const withToken = [{ name: 'TF_TOKEN_mirror_test', value: 'of-another', sensitive: true }];
      expect((await execute({ ...known, environment: withToken })).result).toMatchObject({ outcome: 'succeeded' });
      expect(fetched()).toEqual(both);
      const cut = await execute({ ...known, egress: { policy: 'none', allow: [] } });
      expect(cut.result).toMatchObject({ outcome: 'failed', reason: 'init_failed' });
    },
    120_000,
  );

  it('cannot be changed by a template', async () => {
    const meddle = [
      'cd .terraform/providers/mirror.test/hashicorp/time/0.14.2/*',
      'for f in *; do (echo x >> $f) && echo wrote-$f; chmod u+w $f && echo unlocked-$f; rm -f $f && echo removed-$f; done',
      'touch new && echo added',
      'echo meddled; true',
    ].join('; ');
    const act = `resource "terraform_data" "act" {\n  provisioner "local-exec" { command = "${meddle}" }\n}\n`;
    const executor = { kind: 'opentofu' as const, files: { ...files, 'act.tf': act } };
    const meddling = { templateVersion: newVersion(), executor };
    const planned = await execute(meddling);
    const { artifact = null, digest = null } = planned.result.plan ?? {};
    const { sink } = await execute({ ...meddling, phase: 'apply', artifact, planDigest: digest });
    expect(sink.text()).toContain('meddled');
    expect(sink.text()).not.toMatch(/\): (wrote|unlocked|removed|added)/);
    expect(sink.text()).toMatch(/Read-only file system/);
    for (const key of readdirSync(store)) {
      const { hash } = JSON.parse(readFileSync(join(store, key, 'facts.json'), 'utf8'));
      expect((await sealPackage(join(store, key, 'package'))).hash).toBe(hash);
    }
  }, 120_000);

  it.runIf(isFirst)(
    'are complete in the store, or not there, however often the host is killed while it adds them',
    async () => {
      const known = await resolve();
      for (const delayMs of [20, 60, 120, 250, 500]) {
        const running = execute(known);
        await readUntil(
          async () => mirror.requests.length,
          (length) => length > 0,
          20_000,
        );
        await sleep(delayMs);
        const pid = await open.processId();
        if (pid !== null) process.kill(pid, 'SIGKILL');
        await running;
        mirror.requests.length = 0;
        for (const key of existsSync(store) ? readdirSync(store) : []) {
          const { hash } = JSON.parse(readFileSync(join(store, key, 'facts.json'), 'utf8'));
          expect((await sealPackage(join(store, key, 'package'))).hash).toBe(hash);
        }
      }
      const { result, sink } = await execute(known);
      expect(result, sink.text()).toMatchObject({ outcome: 'succeeded' });
      const drafts = readdirSync(work, { recursive: true }).map(String);
      expect(drafts.filter((path) => /\/(provider|init|removed)-[0-9a-f]+$/.test(path))).toEqual([]);
    },
    180_000,
  );
});
