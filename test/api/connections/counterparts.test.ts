import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { withDatabase } from '#open-database';
import { type AssemblyStage, makePlace } from '#test/support/assembly-stage.ts';
import { makeGitRoot } from '#test/support/programs/git.ts';
import { type Counterpart, serveRegistryAndCluster } from '#test/support/programs/registry-and-cluster.ts';
import { type System, startSystem } from '#test/support/system.ts';
import { publish } from '#test/support/templates.ts';

/** Connections to a private registry and to a cluster, used by the real `init` and the real `kubectl` in runs. */
const tokens = { registry: 'secret-of-registry-7c1d', cluster: 'secret-of-cluster-2b9a' };
const files = makeGitRoot();
let system: System;
let counterpart: Counterpart;
let place: Omit<AssemblyStage, 'system' | 'caller'>;

const mayListen = process.getuid?.() === 0;

beforeAll(async () => {
  if (!mayListen) return;
  counterpart = await serveRegistryAndCluster(files.path, tokens);
  system = await startSystem({ COORDINATOR_EXECUTOR_ISOLATION: 'none' });
  place = await makePlace(system.administrator, 'Acme');
});
afterAll(async () => {
  await system?.close();
  await counterpart?.close();
  files.remove();
});

async function add(name: string, kind: string, config: object, credentials: object): Promise<string> {
  const body = { name, kind, config, credentials, team_id: place.teamId };
  const { status, body: made, text } = await system.administrator.post('/admin/connections', body);
  expect(status, text).toBe(201);
  return made.id;
}

async function bind(bindings: Record<string, string>): Promise<void> {
  const wanted = Object.fromEntries(Object.entries(bindings).map(([name, id]) => [name, { connection_id: id }]));
  const path = `/environments/${place.environmentId}/connections`;
  const { status, text } = await system.administrator.send('PUT', path, wanted);
  expect(status, text).toBe(200);
}

async function run(templateId: string, instance: string) {
  const { administrator } = system;
  const request = { template_id: templateId, environment_id: place.environmentId, instance };
  const { status, body, text } = await administrator.post('/runs', request);
  expect(status, text).toBe(202);
  const ended = await administrator.awaitRun(body.id, ['succeeded', 'failed']);
  const log = (await administrator.get(`/runs/${body.id}/logs`, { accept: 'text/plain' })).text;
  return { ended, log };
}

const outputsOf = async (instance: string) => (await system.administrator.get(`/instances/${instance}/outputs`)).body;
const test = async (id: string) => (await system.administrator.post(`/admin/connections/${id}/test`, {})).body;

/** Everything that the database keeps and shows about what happened. */
async function expectSecretNowhere(secret: string, shown: unknown): Promise<void> {
  expect(JSON.stringify(shown)).not.toContain(secret);
  const tables = ['runs', 'run_plans', 'run_log_chunks', 'audit_records', 'domain_events', 'outbox', 'state_versions'];
  await withDatabase(system.config, async (orm) => {
    for (const table of tables) {
      const rows = await orm.em.fork().execute(`select t::text as row from ${table} t`);
      expect(rows.length, table).toBeGreaterThan(table === 'outbox' ? -1 : 0);
      expect(JSON.stringify(rows), table).not.toContain(secret);
    }
  });
}

describe.runIf(mayListen)('a private registry', () => {
  const spec = {
    connections: [
      { name: 'registry', kind: 'registry' },
      { name: 'trust', kind: 'generic' },
    ],
    outputs: { region: {} },
    executor: {
      kind: 'opentofu',
      files: {
        'main.tf': `
module "network" {
  source  = "127.0.0.9/acme/network/null"
  version = "1.0.0"
}
output "region" { value = module.network.region }
`,
      },
    },
  };

  it('serves its modules to runs with its connection, and refuses runs with another token', async () => {
    const template = await publish(system.administrator, 'private-modules', spec, place.teamId);
    const trust = await add('trust', 'generic', {}, { files: { SSL_CERT_FILE: counterpart.ca } });
    const wrong = await add('wrong', 'registry', { host: counterpart.host }, { token: 'mistyped' });
    await bind({ registry: wrong, trust });
    const refused = await run(template, 'refused');
    expect(refused.ended).toMatchObject({ status: 'failed' });
    expect(refused.log).toMatch(/401|Unauthorized|credentials/i);
    const right = await add('right', 'registry', { host: counterpart.host }, { token: tokens.registry });
    await bind({ registry: right, trust });
    const given = await run(template, 'given');
    expect(given.ended, given.log).toMatchObject({ status: 'succeeded' });
    expect((await outputsOf(given.ended.instance_id)).outputs.region.value).toBe('from the private module');
    expect(counterpart.requests).toContain('GET /archive/network.tar.gz');
    await expectSecretNowhere(tokens.registry, given);
  });
});

describe.runIf(mayListen)('a cluster', () => {
  const script =
    'printf \'{"region": "%s"}\' "$(kubectl get configmap settings -o jsonpath={.data.region})" > outputs.json';
  const spec = {
    connections: [{ name: 'cluster', kind: 'kubernetes' }],
    outputs: { region: {} },
    executor: {
      kind: 'command',
      apply: [{ name: 'look', run: ['sh', '-ec', `stat -c 'kubeconfig has mode %a' "$KUBECONFIG"; ${script}`] }],
    },
  };

  it('is reached by kubectl with the kubeconfig of the attempt, which is in a private file', async () => {
    const config = { server: `https://${counterpart.host}`, ca: counterpart.ca, namespace: 'team-a' };
    const cluster = await add('cluster', 'kubernetes', config, { token: tokens.cluster });
    expect(await test(cluster)).toMatchObject({ ok: true, problem: null });
    const template = await publish(system.administrator, 'look-into-cluster', spec, place.teamId);
    await bind({ cluster });
    const looked = await run(template, 'looked');
    expect(looked.ended, looked.log).toMatchObject({ status: 'succeeded' });
    expect(looked.log).toContain('kubeconfig has mode 600');
    expect((await outputsOf(looked.ended.instance_id)).outputs.region.value).toBe('eu-north');
    expect(counterpart.requests).toContain('GET /api/v1/namespaces/team-a/configmaps/settings');
    await expectSecretNowhere(tokens.cluster, looked);
  });

  it('refuses another token, which the run and the test of the connection report', async () => {
    const config = { server: `https://${counterpart.host}`, ca: counterpart.ca, namespace: 'team-a' };
    const cluster = await add('mistyped', 'kubernetes', config, { token: 'mistyped' });
    expect(await test(cluster)).toMatchObject({ ok: false, problem: 'it refused the token (401)' });
    const failing = {
      ...spec,
      executor: { kind: 'command', apply: [{ name: 'look', run: ['kubectl', 'get', 'configmap', 'settings'] }] },
    };
    const template = await publish(system.administrator, 'look-in-vain', failing, place.teamId);
    await bind({ cluster });
    const refused = await run(template, 'in-vain');
    expect(refused.ended).toMatchObject({ status: 'failed' });
    expect(refused.log).toMatch(/Unauthorized|must be logged in|credentials/i);
  });
});
