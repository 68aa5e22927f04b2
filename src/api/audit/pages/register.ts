import { pages } from '#api/web/paths.ts';
import type { AddPage } from '#api/web/visit/route.ts';
import { showAudit } from './audit-page.ts';
import { showChain } from './chain-page.ts';
import { showRecord } from './record-page.ts';

/** Adds the pages of the audit. */
export function registerAuditPages(addPage: AddPage): void {
  addPage('GET', pages.audit, showAudit);
  addPage('GET', pages.auditChain, showChain);
  addPage('GET', pages.auditRecord, showRecord);
}
