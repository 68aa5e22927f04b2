import { type Area, page } from '#api/web/declarations/area.ts';
import { pages } from '#api/web/paths.ts';
import * as bootstrap from './bootstrap-operations.ts';
import * as emails from './email-operations.ts';
import { emailConfirmationPage } from './pages/email-confirmation-page.ts';
import { loginPages } from './pages/login-pages.ts';
import { passwordResetPages } from './pages/password-reset-pages.ts';
import { profilePages } from './pages/profile-pages.ts';
import { userForms } from './pages/user-forms.ts';
import { showUser } from './pages/user-page.ts';
import { showUsers } from './pages/users-page.ts';
import * as passwords from './password-operations.ts';
import * as profile from './profile-operations.ts';
import * as sessions from './session-operations.ts';
import * as administration from './user-administration-operations.ts';
import * as users from './user-operations.ts';

export const area: Area = {
  operations: [bootstrap, sessions, profile, passwords, emails, users, administration],
  tags: {
    profile: 'Your own sessions, password, address and API keys.',
    auth: 'Signing in and out, who you are, and what you may do.',
    users: 'The people of the installation.',
    bootstrap: { about: 'The first administrator of a new installation.', after: 'system' },
  },
  pages: [
    ...loginPages,
    ...passwordResetPages,
    emailConfirmationPage,
    ...profilePages,
    page('GET', pages.users, showUsers),
    page('GET', pages.user, showUser),
    ...userForms,
  ],
  navigation: [
    {
      group: 'Administration',
      label: 'Users',
      icon: 'users',
      path: pages.users,
      after: 'Organizations',
      operation: 'users.list',
    },
  ],
};
