import type { ConfirmationsOn } from '#api/web/declarations/page-list.ts';
import type { LocalPath } from '#api/web/declarations/path-patterns.ts';

export const pages = {
  signingKeys: '/admin/signing-keys',
  rotateSigningKeys: '/admin/signing-keys/rotate',
} as const satisfies Record<string, LocalPath>;

export const confirmations = {
  [pages.signingKeys]: {
    published: 'New key published. It signs in an hour.',
    withdrawn: 'New key in use. All other keys are withdrawn.',
  },
} as const satisfies ConfirmationsOn<typeof pages>;
