import type { LocalPath } from '#api/web/declarations/path-patterns.ts';

export const pages = {
  search: '/search',
} as const satisfies Record<string, LocalPath>;
