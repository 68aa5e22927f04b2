import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AttemptWork } from '#domain/runs/attempts/claim.ts';
import type { PlannedModules } from '#domain/runs/attempts/kept-modules.ts';
import { newId } from '#domain/shared/ids.ts';
import type { VersionedTool } from '#domain/tools/model.ts';
import { makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { publishTemplate } from '#test/support/api/publish-template.ts';
import { aPlan, executing, RunSteps } from '#test/support/runs/run-steps.ts';

/** The modules from elsewhere that the runs of a version use. */

let api: TestApi;
let tenant: Tenant;
let other: Tenant;
let steps: RunSteps;
let worker: string;
const tool: VersionedTool = { name: 'opentofu', version: '1.11.0' };

beforeAll(async () => {
  api = await startApi();
  [tenant, other] = [await makeTenant(api), await makeTenant(api)];
  steps = new RunSteps(api, await api.addUser('admin'));
  worker = await steps.worker('none', 'default', [tool]);
});
afterAll(() => api?.close());

const digestOf = (letter: string) => `sha256:${letter.repeat(64)}`;
function modulesOf(letter: string, changes: Partial<PlannedModules> = {}): PlannedModules {
  const list = [
    { key: 'network', source: 'git::https://git.example.com/x.git', version: null, digest: digestOf(letter) },
  ];
  return { digest: digestOf(letter), list, content: Buffer.from(letter), locks: {}, isPlain: true, ...changes };
}

/** Publishes a template of OpenTofu, of the team or of the installation. */
function publish(team?: string): Promise<string> {
  const spec = { executor: { kind: 'opentofu', files: { 'main.tf': '' } } };
  return publishTemplate(tenant.owner, spec, { team_id: team });
}

/** Plans in an environment and reports `modules` as resolved. Returns the digest of the modules that the attempt got, or null. */
const plan = async (...args: Parameters<typeof planWithKept>) => (await planWithKept(...args))?.digest ?? null;

/** Returns all that the attempt got. */
async function planWithKept(templateId: string, { owner, environment }: Tenant, modules?: PlannedModules) {
  const request = { template_id: templateId, environment_id: environment, instance: `i-${newId()}` };
  const { id: runId } = (await owner.post('/runs', request)).body;
  const attemptId = executing(await steps.next({ runId }));
  const work = (await steps.claim(attemptId, worker, 'none', [tool])) as AttemptWork;
  await steps.complete(attemptId, { outcome: 'planned', plan: aPlan(), tool, ...(modules && { modules }) });
  return work.modules;
}

describe('the modules of a version', () => {
  it('are those of its first plan in every environment of its team', async () => {
    const template = await publish(tenant.team);
    const { id } = await tenant.owner.make('/environments', {
      project_id: tenant.project,
      name: 'Other',
      kind: 'development',
    });
    expect(await plan(template, tenant, modulesOf('a'))).toBeNull();
    expect(await plan(template, { ...tenant, environment: id }, modulesOf('b'))).toBe(digestOf('a'));
    expect(await plan(template, tenant)).toBe(digestOf('a'));
  });

  it('are those of the first plan in each environment if variables may have selected them', async () => {
    const template = await publish(tenant.team);
    const { id } = await tenant.owner.make('/environments', {
      project_id: tenant.project,
      name: 'Third',
      kind: 'development',
    });
    await plan(template, tenant, modulesOf('a', { isPlain: false }));
    expect(await plan(template, { ...tenant, environment: id }, modulesOf('b'))).toBeNull();
    expect(await plan(template, { ...tenant, environment: id })).toBe(digestOf('b'));
    expect(await plan(template, tenant)).toBe(digestOf('a'));
  });

  it('are those of the first plan of each tenant if the template belongs to the installation', async () => {
    const template = await steps.publish({ executor: { kind: 'opentofu', files: { 'main.tf': '' } } });
    await plan(template, other, modulesOf('e'));
    expect(await plan(template, tenant, modulesOf('a'))).toBeNull();
    expect(await plan(template, tenant)).toBe(digestOf('a'));
    expect(await plan(template, other)).toBe(digestOf('e'));
  });

  it.each([
    ['are too large', { content: Buffer.alloc(16 * 1024 * 1024 + 1) }],
    ['have a malformed digest', { digest: 'sha256:0' }],
    ['have a name that cannot be stored', { list: [{ key: 'a\0', source: '', version: null, digest: digestOf('a') }] }],
  ])('are not stored if they %s', async (_what, changes) => {
    const template = await publish(tenant.team);
    await plan(template, tenant, modulesOf('a', changes));
    expect(await plan(template, tenant)).toBeNull();
  });
});

describe('the lock files of a version', () => {
  const lock = (text: string, platform = 'linux_amd64') => ({ [platform]: `# ${text}\n` });
  const onlyLocks = (locks: PlannedModules['locks'], changes: Partial<PlannedModules> = {}): PlannedModules => ({
    ...{ digest: '', list: [], content: null, isPlain: true },
    ...{ locks, ...changes },
  });
  const locksOf = async (template: string, modules?: PlannedModules, of = tenant) =>
    (await planWithKept(template, of, modules))?.locks ?? null;

  it('are those of its first plan on each platform', async () => {
    const template = await publish(tenant.team);
    expect(await locksOf(template, onlyLocks(lock('first')))).toBeNull();
    expect(await locksOf(template, onlyLocks(lock('second')))).toEqual(lock('first'));
    const arm = lock('first', 'linux_arm64');
    expect(await locksOf(template, onlyLocks(arm))).toEqual(lock('first'));
    expect(await locksOf(template)).toEqual({ ...lock('first'), ...arm });
  });

  it('are added to the modules that the version had before, even if only one environment had those', async () => {
    const template = await publish(tenant.team);
    await plan(template, tenant, modulesOf('a', { isPlain: false }));
    expect(await locksOf(template, modulesOf('a', { locks: lock('first') }))).toEqual({});
    expect(await planWithKept(template, tenant)).toMatchObject({ digest: digestOf('a'), locks: lock('first') });
  });

  it('are those of one environment alone if variables may have chosen where its providers came from', async () => {
    const template = await publish(tenant.team);
    const name = 'Fourth';
    const { id } = await tenant.owner.make('/environments', { project_id: tenant.project, name, kind: 'development' });
    await locksOf(template, onlyLocks(lock('chosen'), { isPlain: false }));
    expect(await locksOf(template, undefined, { ...tenant, environment: id })).toBeNull();
    expect(await locksOf(template)).toEqual(lock('chosen'));
  });

  it('are not changed by a plan that reports other modules', async () => {
    const template = await publish(tenant.team);
    await plan(template, tenant, modulesOf('a'));
    await plan(template, tenant, modulesOf('b', { locks: lock('of other modules') }));
    expect(await locksOf(template)).toEqual({});
  });

  it.each([
    ['are too large', onlyLocks(lock('x'.repeat(1024 * 1024)))],
    ['have no name of a platform', onlyLocks(lock('x', '../x'))],
    ['cannot be stored', onlyLocks(lock('\0'))],
    ['come without a digest of modules', onlyLocks(lock('x'), { list: modulesOf('a').list })],
  ])('are not kept if they %s', async (_what, modules) => {
    const template = await publish(tenant.team);
    await locksOf(template, modules);
    expect(await locksOf(template)).toBeNull();
  });
});
