import type { Operation } from '#api/pipeline/operation.ts';
import { list as listProjects } from '#api/projects/operations.ts';
import { readTeamsForNewInScope } from '#api/tenancy/pages/teams-for-new.ts';
import type { FormField } from '#api/web/forms/fields/form-field.ts';
import { nameChoices } from '#api/web/forms/fields/named-things.ts';
import type { Typed } from '#api/web/forms/form-page.ts';
import { scopeQuery } from '#api/web/visit/scope.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { installationOwnership, type Ownership } from '#domain/shared/access/decide.ts';
import type { Action } from '#domain/shared/actions.ts';
import { readNames } from '#domain/tenancy/names.ts';
import { findChosenOwner, readOwnerChoices } from './owner-list.ts';

/** Shared by the forms that create something which an organization, a team or a project may own. */

/** The organizations and teams in the scope of the page, for `visit.mayDo`. */
export async function visitorOwners(visit: Visit): Promise<Ownership[]> {
  const { organizationId, teamId } = visit.scope;
  const teams = await readTeamsForNewInScope(visit);
  const ids = organizationId === undefined ? Object.keys(visit.principal.organizations) : [organizationId];
  const organizations = teamId === undefined ? ids.map((id) => ({ organizationId: id, teamId: null })) : [];
  return [...organizations, ...teams];
}

/** The field that chooses the owner of something new. It offers the owners for which the visitor may create it. */
export async function ownerField(
  visit: Visit,
  create: Pick<Operation, 'id'>,
  hint: string,
): Promise<FormField & { choices: { value: string; label: string }[] }> {
  const [{ organizations, teams, isCut }, { projects, next_cursor: next }] = await Promise.all([
    readOwnerChoices(visit),
    visit.read(listProjects, { query: { ...scopeQuery(visit.scope), limit: '200' } }),
  ]);
  const teamIds = [...teams.map(({ value }) => value), ...projects.map(({ team_id: id }) => id)];
  const known = await readNames(visit.em, { teams: [...new Set(teamIds)] });
  const mayOwn = (teamId: string) => {
    const organizationId = known.get(teamId)?.organizationId ?? null;
    return visit.mayDo(create, { organizationId, teamId }).allowed;
  };
  const ofOrganization = (organizationId: string) => visit.mayDo(create, { organizationId, teamId: null }).allowed;
  const choices = [
    ...organizations.filter(({ value }) => ofOrganization(value)),
    ...teams.filter(({ value }) => mayOwn(value)),
    ...(await nameChoices(
      visit.em,
      projects.filter(({ team_id: id }) => mayOwn(id)).map((project) => ({ ...project, before: 'Project ' })),
    )),
  ];
  return {
    name: 'owner',
    label: 'Owner',
    kind: 'select',
    choices,
    isCut: isCut || next !== null,
    choiceKinds: ['organization', 'team', 'project'],
    value: visit.query('project_id') ?? visit.scope.teamId ?? visit.scope.organizationId,
    hint,
  };
}

const members = { organizations: 'organization_id', teams: 'team_id', projects: 'project_id' } as const;

/** The members for the owner in the body of a creation. If the visitor chose none, the body has none, and `visit.run` refuses it. */
export async function toOwner(visit: Visit, typed: Typed): Promise<Record<string, string>> {
  const owner = await findChosenOwner(visit, typed, ['projects', 'teams']);
  return owner === null ? {} : { [members[owner.kind]]: owner.id };
}

/** The value of the field that chooses the installation. */
const installation = 'installation';

interface OwnerTexts {
  /** The text below the field. */
  readonly hint: string;
  /** The label of the choice of the installation, for visitors who may choose it. */
  readonly installation: string;
}

/** The owner field for things that may also belong to the installation. `create` is the operation that the form invokes. */
export function ownerOrInstallation(create: Pick<Operation, 'id'>, texts: OwnerTexts) {
  return {
    /** Whether the visitor may create one for the installation, or for an organization or a team in the scope of the page. */
    async mayCreate(visit: Visit): Promise<Action> {
      const ofInstallation = visit.mayDo(create, installationOwnership);
      return ofInstallation.allowed ? ofInstallation : visit.mayDo(create, ...(await visitorOwners(visit)));
    },
    /** The field that chooses the owner. */
    async field(visit: Visit): Promise<FormField> {
      const field = await ownerField(visit, create, texts.hint);
      if (!visit.mayDo(create, installationOwnership).allowed) return field;
      return { ...field, choices: [...field.choices, { value: installation, label: texts.installation }] };
    },
    /** The members for the owner in the body of a creation. */
    async toBody(visit: Visit, typed: Typed): Promise<Record<string, string>> {
      return typed['owner'] === installation ? {} : toOwner(visit, typed);
    },
  };
}
