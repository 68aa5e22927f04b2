import { type Area, page } from '#api/web/declarations/area.ts';
import { pages } from '#api/web/paths.ts';
import * as chain from './chain-operations.ts';
import * as audit from './operations.ts';
import { showAudit } from './pages/audit-page.ts';
import { showChain } from './pages/chain-page.ts';
import { showRecord } from './pages/record-page.ts';

export const area: Area = {
  operations: [chain, audit],
  tags: {
    audit_records: 'Who did what, when, and what was refused.',
  },
  pages: [
    page('GET', pages.audit, showAudit),
    page('GET', pages.auditChain, showChain),
    page('GET', pages.auditRecord, showRecord),
  ],
  navigation: [
    {
      group: 'Administration',
      label: 'Audit',
      icon: 'scroll-text',
      path: pages.audit,
      after: 'Quotas',
      operation: 'audit_records.list',
    },
  ],
};
