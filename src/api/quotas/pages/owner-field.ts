import { list as listEnvironments } from '#api/environments/operations.ts';
import { list as listOrganizations } from '#api/organizations/operations.ts';
import { readTeamChoices } from '#api/projects/pages/team-choices.ts';
import type { FormField } from '#api/web/forms/form-field.ts';
import type { Typed } from '#api/web/forms/form-page.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { installationId, type QuotaSubject } from '#domain/quotas/model.ts';
import { invalidField } from '#domain/shared/errors.ts';
import { isId } from '#domain/shared/ids.ts';
import { readNames } from '#domain/tenancy/names-store.ts';

const query = { limit: '200' };

/** The field in which a visitor chooses the owner of a new quota by name. It shows a limited number of owners, and takes the id of any other. */
export async function quotaOwnerField(visit: Visit): Promise<FormField> {
  const [organizations, teams, environments] = await Promise.all([
    visit.read(listOrganizations, { query }),
    readTeamChoices(visit),
    visit.read(listEnvironments, { query }),
  ]);
  const projects = await readNames(visit.em, { projects: environments.environments.map((each) => each.project_id) });
  return {
    name: 'owner',
    label: 'Whose quota',
    kind: 'select',
    value: visit.query('owner'),
    choices: [
      { value: installationId, label: 'The installation' },
      ...organizations.organizations.map(({ id, name }) => ({ value: id, label: `Organization ${name}` })),
      ...teams.choices.map(({ value, label }) => ({ value, label: `Team ${label}` })),
      ...environments.environments.map(({ id, name, project_id: project }) => ({
        value: id,
        label: `Environment ${name} of ${projects.get(project)?.name ?? 'a project'}`,
      })),
    ],
    isCut: teams.isCut || organizations.next_cursor !== null || environments.next_cursor !== null,
  };
}

/** The scope and the id of the owner that was chosen. The operation answers an id that does not exist and one that is hidden alike. */
export async function toQuotaParams({ em }: Visit, { owner = '' }: Typed): Promise<QuotaSubject> {
  const id = owner.trim();
  if (id === installationId) return { scope: 'installation', id };
  if (!isId(id)) throw invalidField('owner', 'must be chosen');
  const [teams, environments] = await Promise.all([
    readNames(em, { teams: [id] }),
    readNames(em, { environments: [id] }),
  ]);
  if (teams.has(id)) return { scope: 'team', id };
  return { scope: environments.has(id) ? 'environment' : 'organization', id };
}
