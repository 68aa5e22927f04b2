import type { FastifyReply } from 'fastify';
import { renderKeyTable } from '#api/identity/pages/key-table.ts';
import { renderOrganizationsToJoin } from '#api/members/pages/next-step.ts';
import { readHeld, renderHeldLink } from '#api/schedules/pages/held-schedules.ts';
import { get as getTeam } from '#api/teams/operations.ts';
import { teamPath } from '#api/teams/pages/team-frame.ts';
import { renderActions } from '#api/web/components/actions.ts';
import { renderConfirmation } from '#api/web/components/confirmation.ts';
import { renderFacts } from '#api/web/components/facts.ts';
import { renderPageHead } from '#api/web/components/page-head.ts';
import { renderEmpty, renderPages } from '#api/web/components/table.ts';
import { renderTime } from '#api/web/components/time.ts';
import { refusalOf } from '#api/web/forms/resource-forms.ts';
import { type Html, html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import { capitalize, pluralize, toSentence } from '#api/web/text.ts';
import { orNull } from '#api/web/visit/or-null.ts';
import { readPrincipals } from '#domain/shared/access/store.ts';
import { readNames } from '#domain/tenancy/names.ts';
import { list as listKeys } from '../key-operations.ts';
import { type AccountSubject, type AccountVisit, accountsCrumb, readAccount, renderOwner } from './account-frame.ts';
import { renderEnabled } from './list-page.ts';

/** The maximum number of an account's teams that its page names. */
const maxTeams = 20;

/**
 * The teams of an account that a user owns. They decide what it may read. An account of a team has only that team, which the page shows as
 * its owner.
 */
async function renderMemberships(visit: AccountVisit, account: AccountSubject): Promise<Html | null> {
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

/** A service account with its keys. */
export async function showAccount(visit: AccountVisit): Promise<FastifyReply> {
  const account = await readAccount(visit);
  const { id, name, role, enabled, created_by: by, created_at: since, names, actions } = account;
  const newKey = pagePath(pages.newServiceAccountKey, { id });
  return visit.show({
    title: name,
    main: html`<div class="page page-wide">
${renderPageHead({ title: name, crumbs: [accountsCrumb], beside: renderEnabled(enabled), actions: renderButtons(account), history: ['service_accounts', account.id] })}
${renderConfirmation(visit, pages.serviceAccount)}
<div class="panel">${renderFacts([
      ['Role', capitalize(role)],
      ['Owner', renderOwner(account, names)],
      ['Created by', html`<span class="foreign">${names.get(by)?.name ?? by}</span>, ${renderTime(since)}`],
      ['Starts', await renderHeldLink(visit, id)],
      ['Id', html`<code>${id}</code>`],
    ])}</div>
${await renderMemberships(visit, account)}
<div class="section-line"><h2>API keys</h2>${renderActions(actions, {
      create_key: { label: 'New key', icon: 'key-round', tone: 'primary', path: newKey },
    })}</div>
${await renderKeys(visit, account)}
<p><a href="${pagePath(pages.audit, {}, { actor: id })}">Show what this service account did</a></p>
</div>`,
  });
}

async function renderKeys(visit: AccountVisit, { id, actions }: AccountSubject): Promise<Html> {
  // A visitor who may only transfer the account sees no keys.
  const refusal = refusalOf(actions, 'revoke_key');
  if (refusal) return html`<p class="muted">${toSentence(refusal)}</p>`;
  const cursor = visit.query('cursor');
  const query = cursor ? { cursor } : {};
  const { api_keys: keys, next_cursor: next } = await visit.read(listKeys, { params: { id }, query });
  if (keys.length === 0)
    return renderEmpty('No keys yet', 'A program sends a key with each request in the header X-API-Key.');
  const held = await readHeld(
    visit,
    'credential_id',
    keys.map(({ id: key }) => key),
  );
  const mayRotate = refusalOf(actions, 'create_key') === null;
  return html`${renderKeyTable(keys, held, ({ id: keyID }) => ({
    rotate: mayRotate ? pagePath(pages.rotateServiceAccountKey, { id, keyID }) : null,
    revoke: pagePath(pages.revokeServiceAccountKey, { id, keyID }),
  }))}
${renderPages({ cursor, next }, (query) => pagePath(pages.serviceAccount, { id }, query))}`;
}

function renderButtons({ id, enabled, actions }: AccountSubject): Html {
  return renderActions(actions, {
    update: { label: 'Edit', icon: 'pencil', path: pagePath(pages.editServiceAccount, { id }) },
    ...(enabled
      ? { disable: { label: 'Disable', icon: 'pause', path: pagePath(pages.disableServiceAccount, { id }) } }
      : { enable: { label: 'Enable', icon: 'play', path: pagePath(pages.enableServiceAccount, { id }) } }),
    transfer: { label: 'Transfer', icon: 'shuffle', path: pagePath(pages.transferServiceAccount, { id }) },
    delete: { label: 'Delete', icon: 'trash-2', tone: 'danger', path: pagePath(pages.deleteServiceAccount, { id }) },
  });
}
