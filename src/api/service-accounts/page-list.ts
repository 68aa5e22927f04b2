import type { ConfirmationsOn, ResourceKind } from '#api/web/declarations/page-list.ts';
import { type LocalPath, toPath } from '#api/web/declarations/path-patterns.ts';

export const pages = {
  serviceAccounts: '/service-accounts',
  newServiceAccount: '/service-accounts/new',
  serviceAccount: '/service-accounts/:id',
  editServiceAccount: '/service-accounts/:id/edit',
  enableServiceAccount: '/service-accounts/:id/enable',
  disableServiceAccount: '/service-accounts/:id/disable',
  transferServiceAccount: '/service-accounts/:id/transfer',
  deleteServiceAccount: '/service-accounts/:id/delete',
  newServiceAccountKey: '/service-accounts/:id/api-keys',
  revokeServiceAccountKey: '/service-accounts/:id/api-keys/:keyID/revoke',
  rotateServiceAccountKey: '/service-accounts/:id/api-keys/:keyID/rotate',
} as const satisfies Record<string, LocalPath>;

export const confirmations = {
  [pages.serviceAccounts]: { deleted: 'Service account deleted. Its keys no longer work.' },
  [pages.serviceAccount]: {
    created: 'Service account created. Make a key for the program that uses it.',
    saved: 'Changes saved.',
    enabled: 'Service account enabled. Its keys work again.',
    disabled: 'Service account disabled. Its keys are refused.',
    transferred: 'Service account transferred. Its keys are revoked, and its memberships have ended.',
    'key-revoked': 'Key revoked.',
  },
} as const satisfies ConfirmationsOn<typeof pages>;

export const kinds = {
  service_accounts: {
    kind: 'service_account',
    label: 'Service accounts',
    icon: 'bot',
    page: ({ id }) => toPath(pages.serviceAccount, { id }),
  },
} as const satisfies Record<string, ResourceKind>;
