import type { LocalPath } from '#api/web/declarations/path-patterns.ts';

export const pages = {
  audit: '/audit',
  auditChain: '/audit/verify',
  auditRecord: '/audit/:id',
} as const satisfies Record<string, LocalPath>;
