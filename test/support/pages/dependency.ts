import { json } from '#database/tables.ts';
import type { FollowFailure } from '#domain/following/model.ts';
import type { VersionCheck } from '#domain/registry/checks/model.ts';
import type { OutputRead } from '#domain/runs/references/model.ts';
import type { VariableReset } from '#domain/runs/reset-model.ts';
import type { TestApi } from '../api/in-process-api.ts';
import { required } from './answers.ts';
import type { Templates } from './catalog/add-templates.ts';
import type { People } from './people.ts';
import type { Place, PlaceKey, Places } from './runs/places.ts';

interface Linked {
  readonly places: Places;
  readonly templates: Templates;
  /** The ids of runs. */
  readonly toolSwitch: string;
  readonly followed: string;
  readonly interrupted: string;
  readonly resetting: string;
}

/**
 * Lets instances read outputs of others, so that some follow them and others cannot, and gives runs what links them with a change of a tool, the run
 * that they follow, or a version with errors.
 */
export async function addDependencies(api: TestApi, people: People, linked: Linked): Promise<void> {
  const { places, templates, toolSwitch, followed, interrupted, resetting } = linked;
  const [network, cluster] = [places.at('networkProduction/main'), places.at('networkProduction/cluster')];
  const readers: PlaceKey[] = ['ledgerProduction/database', 'ledgerStaging/database', 'ledgerStaging/release'];
  const failures: (FollowFailure | null)[] = [null, stopped, refused];
  for (const [index, key] of readers.entries()) {
    const source = key === 'ledgerStaging/release' ? cluster : network;
    await addDependency(api, people, { source, reader: places.at(key), failure: failures[index] ?? null });
  }
  await share(people, network, [places.at('ledgerProduction/database'), places.at('ledgerStaging/database')]);
  await share(people, cluster, [places.at('ledgerStaging/release')]);
  const source = await deployedRunOf(api, network);
  await api.rows('update runs set started_by_run_id = ? where id = ?', [source, followed]);
  await api.rows('update runs set variable_resets = ? where id = ?', [JSON.stringify(resets), resetting]);
  await api.rows('update runs set tool_switch = ? where id = ?', [json({ name: 'terraform' }), toolSwitch]);
  await api.rows('update template_versions set "check" = ? where id = ?', [
    JSON.stringify(lateErrors),
    templates.bucket.versions.at(-1)?.id ?? '',
  ]);
  await api.rows(
    'update instances set unrecorded_run_id = r.id, unrecorded_at = r.finished_at from runs r where r.id = ? and instances.id = r.instance_id',
    [interrupted],
  );
}

const at = new Date(Date.now() - 45 * 60_000).toISOString();
const stopped: FollowFailure = { reason: 'owner_changed', message: 'the instance has other owners', at };
const refused: FollowFailure = {
  reason: 'refused',
  message: 'the quota of queued runs of the team payments is used up',
  at,
};

const resets: VariableReset[] = [
  { variable: 'replicas', cause: 'default', before: { value: 3 }, after: { value: 1 } },
  { variable: 'zones', cause: 'not_set', before: { value: ['eu-central-1a', 'eu-central-1b'] }, after: null },
  { variable: 'admin_password', cause: 'not_declared', before: { sensitive: true }, after: null },
];

const lateErrors: VersionCheck = {
  state: 'failed',
  at,
  tool: { name: 'opentofu', version: '1.10.6' },
  errors: [
    {
      path: '/files',
      file: 'modules/this/main.tf',
      line: 41,
      message: 'an argument named "acl" is not expected here: use the resource aws_s3_bucket_acl',
    },
    {
      path: '/files',
      file: 'outputs.tf',
      line: 3,
      message: 'the reference to a resource "aws_s3_bucket.that" has no target',
    },
  ],
  warnings: [],
  notChecked: [],
};

async function share({ owner }: People, source: Place, readers: readonly Place[]): Promise<void> {
  const unique = (ids: string[]) => [...new Set(ids)];
  const body = {
    team_ids: unique(readers.map(({ team }) => team.id)),
    environment_ids: unique(readers.map(({ environment }) => environment.id)),
  };
  required(await owner.put(`/instances/${source.id}/readers`, body), 200);
}

async function deployedRunOf(api: TestApi, { id }: Place): Promise<string | null> {
  const [instance] = await api.rows<{ deployed: string | null }>(
    'select deployed_run_id as deployed from instances where id = ?',
    [id],
  );
  return instance?.deployed ?? null;
}

/** Lets an instance follow outputs of another one that it was deployed with, and that are other ones by now. */
async function addDependency(
  api: TestApi,
  { owner }: People,
  {
    source,
    reader,
    failure,
  }: { readonly source: Place; readonly reader: Place; readonly failure: FollowFailure | null },
): Promise<void> {
  required(await owner.put(`/instances/${reader.id}/follow`, { enabled: true }), 200);
  const runId = await deployedRunOf(api, source);
  const reads = Object.keys(source.outputs).map(
    (output): OutputRead => ({
      variable: output,
      path: '',
      reference: `\${instances.production/${source.name}.outputs.${output}}`,
      instanceId: source.id,
      instance: `network/production/${source.name}`,
      output,
      sensitive: false,
      stateSerial: 1,
      runId,
      readAt: new Date().toISOString(),
      copied: false,
    }),
  );
  await api.rows('update runs set reads = ? where id = (select deployed_run_id from instances where id = ?)', [
    JSON.stringify(reads),
    reader.id,
  ]);
  await api.rows('update instance_follows set failure = ? where instance_id = ?', [
    failure && JSON.stringify(failure),
    reader.id,
  ]);
}
