import { pages } from '#api/web/paths.ts';
import type { AddPage } from '#api/web/visit/route.ts';
import { registerAccountForms } from './account-forms.ts';
import { showAccount } from './account-page.ts';
import { registerAccountKeyForms } from './key-forms.ts';
import { showAccounts } from './list-page.ts';

/** Adds the pages of service accounts and their keys. */
export function registerServiceAccountPages(addPage: AddPage): void {
  addPage('GET', pages.serviceAccounts, showAccounts);
  addPage('GET', pages.serviceAccount, showAccount);
  registerAccountForms(addPage);
  registerAccountKeyForms(addPage);
}
