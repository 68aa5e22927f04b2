import type { LocalPath } from '#api/web/declarations/path-patterns.ts';

export const pages = {
  templateGuide: '/help/templates',
} as const satisfies Record<string, LocalPath>;
