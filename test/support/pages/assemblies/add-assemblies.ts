import type { TestApi } from '../../api/in-process-api.ts';
import { required } from '../answers.ts';
import type { Templates } from '../catalog/add-templates.ts';
import type { Environments } from '../environments.ts';
import type { People, SeededPerson } from '../people.ts';
import type { Tenants } from '../tenants.ts';
import { type NodeProgress, type RunProgress, setProgress } from './progress.ts';
import { fiveHundredNodes, fortyNodes, sixNodes, sixNodesBefore, wrongDraft } from './specs.ts';

/** An assembly with the ids of its runs, by what they show. */
export interface SeededAssembly<Key extends string = string> {
  readonly id: string;
  readonly runs: Readonly<Record<Key, string>>;
}

export interface SeededAssemblies {
  readonly shop: SeededAssembly<'succeeded' | 'failed' | 'waiting' | 'running' | 'canceled' | 'preview'>;
  readonly regions: SeededAssembly<'running'>;
  readonly shards: SeededAssembly<'running'>;
  /** Never published; its draft is wrong. */
  readonly wrong: SeededAssembly<never>;
  /** Nobody has written anything yet. */
  readonly empty: SeededAssembly<never>;
}

interface Place {
  readonly people: People;
  readonly tenants: Tenants;
  readonly environments: Environments;
  readonly templates: Templates;
  /** The run that stands for the node that waits for approval. */
  readonly pendingRunId: string;
  /** Runs whose plans a preview shows. */
  readonly plannedRunIds: Readonly<Record<'network' | 'database' | 'cluster', string>>;
}

/** Adds assemblies of the platform team: of 6, 40 and 500 nodes, with runs in every state. */
export async function addAssemblies(api: TestApi, place: Place): Promise<SeededAssemblies> {
  const { people, templates, environments } = place;
  const owner = people.owner;
  const make = async (name: string, description: string) => {
    const team_id = place.tenants.teams.platform.id;
    return (await owner.make('/assemblies', { name, description, team_id })).id;
  };
  const shop = await make(
    'Shop platform',
    'Network, data and release of the shop, in the order in which they need each other.',
  );
  await publish(owner, shop, '1.0.0', sixNodesBefore(templates), 'The first version.');
  await publish(owner, shop, '2.0.0', sixNodes(templates), 'The database needs an approval.\nThe cache is gone.');
  const regions = await make('Regions', 'DNS of ten regions.');
  await publish(owner, regions, '1.0.0', fortyNodes(templates), '');
  const shards = await make('Shards', 'A rollout in ten stages.');
  await publish(owner, shards, '1.0.0', fiveHundredNodes(templates), '');
  const wrong = await make('Monitoring', 'Not finished yet.');
  required(await owner.put(`/assemblies/${wrong}/draft`, { spec: wrongDraft }), 200);
  const empty = await make('Sandbox', '');
  const start = async (id: string, progress: RunProgress, more: object = {}) => {
    const environment_id = environments.networkProduction.id;
    const answer = await people.maintainer.post(`/assemblies/${id}/runs`, { environment_id, ...more });
    const runId = required(answer, 202).id as string;
    await setProgress(api, runId, progress);
    return runId;
  };
  const given = { variables: { password: 'correct-horse-battery-staple', size: 'large' } };
  const runs = {
    canceled: await start(shop, canceled, { ...given, message: 'Try the new size' }),
    succeeded: await start(shop, succeeded, { ...given, message: 'Autumn sizes' }),
    failed: await start(shop, failed, given),
    preview: await start(shop, previewOf(place.plannedRunIds), { ...given, operation: 'plan' }),
    running: await start(shop, running, given),
    waiting: await start(shop, waitingFor(place.pendingRunId), { ...given, message: 'The new range, before the sale' }),
  };
  await linkRun(api, place.pendingRunId, runs.waiting);
  return {
    shop: { id: shop, runs },
    regions: { id: regions, runs: { running: await start(regions, inRegions) } },
    shards: { id: shards, runs: { running: await start(shards, inShards) } },
    wrong: { id: wrong, runs: {} },
    empty: { id: empty, runs: {} },
  };
}

async function publish(
  owner: SeededPerson,
  id: string,
  version: string,
  spec: object,
  changelog: string,
): Promise<void> {
  required(await owner.put(`/assemblies/${id}/draft`, { spec }), 200);
  required(await owner.post(`/assemblies/${id}/publish`, { version, changelog }), 201);
}

/** Makes a run that waits for approval the run of a node. */
async function linkRun(api: TestApi, runId: string, assemblyRunId: string): Promise<void> {
  await api.rows(
    `update runs set assembly_run_id = n.assembly_run_id, assembly_node_id = n.id from assembly_nodes n
      where runs.id = ? and n.assembly_run_id = ? and n.key = 'network'`,
    [runId, assemblyRunId],
  );
}

const done = (took: number): NodeProgress => ({ status: 'succeeded', took, attempts: 1 });
const after = (...nodes: string[]): NodeProgress => ({ status: 'pending', waiting: { code: 'dependencies', nodes } });
const dependencyFailed = (key: string): NodeProgress => ({
  status: 'skipped',
  reason: { code: 'dependency_failed', message: `the node ${key} did not succeed` },
});

function byKey(nodes: Readonly<Record<string, NodeProgress>>): RunProgress['nodes'] {
  return (key) => nodes[key] ?? { status: 'pending' };
}

const succeeded: RunProgress = {
  status: 'succeeded',
  minutesAgo: 60 * 30,
  outputs: {
    network: { value: 'vpc-0a1b2c3d4e5f', sensitive: false },
    database: { value: 'shop.db.northwind.example', sensitive: false },
    token: { value: null, sensitive: true },
  },
  nodes: byKey({
    network: done(94),
    database: done(512),
    cluster: done(760),
    release: { ...done(40), attempts: 2 },
    records: done(12),
    'smoke-test': {
      status: 'skipped',
      reason: { code: 'condition_false', message: "variables.size == 'large' is false" },
    },
  }),
};

function previewOf(runIds: Place['plannedRunIds']): RunProgress {
  const planned = (runId: string, took: number): NodeProgress => ({ ...done(took), runId });
  const unknown = (key: string): NodeProgress => ({
    status: 'skipped',
    reason: { code: 'outputs_missing', message: `it refers to outputs of the node ${key}, which has none` },
  });
  return {
    status: 'succeeded',
    minutesAgo: 60 * 8,
    nodes: byKey({
      network: planned(runIds.network, 41),
      database: planned(runIds.database, 22),
      cluster: planned(runIds.cluster, 37),
      release: unknown('cluster'),
      records: unknown('release'),
      'smoke-test': unknown('records'),
    }),
  };
}

const failed: RunProgress = {
  status: 'failed',
  reason: 'nodes_failed',
  minutesAgo: 60 * 5,
  nodes: byKey({
    network: done(90),
    database: {
      status: 'failed',
      attempts: 1,
      took: 310,
      reason: { code: 'run_failed', message: 'its run failed: apply_failed' },
    },
    cluster: done(720),
    release: dependencyFailed('database'),
    records: dependencyFailed('release'),
    'smoke-test': dependencyFailed('records'),
  }),
};

const running: RunProgress = {
  status: 'running',
  minutesAgo: 6,
  nodes: byKey({
    network: done(88),
    database: { status: 'running', attempts: 1 },
    cluster: { status: 'waiting', waiting: { code: 'concurrency' } },
    release: after('database', 'cluster'),
    records: after('release'),
    'smoke-test': after('records'),
  }),
};

const waitingFor = (runId: string): RunProgress => ({
  status: 'pending_approval',
  minutesAgo: 50,
  nodes: byKey({
    network: { status: 'pending_approval', runId },
    database: after('network'),
    cluster: after('network'),
    release: after('database', 'cluster'),
    records: after('release'),
    'smoke-test': after('records'),
  }),
});

const canceled: RunProgress = {
  status: 'canceled',
  reason: 'canceled_by_user',
  minutesAgo: 60 * 60,
  nodes: (key) =>
    key === 'network'
      ? done(80)
      : { status: 'canceled', reason: { code: 'canceled', message: 'the assembly run was canceled' } },
};

const inRegions: RunProgress = {
  status: 'running',
  minutesAgo: 4,
  nodes: (key, position) => {
    if (position < 14) return done(20 + position);
    if (position < 20) return { status: 'running', attempts: 1 };
    if (key === 'r5-web')
      return { status: 'failed', attempts: 3, reason: { code: 'run_failed', message: 'its run failed' } };
    return { status: 'pending', waiting: { code: 'dependencies', nodes: ['r0-zone'] } };
  },
};

const inShards: RunProgress = {
  status: 'running',
  minutesAgo: 21,
  nodes: (_key, position) => {
    if (position === 70)
      return { status: 'failed', attempts: 1, reason: { code: 'run_failed', message: 'its run failed' } };
    if (position < 120) return done(30 + (position % 17));
    if (position < 140) return { status: 'running', attempts: 1 };
    return { status: 'pending', waiting: { code: 'dependencies', nodes: ['s2-begin'] } };
  },
};
