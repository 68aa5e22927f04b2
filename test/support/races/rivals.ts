import { randomUUID } from 'node:crypto';
import { join, type Tenant } from '../access/tenancy.ts';
import type { ApiAnswer, ApiUser, TestApi } from '../api/in-process-api.ts';
import { at } from './race.ts';

/** Where a use and its rivals meet. */
export interface Scene {
  readonly api: TestApi;
  readonly tenant: Tenant;
  /** Who uses an authority. The owner of the tenant and the administrator carry out the rivals. */
  readonly user: ApiUser;
  readonly admin: ApiUser;
  readonly template: string;
  readonly instance: string;
  /** The run that is undone, or whose deployment has drifted. */
  readonly run: string;
  /** The body of a request that runs something else in the instance. */
  readonly otherRun: object;
  /** A template that has deployed nothing here. */
  readonly otherTemplate: string;
}

/** Something else that happens to what a use relies on. It prepares, and answers what then is carried out at another service. */
export type Rival = (scene: Scene, there: TestApi) => Promise<() => Promise<ApiAnswer>>;

/** Adds somebody who may do all of this in the team of a tenant, and nothing anywhere else. */
export async function addUserOf(api: TestApi, tenant: Tenant): Promise<ApiUser> {
  const user = await api.addUser('operator');
  await join(tenant, user, 'member', 'admin');
  return user;
}

const key = () => ({ 'idempotency-key': randomUUID() });

/** Makes an instance look as if it held nothing, so that a rule about what it holds does not decide. */
async function emptyInstance({ api, instance }: Scene): Promise<void> {
  await api.rows('update instances set resource_count = 0 where id = ?', [instance]);
}

export const rivals = {
  'a transfer of the project': async ({ tenant }, there) => {
    const owner = at(there, tenant.owner);
    const { id } = await owner.make(`/organizations/${tenant.organization}/teams`, { name: 'Others' });
    return () => owner.post(`/projects/${tenant.project}/transfer`, { team_id: id });
  },
  'a transfer of the team': async ({ api, tenant, user }, there) => {
    const owner = at(there, tenant.owner);
    const { id } = await owner.make('/organizations', { name: `Buyer ${randomUUID()}` });
    await api.rows(
      `insert into organization_members (id, organization_id, principal_id, role, created_at) values (gen_random_uuid(), ?, ?, 'member', now())`,
      [id, user.id],
    );
    return () => owner.post(`${tenant.teamPath}/transfer`, { organization_id: id });
  },
  'the archiving of the environment': async (scene, there) => {
    await emptyInstance(scene);
    return () => at(there, scene.tenant.owner).post(`/environments/${scene.tenant.environment}/archive`);
  },
  'the deletion of the environment': async (scene, there) => {
    await emptyInstance(scene);
    const path = `/environments/${scene.tenant.environment}`;
    return () => at(there, scene.tenant.owner).delete(path, key());
  },
  'the deletion of the instance': async (scene, there) => {
    await emptyInstance(scene);
    return () => at(there, scene.tenant.owner).delete(`/instances/${scene.instance}`);
  },
  'the deletion of the run':
    async ({ admin, run }, there) =>
    () =>
      at(there, admin).delete(`/runs/${run}`),
  'the yank of the version': async ({ admin, template }, there) => {
    const path = `/registry/templates/${template}/versions/1.0.0/yank`;
    return () => at(there, admin).post(path, { reason: 'a test' });
  },
  'the revocation of the key': async ({ api, user }, there) => {
    const [issued] = await api.rows<{ id: string }>('select id from api_keys where principal_id = ?', [user.id]);
    return () => at(there, user).delete(`/profile/api-keys/${issued?.id}`);
  },
  'the removal of the member': async ({ tenant, user }, there) => {
    const path = `${tenant.teamPath}/members/${user.id}`;
    return () => at(there, tenant.owner).delete(path);
  },
  'the demotion of the member': async ({ tenant, user }, there) => {
    const path = `${tenant.teamPath}/members/${user.id}`;
    return () => at(there, tenant.owner).put(path, { role: 'viewer' });
  },
  'the import of a state': async ({ tenant, instance }, there) => {
    const state = { version: 4, serial: 9, lineage: 'other' };
    return () => at(there, tenant.owner).post(`/instances/${instance}/state`, state);
  },
  'the unlocking of the instance': async ({ api, tenant, instance, run }, there) => {
    await api.rows('insert into instance_slots (instance_id, run_id, acquired_at) values (?, ?, now())', [
      instance,
      run,
    ]);
    return () => at(there, tenant.owner).post(`/instances/${instance}/unlock`);
  },
  'another run of the instance':
    async ({ tenant, otherRun }, there) =>
    () =>
      at(there, tenant.owner).post('/runs', otherRun),
  'a run of another template': async (scene, there) => {
    await emptyInstance(scene);
    const request = { ...scene.otherRun, template_id: scene.otherTemplate };
    return () => at(there, scene.tenant.owner).post('/runs', request);
  },
} satisfies Record<string, Rival>;

export type RivalName = keyof typeof rivals;
export const rivalNames = Object.keys(rivals) as RivalName[];
