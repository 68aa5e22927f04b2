import type { Em } from '#database/database.ts';
import { emailKey } from '#domain/identity/model.ts';
import type { SentInvitation } from '#domain/invitations/invitations.ts';
import { newId } from '#domain/shared/ids.ts';
import type { KeyRing } from '#domain/shared/secrets.ts';
import type { LimitSubject } from '#domain/shared/tasks/limit-subject.ts';
import { countMails, tooManyMails } from './mail-limits.ts';
import { queueMessages } from './queue-store.ts';

/** A link that works once and was just issued to a user. */
interface IssuedLink {
  readonly token: string;
  readonly expiresAt: Date;
}

interface Recipient {
  readonly id: string;
  readonly email: string;
}

/** The dependencies for sending mails. */
export interface MailSender {
  readonly em: Em;
  readonly keyRing: KeyRing;
  /** The subject whose mails are limited. */
  readonly subject: LimitSubject;
}

/**
 * Sends an invitation to the invited address with the commit.
 * @returns false if the address has received too many mails from all callers together; then nothing is sent
 * @throws ServiceError (`limited`) if the caller has sent too many
 */
export async function mailInvitation(
  { em, keyRing, subject }: MailSender,
  { invitation, token: value }: SentInvitation,
): Promise<boolean> {
  const { id, email, sentAt } = invitation;
  if ((await countMails(em, subject, [email])) !== null) return false;
  const content = { purpose: 'invitation', invitationId: id, sentAt } as const;
  const token = { value, keyRing };
  await queueMessages(em, [{ medium: 'email', address: email, content, token, cause: newCause('invitation') }]);
  return true;
}

/**
 * Sends a user the link that sets a new password. If the user's address changes first, the link is not sent.
 * @returns whether it does, as for an invitation
 * @throws ServiceError (`limited`)
 */
export async function mailPasswordReset(sender: MailSender, user: Recipient, link: IssuedLink): Promise<boolean> {
  return (await mailLink(sender, 'password_reset', user, link)) === null;
}

/**
 * Sends a user the link that confirms the user's address. If the address changes first, the link is not sent.
 * @returns whether it does, as for an invitation
 * @throws ServiceError (`limited`)
 */
export async function mailConfirmation(sender: MailSender, user: Recipient, link: IssuedLink): Promise<boolean> {
  return (await mailLink(sender, 'email_confirmation', user, link)) === null;
}

/**
 * `mailConfirmation` to an address that a user has just entered as their own. A refusal is an error, because nobody else can give them the
 * link.
 * @throws ServiceError (`limited`), also if the address has got too many mails
 */
export async function mailOwnConfirmation(sender: MailSender, user: Recipient, link: IssuedLink): Promise<void> {
  const seconds = await mailLink(sender, 'email_confirmation', user, link);
  if (seconds !== null) throw tooManyMails(seconds);
}

/** Sends a mail to the earlier address of a user, which says that the account now has another address. */
export async function mailAddressChange(em: Em, { id: userId, email: address }: Recipient): Promise<void> {
  const content = { purpose: 'email_changed' } as const;
  await queueMessages(em, [{ medium: 'email', userId, address, content, cause: newCause(content.purpose) }]);
}

/** Returns the result of `countMails`, and sends the link only if that is null. */
async function mailLink(
  { em, keyRing, subject }: MailSender,
  purpose: 'password_reset' | 'email_confirmation',
  { id: userId, email }: Recipient,
  { token: value, expiresAt }: IssuedLink,
): Promise<number | null> {
  const content = { purpose, expiresAt: expiresAt.toISOString() } as const;
  const address = emailKey(email);
  const seconds = await countMails(em, subject, [address]);
  if (seconds !== null) return seconds;
  const token = { value, keyRing };
  await queueMessages(em, [{ medium: 'email', userId, address, content, token, cause: newCause(purpose) }]);
  return null;
}

/** A new cause for each link, so that each is sent: a new link voids the earlier ones. */
function newCause(purpose: string): string {
  return `${purpose} ${newId()}`;
}
