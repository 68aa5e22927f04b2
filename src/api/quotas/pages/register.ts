import { pages } from '#api/web/paths.ts';
import type { AddPage } from '#api/web/visit/route.ts';
import { registerQuotaForms } from './forms.ts';
import { showQuotas } from './list-page.ts';
import { showQuotaPage } from './quota-page.ts';

/** Adds the pages of quotas. */
export function registerQuotaPages(addPage: AddPage): void {
  addPage('GET', pages.quotas, showQuotas);
  registerQuotaForms(addPage);
  addPage('GET', pages.quota, showQuotaPage);
}
