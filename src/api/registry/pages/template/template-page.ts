import type { FastifyReply } from 'fastify';
import { listAllRuns } from '#api/runs/lists/list-operations.ts';
import { renderConfirmation } from '#api/web/components/confirmation.ts';
import { pages } from '#api/web/paths.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { readNames } from '#domain/tenancy/names.ts';
import { get } from '../../template-operations.ts';
import { get as getVersion, list as listVersions } from '../../version-operations.ts';
import { readOwners } from '../owners.ts';
import { templatePage } from './template-view.ts';

const newestRuns = 5;

/** Shows what a template does, its versions, its variables, its newest runs, and buttons for its actions. */
export async function showTemplatePage(visit: Visit<{ id: string }>): Promise<FastifyReply> {
  const { id } = visit.params;
  const template = await visit.read(get, { params: { id } });
  const cursor = visit.query('cursor');
  const [versions, latest, runs, nameOwner] = await Promise.all([
    visit.read(listVersions, { params: { id }, query: { limit: '20', ...(cursor && { cursor }) } }),
    template.latest_version === null
      ? null
      : visit.read(getVersion, { params: { id, version: template.latest_version } }),
    visit.read(listAllRuns, { query: { template_id: id, scope: 'readable', limit: String(newestRuns) } }),
    readOwners(visit, [template.team_id]),
  ]);
  const names = await readNames(visit.em, { environments: runs.runs.map((run) => run.environment_id) });
  const page = templatePage({
    template,
    environmentId: visit.query('environment_id'),
    versions: versions.versions,
    nextVersions: versions.next_cursor,
    isFirstPage: !cursor,
    latest,
    runs: runs.runs,
    owner: nameOwner(template.team_id),
    nameEnvironment: (environment) => names.get(environment ?? '')?.name ?? '',
    confirmation: renderConfirmation(visit, pages.template),
  });
  return visit.show(page);
}
