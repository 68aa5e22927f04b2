import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { admitRun, levelsOf, withKey } from '#test/support/access/tenant-levels.ts';
import { type ApiAnswer, startApi, type TestApi } from '#test/support/api/in-process-api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api?.close());

describe('a deletion and a creation at the same time', () => {
  /** Half of the rounds send the creation first, half the deletion; at most one of the two may succeed. */
  test.each(['team', 'project', 'environment', 'run'])('never leave a %s without its owner', async (kind) => {
    for (let round = 0; round < 6; round += 1) {
      const tenant = await makeTenant(api);
      const { template, run } = kind === 'run' ? await admitRun(tenant) : { template: '', run: undefined };
      if (run) await tenant.owner.post(`/runs/${run.body.id}/cancel`, { force: true });
      const levels = levelsOf(tenant);
      const parent = { team: 3, project: 2, environment: 1, run: 0 }[kind] ?? 0;
      for (const path of levels.slice(0, parent)) await tenant.owner.delete(path, withKey());
      const remove = () => tenant.owner.delete(levels[parent] ?? '', withKey());
      const make = () => makeIn(tenant, kind, template);
      const [first, second] = await Promise.all(round % 2 ? [remove(), make()] : [make(), remove()]);
      const [removed, made] = round % 2 ? [first, second] : [second, first];
      expect([
        [204, 404],
        [409, 201],
        [409, 202],
      ]).toContainEqual([removed.status, made.status]);
    }
  });

  test('deleting and creating organizations with the same slug at the same time leaves the slug to one of them', async () => {
    for (let round = 0; round < 8; round += 1) {
      const owner = await api.addUser('maintainer');
      const slug = `wanted-${randomUUID().slice(0, 8)}`;
      const { id } = await owner.make('/organizations', { name: 'First', slug });
      const remove = () => owner.delete(`/organizations/${id}`, withKey());
      const make = () => owner.post('/organizations', { name: 'Second', slug });
      const answers = await Promise.all(round % 2 ? [remove(), make(), make()] : [make(), remove(), make()]);
      const statuses = answers.map(({ status }) => status).sort();
      expect([
        [201, 204, 409],
        [204, 409, 409],
      ]).toContainEqual(statuses);
    }
  });

  function makeIn({ owner, ...tenant }: Tenant, kind: string, template: string): Promise<ApiAnswer> {
    if (kind === 'team') return owner.post(`/organizations/${tenant.organization}/teams`, { name: 'Late' });
    if (kind === 'project') return owner.post('/projects', { team_id: tenant.team, name: 'Late' });
    if (kind === 'run') return owner.post('/runs', { template_id: template, environment_id: tenant.environment });
    return owner.post('/environments', { project_id: tenant.project, name: 'Late', kind: 'staging' });
  }
});
