import { renderOrganizationsToJoin } from '#api/members/pages/next-step.ts';
import { get as getTeam } from '#api/teams/operations.ts';
import { teamPath } from '#api/teams/pages/team-frame.ts';
import { type Html, html } from '#api/web/html.ts';
import { pluralize } from '#api/web/text.ts';
import { orNull } from '#api/web/visit/or-null.ts';
import { readPrincipals } from '#domain/shared/access/store.ts';
import { readNames } from '#domain/tenancy/names.ts';
import type { AccountSubject, AccountVisit } from './account-frame.ts';

/** The most teams of an account that its page names. */
const maxTeams = 20;

/** The teams of a user's account, which decide what it sees. A team's account has that team, which the page names as its owner. */
export async function renderMemberships(visit: AccountVisit, account: AccountSubject): Promise<Html | null> {
  if (account.owner.team_id !== null) return null;
  const stored = (await readPrincipals(visit.em, [account.id])).get(account.id);
  const teams = Object.keys(stored?.teams ?? {});
  return html`<section class="stack" aria-labelledby="memberships"><h2 id="memberships">Teams</h2>
${teams.length === 0 ? await renderNone(visit, account, Object.keys(stored?.organizations ?? {})) : await renderTeams(visit, teams)}</section>`;
}

/** Names the teams that the visitor may know, and counts the others. */
async function renderTeams(visit: AccountVisit, ids: readonly string[]): Promise<Html> {
  const teams = await readNames(visit.em, { teams: ids.slice(0, maxTeams) });
  const known = await Promise.all(
    [...teams.values()].map(({ id, organizationId: orgID }) =>
      orgID === null ? null : orNull(visit.read(getTeam, { params: { orgID, id } })),
    ),
  );
  const shown = known.filter((team) => team !== null);
  const others = ids.length - shown.length;
  return html`<ul class="plain-list">${shown.map(
    (team) => html`<li><a class="foreign" href="${teamPath(team)}">${team.name}</a></li>`,
  )}${others > 0 ? html`<li>${pluralize(others, 'other team')}</li>` : null}</ul>`;
}

async function renderNone(
  visit: AccountVisit,
  { id, owner }: AccountSubject,
  organizations: readonly string[],
): Promise<Html> {
  const isOwner = owner.user_id === visit.principal.id;
  const who =
    organizations.length > 0
      ? 'It is a member of an organization already: an owner or an administrator of a team there adds it to the team.'
      : 'Its owner adds it to an organization, as an owner or an administrator there, and then to a team.';
  const links = isOwner ? await renderOrganizationsToJoin(visit, id) : null;
  return html`<div class="notice"><div><p>It is a member of no team, so it sees nothing. ${who}</p>${links}</div></div>`;
}
