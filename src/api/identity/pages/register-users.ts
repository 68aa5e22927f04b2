import { pages } from '#api/web/paths.ts';
import type { AddPage } from '#api/web/visit/route.ts';
import { registerUserForms } from './user-forms.ts';
import { showUser } from './user-page.ts';
import { showUsers } from './users-page.ts';

/** Adds the pages of users, for those who manage them. */
export function registerUserPages(addPage: AddPage): void {
  addPage('GET', pages.users, showUsers);
  addPage('GET', pages.user, showUser);
  registerUserForms(addPage);
}
