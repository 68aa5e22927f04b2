import type { Em } from '#database/database.ts';
import { emailKey } from '#domain/identity/model.ts';
import type { SentInvitation } from '#domain/invitations/invitations.ts';
import { newId } from '#domain/shared/ids.ts';
import type { KeyRing } from '#domain/shared/secrets.ts';
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

/** Sends an invitation to the invited address with the commit. */
export async function mailInvitation(em: Em, keyRing: KeyRing, { invitation, token }: SentInvitation): Promise<void> {
  const { id, email, sentAt } = invitation;
  const content = { purpose: 'invitation', invitationId: id, sentAt } as const;
  await queueMessages(
    em,
    [{ medium: 'email', address: email, content, token, cause: newCause('invitation') }],
    keyRing,
  );
}

/** Sends a user the link that sets a new password. It goes nowhere else if the user's address changes before it is sent. */
export function mailPasswordReset(em: Em, keyRing: KeyRing, user: Recipient, link: IssuedLink): Promise<void> {
  return mailLink(em, keyRing, 'password_reset', user, link);
}

/** Sends a user the link that confirms the user's address. It goes nowhere else if the address changes before it is sent. */
export function mailConfirmation(em: Em, keyRing: KeyRing, user: Recipient, link: IssuedLink): Promise<void> {
  return mailLink(em, keyRing, 'email_confirmation', user, link);
}

/** Tells the former address of a user that the account has another one now. */
export async function mailAddressChange(em: Em, { id: userId, email: address }: Recipient): Promise<void> {
  const content = { purpose: 'email_changed' } as const;
  await queueMessages(em, [{ medium: 'email', userId, address, content, cause: newCause(content.purpose) }]);
}

async function mailLink(
  em: Em,
  keyRing: KeyRing,
  purpose: 'password_reset' | 'email_confirmation',
  { id: userId, email }: Recipient,
  { token, expiresAt }: IssuedLink,
): Promise<void> {
  const content = { purpose, expiresAt: expiresAt.toISOString() } as const;
  const address = emailKey(email);
  await queueMessages(em, [{ medium: 'email', userId, address, content, token, cause: newCause(purpose) }], keyRing);
}

/** Each link is sent, however many were issued before: an earlier one is void. */
function newCause(purpose: string): string {
  return `${purpose} ${newId()}`;
}
