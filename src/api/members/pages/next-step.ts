import { list as listOrganizations } from '#api/organizations/operations.ts';
import type { Organization } from '#api/organizations/pages/organization-frame.ts';
import { get as getTeam, list as listTeams } from '#api/teams/operations.ts';
import { findPersonById, type Person } from '#api/tenancy/pages/person-fields.ts';
import type { Typed } from '#api/web/forms/form-page.ts';
import { refusalOf } from '#api/web/forms/resource-forms.ts';
import { type Html, html } from '#api/web/html.ts';
import { type LocalPath, pagePath, pages } from '#api/web/paths.ts';
import { orNull } from '#api/web/visit/or-null.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { isInTeamOf } from '#domain/memberships/store.ts';
import { isId } from '#domain/shared/ids.ts';
import { get as getOrganizationMember } from '../organization-operations.ts';
import { get as getTeamMember } from '../team-operations.ts';

/** The values in the address of a members' page that prefill the form for a new member. */
export interface Prefilled {
  /** The id of the person, under the name of its field, so that a value that the browser has kept for the field does not replace it. */
  readonly user_id?: string;
  readonly role?: string;
  /** The team that the person joins after the organization, and the role there. */
  readonly team?: string;
  readonly team_role?: string;
}

export const nextStepNames = ['team', 'team_role'] as const;

export function joinTeamPath(orgID: string, id: string, { user_id, role }: Prefilled): LocalPath {
  return `${pagePath(pages.teamMembers, { orgID, id }, { user_id, role })}#add`;
}

export function joinOrganizationPath(orgID: string, prefilled: Prefilled): LocalPath {
  return `${pagePath(pages.organizationMembers, { orgID }, { ...prefilled })}#add`;
}

/** The maximum number of organizations to which the page of a user or a service account links. */
const maxOrganizations = 10;

/** Links to the visitor's organizations, with the person preselected in the form for a new member; null if there are none. */
export async function renderOrganizationsToJoin(visit: Visit, userId: string): Promise<Html | null> {
  const query = { limit: String(maxOrganizations) };
  const { organizations, next_cursor: next } = await visit.read(listOrganizations, { query });
  if (organizations.length === 0) return null;
  const links = organizations.map(
    (organization) =>
      html`<li><a class="foreign" href="${joinOrganizationPath(organization.id, { user_id: userId })}">Add to ${organization.name}</a></li>`,
  );
  const others =
    next === null ? null : html`<li><a href="${pagePath(pages.organizations)}">Find another organization</a></li>`;
  return html`<ul class="plain-list">${links}${others}</ul>`;
}

/** Links to the form that adds a person to the organization. */
export function renderOutsider(path: LocalPath, { name }: Person): Html {
  return html`<p class="notice"><a href="${path}">Add <span class="foreign">${name}</span> to the organization</a></p>`;
}

/**
 * The parameters of the address after somebody was added to an organization. Their names differ from those that prefill the form, because
 * the next person would get those values as well. `clear-result-params.js` removes them from the address.
 */
export function nextStepQuery(added: string, { team, team_role: role }: Typed) {
  return { added, next_team: team || undefined, next_role: role || undefined };
}

/** The person in the address, as a value of the field. */
export async function readPrefilledPerson(visit: Visit<unknown>): Promise<string | undefined> {
  const person = await readPersonOf(visit, 'user_id');
  return person && (person.email ?? person.id);
}

async function readPersonOf(visit: Visit<unknown>, name: string): Promise<Person | undefined> {
  const id = visit.query(name);
  return id && isId(id) ? findPersonById(visit, id) : undefined;
}

/** Links from an organization to the team for which a person was added to it, or to all teams if they are not in one yet. */
export async function renderTeamsToJoin(visit: Visit<unknown>, organization: Organization): Promise<Html | null> {
  if (refusalOf(organization.actions, 'set_members')) return null;
  const person = await readPersonOf(visit, 'added');
  const params = { orgID: organization.id, userID: person?.id ?? '' };
  const member = person && (await orNull(visit.read(getOrganizationMember, { params })));
  if (!member) return null;
  const wanted = visit.query('next_team') ?? '';
  if (isId(wanted)) return renderWantedTeam(visit, organization, person, wanted);
  const seesAllTeams = member.role !== 'member';
  if (seesAllTeams || (await isInTeamOf(visit.em, organization.id, person.id))) return null;
  return renderAllTeams(visit, organization, person);
}

async function renderWantedTeam(
  visit: Visit<unknown>,
  { id: orgID }: Organization,
  person: Person,
  id: string,
): Promise<Html | null> {
  const [team, membership] = await Promise.all([
    orNull(visit.read(getTeam, { params: { orgID, id } })),
    orNull(visit.read(getTeamMember, { params: { orgID, id, userID: person.id } })),
  ]);
  if (!team || membership) return null;
  const about = html`<span class="foreign">${person.name}</span> is a member of the organization, but not yet of the team.`;
  return renderNotice(about, [renderTeamLink(orgID, team, { user_id: person.id, role: visit.query('next_role') })]);
}

async function renderAllTeams(visit: Visit<unknown>, { id: orgID }: Organization, person: Person) {
  const { teams, next_cursor: next } = await visit.read(listTeams, { params: { orgID }, query: { limit: '50' } });
  if (teams.length === 0) return null;
  const about = html`<span class="foreign">${person.name}</span> is a member of the organization, but of none of its teams yet.`;
  return renderNotice(about, [
    ...teams.map((team) => renderTeamLink(orgID, team, { user_id: person.id })),
    ...(next ? [html`<a href="${pagePath(pages.organization, { orgID })}">All teams</a>`] : []),
  ]);
}

function renderTeamLink(
  orgID: string,
  { id, name }: { readonly id: string; readonly name: string },
  { user_id, role }: { readonly user_id: string; readonly role?: string | undefined },
): Html {
  const path = joinTeamPath(orgID, id, { user_id, ...(role && { role }) });
  return html`<a href="${path}">Add to the team <span class="foreign">${name}</span></a>`;
}

function renderNotice(about: Html, links: readonly Html[]): Html {
  return html`<div class="notice"><div><p>${about}</p>
<ul class="plain-list">${links.map((link) => html`<li>${link}</li>`)}</ul></div></div>`;
}
