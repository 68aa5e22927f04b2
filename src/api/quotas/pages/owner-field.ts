import { list as listEnvironments } from '#api/environments/operations.ts';
import { findChosenOwner, readOwnerChoices } from '#api/tenancy/pages/owner-list.ts';
import type { FormField } from '#api/web/forms/fields/form-field.ts';
import type { Typed } from '#api/web/forms/form-page.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { installationId, type QuotaSubject } from '#domain/shared/vocabulary/quotas.ts';
import { readNames } from '#domain/tenancy/names.ts';

/** The field in which a visitor chooses the owner of a new quota by name. It shows a limited number of owners, and takes the id of any other. */
export async function quotaOwnerField(visit: Visit): Promise<FormField> {
  const [{ organizations, teams, isCut }, { environments, next_cursor: next }] = await Promise.all([
    readOwnerChoices(visit),
    visit.read(listEnvironments, { query: { limit: '200' } }),
  ]);
  const projects = await readNames(visit.em, { projects: environments.map((each) => each.project_id) });
  return {
    name: 'owner',
    label: 'Owner',
    kind: 'select',
    value: visit.query('owner'),
    choices: [
      { value: installationId, label: 'Installation' },
      ...organizations,
      ...teams,
      ...environments.map(({ id, name, project_id: project }) => ({
        value: id,
        label: `Environment ${name} of ${projects.get(project)?.name ?? 'a project'}`,
      })),
    ],
    isCut: isCut || next !== null,
    choiceKinds: ['organization', 'team', 'environment'],
  };
}

const scopes = { organizations: 'organization', teams: 'team', environments: 'environment' } as const;

/** The scope and the id of the owner that was chosen. Null if none was: then the visit has that problem. */
export async function toQuotaParams(visit: Visit, typed: Typed): Promise<QuotaSubject | null> {
  if (typed['owner']?.trim() === installationId) return { scope: 'installation', id: installationId };
  const owner = await findChosenOwner(visit, typed, ['teams', 'environments']);
  return owner && { scope: scopes[owner.kind], id: owner.id };
}
