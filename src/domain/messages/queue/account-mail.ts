import type { Em } from '#database/database.ts';
import { emailKey } from '#domain/identity/model.ts';
import type { SentInvitation } from '#domain/invitations/invitations.ts';
import { newId } from '#domain/shared/ids.ts';
import type { KeyRing } from '#domain/shared/secrets.ts';
import { countMails } from './mail-limits.ts';
import { queueMessages } from './queue-store.ts';

/** A link that works once, as it was just issued to a user. */
interface IssuedLink {
  readonly token: string;
  readonly expiresAt: Date;
}

interface Recipient {
  readonly id: string;
  readonly email: string;
}

/** Who sends mails, and with what. */
export interface MailSender {
  readonly em: Em;
  readonly keyRing: KeyRing;
  /** The caller, whose mails are limited. */
  readonly callerId: string;
}

/** Sends an invitation to the invited address with the commit. @throws ServiceError (`limited`) */
export async function mailInvitation(
  { em, keyRing, callerId }: MailSender,
  { invitation, token: value }: SentInvitation,
): Promise<void> {
  const { id, email, sentAt } = invitation;
  await countMails(em, callerId, [email]);
  const content = { purpose: 'invitation', invitationId: id, sentAt } as const;
  const token = { value, keyRing };
  await queueMessages(em, [{ medium: 'email', address: email, content, token, cause: newCause('invitation') }]);
}

/**
 * Sends a user the link that sets a new password. It goes nowhere else if the user's address changes before it is sent.
 * @throws ServiceError (`limited`)
 */
export function mailPasswordReset(sender: MailSender, user: Recipient, link: IssuedLink): Promise<void> {
  return mailLink(sender, 'password_reset', user, link);
}

/**
 * Sends a user the link that confirms the user's address. It goes nowhere else if the address changes before it is sent.
 * @throws ServiceError (`limited`)
 */
export function mailConfirmation(sender: MailSender, user: Recipient, link: IssuedLink): Promise<void> {
  return mailLink(sender, 'email_confirmation', user, link);
}

/** Tells the former address of a user that the account has another one now. */
export async function mailAddressChange(em: Em, { id: userId, email: address }: Recipient): Promise<void> {
  const content = { purpose: 'email_changed' } as const;
  await queueMessages(em, [{ medium: 'email', userId, address, content, cause: newCause(content.purpose) }]);
}

async function mailLink(
  { em, keyRing, callerId }: MailSender,
  purpose: 'password_reset' | 'email_confirmation',
  { id: userId, email }: Recipient,
  { token: value, expiresAt }: IssuedLink,
): Promise<void> {
  const content = { purpose, expiresAt: expiresAt.toISOString() } as const;
  const address = emailKey(email);
  await countMails(em, callerId, [address]);
  const token = { value, keyRing };
  await queueMessages(em, [{ medium: 'email', userId, address, content, token, cause: newCause(purpose) }]);
}

/** Each link is sent, however many were issued before: an earlier one is void. */
function newCause(purpose: string): string {
  return `${purpose} ${newId()}`;
}
