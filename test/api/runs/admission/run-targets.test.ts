import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { join, makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';

let api: TestApi;
let here: Tenant;
let there: Tenant;
let templateThere: string;
beforeAll(async () => {
  api = await startApi();
  [here, there] = [await makeTenant(api), await makeTenant(api)];
  const { id } = await there.owner.make('/registry/templates', { name: 'Theirs', team_id: there.team });
  const spec = { executor: { kind: 'command', apply: [{ name: 'act', run: ['true'] }] } };
  await there.owner.make(`/registry/templates/${id}/versions`, { version: '1.0.0', spec });
  templateThere = id;
});
afterAll(() => api?.close());

/** Requests a run in the environment of `here` with both operations that admit one. */
async function ask(user: ApiUser, template: string, environment = here.environment) {
  const answers = [
    await user.post('/runs', { template_id: template, environment_id: environment }),
    await user.post(`/registry/templates/${template}/versions/latest/runs`, { environment_id: environment }),
  ];
  return answers.map(({ status, body }) => [status, body.error]);
}

const both = (status: number, message: unknown) => [
  [status, message],
  [status, message],
];

describe("a run of another team's template", () => {
  it('answers 422 to a caller who may read the template and use the environment', async () => {
    const member = await api.addUser('requester');
    await join(here, member, 'member', 'member');
    await join(there, member, 'member', 'viewer');
    expect(await ask(member, templateThere)).toEqual(
      both(422, expect.stringMatching(/^template_id: the template belongs to another team than the environment/)),
    );
  });

  it('answers 403 to a caller who may read both and may not create runs in the environment', async () => {
    const viewer = await api.addUser('requester');
    await join(here, viewer, 'member', 'viewer');
    await join(there, viewer, 'member', 'viewer');
    expect(await ask(viewer, templateThere)).toEqual(both(403, expect.stringContaining('team.secret.read')));
  });

  it.each(['member', 'viewer'] as const)(
    'answers 404 to a %s who may not read it, as for a template that does not exist',
    async (role) => {
      const user = await api.addUser('requester');
      await join(here, user, 'member', role);
      const missing = both(404, 'the template was not found');
      expect(await ask(user, templateThere)).toEqual(missing);
      expect(await ask(user, randomUUID())).toEqual(missing);
    },
  );
});

describe('a run in an environment that the caller may not read', () => {
  it('answers 404, as for an environment that does not exist', async () => {
    const missing = both(404, 'the template or the environment was not found');
    for (const environment of [here.environment, randomUUID()]) {
      expect(await ask(there.owner, templateThere, environment)).toEqual(missing);
      expect(await ask(there.owner, randomUUID(), environment)).toEqual(missing);
    }
  });
});
