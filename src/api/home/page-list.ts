import type { LocalPath } from '#api/web/declarations/path-patterns.ts';

export const pages = {
  home: '/',
} as const satisfies Record<string, LocalPath>;
