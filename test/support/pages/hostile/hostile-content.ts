import { randomUUID } from 'node:crypto';
import type { TestApi } from '../../api/in-process-api.ts';
import { required } from '../answers.ts';
import type { SeededTemplate } from '../catalog/add-templates.ts';
import type { SeededEnvironment } from '../environments.ts';
import { addNotifications } from '../notifications.ts';
import type { Installation } from '../realistic-installation.ts';
import { idAt } from '../runs/ids.ts';
import { type Place, toActor } from '../runs/places.ts';
import { writeRuns } from '../runs/write-runs.ts';
import type { SeededTeam } from '../tenants.ts';
import { addHostileAssembly, type HostileAssembly } from './hostile-assembly.ts';
import { addHostileChannel } from './hostile-channels.ts';
import { addHostileConnection } from './hostile-connections.ts';
import { addHostileDrift, type HostileDrift } from './hostile-drift.ts';
import { addHostilePlugin } from './hostile-plugins.ts';
import { tellHostile } from './hostile-runs.ts';
import { addHostileSchedules, type HostileSchedules } from './hostile-schedules.ts';
import { addHostileUndo, type HostileUndo } from './hostile-undo.ts';
import { addHostileVariableSets } from './hostile-variable-sets.ts';
import { addHostileWebhook, type HostileWebhook } from './hostile-webhooks.ts';
import { hostileName, hostileText, longWord, savedName } from './texts.ts';

/** What hostile people have added, by the ids with which pages show it. */
export interface HostileContent {
  readonly organizationId: string;
  readonly teamId: string;
  readonly projectId: string;
  readonly environmentId: string;
  readonly templateId: string;
  readonly instanceId: string;
  readonly runs: Readonly<Record<keyof ReturnType<typeof tellHostile>, string>>;
  readonly userId: string;
  readonly assembly: HostileAssembly;
  readonly drift: HostileDrift;
  readonly schedules: HostileSchedules;
  readonly undo: HostileUndo;
  readonly variableSetId: string;
  readonly connectionId: string;
  readonly webhook: HostileWebhook;
  /** A plugin with hostile names. */
  readonly plugin: string;
  readonly pluginResource: string;
  /** A notification channel. */
  readonly channel: string;
}

/**
 * Adds content that attacks the pages that show it: markup, texts that run backwards, words that never end, control
 * sequences, and a plan of 10 MB. The owner and the reviewer of the installation may read it.
 */
export async function addHostileContent(api: TestApi, installation: Installation): Promise<HostileContent> {
  const { people } = installation;
  const stranger = await api.addUser('maintainer', hostileName(200));
  const team = await addTeam(installation);
  await addMembers(installation, team, stranger.id);
  const project = await people.owner.make('/projects', { team_id: team.id, name: longWord(), slug: 'long' });
  const environment = await addEnvironment(installation, { id: project.id, name: longWord(), team });
  const template = await addTemplate(installation, team);
  const place = placeOf(team, environment, template, { id: stranger.id, name: hostileName(200) });
  const runs = tellHostile(place, toActor(people.reviewer));
  const goneWorker = randomUUID();
  await writeRuns(api, Object.values(runs), () => goneWorker);
  const ids = { teamId: team.id, templateId: template.id, environmentId: environment.id };
  const assembly = await addHostileAssembly(api, people, ids);
  const drift = await addHostileDrift(api, people, { instance: place.id, run: runs.applied.id });
  const schedules = await addHostileSchedules(api, people, { ...ids, assemblyId: assembly.id });
  const { organizationId } = team;
  const variableSetId = await addHostileVariableSets(people, { ...ids, organizationId, projectId: project.id });
  const webhook = await addHostileWebhook(api, people, team.id);
  const plugins = await addHostilePlugin(people, { organization: organizationId, team: team.id });
  const channel = await addHostileChannel(api, people, team.id);
  const connectionId = await addHostileConnection(people, team.id);
  await addNotifications(api, [
    {
      user: people.reviewer.id,
      kind: 'run.finished',
      subject: { kind: 'run', id: runs.applied.id },
      title: hostileText,
    },
    {
      user: people.reviewer.id,
      kind: 'run.finished',
      subject: { kind: 'run', id: runs.applied.id },
      title: longWord(400),
    },
  ]);
  const undo = await addHostileUndo(api, people.reviewer, { run: runs.applied.id, laterRun: runs.failed.id });
  await giveOldNames(api);
  return {
    assembly,
    drift,
    schedules,
    undo,
    variableSetId,
    connectionId,
    webhook,
    ...plugins,
    channel,
    organizationId,
    teamId: team.id,
    projectId: project.id,
    environmentId: environment.id,
    templateId: template.id,
    instanceId: place.id,
    userId: stranger.id,
    runs: Object.fromEntries(Object.entries(runs).map(([key, { id }]) => [key, id])) as HostileContent['runs'],
  };
}

/** Gives what was made its hostile names: names that were saved before such characters were refused have them. */
async function giveOldNames(api: TestApi): Promise<void> {
  const tables = ['organizations', 'teams', 'environments', 'templates', 'assemblies', 'schedules'] as const;
  for (const table of [...tables, 'variable_sets', 'notification_channels', 'connections', 'webhooks'])
    await api.rows(`update ${table} set name = ? where name = ?`, [hostileName(), savedName()]);
}

async function addTeam({ people }: Installation): Promise<SeededTeam> {
  const organization = await people.owner.make('/organizations', { name: savedName(), slug: 'hostile' });
  const path = `/organizations/${organization.id}/teams`;
  const { id } = await people.owner.make(path, { name: savedName(), slug: 'hostile' });
  return { id, name: hostileName(), organizationId: organization.id, path: `${path}/${id}` };
}

async function addMembers({ people }: Installation, team: SeededTeam, strangerId: string): Promise<void> {
  const roles = { [people.reviewer.id]: 'admin', [strangerId]: 'member' };
  for (const [id, role] of Object.entries(roles)) {
    const member = { role: role === 'admin' ? 'admin' : 'member' };
    required(await people.admin.put(`/organizations/${team.organizationId}/members/${id}`, member), 200);
    required(await people.admin.put(`${team.path}/members/${id}`, { role }), 200);
  }
}

async function addEnvironment(
  { people }: Installation,
  project: SeededEnvironment['project'],
): Promise<SeededEnvironment> {
  const name = savedName();
  const body = await people.owner.make('/environments', {
    project_id: project.id,
    name,
    slug: 'hostile',
    kind: 'production',
  });
  const path = `/environments/${body.id}`;
  const window = { name: savedName(), reason: hostileText.slice(0, 1000) };
  const [from, to] = [-1, 1].map((days) => new Date(Date.now() + days * 24 * 60 * 60_000).toISOString());
  const windows = [{ ...window, starts_at: from, ends_at: to }];
  required(await people.owner.put(`${path}/freeze-windows`, { freeze_windows: windows }), 200);
  required(await people.owner.put(`${path}/lock`, { reason: hostileText.slice(0, 1000) }), 200);
  const variables = [
    { name: longWord(128), value: hostileText, category: 'env' },
    { name: 'structure', value: { [hostileName()]: [hostileText, { [longWord(400)]: null }] }, category: 'template' },
    { name: 'secret', value: hostileText, category: 'template', sensitive: true },
  ];
  required(await people.owner.put(`${path}/variables`, { variables }), 200);
  const approval = body['approval_policy'] as SeededEnvironment['approval'];
  return { id: body.id, name, kind: 'production', project, approval };
}

async function addTemplate({ people, templates }: Installation, team: SeededTeam): Promise<SeededTemplate> {
  const named = { name: savedName(), slug: 'hostile', description: hostileText, tags: ['x'.repeat(63)] };
  const { id } = await people.owner.make('/registry/templates', { ...named, team_id: team.id });
  const field = { title: hostileName(), description: hostileText, default: hostileText, examples: [hostileText] };
  const variables = {
    type: 'object',
    properties: {
      plain: { type: 'string', ...field },
      [longWord(128)]: { type: 'string', ...field },
      choice: { enum: [hostileText, longWord(400), null], title: longWord(400) },
      nested: { type: 'object', title: hostileName(), properties: { [hostileName()]: { type: 'boolean' } } },
    },
    required: ['plain'],
  };
  const spec = { variables, outputs: { [longWord(128)]: { description: hostileText.slice(0, 1000) } } };
  const executor = { kind: 'command', apply: [{ name: longWord(63), run: ['sh', '-c', hostileText] }] };
  const published = await people.owner.make(`/registry/templates/${id}/versions`, {
    version: '1.0.0',
    changelog: hostileText,
    spec: { ...spec, executor },
  });
  const versions = [{ id: published.id, version: '1.0.0' }];
  return { key: 'release', id, team, plan: { ...templates.release.plan, example: { plain: hostileText } }, versions };
}

function placeOf(
  team: SeededTeam,
  environment: SeededEnvironment,
  template: SeededTemplate,
  stranger: { id: string; name: string },
): Place {
  const createdAt = Date.now() - 3 * 24 * 60 * 60_000;
  const attributes = { text: hostileText, [hostileName()]: hostileName() };
  const resource = { module: null, type: longWord(200), name: hostileName(), key: hostileText, attributes };
  return {
    id: idAt(createdAt),
    name: hostileName(),
    template,
    environment,
    team,
    resources: [resource, { ...resource, key: longWord(400) }],
    outputs: { [longWord(128)]: hostileText, markup: { [hostileName()]: hostileText }, url: hostileName() },
    requesters: [toActor(stranger)],
    reviewers: [],
    createdAt,
  };
}
