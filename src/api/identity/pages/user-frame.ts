import type { z } from 'zod';
import type { Crumb } from '#api/web/components/page-head.ts';
import type { ConfirmationOf } from '#api/web/confirmations.ts';
import { formsAbout } from '#api/web/forms/forms-about.ts';
import { type LocalPath, pagePath, pages } from '#api/web/paths.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { get } from '../user-operations.ts';
import type { UserView } from '../user-views.ts';

export type ShownUser = z.input<typeof UserView>;
export type UserVisit = Visit<{ id: string }>;

export function readUser(visit: UserVisit): Promise<ShownUser> {
  return visit.read(get, { params: { id: visit.params.id } });
}

export function userPath({ id }: { readonly id: string }, done?: ConfirmationOf<typeof pages.user>): LocalPath {
  return pagePath(pages.user, { id }, { done });
}

export const usersCrumb: Crumb = { label: 'Users', path: pagePath(pages.users) };

export function userCrumbs(user: ShownUser): Crumb[] {
  return [usersCrumb, { label: user.name, path: userPath(user) }];
}

/** Declares a form about users. */
export const userForm = formsAbout({ read: readUser, crumbs: userCrumbs, path: userPath });
