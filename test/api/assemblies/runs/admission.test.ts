import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Transactions } from '#domain/shared/commands/transaction.ts';
import { join, makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { sendAtOnce } from '#test/support/api/at-once.ts';
import { ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { addAssembly, addTemplate, admit } from '#test/support/assemblies/assemblies.ts';

/** No engine runs the assembly runs of these tests. Each test admits a node itself once its situation is set up. */
let api: TestApi;
let tenant: Tenant;
beforeAll(async () => {
  api = await startApi();
  tenant = await makeTenant(api);
});
afterAll(async () => {
  await api?.close();
});

interface StartedRun {
  readonly id: string;
  readonly path: string;
  readonly node: string;
}

/** Starts a run of an assembly of one node. */
async function start(user: ApiUser): Promise<StartedRun> {
  const { slug } = await addTemplate(tenant.owner, { team: tenant.team });
  const assembly = await addAssembly(tenant, { nodes: { first: { template: slug, instance: `i-${randomUUID()}` } } });
  expect((await tenant.owner.post(`${assembly}/publish`, { version: '1.0.0' })).status).toBe(201);
  const { status, body, text } = await user.post(`${assembly}/runs`, { environment_id: tenant.environment });
  expect(status, text).toBe(202);
  const [node] = await api.rows<{ id: string }>('select id from assembly_nodes where assembly_run_id = ?', [body.id]);
  return { id: body.id, path: `${assembly}/runs/${body.id}`, node: node?.id ?? '' };
}

async function readNode({ path }: StartedRun) {
  return (await tenant.owner.get(`${path}/nodes/first`)).body;
}

/** A user with a role in the team, and the id of the key that it uses. */
async function addUser(role: 'admin' | 'owner' = 'admin'): Promise<{ user: ApiUser; key: string }> {
  const user = await api.addUser('maintainer');
  await join(tenant, user, 'member', role);
  const { body } = await user.get('/profile/api-keys');
  return { user, key: body.api_keys[0].id };
}

async function end(run: StartedRun): Promise<void> {
  await api.rows(`update assembly_runs set status = 'failed', finished_at = now() where id = ?`, [run.id]);
  await api.rows(`update assembly_nodes set status = 'failed', finished_at = now() where id = ?`, [run.node]);
}

describe('a node of a run that was started with an API key', () => {
  it('gets its run while the key is valid, and the run names the key', async () => {
    const { user, key } = await addUser();
    const run = await start(user);
    await admit(api, run.node);
    const node = await readNode(run);
    expect(node).toMatchObject({ status: 'waiting', attempts: 1 });
    const [admitted] = await api.rows('select credential_id from runs where id = ?', [node.run_id]);
    expect(admitted).toEqual({ credential_id: key });
  });

  it.each([
    ['was revoked', 'update api_keys set revoked_at = now() where id = ?'],
    ['has expired', `update api_keys set expires_at = now() - interval '1 second' where id = ?`],
  ])('fails with the reason if the key %s meanwhile, until somebody resumes the run', async (reason, change) => {
    const { user, key } = await addUser();
    const run = await start(user);
    await api.rows(change, [key]);
    await admit(api, run.node);
    const node = await readNode(run);
    expect(node).toMatchObject({ status: 'failed', run_id: null, reason: { code: 'not_permitted' } });
    expect(node.reason.message).toBe(
      `the API key with which the assembly run was started or resumed ${reason}: resume the run with another credential`,
    );
    await end(run);
    expect((await tenant.owner.post(`${run.path}/resume`)).status).toBe(202);
    await admit(api, run.node);
    expect(await readNode(run)).toMatchObject({ status: 'waiting', attempts: 1 });
  });

  it('fails if the key is revoked between its check and the commit', async () => {
    const { user, key } = await addUser();
    const run = await start(user);
    const revoke = () => api.rows('update api_keys set revoked_at = now() where id = ?', [key]);
    await admit(api, run.node, interrupted(2, revoke));
    expect(await readNode(run)).toMatchObject({ status: 'failed', run_id: null, reason: { code: 'not_permitted' } });
  });
});

describe('a node of a run that was started in a session', () => {
  it('gets its run even after the session has ended', async () => {
    const { user } = await addUser();
    const session = await api.signIn(user);
    const run = await start(session);
    await api.rows('update sessions set revoked_at = now() where user_id = ?', [user.id]);
    await admit(api, run.node);
    expect(await readNode(run)).toMatchObject({ status: 'waiting', attempts: 1 });
  });

  it('fails if the user was disabled meanwhile', async () => {
    const { user } = await addUser();
    const run = await start(await api.signIn(user));
    await api.rows('update principals set enabled = false where id = ?', [user.id]);
    await admit(api, run.node);
    expect(await readNode(run)).toMatchObject({ status: 'failed', reason: { code: 'not_permitted' } });
  });
});

describe('an admission during which somebody else resumes the run', () => {
  it("neither admits with the earlier starter's authority nor ends the node", async () => {
    const { user, key } = await addUser();
    for (const change of ['select 1', 'update api_keys set revoked_at = now() where id = ?']) {
      const run = await start(user);
      const resume = async () => {
        await api.rows(change, change.includes('?') ? [key] : []);
        await api.rows('update assembly_runs set workflow_id = ?, authority_id = ? where id = ?', [
          randomUUID(),
          tenant.owner.id,
          run.id,
        ]);
      };
      await admit(api, run.node, interrupted(2, resume));
      expect(await readNode(run)).toMatchObject({ status: 'pending', run_id: null, reason: null });
    }
  });
});

/** Transactions, after some of which something else happens. */
function interrupted(after: number, work: () => Promise<unknown>): Transactions {
  const { transactions } = api.services;
  let count = 0;
  return new Proxy(transactions, {
    get: (target, name) =>
      name === 'run'
        ? async (...args: Parameters<Transactions['run']>) => {
            const result = await target.run(...args);
            if (++count === after) await work();
            return result;
          }
        : Reflect.get(target, name),
  });
}

async function readAuthors({ id }: Pick<StartedRun, 'id'>): Promise<{ id: string; person: string }[]> {
  const [row] = await api.rows<{ authors: { id: string; person: string }[] }>(
    'select authors from assembly_runs where id = ?',
    [id],
  );
  return row?.authors ?? [];
}

describe('a run that a service account of a team started and resumed with keys of two people', () => {
  it('has both people as its authors, so that neither may approve its nodes', async () => {
    const { user } = await addUser('owner');
    const account = await tenant.owner.make('/service-accounts', {
      name: `deploy ${randomUUID()}`,
      role: 'maintainer',
      owner: { team_id: tenant.team },
    });
    const issue = async (by: ApiUser) => {
      const { body, status, text } = await by.post(`/service-accounts/${account.id}/api-keys`, { name: 'ci' });
      expect(status, text).toBe(201);
      return new ApiUser(api, { 'x-api-key': body.key }, { id: account.id, email: '' });
    };
    const [one, two] = [await issue(tenant.owner), await issue(user)];
    const run = await start(one);
    await end(run);
    expect((await two.post(`${run.path}/resume`)).status).toBe(202);
    const started = (await readAuthors(run)).filter(({ id }) => id === account.id);
    expect(started.map(({ person }) => person)).toEqual([tenant.owner.id, user.id]);
  });
});

describe('a destroy of an assembly', () => {
  /** A run whose node is deployed as far as the database knows, and which has not ended. */
  async function deploy(): Promise<StartedRun> {
    const run = await start(tenant.owner);
    await admit(api, run.node);
    const { run_id: admitted } = await readNode(run);
    expect(admitted).toBeTruthy();
    await api.rows(
      'update instances set resource_count = 1, deployed_run_id = ? where id = (select instance_id from runs where id = ?)',
      [admitted, admitted],
    );
    return run;
  }

  const operate = (run: StartedRun, operation: string) =>
    tenant.owner.post(run.path.replace(/\/[^/]*$/, ''), { environment_id: tenant.environment, operation });

  it('does not start during an apply, and no apply is started or resumed during it', async () => {
    const run = await deploy();
    const early = await operate(run, 'destroy');
    expect([early.status, early.headers['x-error-code']]).toEqual([409, 'assembly_busy']);
    expect(early.body.error).toContain(`(apply, ${run.id})`);
    await end(run);
    expect((await operate(run, 'destroy')).status).toBe(202);
    for (const operation of ['apply', 'destroy']) {
      const beside = await operate(run, operation);
      expect([beside.status, beside.headers['x-error-code']], operation).toEqual([409, 'assembly_busy']);
    }
    expect((await operate(run, 'plan')).status).toBe(202);
    const { body } = await tenant.owner.get(run.path);
    const action = body.actions.find(({ name }: { name: string }) => name === 'resume');
    expect(action).toMatchObject({ allowed: false, reason: expect.stringContaining('has not ended (destroy, ') });
    const resumed = await tenant.owner.post(`${run.path}/resume`);
    expect([resumed.status, resumed.headers['x-error-code']]).toEqual([409, 'assembly_busy']);
  });

  it('has the authors of the deployed versions, and not of the version in the request', async () => {
    const { user } = await addUser();
    const run = await deploy();
    const assembly = run.path.replace(/\/runs\/.*$/, '');
    await end(run);
    expect((await user.post(`${assembly}/publish`, { version: '2.0.0' })).status).toBe(201);
    const { body, status, text } = await operate(run, 'destroy');
    expect(status, text).toBe(202);
    expect(body.version).toBe('2.0.0');
    expect((await readAuthors(body)).map(({ id }) => id)).not.toContain(user.id);
  });

  it('never runs with an apply if 20 destroys, 20 applies and a resume are sent at once', async () => {
    const run = await deploy();
    await end(run);
    const started = await sendAtOnce(41, (number) => {
      if (number === 0) return tenant.owner.post(`${run.path}/resume`);
      return operate(run, number % 2 === 0 ? 'apply' : 'destroy');
    });
    expect(new Set(started.map(({ status }) => status))).toEqual(new Set([202, 409]));
    const begun = await api.rows<{ operation: string }>(
      'select operation from assembly_runs where finished_at is null and assembly_id = (select assembly_id from assembly_runs where id = ?)',
      [run.id],
    );
    expect(begun.length).toBeGreaterThan(0);
    const destroys = begun.filter(({ operation }) => operation === 'destroy').length;
    expect(destroys === 0 || begun.length === 1, JSON.stringify(begun)).toBe(true);
  });
});
