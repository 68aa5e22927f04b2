import { decodeJwt } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AttemptWork } from '#domain/runs/attempts/claim.ts';
import { ConnectionsRefused } from '#domain/runs/errors.ts';
import { newId } from '#domain/shared/ids.ts';
import type { VersionedTool } from '#domain/tools/model.ts';
import { join } from '#test/support/access/tenancy.ts';
import { signInVisitor } from '#test/support/browser/signed-in.ts';
import { aPlan, executing } from '#test/support/runs/run-steps.ts';
import { type IdentityStage, openIdentityStage } from '#test/support/workload-identity/identity-stage.ts';

/** Attempts get the connections that are bound for their runs. */

const issuer = 'https://coordinator.example.com';
let stage: IdentityStage;
beforeAll(async () => {
  stage = await openIdentityStage(issuer);
});
afterAll(() => stage?.api.close());

const secret = 'secret-of-given-connection';
const needs = { connections: [{ name: 'cloud', kind: 'generic' }] };

async function add(kind = 'generic', config: object = {}, credentials: object = { variables: { TOKEN: secret } }) {
  const body = { name: `Given ${newId()}`, kind, config, credentials, team_id: stage.tenant.team };
  return (await stage.tenant.owner.make('/admin/connections', body)).id;
}

async function bind(connection: string, phases = ['plan', 'apply']): Promise<void> {
  const path = `/environments/${stage.tenant.environment}/connections`;
  const { status, text } = await stage.tenant.owner.put(path, { cloud: { connection_id: connection, phases } });
  expect(status, text).toBe(200);
}

/** Admits a run; returns a function that claims its next attempt. */
async function admit(spec: object = needs, tools: VersionedTool[] = []) {
  const { steps, tenant } = stage;
  const worker = tools.length === 0 ? stage.worker : await steps.worker('none', 'default', tools);
  const runId = await steps.admit({ environment_id: tenant.environment, instance: `i-${newId()}` }, spec);
  const claim = (attemptId: string) => steps.claim(attemptId, worker, 'none', tools, issuer) as Promise<AttemptWork>;
  const planning = executing(await steps.next({ runId }));
  return {
    runId,
    plan: () => claim(planning),
    /** Ends the plan, and claims the apply. */
    apply: async () => {
      await steps.complete(planning, { outcome: 'planned', plan: aPlan() });
      return claim(executing(await steps.next({ runId, executed: planning })));
    },
  };
}

const namesOf = ({ connections: { variables, files } }: AttemptWork) =>
  [...variables, ...files].map(({ name }) => name);
const show = async (runId: string) => (await stage.tenant.owner.get(`/runs/${runId}`)).body;

async function expectRefused(claimed: Promise<unknown>, reason: string): Promise<void> {
  const error = await claimed.then(
    () => null,
    (refusal: unknown) => refusal,
  );
  expect(error).toBeInstanceOf(ConnectionsRefused);
  expect(error).toMatchObject({ reason, message: expect.stringContaining('cloud') });
}

describe('an attempt', () => {
  it('gets the connection only in the phases of its binding, and the run shows which connection', async () => {
    const id = await add();
    await bind(id, ['apply']);
    const run = await admit();
    expect(namesOf(await run.plan())).toEqual([]);
    expect((await show(run.runId)).connections).toEqual([]);
    const applying = await run.apply();
    expect(applying.connections.variables).toEqual([{ name: 'TOKEN', value: secret, sensitive: true }]);
    expect((await show(run.runId)).connections).toMatchObject([
      {
        name: 'cloud',
        phase: 'apply',
        connection_id: id,
        kind: 'generic',
        credential_revision: 1,
        attempt_id: applying.attempt.id,
      },
    ]);
    const page = await (await signInVisitor(stage.api, stage.tenant.owner)).get(
      `/workloads/runs/${run.runId}?tab=details`,
    );
    expect(page.text).toContain(`href="/admin/connections/${id}"`);
    const requester = await stage.api.addUser('requester');
    await join(stage.tenant, requester, 'member', 'viewer');
    const [shown] = (await requester.get(`/runs/${run.runId}`)).body.connections;
    expect(shown).toMatchObject({ name: 'cloud', connection_id: null, connection: null });
    const rows = await stage.api.rows('select t::text as row from runs t where id = ?', [run.runId]);
    expect(JSON.stringify(rows)).not.toContain(secret);
  });

  it('gets credentials that were rotated after the run was planned', async () => {
    const id = await add();
    await bind(id);
    const run = await admit();
    await run.plan();
    await stage.tenant.owner.post(`/admin/connections/${id}/rotate`, {
      credentials: { variables: { TOKEN: 'newer' } },
    });
    expect((await run.apply()).connections.variables).toMatchObject([{ value: 'newer' }]);
  });

  it('gets a token with its phase, for the audience of the connection', async () => {
    const vault = { role: 'deploy', audience: 'vault' };
    const config = { provider: 'vault', address: 'https://vault.example.com', workload_identity: vault };
    await bind(await add('cloud', config, {}));
    const run = await admit({ connections: [{ name: 'cloud', kind: 'cloud' }] });
    const tokenOf = ({ connections }: AttemptWork) =>
      connections.files.find(({ name }) => name === 'WORKLOAD_IDENTITY_TOKEN_FILE')?.text ?? '';
    const planning = await run.plan();
    expect(decodeJwt(tokenOf(planning))).toMatchObject({
      aud: 'vault',
      attempt_id: planning.attempt.id,
      phase: 'plan',
    });
    expect(decodeJwt(tokenOf(await run.apply()))).toMatchObject({ phase: 'apply' });
  });

  it('gets no connection if its template requires none', async () => {
    await bind(await add());
    expect(namesOf(await (await admit({})).plan())).toEqual([]);
  });
});

describe('an attempt of OpenTofu', () => {
  const spec = { executor: { kind: 'opentofu', files: { 'main.tf': '' } } };
  const tool = [{ name: 'opentofu', version: '1.11.0' }];
  const addGit = (organization: string) =>
    add(
      'git',
      { url: `https://93.184.216.34/${organization}/` },
      { username: 'git', token: `token-of-${organization}` },
    );
  const put = async (place: string, wanted: object) => {
    const { status, text } = await stage.tenant.owner.put(`${place}/connections`, wanted);
    expect(status, text).toBe(200);
  };
  const claim = async (phases?: string[]) => {
    const { tenant } = stage;
    const [acme, widgets, host] = await Promise.all([
      addGit('acme'),
      addGit('widgets'),
      add('registry', { host: '93.184.216.34' }, { token: 'token-of-registry' }),
    ]);
    await put(`/projects/${tenant.project}`, {
      modules: { connection_id: widgets },
      store: { connection_id: widgets },
    });
    await put(`/environments/${tenant.environment}`, {
      modules: { connection_id: acme, ...(phases && { phases }) },
      registry: { connection_id: host },
    });
    const run = await admit(spec, tool);
    return { acme, run, planned: await run.plan() };
  };

  it('gets all git connections and registries of its environment, although its template names none', async () => {
    const { acme, run, planned } = await claim();
    expect(planned.connections.variables).toEqual([]);
    const sources = planned.connections.moduleSources.map((source) =>
      source.kind === 'git' ? source.url : source.host,
    );
    expect(sources).toEqual(['https://93.184.216.34/acme/', '93.184.216.34', 'https://93.184.216.34/widgets/']);
    expect(planned.connections.moduleSources[0]).toMatchObject({
      credential: { kind: 'password', username: 'git', password: 'token-of-acme' },
      identity: `${acme}.1`,
    });
    const { connections } = await show(run.runId);
    expect(connections.map(({ name }: { name: string }) => name)).toEqual(['modules', 'registry', 'store']);
  });

  it('does not get connections that are bound for the other phase', async () => {
    const { planned } = await claim(['apply']);
    expect(planned.connections.moduleSources.map(({ kind }) => kind)).toEqual(['registry', 'git']);
  });

  it('does not get connections whose binder may no longer bind them', async () => {
    const admin = await stage.api.addUser('admin');
    await put(`/projects/${stage.tenant.project}`, {});
    await admin.put(`/environments/${stage.tenant.environment}/connections`, {
      modules: { connection_id: await addGit('acme') },
    });
    await stage.api.rows(
      'update principals set enabled = false, eligibility_generation = eligibility_generation + 1 where id = ?',
      [admin.id],
    );
    expect((await (await admit(spec, tool)).plan()).connections.moduleSources).toEqual([]);
  });
});

describe('the refusal of an attempt, whose run fails with the reason', () => {
  it('an attempt is refused if the binding of its connection was removed after the admission', async () => {
    await bind(await add());
    const { runId, plan } = await admit();
    await stage.tenant.owner.put(`/environments/${stage.tenant.environment}/connections`, {});
    await expectRefused(plan(), 'connection_unbound');
    expect((await show(runId)).connections).toEqual([]);
  });

  it('an attempt is refused if another connection was bound after the plan that reviewers approved', async () => {
    await bind(await add());
    const run = await admit();
    await run.plan();
    await bind(await add());
    await expectRefused(run.apply(), 'connection_rebound');
  });

  it('an attempt is refused if the settings of its connection were changed after the plan', async () => {
    const aws = (region: string) => ({
      config: { provider: 'aws', region },
      credentials: { access_key_id: 'AKIAEXAMPLE00000000', secret_access_key: 'x'.repeat(40) },
    });
    const { config, credentials } = aws('eu-west-1');
    const id = await add('cloud', config, credentials);
    await bind(id);
    const run = await admit({ connections: [{ name: 'cloud', kind: 'cloud' }] });
    await run.plan();
    const changed = await stage.tenant.owner.patch(`/admin/connections/${id}`, aws('us-east-1'));
    expect(changed.status, changed.text).toBe(200);
    await expectRefused(run.apply(), 'connection_rebound');
  });

  it('an attempt is refused if the credentials of its connection cannot be decrypted', async () => {
    const id = await add();
    await bind(id);
    const run = await admit();
    await stage.api.rows(`update connections set sealed_credentials = '\\x00' where id = ?`, [id]);
    await expect(run.plan()).rejects.toMatchObject({ reason: 'credentials_unavailable' });
  });

  it('an attempt is refused if the user who bound its connection was disabled between plan and apply', async () => {
    const admin = await stage.api.addUser('admin');
    const path = `/environments/${stage.tenant.environment}/connections`;
    await admin.put(path, { cloud: { connection_id: await add() } });
    const run = await admit();
    await run.plan();
    await stage.api.rows(
      'update principals set enabled = false, eligibility_generation = eligibility_generation + 1 where id = ?',
      [admin.id],
    );
    await expectRefused(run.apply(), 'connection_unauthorized');
  });

  it('an attempt is refused if the user who bound its connection left the team and joined it again between plan and apply', async () => {
    const { tenant, api } = stage;
    const binder = await api.addUser('maintainer');
    await join(tenant, binder, 'member', 'admin');
    await binder.put(`/environments/${tenant.environment}/connections`, { cloud: { connection_id: await add() } });
    const run = await admit();
    await run.plan();
    const membership = `${tenant.teamPath}/members/${binder.id}`;
    expect((await tenant.owner.delete(membership)).status).toBe(204);
    expect((await tenant.owner.put(membership, { role: 'admin' })).status).toBeLessThan(300);
    await expectRefused(run.apply(), 'connection_unauthorized');
  });
});
