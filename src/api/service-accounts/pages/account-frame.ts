import type { z } from 'zod';
import { teamPath } from '#api/teams/pages/team-frame.ts';
import type { Crumb } from '#api/web/components/page-head.ts';
import type { ConfirmationOf } from '#api/web/confirmations.ts';
import { formsAbout } from '#api/web/forms/forms-about.ts';
import { type Html, html } from '#api/web/html.ts';
import { type LocalPath, pagePath, pages } from '#api/web/paths.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import type { Action } from '#domain/shared/actions.ts';
import { type Names, readNames } from '#domain/tenancy/names.ts';
import { create, get } from '../operations.ts';
import type { ListedServiceAccountView, ServiceAccountView } from '../views.ts';

export type ListedAccount = z.input<typeof ListedServiceAccountView>;

/** A service account, and the names of its owner and creator. */
export interface AccountSubject extends z.input<typeof ServiceAccountView> {
  readonly names: Names;
}

export type AccountVisit = Visit<{ id: string }>;

export async function readAccount(visit: AccountVisit): Promise<AccountSubject> {
  const account = await visit.read(get, { params: { id: visit.params.id } });
  return { ...account, names: await readOwnerNames(visit, [account]) };
}

export function readOwnerNames(visit: Visit, accounts: readonly ListedAccount[]): Promise<Names> {
  return readNames(visit.em, {
    teams: accounts.map(({ owner }) => owner.team_id),
    principals: accounts.flatMap(({ owner, created_by: by }) => [owner.user_id, by]),
  });
}

/** The owner of an account: a team, or a person. */
export function renderOwner({ owner }: ListedAccount, names: Names): Html {
  if (owner.team_id === null)
    return html`<span class="foreign">${names.get(owner.user_id ?? '')?.name ?? 'a deleted user'}</span>`;
  const team = names.get(owner.team_id);
  if (!team?.organizationId) return html`a deleted team`;
  return html`team <a class="foreign" href="${teamPath({ id: team.id, organization_id: team.organizationId })}">${team.name}</a>`;
}

export const accountsCrumb: Crumb = { label: 'Service accounts', path: pagePath(pages.serviceAccounts) };

export function accountPath(
  { id }: { readonly id: string },
  done?: ConfirmationOf<typeof pages.serviceAccount>,
): LocalPath {
  return pagePath(pages.serviceAccount, { id }, { done });
}

export function accountCrumbs(account: AccountSubject): Crumb[] {
  return [accountsCrumb, { label: account.name, path: accountPath(account) }];
}

/** Whether the visitor may create an account of their own, the only kind that needs no team. */
export function mayCreateAccount(visit: Visit): Action {
  return visit.mayDo(create, { organizationId: null, teamId: null, ownerUserId: visit.principal.id });
}

/** Declares a form about service accounts. */
export const accountForm = formsAbout({ read: readAccount, crumbs: accountCrumbs, path: accountPath });
