import type { Area } from '#api/web/declarations/area.ts';
import { pages } from '#api/web/paths.ts';
import * as chain from './chain-operations.ts';
import * as audit from './operations.ts';
import { registerAuditPages } from './pages/register.ts';

export const area: Area = {
  operations: [chain, audit],
  tags: {
    audit_records: 'Who did what, when, and what was refused.',
  },
  pages: [registerAuditPages],
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
