import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import { findInvitation } from '#domain/invitations/status.ts';
import type { Purpose } from '#domain/messages/model.ts';
import type { DueMessage } from '#domain/messages/queue/lease-store.ts';
import { openToken } from '#domain/messages/queue/tokens.ts';
import { asForeignText, toSubject, type Wording } from '#domain/messages/wording.ts';
import { emailConfirmationPath, invitationPath, passwordResetPath, profilePath } from './links.ts';
import { prepareNotification } from './prepare-notification.ts';
import { findMailbox } from './recipients-store.ts';
import type { ContentOf, PrepareDeps, Prepared, Recipient } from './send-message.ts';

type Preparations = {
  readonly [P in Purpose]: (deps: PrepareDeps, message: DueMessage, content: ContentOf<P>) => Promise<Prepared>;
};

const preparations: Preparations = {
  notification: prepareNotification,
  invitation: prepareInvitation,
  password_reset: preparePasswordReset,
  email_confirmation: prepareConfirmation,
  email_changed: prepareAddressChange,
};

/** Words a message for its recipient. It checks again whether the recipient may still receive it. */
export function prepareMessage(deps: PrepareDeps, message: DueMessage): Promise<Prepared> {
  const prepare = preparations[message.content.purpose] as Preparations['notification'];
  return prepare(deps, message, message.content as ContentOf<'notification'>);
}

async function prepareInvitation(
  deps: PrepareDeps,
  message: DueMessage,
  content: ContentOf<'invitation'>,
): Promise<Prepared> {
  const invitation = await findInvitationToSend(deps.em, content);
  const token = tokenOf(deps, message);
  if (!invitation || token === null || message.address === null)
    return { withhold: 'the invitation is not open any more, or was sent again' };
  const { inviter, organization, team, expiresAt } = invitation;
  const [who, whole] = [asForeignText(inviter), asForeignText(organization)];
  const place = team === null ? whole : `the team ${asForeignText(team)} of ${whole}`;
  return {
    to: mailTo(message.address),
    wording: {
      subject: toSubject(`${who} invites you to ${place}`),
      lines: [
        `Sign in as the person with this address and accept by the link, which works once, until ${minuteOf(expiresAt)}.`,
      ],
      link: { label: 'Accept the invitation', url: toUrl(deps, invitationPath(token)) },
      reason: 'You get this because this address was entered. If you do not expect it, do nothing.',
    },
  };
}

function preparePasswordReset(
  deps: PrepareDeps,
  message: DueMessage,
  { expiresAt }: ContentOf<'password_reset'>,
): Promise<Prepared> {
  return prepareLink(deps, message, expiresAt, (token) => ({
    subject: 'Set a new password',
    lines: [
      'An administrator made a link with which you set a new password.',
      `It works once, until ${minuteOf(expiresAt)}. Anyone who has it can set your password: do not share it.`,
    ],
    link: { label: 'Set a new password', url: toUrl(deps, passwordResetPath(token)) },
    reason: 'If you did not ask for it, tell your administrator.',
  }));
}

function prepareConfirmation(
  deps: PrepareDeps,
  message: DueMessage,
  { expiresAt }: ContentOf<'email_confirmation'>,
): Promise<Prepared> {
  return prepareLink(deps, message, expiresAt, (token) => ({
    subject: 'Confirm your address',
    lines: [`Confirm that this address is yours. The link works once, until ${minuteOf(expiresAt)}.`],
    link: { label: 'Confirm the address', url: toUrl(deps, emailConfirmationPath(token)) },
    reason: 'You get this because your account names this address. If you have no account there, do nothing.',
  }));
}

/** Withholds a user's link if it has expired, or if the user's address has changed since the link was made. */
async function prepareLink(
  deps: PrepareDeps,
  message: DueMessage,
  expiresAt: string,
  word: (token: string) => Wording,
): Promise<Prepared> {
  const mailbox = await findMailbox(deps.em, message.userId);
  if (!mailbox) return { withhold: 'the user is disabled or gone' };
  if (mailbox.key !== message.address) return { withhold: 'the user has another address now' };
  const token = tokenOf(deps, message);
  if (token === null || Date.parse(expiresAt) <= Date.now()) return { withhold: 'the link has expired' };
  return { to: mailTo(mailbox.address), wording: word(token) };
}

/** Warns the owner of the earlier address, in case another person has changed it. */
async function prepareAddressChange(deps: PrepareDeps, { address }: DueMessage): Promise<Prepared> {
  if (address === null) throw new Error('the message about a changed address does not contain the earlier address');
  return {
    to: mailTo(address),
    wording: {
      subject: 'Your account has another address now',
      lines: ['The address of your account was changed by you or by an administrator.'],
      link: { label: 'Open your profile', url: toUrl(deps, profilePath) },
      reason: 'You get this at your former address. If you did not change it, tell your administrator at once.',
    },
  };
}

function mailTo(address: string): Recipient {
  return { medium: 'email', address };
}

function toUrl({ linkOrigin }: PrepareDeps, path: string): string {
  if (linkOrigin === null) throw new Error('a mail with a link needs COORDINATOR_BASE_URL');
  return linkOrigin + path;
}

function tokenOf({ keyRing }: PrepareDeps, { id, sealedToken }: DueMessage): string | null {
  return sealedToken === null ? null : openToken(keyRing, id, sealedToken);
}

/** A time in UTC to the minute. */
function minuteOf(at: string): string {
  return `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}

/** The facts about an invitation for a mail. */
interface InvitationFacts {
  readonly inviter: string;
  readonly organization: string;
  readonly team: string | null;
  readonly expiresAt: string;
}

/** Finds the facts about an invitation for a mail; undefined once the invitation has ended or was sent again. */
async function findInvitationToSend(
  em: Em,
  { invitationId, sentAt }: { readonly invitationId: string; readonly sentAt: string },
): Promise<InvitationFacts | undefined> {
  const invitation = await findInvitation(em, invitationId);
  if (invitation?.status !== 'open' || Date.parse(invitation.sentAt) !== Date.parse(sentAt)) return undefined;
  const names = await db(em)
    .selectFrom('organizations as o')
    .leftJoin('teams as t', (join) => join.on('t.id', '=', invitation.teamId))
    .where('o.id', '=', invitation.organizationId)
    .select(['o.name as organization', 't.name as team'])
    .executeTakeFirst();
  return names && { ...names, inviter: invitation.inviterName, expiresAt: invitation.expiresAt };
}
