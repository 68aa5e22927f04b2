import { pages } from '#api/web/paths.ts';
import type { Installation } from '../realistic-installation.ts';
import { type DeclaredPage, declare } from './declared-page.ts';

const pictured = { isPictured: true };

/** The pages before and after signing in, and of one's own account. */
export function ownPages({ ownKeyId }: Installation): DeclaredPage[] {
  return [
    declare('sign-in', pages.login, { who: null, ...pictured }),
    declare('password-reset', pages.passwordReset, { who: null }),
    declare('home', pages.home),
    declare('profile', pages.profile, pictured),
    declare('profile-key-new', pages.profileApiKeys),
    declare('profile-key-rotate', pages.rotateApiKey, { params: { id: ownKeyId } }),
    declare('search', pages.search, { query: { q: 'ledger' } }),
    declare('search-resources', pages.search, { query: { q: 'aws' } }),
    declare('search-none-found', pages.search, { query: { q: 'nothing of this name' } }),
  ];
}

/** The pages of service accounts, users and the audit. */
export function administrationPages({ people, accountId, auditRecordId, accountKeyId }: Installation): DeclaredPage[] {
  const account = { params: { id: accountId }, who: 'owner' as const };
  const key = { params: { id: accountId, keyID: accountKeyId }, who: 'owner' as const };
  const user = { params: { id: people.former.id }, who: 'admin' as const };
  return [
    declare('service-accounts', pages.serviceAccounts, { who: 'owner', ...pictured }),
    declare('service-accounts-empty', pages.serviceAccounts, { who: 'fjordReviewer' }),
    declare('service-account', pages.serviceAccount, account),
    declare('service-account-new', pages.newServiceAccount, { who: 'owner' }),
    declare('service-account-edit', pages.editServiceAccount, account),
    declare('service-account-transfer', pages.transferServiceAccount, account),
    declare('service-account-delete', pages.deleteServiceAccount, account),
    declare('service-account-disable', pages.disableServiceAccount, account),
    declare('service-account-enable', pages.enableServiceAccount, account),
    declare('service-account-key-new', pages.newServiceAccountKey, account),
    declare('service-account-key-rotate', pages.rotateServiceAccountKey, key),
    declare('service-account-key-revoke', pages.revokeServiceAccountKey, key),
    declare('users', pages.users, { who: 'admin', ...pictured }),
    declare('users-hidden', pages.users, { who: 'requester', answers: 403 }),
    declare('user', pages.user, user),
    declare('user-new', pages.newUser, { who: 'admin' }),
    declare('user-edit', pages.editUser, user),
    declare('user-password-reset', pages.makePasswordReset, user),
    declare('user-confirm-email', pages.confirmEmail, user),
    declare('user-delete', pages.deleteUser, user),
    declare('settings', pages.settings, { who: 'admin' }),
    declare('settings-retention', pages.settingsSection, { params: { section: 'retention' }, who: 'admin' }),
    declare('settings-features', pages.settingsSection, { params: { section: 'features' }, who: 'admin' }),
    declare('settings-hidden', pages.settings, { who: 'requester', answers: 403 }),
    declare('audit', pages.audit, { who: 'admin', ...pictured }),
    declare('audit-of-run', pages.audit, { who: 'admin', query: { action: 'run.reviewed' } }),
    declare('audit-verify', pages.auditChain, { who: 'admin' }),
    declare('audit-verify-hidden', pages.auditChain, { who: 'requester', answers: 403 }),
    declare('audit-verify-malformed', pages.auditChain, { who: 'admin', query: { after: 'x' }, answers: 400 }),
    declare('audit-record', pages.auditRecord, { params: { id: auditRecordId }, who: 'admin' }),
  ];
}
