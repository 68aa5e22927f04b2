import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { platform, readLockFile } from '#executors/opentofu/providers/lock-file.ts';
import { archiveName, packProvider } from '#test/support/programs/network-mirror.ts';
import { hasProviders } from '#test/support/programs/providers.ts';
import { readUntil } from '#test/support/read-until.ts';
import { requireTools } from '../support.ts';
import { both, files, MirrorStage, newVersion, time } from './mirror-stage.ts';
import { loggedCommands } from './opentofu-support.ts';

const tools = await requireTools();
const inEnvironment = (name: string) => [{ name: 'ENVIRONMENT', value: name, sensitive: false }];

describe.runIf(hasProviders()).each(tools)('providers from a network mirror, with $name $version', (installed) => {
  const stage = new MirrorStage(installed);
  beforeAll(() => stage.open());
  beforeEach(() => stage.restore());
  afterAll(() => stage.close());

  it('are fetched by the first run, and by no later one, even if the mirror is down', async () => {
    const templateVersion = newVersion();
    const first = await stage.execute({ templateVersion });
    expect(first.result, first.sink.text()).toMatchObject({ outcome: 'succeeded' });
    expect(first.sink.text()).toContain('the version has no lock file');
    expect(stage.fetched()).toEqual(both);
    const kept = first.result.modules;
    expect(Object.keys(kept?.locks ?? {})).toEqual([platform]);
    stage.mirror.isDown = true;
    stage.mirror.requests.length = 0;
    const { artifact = null, digest = null } = first.result.plan ?? {};
    const applied = await stage.execute({ templateVersion, phase: 'apply', artifact, planDigest: digest });
    expect(applied.result, applied.sink.text()).toMatchObject({ outcome: 'succeeded', resourceCount: 2 });
    const state = applied.sink.states.at(-1)?.content ?? null;
    const later = await stage.execute({ templateVersion, modules: kept, state });
    expect(later.result, later.sink.text()).toMatchObject({ outcome: 'succeeded' });
    expect(loggedCommands(later.sink)).toEqual(['plan']);
    expect(later.result.modules).toBeUndefined();
    for (const environment of [inEnvironment('one'), inEnvironment('two')]) {
      const other = await stage.execute({ templateVersion, modules: kept, environment });
      expect(other.result, other.sink.text()).toMatchObject({ outcome: 'succeeded' });
    }
    expect(stage.mirror.requests).toEqual([]);
    expect(stage.executor.providerCounts).toMatchObject({ hits: 4, fetches: 2, evictions: 0 });
  });

  // One tool is enough where the service alone decides.
  const isFirst = installed === tools[0];

  it.runIf(isFirst)(
    'are fetched once if ten runs in ten environments need them for the first time',
    async () => {
      const known = await stage.resolve();
      const runs = Array.from({ length: 10 }, (_, index) =>
        stage.execute({ ...known, environment: inEnvironment(`${index}`), attemptId: `attempt-${index}` }),
      );
      for (const { result, sink } of await Promise.all(runs))
        expect(result, sink.text()).toMatchObject({ outcome: 'succeeded' });
      expect(stage.fetched()).toEqual(both);
      expect(readdirSync(stage.store)).toHaveLength(2);
    },
    180_000,
  );

  it('are refused if the mirror has other bytes than when the version was published', async () => {
    const checked = await stage.execute({ templateVersion: newVersion(), phase: 'detect', check: true });
    expect(checked.result.check, checked.sink.text()).toMatchObject({
      findings: [],
      unchecked: [expect.stringContaining('the version has no lock file, so this check made one')],
    });
    const known = { templateVersion: newVersion(), modules: checked.result.modules };
    await stage.forget();
    stage.mirror.archives.set(archiveName(time), packProvider({ ...time, license: 'poisoned' }));
    const poisoned = await stage.execute(known);
    expect(poisoned.result).toMatchObject({ outcome: 'failed', reason: 'init_failed' });
    expect(poisoned.sink.text()).toMatch(/hashicorp\/time[\s\S]*checksums/);
    const facts = readdirSync(stage.store).map((key) => readFileSync(join(stage.store, key, 'facts.json'), 'utf8'));
    expect(facts.join()).not.toContain('hashicorp/time');
    stage.restore();
    expect((await stage.execute(known)).result).toMatchObject({ outcome: 'succeeded' });
  }, 120_000);

  it('are not fetched again by the first run of a version if its check has fetched them', async () => {
    await stage.forget();
    const checked = await stage.execute({ templateVersion: newVersion(), phase: 'detect', check: true });
    stage.mirror.isDown = true;
    const known = { templateVersion: newVersion(), modules: checked.result.modules };
    const first = await stage.execute(known);
    expect(first.result, first.sink.text()).toMatchObject({ outcome: 'succeeded' });
    const { artifact = null, digest = null } = first.result.plan ?? {};
    const applied = await stage.execute({ ...known, phase: 'apply', artifact, planDigest: digest });
    expect(applied.result, applied.sink.text()).toMatchObject({ outcome: 'succeeded' });
    expect(loggedCommands(applied.sink)).toEqual(['apply']);
    expect(stage.fetched()).toEqual(both);
  }, 120_000);

  it('keep their versions on another platform, where the lock file gets new checksums', async () => {
    const { modules } = (await stage.execute({ templateVersion: newVersion() })).result;
    const lock = modules?.locks[platform] ?? '';
    const locks = { other_arch: lock.replaceAll(/h1:[^"]*/g, `h1:${'A'.repeat(43)}=`) };
    const known = { templateVersion: newVersion(), modules: modules && { ...modules, locks } };
    const { result, sink } = await stage.execute(known);
    expect(result, sink.text()).toMatchObject({ outcome: 'succeeded' });
    expect(readLockFile(Buffer.from(result.modules?.locks[platform] ?? ''))).toEqual(readLockFile(Buffer.from(lock)));
  });

  it('are refused if the lock file of the version has another checksum than the store', async () => {
    await stage.execute({ templateVersion: newVersion() });
    const hash = `h1:${'A'.repeat(43)}=`;
    const lock = `provider "mirror.test/hashicorp/time" {\n  version = "0.14.2"\n  hashes = ["${hash}"]\n}\n`;
    const locked = { kind: 'opentofu' as const, files: { ...files, '.terraform.lock.hcl': lock } };
    const { result, sink } = await stage.execute({ templateVersion: newVersion(), executor: locked });
    expect(result).toMatchObject({ outcome: 'failed', reason: 'init_failed' });
    expect(sink.text()).toMatch(/checksums/);
  });

  it('are fetched for an apply on another worker, exactly those of its plan', async () => {
    const templateVersion = newVersion();
    const { plan } = (await stage.execute({ templateVersion })).result;
    await stage.forget();
    const { artifact = null, digest = null } = plan ?? {};
    const { result, sink } = await stage.execute({ templateVersion, phase: 'apply', artifact, planDigest: digest });
    expect(result, sink.text()).toMatchObject({ outcome: 'succeeded', resourceCount: 2 });
    expect(readdirSync(stage.store)).toHaveLength(2);
  }, 120_000);

  it('are not fetched from a mirror that is down: the run says so, and a later one succeeds', async () => {
    const known = await stage.resolve();
    stage.mirror.isDown = true;
    const { result, sink } = await stage.execute(known);
    expect(result).toMatchObject({ outcome: 'failed', reason: 'init_failed' });
    expect(sink.text()).toMatch(/fetching the provider mirror\.test\/hashicorp\/(time|local)[\s\S]*503/);
    expect(existsSync(stage.store) ? readdirSync(stage.store) : []).toEqual([]);
    stage.mirror.isDown = false;
    expect((await stage.execute(known)).result).toMatchObject({ outcome: 'succeeded' });
  }, 120_000);

  it.runIf(isFirst)(
    'are not given to a run that may not fetch them itself',
    async () => {
      const templateVersion = newVersion();
      const { result: first } = await stage.execute({ templateVersion });
      const known = { templateVersion, modules: first.modules };
      const withToken = { environment: [{ name: 'TF_TOKEN_mirror_test', value: 'of-another', sensitive: true }] };
      const netrc = { name: 'NETRC', text: 'machine mirror.test login x' };
      const withLogin = { environmentFiles: [...stage.environmentFiles, netrc] };
      for (const credentials of [withToken, withLogin]) {
        stage.mirror.requests.length = 0;
        const { result, sink } = await stage.execute({ ...known, ...credentials });
        expect(result, sink.text()).toMatchObject({ outcome: 'succeeded' });
        expect(stage.fetched()).toEqual(both);
      }
      const cut = await stage.execute({ ...known, egress: { policy: 'none', allow: [] } });
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
    const planned = await stage.execute(meddling);
    const { artifact = null, digest = null } = planned.result.plan ?? {};
    const { sink } = await stage.execute({ ...meddling, phase: 'apply', artifact, planDigest: digest });
    expect(sink.text()).toContain('meddled');
    expect(sink.text()).not.toMatch(/\): (wrote|unlocked|removed|added)/);
    expect(sink.text()).toMatch(/Read-only file system/);
    await stage.expectWhole();
  }, 120_000);

  it.runIf(isFirst)(
    'are complete in the store, or not there, however often the host is killed while it adds them',
    async () => {
      const known = await stage.resolve();
      for (const delayMs of ['adding', 20, 60, 120, 250, 500] as const) {
        let hasEnded = false;
        const running = stage.execute(known).finally(() => {
          hasEnded = true;
        });
        const { requests } = stage.mirror;
        await readUntil(
          async () => requests.length,
          (length) => length > 0,
          20_000,
        );
        if (delayMs !== 'adding') await sleep(delayMs);
        else while (!hasEnded && !stage.isAdding()) await sleep(1);
        const pid = await stage.executor.processId();
        if (pid !== null) process.kill(pid, 'SIGKILL');
        await running;
        requests.length = 0;
        if (existsSync(stage.store)) await stage.expectWhole();
      }
      const { result, sink } = await stage.execute(known);
      expect(result, sink.text()).toMatchObject({ outcome: 'succeeded' });
      const drafts = readdirSync(stage.work, { recursive: true }).map(String);
      expect(drafts.filter((path) => /\/(provider|init|removed)-[0-9a-f]+$/.test(path))).toEqual([]);
    },
    180_000,
  );
});
