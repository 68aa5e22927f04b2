import type { ConfirmationsOn, ResourceKind } from '#api/web/declarations/page-list.ts';
import { type LocalPath, toPath } from '#api/web/declarations/path-patterns.ts';

export const pages = {
  login: '/login',
  logout: '/logout',
  passwordReset: '/password-reset',
  profile: '/profile',
  profilePassword: '/profile/password',
  confirmOwnEmail: '/profile/email-confirmation',
  revokeSession: '/profile/sessions/:id/revoke',
  profileApiKeys: '/profile/api-keys',
  revokeApiKey: '/profile/api-keys/:id/revoke',
  rotateApiKey: '/profile/api-keys/:id/rotate',
  users: '/users',
  newUser: '/users/new',
  user: '/users/:id',
  editUser: '/users/:id/edit',
  confirmEmail: '/users/:id/email-confirmation',
  makePasswordReset: '/users/:id/password-reset',
  deleteUser: '/users/:id/delete',
} as const satisfies Record<string, LocalPath>;

export const confirmations = {
  [pages.profile]: {
    confirmed: 'E-mail address confirmed.',
    details: 'Details saved.',
    password: 'Password changed. All your other sessions have ended.',
    session: 'Session ended.',
    'api-key': 'API key revoked.',
  },
  [pages.users]: { deleted: 'User deleted.' },
  [pages.user]: {
    created: 'User created. Make a password link if the person is to choose the password.',
    saved: 'Changes saved.',
    confirmed: 'E-mail address confirmed.',
  },
} as const satisfies ConfirmationsOn<typeof pages>;

export const kinds = {
  users: { kind: 'user', label: 'People', icon: 'user', page: ({ id }) => toPath(pages.user, { id }) },
} as const satisfies Record<string, ResourceKind>;
