import { sealingKeyOf } from '#domain/audit/chain/seal.ts';
import { sealRecords } from '#domain/audit/chain/sealing.ts';
import type { TestApi } from '../api/in-process-api.ts';
import { declaredContent } from '../areas/declared.ts';
import type { Shown, ShownPlace } from '../areas/shown-content.ts';
import { addAccounts, addInvitations } from './accounts.ts';
import { addAssemblies, type SeededAssemblies } from './assemblies/add-assemblies.ts';
import { addTemplates, type Templates } from './catalog/add-templates.ts';
import { addChannels, type SeededChannels } from './channels.ts';
import { addConnections, type SeededConnections } from './connections.ts';
import { addDependencies } from './dependency.ts';
import { addDrift, type SeededDrift } from './drift/add-drift.ts';
import { addEnvironments, addHolds, addVariables, type Environments } from './environments.ts';
import { backdate } from './history.ts';
import { addReviewersNotifications } from './notifications.ts';
import { addPeople, type People } from './people.ts';
import { addPlugins, type SeededPlugins } from './plugins.ts';
import { addQuotas } from './quotas.ts';
import { type Place, Places } from './runs/places.ts';
import { poolOf } from './runs/run-row.ts';
import { tellEnded } from './runs/stories/ended-runs.ts';
import { tellLinked } from './runs/stories/linked-runs.ts';
import { Narrator } from './runs/stories/narrator.ts';
import { tellOpen } from './runs/stories/open-runs.ts';
import { tellPast } from './runs/stories/past.ts';
import type { RunStory } from './runs/stories/story.ts';
import { tellWaiting } from './runs/stories/waiting-runs.ts';
import { tellWholePlans } from './runs/stories/whole-plans.ts';
import { writeRuns } from './runs/write-runs.ts';
import { addSigningKeys } from './signing-keys.ts';
import { addTenants, type Tenants } from './tenants.ts';
import { addUndoAttempts, type SeededUndo } from './undo.ts';
import { addVariableSets, type SeededVariableSets } from './variable-sets.ts';
import { addWorkers } from './workers.ts';

/** An installation that is used by people, with the ids of what pages are looked at with. */
export interface Installation extends Tenants {
  readonly people: People;
  readonly environments: Environments;
  readonly templates: Templates;
  readonly assemblies: SeededAssemblies;
  readonly undo: SeededUndo;
  readonly drift: SeededDrift;
  /** What areas declare that they show. */
  readonly shownByAreas: Required<Shown>;
  readonly variableSets: SeededVariableSets;
  readonly connections: SeededConnections;
  readonly channels: SeededChannels;
  readonly plugins: SeededPlugins;
  readonly instances: readonly Place[];
  /** Runs in every status and of every kind of wait, by name. */
  readonly runs: Readonly<Record<RunKey, { readonly id: string; readonly instance: Place }>>;
  /** The token of an invitation that `people.developer` may accept. */
  readonly invitationToken: string;
  /** A service account of the platform team, and one of its keys. */
  readonly accountId: string;
  readonly accountKeyId: string;
  /** An API key of `people.reviewer`. */
  readonly ownKeyId: string;
  readonly workerId: string;
  /** The record of an approval. */
  readonly auditRecordId: string;
}

const pastRuns = 280;

/**
 * Fills an empty installation as that of two companies would look: people of every role, tenants, templates, instances, and
 * some 300 runs of the last months. Each time the same, but for ids and the present time. Everybody has the test password.
 */
export async function seedInstallation(api: TestApi): Promise<Installation> {
  const people = await addPeople(api);
  const tenants = await addTenants(people);
  const environments = await addEnvironments(people, tenants);
  const templates = await addTemplates(people, tenants);
  await addVariables(people, environments);
  const variableSets = await addVariableSets(people, tenants, environments);
  const accounts = await addAccounts(people, tenants);
  const invitationToken = await addInvitations(people, tenants);
  const workers = await addWorkers(api, people, tenants, environments);
  const places = new Places(people, tenants, environments, templates, accounts);
  const present = tellPresent(new Narrator(places, people));
  await makeLogPartitions(api);
  const stories = [...tellPast(places, pastRuns), ...Object.values(present)];
  await writeRuns(api, stories, ({ place }) => (poolOf(place) === 'cloud' ? workers.cloud : workers.default));
  const pendingRunId = present.bigPlan.id;
  const plannedRunIds = {
    network: present.wholePlan.id,
    database: present.failingCheck.id,
    cluster: present.outputsAlone.id,
  };
  const place = { people, tenants, environments, templates, pendingRunId, plannedRunIds };
  const assemblies = await addAssemblies(api, place);
  const undo = await addUndoAttempts(api, {
    instance: present.needsApproval.place.id,
    laterRun: present.failed.id,
    by: people.reviewer,
  });
  const { toolSwitch, followed, interrupted, smallApproval } = present;
  const linked = {
    toolSwitch: toolSwitch.id,
    followed: followed.id,
    interrupted: interrupted.id,
    resetting: smallApproval.id,
  };
  await addDependencies(api, people, { places, templates, ...linked });
  const drift = await addDrift(api, people, { environment: environments.networkProduction.id, instances: places.all });
  const shownByAreas = await addShown(api, { ...place, assemblies });
  await addHolds(people, environments);
  await addQuotas(people, tenants);
  await addSigningKeys(people);
  const connections = await addConnections(people, tenants, environments);
  const channels = await addChannels(api, people, tenants);
  const plugins = await addPlugins(people, tenants);
  await addReviewersNotifications(api, people, {
    run: present.needsApproval.id,
    monitor: drift.drifted,
    assemblyRun: assemblies.shop.runs.failed,
  });
  await backdate(api);
  const { orm, installation } = api.services;
  await sealRecords(orm, sealingKeyOf(installation.bindingKey), { margin: 0 });
  return {
    ...tenants,
    people,
    environments,
    templates,
    assemblies,
    undo,
    drift,
    shownByAreas,
    variableSets,
    connections,
    channels,
    plugins,
    instances: places.all,
    runs: namesOf(present),
    invitationToken,
    workerId: workers.cloud,
    ...(await findRecords(api, accounts.platform?.id ?? '', people.reviewer.id)),
  };
}

/** Adds what areas declare, one after the other, so that it is the same each time. */
async function addShown(api: TestApi, place: ShownPlace): Promise<Required<Shown>> {
  const shown: Shown[] = [];
  for (const show of declaredContent) shown.push(await show(api, place));
  return { pages: shown.flatMap(({ pages }) => pages), states: shown.flatMap(({ states }) => states ?? []) };
}

/** The runs that pages are looked at with, by their names. They are the last ones of their instances. */
function tellPresent(narrator: Narrator) {
  return {
    ...tellWaiting(narrator),
    ...tellWholePlans(narrator),
    ...tellOpen(narrator),
    ...tellEnded(narrator),
    ...tellLinked(narrator),
  };
}

export type RunKey = keyof ReturnType<typeof tellPresent>;

function namesOf(stories: Record<RunKey, RunStory>): Installation['runs'] {
  const named = Object.entries(stories).map(([key, { id, place }]) => [key, { id, instance: place }]);
  return Object.fromEntries(named);
}

async function findRecords(api: TestApi, accountId: string, reviewerId: string) {
  const first = async (sql: string, ...values: string[]) => (await api.rows<{ id: string }>(sql, values))[0]?.id ?? '';
  const firstKey = 'select id from api_keys where principal_id = ? order by id limit 1';
  return {
    accountId,
    accountKeyId: await first(firstKey, accountId),
    ownKeyId: await first(firstKey, reviewerId),
    auditRecordId: await first(`select id from audit_records where action = 'run.reviewed' order by id limit 1`),
  };
}

/** The logs of past runs need the partitions of past months. */
async function makeLogPartitions(api: TestApi): Promise<void> {
  await api.rows(`select make_month_partitions('run_log_chunks', now() - interval '6 months', 9)`);
}
