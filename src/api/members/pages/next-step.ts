import { list as listTeams } from '#api/teams/operations.ts';
import { type Html, html } from '#api/web/html.ts';
import { type LocalPath, pagePath, pages } from '#api/web/paths.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { isId } from '#domain/shared/ids.ts';
import { findPersonById, type Person } from './person-fields.ts';

/** What an address of the members of an organization or a team prefills in the form by which somebody joins. */
export interface Prefilled {
  /** The id of the person. */
  readonly person?: string;
  readonly role?: string;
  /** The team that the person joins after the organization, and the role there. */
  readonly team?: string;
  readonly team_role?: string;
}

export const nextStepNames = ['team', 'team_role'] as const;

export function joinTeamPath(orgID: string, id: string, { person, role }: Prefilled): LocalPath {
  return `${pagePath(pages.teamMembers, { orgID, id }, { person, role })}#add`;
}

export function joinOrganizationPath(orgID: string, prefilled: Prefilled): LocalPath {
  return `${pagePath(pages.organizationMembers, { orgID }, { ...prefilled })}#add`;
}

/** The person whom the address names, as the field takes one. */
export async function readPrefilledPerson(visit: Visit<unknown>): Promise<string | undefined> {
  const person = await readNamed(visit, 'person');
  return person && (person.email ?? person.id);
}

async function readNamed(visit: Visit<unknown>, name: string): Promise<Person | undefined> {
  const id = visit.query(name);
  return id && isId(id) ? findPersonById(visit, id) : undefined;
}

/** Leads on from the organization that somebody has joined to its teams, or to the one for which they joined. */
export async function renderTeamsToJoin(visit: Visit<unknown>, orgID: string): Promise<Html | null> {
  const person = await readNamed(visit, 'added');
  if (!person) return null;
  const { teams } = await visit.read(listTeams, { params: { orgID }, query: { limit: '50' } });
  const wanted = teams.filter(({ id }) => id === visit.query('team'));
  const role = visit.query('team_role');
  const links = (wanted.length > 0 ? wanted : teams).map(
    ({ id, name }) =>
      html`<li><a href="${joinTeamPath(orgID, id, { person: person.id, ...(role && { role }) })}">Add to the team <span class="foreign">${name}</span></a></li>`,
  );
  if (links.length === 0) return null;
  return html`<div class="notice"><div><p><span class="foreign">${person.name}</span> is a member of the organization and sees nothing of its teams yet.</p>
<ul class="plain-list">${links}</ul></div></div>`;
}
