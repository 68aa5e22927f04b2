import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { runSampleAssembly } from './assembly.ts';
import type { SampleClient, SampleRun, SampleRunEvent } from './client.ts';
import { addSampleFollower } from './follower.ts';
import { addSampleSchedule } from './schedule.ts';
import { commandTemplate, openTofuTemplate, type SampleTemplate } from './templates.ts';
import { addSampleUndo } from './undo.ts';

const followForMs = 120_000;

/**
 * Creates an organization, a team, a project, an environment, templates and an assembly, runs each, and reports the progress of
 * the runs. It calls the API as any client would.
 * @returns the path that lists the runs
 */
export async function runSample(client: SampleClient, report: (line: string) => void): Promise<string> {
  const organizationId = await client.create('/organizations', { name: 'Sample organization', slug: 'sample' });
  const teamId = await client.create(`/organizations/${organizationId}/teams`, { name: 'Platform', slug: 'platform' });
  const projectId = await client.create('/projects', { team_id: teamId, name: 'Sample project', slug: 'sample' });
  const environmentId = await client.create('/environments', {
    project_id: projectId,
    name: 'development',
    kind: 'development',
    approval_policy: { required: 0, when: 'never', allow_self: true },
  });
  report('Created a sample organization, team, project and environment.');
  const templates = hasOpenTofu() ? [commandTemplate, openTofuTemplate] : [commandTemplate];
  const place = { teamId, environmentId };
  const ids: string[] = [];
  for (const template of templates) ids.push(await runTemplate(client, template, place, report));
  await runSampleAssembly(client, place, report);
  if (ids[0]) await addSampleSchedule(client, place, ids[0], report);
  if (ids[0]) await addSampleFollower(client, environmentId, ids[0], report);
  const [id, template] = [ids.at(-1), templates.at(-1)];
  if (id && template) await addSampleUndo(client, environmentId, { id, template }, report);
  await client.create('/drift-monitors', { environment_id: environmentId, schedule: { every: 'P1D' } });
  report('Drift monitor: what is deployed in the environment is scanned once a day.');
  if (templates.length === 1) report('Neither tofu nor terraform was found: the OpenTofu sample was skipped.');
  return `/api/v1/runs?team_id=${teamId}`;
}

async function runTemplate(
  client: SampleClient,
  template: SampleTemplate,
  { teamId, environmentId }: { teamId: string; environmentId: string },
  report: (line: string) => void,
): Promise<string> {
  const { name, slug, description, spec, variables } = template;
  const templateId = await client.create('/registry/templates', { name, slug, description, team_id: teamId, tags: [] });
  const versions = `/registry/templates/${templateId}/versions`;
  await client.publish(versions, { version: '1.0.0', spec, changelog: 'First version.' });
  const runId = await client.create('/runs', {
    template_id: templateId,
    version: 'latest',
    environment_id: environmentId,
    instance: slug,
    operation: 'apply',
    variables,
    message: 'The sample run of the first start',
  });
  const run = await client.follow(runId, (event) => reportEvent(name, runId, event, report), followForMs);
  const reason = run.status_reason ? ` (${run.status_reason})` : '';
  report(`${name}: ${run.status}${reason}${run.status === 'succeeded' ? `, outputs ${describeOutputs(run)}` : ''}`);
  return templateId;
}

function reportEvent(
  name: string,
  runId: string,
  { type, data }: SampleRunEvent,
  report: (line: string) => void,
): void {
  if (type === 'run.finished') return;
  const step = type.replace('run.', '').replaceAll('_', ' ');
  const details: Record<string, string> = {
    'run.admitted': `admitted as run ${runId}`,
    'run.planned': `planned: ${data['add']} to add, ${data['change']} to change, ${data['destroy']} to destroy`,
  };
  report(`${name}: ${details[type] ?? step}`);
}

function describeOutputs({ outputs }: SampleRun): string {
  const values = Object.entries(outputs ?? {}).map(([name, { value }]) => [name, value]);
  return JSON.stringify(Object.fromEntries(values));
}

function hasOpenTofu(): boolean {
  const directories = (process.env['PATH'] ?? '').split(delimiter);
  return directories.some((directory) => ['tofu', 'terraform'].some((tool) => existsSync(join(directory, tool))));
}
